#!/usr/bin/env bash
# Cross-builds for Windows and runs the result under Wine: unit tests of the parts that differ between systems, and glm.exe
# serving and answering on the real default model (test_glm_exe.py), and glm64.xll in a program that plays Excel
# (test_excel.py).
#
#   tests/windows/run.sh               GLM_TEST_MODELS: folder with SmolLM2-135M-Instruct.Q4_1.gguf (default: build/models)
#                                      GLM_BINARY: the Linux program that answers are compared with (default: build/release)
#                                      GLM_TEST_SKIP_SETUP=1: installs no packages
#
# What is missing of these is built and pulled. No display is needed. Nothing is left outside of build/, and nothing runs on.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
root=$PWD
build=$root/build/windows
scratch=$root/build/windows-test
logs=$root/build/test-logs
begin=$SECONDS

say() { printf '%s (%d s so far)\n' "$*" $((SECONDS - begin)); }
fail() { printf 'FAILED: %s\n' "$*"; exit 1; }

# "step NAME COMMAND...": what it printed is shown only when it fails.
step() {
  local name=$1 log=$logs/windows-${1// /-}.log
  shift
  "$@" >"$log" 2>&1 </dev/null || { tail -n 40 "$log"; fail "$name; the end of $log is above."; }
  say "ok: $name"
}

mkdir -p "$logs" || exit 1
exec 9>"$root/build/windows-test.lock"
flock -n 9 || fail "another run of this test is using $scratch."

# --- build

if [ "${GLM_TEST_SKIP_SETUP:-}" != 1 ]; then step "packages" installer/setup.sh tests windows; fi
jobs() {
  local by_memory
  by_memory=$(awk '/MemAvailable/{print int($2 / 1500000) + 1}' /proc/meminfo)
  echo $(($(nproc) < by_memory ? $(nproc) : by_memory))
}
build_windows() {
  cmake --preset windows && cmake --build --preset windows -j "$(jobs)" --target glm glm_xll excel_host wine_classes xll_test platform_test kernels_test
}
step "libraries for Windows" installer/windows/sysroot.sh
step "cross build" build_windows

needs_only_windows() {
  local dlls dll
  dlls=$(x86_64-w64-mingw32-objdump -p "$build/bin/glm.exe" | sed -n 's/.*DLL Name: //p' | tr '[:upper:]' '[:lower:]')
  [ -n "$dlls" ] || { echo "glm.exe imports nothing?"; return 1; }
  for dll in $dlls; do
    case $dll in
      advapi32.dll | bcrypt.dll | iphlpapi.dll | kernel32.dll | msvcrt.dll | rpcrt4.dll | shell32.dll | user32.dll) ;;
      winhttp.dll | ws2_32.dll | api-ms-win-core-synch-*.dll) ;;
      *) echo "glm.exe needs $dll, which Windows does not bring."; return 1 ;;
    esac
  done
}
step "glm.exe needs only what Windows brings" needs_only_windows
xll_exports() {
  local name exported
  exported=$(x86_64-w64-mingw32-objdump -p "$build/bin/glm64.xll")
  for name in xlAutoOpen xlAutoClose xlAutoAdd xlAutoRemove xlAutoFree12 xlAddInManagerInfo12 DllGetClassObject \
    DllCanUnloadNow DllRegisterServer DllUnregisterServer glm; do
    grep -qE "\] (\+base\[ *[0-9]+\] +[0-9a-f]+ )?$name\$" <<<"$exported" || { echo "glm64.xll does not export $name."; return 1; }
  done
}
step "glm64.xll exports what Excel and COM look for" xll_exports

# --- what the answers are compared with, and the model

linux_glm=${GLM_BINARY:-$root/build/release/bin/glm}
models=${GLM_TEST_MODELS:-$root/build/models}
model=SmolLM2-135M-Instruct.Q4_1.gguf
build_linux() { cmake --preset release && cmake --build --preset release -j "$(jobs)" --target glm; }
[ -x "$linux_glm" ] || step "Linux build" build_linux
bring_model() {
  GLM_HOST_MODELS_FOLDER=$root/build/model-store "$linux_glm" pull smollm2-135m &&
    mkdir -p "$models" && ln -sf "$root/build/model-store/smollm2-135m.gguf" "$models/$model"
}
[ -e "$models/$model" ] || step "default model" bring_model

# --- Wine, in a folder of its own

wine=/usr/lib/wine/wine64  # where Debian puts it; its wrapper script asks for 32-bit parts
[ -x "$wine" ] || wine=$(command -v wine64 || command -v wine) || fail "there is no Wine: run installer/setup.sh windows."
export WINEPREFIX=$scratch/prefix HOME=$scratch/home TMPDIR=$scratch/tmp XDG_RUNTIME_DIR=$scratch/run
export WINEARCH=win64 WINEDEBUG=-all LANG=C.UTF-8
unset DISPLAY WAYLAND_DISPLAY LC_ALL LC_CTYPE GLM_HOST_HOME
# No questions about Mono and Gecko, no menu entries; and without its debugger a program that crashes does not exit with 0.
export WINEDLLOVERRIDES='mscoree,mshtml=;winemenubuilder.exe=;winedbg.exe='

# Ends all that runs in the prefix, also what an interrupted run left.
clean_up() {
  if [ -d "$WINEPREFIX" ]; then
    timeout 20 wineserver -k
    timeout 20 wineserver -w
    # Debian's Wine notes there the name of its folder below /tmp.
    local folder
    folder=$(cat "$WINEPREFIX/wineserver" 2>/dev/null)
    case $folder in wine-??????) rm -rf "/tmp/$folder" ;; esac
  fi
  rm -rf "$scratch"
}
trap clean_up EXIT
trap 'exit 130' INT TERM HUP
clean_up
mkdir -p "$HOME" "$TMPDIR" || exit 1
mkdir -m 700 "$XDG_RUNTIME_DIR" || exit 1

make_prefix() { timeout 120 "$wine" wineboot -i && [ -d "$WINEPREFIX/drive_c/windows/system32" ]; }
step "Wine prefix" make_prefix
# Windows can be made without a display, and classes are found that were registered for the user alone.
prepare_prefix() {
  timeout 60 "$wine" reg add 'HKCU\Software\Wine\Drivers' /v Graphics /d null /f &&
    timeout 60 "$wine" "$build/bin/wine_classes.exe" | grep -q '^linked'
}
step "Wine registry" prepare_prefix

# --- tests

# An exit code proves nothing under Wine, so the program must have said that all went well.
unit_test() {  # NAME DOCTEST-FLAG...
  local name=$1 log=$logs/windows-$1-cases.log
  shift
  (cd "$root" && timeout 120 "$wine" "$build/bin/${name}_test.exe" "$@") >"$log" 2>&1 </dev/null
  cat "$log"
  grep -q 'Status: SUCCESS!' "$log" && grep -qE 'test cases: +[1-9][0-9]* \| +[1-9][0-9]* passed \| 0 failed' "$log"
}
step "unit tests of host platform" unit_test platform
step "unit tests of xll" unit_test xll
# Of these, one measures processor time by std::clock(), which on Windows counts time by the clock on the wall.
step "unit tests of kernels" unit_test kernels --test-case-exclude='An idle pool*'

export GLM_TEST_WINE=$wine GLM_TEST_MODELS=$models GLM_BINARY=$linux_glm PYTHONDONTWRITEBYTECODE=1
export GLM_EXE=$build/bin/glm.exe GLM_XLL=$build/bin/glm64.xll GLM_EXCEL_HOST=$build/bin/excel_host.exe
python_tests() {  # MODULE SECONDS WHAT
  local log=$logs/windows-$1.log rc ran
  (cd tests/windows && timeout "$2" python3 -m unittest -v "$1") >"$log" 2>&1 </dev/null
  rc=$?
  ran=$(sed -n 's/^Ran \([0-9]*\) tests\{0,1\} in.*/\1/p' "$log" | tail -n 1)
  if [ $rc -ne 0 ] || [ "${ran:-0}" -eq 0 ] || ! grep -qx 'OK' "$log"; then
    tail -n 80 "$log"
    fail "$3 under Wine; the end of $log is above."
  fi
  say "ok: $3 under Wine, $ran tests"
}
python_tests test_glm_exe 600 "glm.exe"
python_tests test_excel 1800 "glm64.xll in excel_host"

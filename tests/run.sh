#!/usr/bin/env bash
# Builds and passes every test:
#
#   release build: unit and integration tests, end-to-end tests of `glm` on real models
#   sanitizers: unit tests under address and undefined-behaviour sanitizers; what uses threads under the thread sanitizer
#   a short fuzzing of every parser
#   the Windows build, and its test under Wine
#   the VS Code extension, built and driven in a real editor
#
#   tests/run.sh                   everything
#   tests/run.sh release e2e       some of it: release, e2e, asan, tsan, fuzz, windows, vscode
#
# GLM_TEST_SKIP_SETUP=1 installs no packages; FUZZ_SECONDS=600 fuzzes longer. The last line is "N passed, M failed". Nothing
# is left outside of build/. Runs as root and as an ordinary user with sudo.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
root=$PWD
logs=$root/build/test-logs
mkdir -p "$logs" || exit 1

passed=0
failed=0
skipped=()
begin=$SECONDS

note() { printf '%s\n' "$*"; }
stage() { printf '\n== %s (%d s so far)\n' "$*" $((SECONDS - begin)); }
count() { passed=$((passed + $1)); failed=$((failed + $2)); }
# Something that is one check: "check NAME LOG COMMAND..."
check() {
  local name=$1 log=$logs/$2.log
  shift 2
  if "$@" >"$log" 2>&1; then
    count 1 0
    note "ok: $name"
  else
    count 0 1
    note "FAILED: $name; the end of $log:"
    tail -n 25 "$log"
    return 1
  fi
}

jobs() {
  local cores memory_gb
  cores=$(nproc)
  memory_gb=$(awk '/MemAvailable/{print int($2 / 1500000)}' /proc/meminfo)
  [ "$memory_gb" -ge 1 ] || memory_gb=1
  echo $((cores < memory_gb ? cores : memory_gb))
}
build() { cmake --preset "$1" && cmake --build --preset "$1" -j "$(jobs)" "${@:2}"; }

launcher=()  # stands before ctest

# Runs the test programs that ctest knows ("ctest_counted NAME PRESET FILTER...") and counts doctest's cases.
ctest_counted() {
  local name=$1 preset=$2 log=$logs/$1.log
  shift 2
  ${launcher[@]+"${launcher[@]}"} ctest --preset "$preset" --timeout 900 -V "$@" >"$log" 2>&1
  local rc=$? ok bad crashed
  ok=$(sed -n 's/.*\[doctest\] test cases: *[0-9]* *| *\([0-9]*\) passed.*/\1/p' "$log" | awk '{s += $1} END {print s + 0}')
  bad=$(sed -n 's/.*\[doctest\] test cases: .*| *\([0-9]*\) failed.*/\1/p' "$log" | awk '{s += $1} END {print s + 0}')
  count "$ok" "$bad"
  # A program that crashed or hung prints no summary.
  crashed=$((rc != 0 && bad == 0 ? 1 : 0))
  count 0 "$crashed"
  if [ $rc -eq 0 ] && [ "$ok" -gt 0 ]; then
    note "ok: $name, $ok cases"
  else
    [ "$ok" -gt 0 ] || [ "$crashed" -eq 1 ] || count 0 1
    note "FAILED: $name; from $log:"
    grep -aE 'ERROR:|TEST CASE:|\(Failed\)|Timeout|SUMMARY|runtime error|is NOT correct|THREW|No tests were found' "$log" | head -n 40
  fi
}

# The Python of the end-to-end tests: with DuckDB, which the table language is compared with, where pip can bring it.
test_python() {
  local venv=$root/build/test-venv
  if ! "$venv/bin/python" -c 'import duckdb' 2>/dev/null; then
    { python3 -m venv --system-site-packages "$venv" && "$venv/bin/python" -m pip install --quiet 'duckdb>=1.1,<3'; } \
      >"$logs/test-venv.log" 2>&1 || { echo python3; return; }
  fi
  echo "$venv/bin/python"
}

e2e_counted() {
  local log=$logs/e2e.log rc ran bad skip python
  python=$(test_python)
  (cd tests/e2e && timeout 1500 "$python" -m unittest discover -v -p 'test_*.py' "$@") >"$log" 2>&1
  rc=$?
  ran=$(sed -n 's/^Ran \([0-9]*\) tests\{0,1\} in.*/\1/p' "$log" | tail -n 1)
  bad=$(sed -n 's/^FAILED (.*failures=\([0-9]*\).*/\1/p' "$log" | tail -n 1)
  local errors
  errors=$(sed -n 's/^FAILED (.*errors=\([0-9]*\).*/\1/p' "$log" | tail -n 1)
  skip=$(sed -n 's/^\(OK\|FAILED\) (.*skipped=\([0-9]*\).*/\2/p' "$log" | tail -n 1)
  bad=$((${bad:-0} + ${errors:-0}))
  [ $rc -eq 0 ] || [ "$bad" -gt 0 ] || bad=1
  # Subtests can fail more often than there are tests.
  local ok=$((${ran:-0} - ${skip:-0} - bad))
  count $((ok > 0 ? ok : 0)) "$bad"
  [ -z "${skip:-}" ] || skipped+=("$skip end-to-end tests: $(sed -n "s/.* skipped [\"']\(.*\)[\"']$/\1/p" "$log" | sort -u | paste -sd ';')")
  if [ "$bad" -eq 0 ]; then
    note "ok: end to end, $ok tests"
  else
    note "FAILED: end to end; from $log:"
    grep -E '^(FAIL|ERROR):|^[A-Za-z]*Error' "$log" | head -n 40
  fi
}

wanted=" ${*:-release e2e asan tsan fuzz windows vscode} "
wants() { [[ $wanted == *" $1 "* ]]; }

if [ "${GLM_TEST_SKIP_SETUP:-}" != 1 ]; then
  stage "Packages"
  groups=(tests)
  ! wants windows || groups+=(windows)
  ! wants vscode || groups+=(vscode)
  check "packages" setup installer/setup.sh "${groups[@]}" || { note "0 passed, 1 failed"; exit 1; }
fi
[ -d "$root/../shared" ] || skipped+=("comparisons with the reference data of ../shared, which is not here")

# --- models: from the catalogue, once, into build/
models=${GLM_TEST_MODELS:-$root/build/models}
export GLM_TEST_MODELS=$models GLM_BINARY=$root/build/release/bin/glm
bring_model() {  # NAME FILE
  [ -e "$models/$2" ] && return 0
  GLM_HOST_MODELS_FOLDER=$root/build/model-store "$GLM_BINARY" pull "$1" &&
    mkdir -p "$models" && ln -sf "$root/build/model-store/$1.gguf" "$models/$2"
}

if wants release || wants e2e; then
  stage "Release build"
  if check "release build" release-build build release; then
    check "the default model can be pulled" pull-smollm2 bring_model smollm2-135m SmolLM2-135M-Instruct.Q4_1.gguf
    check "the second test model can be pulled" pull-gemma3 bring_model gemma3-270m gemma3-270m-q4_k_m.gguf
    if wants release; then
      stage "Unit and integration tests"
      ctest_counted release release
    fi
    if wants e2e; then
      stage "End to end"
      e2e_counted
    fi
  fi
fi

if wants asan || wants fuzz; then
  stage "Build with address and undefined-behaviour sanitizers"
  check "sanitizer build" asan-build build asan
  sanitizer_build=$?
  if wants asan && [ $sanitizer_build -eq 0 ]; then
    stage "Address and undefined-behaviour sanitizers"
    ASAN_OPTIONS=detect_leaks=1 UBSAN_OPTIONS=print_stacktrace=1 ctest_counted asan asan -j "$(jobs)"
  fi
  if wants fuzz && [ $sanitizer_build -eq 0 ]; then
    seconds=${FUZZ_SECONDS:-20}
    stage "Fuzzing, $seconds s each"
    for fuzzer in build/asan/bin/*_fuzz; do
      name=$(basename "$fuzzer")
      corpus=$root/build/asan/corpus/$name
      mkdir -p "$corpus"
      check "$name" "$name" "$fuzzer" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=3000 -print_final_stats=1 \
        -artifact_prefix="$logs/" "$corpus"
    done
  fi
fi

if wants tsan; then
  stage "Thread sanitizer"
  threaded=(platform protocol daemon kernels generation table)
  targets=()
  for name in "${threaded[@]}"; do targets+=("${name}_test"); done
  if check "thread sanitizer build" tsan-build build tsan --target "${targets[@]}"; then
    # Newer kernels place memory where this version of the sanitizer does not expect it.
    ! setarch -R true 2>/dev/null || launcher=(setarch -R)
    TSAN_OPTIONS="suppressions='$root/tests/tsan.supp'" ctest_counted tsan tsan -j "$(jobs)" -R "^($(IFS='|'; echo "${threaded[*]}"))\$"
    launcher=()
  fi
fi

if wants windows; then
  stage "Windows build and its test under Wine"
  if [ -x tests/windows/run.sh ]; then
    check "glm.exe serves and answers under Wine" windows tests/windows/run.sh
  else
    skipped+=("the Windows build: tests/windows/run.sh is not here")
  fi
fi

if wants vscode; then
  stage "VS Code: the extension in a real editor"
  if check "release build for the extension" vscode-release-build build release --target glm glm-language-server &&
    check "the default model can be pulled" vscode-pull bring_model smollm2-135m SmolLM2-135M-Instruct.Q4_1.gguf &&
    check "the extension can be packaged" vscode-package installer/vscode/build.sh &&
    check "an editor can be brought" vscode-editor tests/e2e/vscode/install.sh; then
    check "the extension in a real editor" vscode timeout 900 python3 tests/e2e/test_vscode.py -v
  fi
fi

stage "Done"
for reason in ${skipped[@]+"${skipped[@]}"}; do note "skipped: $reason"; done
note "$passed passed, $failed failed"
[ "$failed" -eq 0 ]

#!/usr/bin/env bash
# Installs the Debian packages that GLM Host needs. Safe to run again: what is there already is left alone, and nothing is
# asked. Uses sudo when it is not run by root.
#
#   installer/setup.sh              what `glm` is built from and runs with
#   installer/setup.sh tests        that, and what tests/run.sh needs
#   installer/setup.sh windows      that, and what the Windows build and its test under Wine need
#   installer/setup.sh vscode       that, and what the VS Code extension and its tests in a real editor need
#   installer/setup.sh --list tests prints the packages and installs nothing
set -euo pipefail

build_packages=(
  g++ cmake ninja-build ccache                       # compiler and build
  libzmq3-dev cppzmq-dev                             # the socket between daemon and clients
  nlohmann-json3-dev libtomlplusplus-dev             # messages, configuration
  libsqlite3-dev libxxhash-dev                       # the memo store and its keys
  libutf8proc-dev libspdlog-dev libcli11-dev         # text, logs, flags
  libcpp-httplib-dev libssl-dev zlib1g-dev           # glm pull
  libboost-dev                                       # Asio, distributions
  libpcre2-dev                                       # Excel's regular expressions
  libexpat1-dev                                      # the XML in workbooks
  libedit-dev                                        # lines typed in glm chat
  python3 python3-pip ca-certificates                # the default model comes as a Python package
)
test_packages=(
  doctest-dev openssl
  python3-venv python3-jsonschema                    # a place for DuckDB; JSON Schemas
  clang-14 libclang-rt-14-dev                        # sanitizers and fuzzing
)
windows_packages=(
  g++-mingw-w64-x86-64-posix libz-mingw-w64-dev      # cross compiler
  wine wine64                                        # runs the result
  make dpkg-dev xz-utils                             # unpacks and builds the sources of the libraries built for Windows
)
vscode_packages=(
  chromium neovim emacs-nox elpa-eglot               # editors and what they run in
)
# A newer Node than Debian's, where there is one, serves better.
command -v npm >/dev/null || vscode_packages+=(nodejs npm)

fail() { printf 'setup.sh: %s\n' "$*" >&2; exit 1; }

list_only=false
packages=("${build_packages[@]}")
for argument in "$@"; do
  case $argument in
    --list) list_only=true ;;
    build) ;;
    tests) packages+=("${test_packages[@]}") ;;
    windows) packages+=("${windows_packages[@]}") ;;
    vscode) packages+=("${vscode_packages[@]}") ;;
    -h | --help) sed -n '2,10s/^# \{0,1\}//p' "$0"; exit 0 ;;
    *) fail "there is no group \`$argument'; the groups are build, tests, windows and vscode." ;;
  esac
done
if $list_only; then
  printf '%s\n' "${packages[@]}"
  exit 0
fi

command -v apt-get >/dev/null ||
  fail "this system has no apt-get. Install the counterparts of these Debian packages by hand: ${packages[*]}"

missing=()
for package in "${packages[@]}"; do
  [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || missing+=("$package")
done
if [ ${#missing[@]} -eq 0 ]; then
  echo "setup.sh: all ${#packages[@]} packages are installed."
  exit 0
fi

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null ||
    fail "packages are missing and there is no sudo. As root, run: apt-get install ${missing[*]}"
  # A password can be typed only where there is a terminal.
  if ! sudo -n true 2>/dev/null && ! [ -t 0 ]; then
    fail "packages are missing and sudo asks for a password. In a terminal, run: sudo apt-get install ${missing[*]}"
  fi
  as_root=(sudo)
fi
apt() { ${as_root[@]+"${as_root[@]}"} env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=600 "$@"; }

update() {
  echo "setup.sh: fetching the package lists"
  apt update -qq || fail "the package lists could not be fetched. Check the network and /etc/apt/sources.list."
}
install() { apt install -y -qq --no-install-recommends -o Dpkg::Use-Pty=0 "${missing[@]}"; }

log=$(mktemp)
trap 'rm -f "$log"' EXIT
echo "setup.sh: installing ${missing[*]}"
have_lists() { compgen -G '/var/lib/apt/lists/*_Packages*' >/dev/null; }
have_lists || update
if ! install >"$log" 2>&1; then
  # Lists that are older than the mirror name files it no longer has.
  update
  install >"$log" 2>&1 || {
    tail -n 15 "$log" >&2
    fail "apt-get could not install the packages; its last words are above."
  }
fi
echo "setup.sh: done."

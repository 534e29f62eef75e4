#!/usr/bin/env bash
# Builds the libraries that the Windows build needs, for Windows, from Debian's own sources. Nothing is asked; a second
# run finds the work done. Needs no root, unless packages are missing (see ../setup.sh windows).
#
#   installer/windows/sysroot.sh [FOLDER]      FOLDER: build/windows-sysroot in the repository
#
# Then:  WINDOWS_SYSROOT=FOLDER cmake --preset windows && cmake --build --preset windows
#
#   FOLDER/lib       libzmq.a (CURVE by its own tweetnacl, select, no ipc://), libsqlite3.a, libxxhash.a, libutf8proc.a,
#                    libpcre2-8.a, libexpat.a
#   FOLDER/include   their headers, and those of the libraries that are nothing but headers; boost is a link, because
#                    /usr/include itself must never be on a cross compiler's path
set -euo pipefail

fail() { printf 'sysroot.sh: %s\n' "$*" >&2; exit 1; }
say() { printf 'sysroot.sh: %s\n' "$*"; }

repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
case ${1-} in
  -h | --help) sed -n '2,13s/^# \{0,1\}//p' "$0"; exit 0 ;;
  -*) fail "there is no option \`$1'; the only argument is the folder to build in." ;;
esac
[ $# -le 1 ] || fail "the only argument is the folder to build in."
mkdir -p "${1:-$repository/build/windows-sysroot}"
sysroot=$(cd "${1:-$repository/build/windows-sysroot}" && pwd)

exec 9>"$sysroot/.lock"
flock 9  # two builds of one folder take turns

# Whatever changes what comes out is in this file: another version of it starts anew.
version=$(sha256sum "${BASH_SOURCE[0]}" | cut -d ' ' -f 1)
if [ "$(cat "$sysroot/.complete" 2>/dev/null)" = "$version" ]; then
  say "$sysroot is complete."
  exit 0
fi
if [ "$(cat "$sysroot/.version" 2>/dev/null)" != "$version" ]; then
  rm -rf "$sysroot/include" "$sysroot/lib" "$sysroot/share" "$sysroot/work" "$sysroot/.complete"
  printf '%s\n' "$version" >"$sysroot/.version"
fi

cc=x86_64-w64-mingw32-gcc-posix
ar=x86_64-w64-mingw32-ar
include=/usr/include

have_tools() {
  local tool header
  for tool in $cc x86_64-w64-mingw32-g++-posix $ar cmake ninja gcc make dpkg-source xz; do
    command -v "$tool" >/dev/null || return 1
  done
  for header in zmq.hpp nlohmann/json.hpp doctest/doctest.h CLI/CLI.hpp toml++/toml.h spdlog/spdlog.h fmt/core.h \
    boost/version.hpp; do
    [ -e "$include/$header" ] || return 1
  done
}
if ! have_tools; then
  "$repository/installer/setup.sh" tests windows
  have_tools || fail "tools or headers are still missing after installer/setup.sh tests windows."
fi

work=$sysroot/work
mkdir -p "$work" "$sysroot/include" "$sysroot/lib" "$sysroot/share/cmake"

# --- Debian's sources, by an apt of our own: the user's lists and sources stay as they are, and no root is needed.

apt() {
  local program=$1
  shift
  "$program" -qq -o Dir::Etc::sourcelist="$work/apt/sources.list" -o Dir::Etc::sourceparts=- \
    -o Dir::State="$work/apt/state" -o Dir::Cache="$work/apt/cache" -o APT::Sandbox::User= \
    -o Acquire::Languages=none -o Acquire::Retries=3 "$@"
}

# The mirrors that this machine takes Debian's packages from.
debian_mirrors() {
  apt-get indextargets --format '$(ORIGIN)|$(CREATED_BY)|$(REPO_URI)|$(RELEASE)|$(SIGNED_BY)' 2>/dev/null |
    awk -F '|' '$1 == "Debian" && $2 == "Packages" {
      print ($5 ~ /^\// ? "[signed-by=" $5 "] " : "") $3 " " $4 " main" }' | sort -u
}

fetch_lists() {
  [ -e "$work/apt/.fetched" ] && return
  mkdir -p "$work/apt/state/lists/partial" "$work/apt/cache/archives/partial"
  local mirrors
  mirrors=$(debian_mirrors)
  [ -n "$mirrors" ] || fail "this machine has no lists of Debian's packages: run \`apt-get update\` as root, then this again."
  sed 's/^/deb-src /' <<<"$mirrors" >"$work/apt/sources.list"
  # SQLite's amalgamation is put together by a Tcl script; Tcl is unpacked below, not installed.
  command -v tclsh >/dev/null || sed 's/^/deb /' <<<"$mirrors" >>"$work/apt/sources.list"
  say "fetching the lists of Debian's sources"
  apt apt-get update >"$work/apt.log" 2>&1 || {
    tail -n 15 "$work/apt.log" >&2
    fail "the lists of Debian's sources could not be fetched; apt's last words are above. Check the network."
  }
  touch "$work/apt/.fetched"
}

# Unpacks the source of Debian's PACKAGE, patched as Debian does, into $work/PACKAGE.
fetch_source() {
  [ -d "$work/$1" ] && return
  fetch_lists
  say "fetching the source of $1"
  local version
  # The newest first; a mirror may know of a security update and yet not have its source.
  for version in $(apt apt-cache showsrc "$1" 2>/dev/null | sed -n 's/^Version: //p' | sort -rVu) none; do
    [ "$version" != none ] || {
      tail -n 15 "$work/$1.log" >&2
      fail "the source of $1 could not be fetched; apt's last words are above."
    }
    rm -rf "$work/fetch"
    mkdir "$work/fetch"
    (cd "$work/fetch" && apt apt-get --only-source source "$1=$version") >>"$work/$1.log" 2>&1 && break
  done
  local unpacked=("$work/fetch"/*/)
  mv "${unpacked[0]}" "$work/$1"
  rm -rf "$work/fetch"
}

# --- What is built. Each step writes its library last, so that an interrupted run goes on where it stopped.

step() {  # LIBRARY FUNCTION
  [ -e "$sysroot/lib/$1" ] && return
  say "building $1"
  # In the background, since bash ignores errors in whatever stands behind an `if`.
  (set -e; "$2") >"$work/$2.log" 2>&1 &
  if ! wait $!; then
    tail -n 30 "$work/$2.log" >&2
    fail "$1 could not be built; the whole log is $work/$2.log."
  fi
}

archive() {  # LIBRARY OBJECT...
  local library=$sysroot/lib/$1
  shift
  rm -f "$library.part"
  $ar rcs "$library.part" "$@"
  mv "$library.part" "$library"
}

build_zmq() {
  # select works on Windows and under Wine alike; Wine has no ipc://, and on Windows the daemon uses tcp anyway.
  WINDOWS_SYSROOT=$sysroot cmake -S "$work/zeromq3" -B "$work/zeromq3/build" -G Ninja \
    -DCMAKE_TOOLCHAIN_FILE="$repository/cmake/mingw-w64.cmake" -DCMAKE_BUILD_TYPE=Release \
    -DPOLLER=select -DZMQ_HAVE_IPC=0 -DENABLE_CURVE=ON -DWITH_LIBSODIUM=OFF -DBUILD_SHARED=OFF -DBUILD_STATIC=ON \
    -DBUILD_TESTS=OFF -DWITH_PERF_TOOL=OFF -DWITH_DOCS=OFF -DENABLE_CPACK=OFF \
    "${launcher[@]}"
  grep -q 'ZMQ_USE_TWEETNACL' "$work/zeromq3/build/platform.hpp"
  cmake --build "$work/zeromq3/build" --target libzmq-static
  cp "$work/zeromq3/include/zmq.h" "$sysroot/include/"
  local built=("$work/zeromq3/build/lib"/*.a)
  cp "${built[0]}" "$sysroot/lib/libzmq.a.part"
  mv "$sysroot/lib/libzmq.a.part" "$sysroot/lib/libzmq.a"
}

build_sqlite() {
  cd "$work/sqlite3"
  make -f main.mk TOP=. BCC='gcc -O1' TCC=false TCLSH_CMD=tclsh NAWK=awk sqlite3.c  # one file of all sources
  $cc -O2 -DNDEBUG -DSQLITE_THREADSAFE=1 -DSQLITE_OMIT_LOAD_EXTENSION -c sqlite3.c -o sqlite3-windows.o
  cp sqlite3.h "$sysroot/include/"
  archive libsqlite3.a sqlite3-windows.o
}

build_xxhash() {
  cd "$work/xxhash"
  $cc -O3 -c xxhash.c -o xxhash-windows.o
  cp xxhash.h "$sysroot/include/"
  archive libxxhash.a xxhash-windows.o
}

build_utf8proc() {
  cd "$work/utf8proc"
  $cc -O2 -DUTF8PROC_STATIC -c utf8proc.c -o utf8proc-windows.o
  # There is no DLL here to import from, and whoever includes the header need not know.
  { printf '#ifndef UTF8PROC_STATIC\n#define UTF8PROC_STATIC\n#endif\n'; cat utf8proc.h; } >"$sysroot/include/utf8proc.h"
  archive libutf8proc.a utf8proc-windows.o
}

# Its own build makes tables and a header that stand ready in the source as well.
build_pcre2() {
  cd "$work/pcre2/src"
  cp config.h.generic config.h
  cp pcre2.h.generic pcre2.h
  cp pcre2_chartables.c.dist pcre2_chartables.c
  local part parts=(auto_possess chartables compile config context convert dfa_match error extuni find_bracket
    jit_compile maketables match match_data newline ord2utf pattern_info script_run serialize string_utils study
    substitute substring tables ucd valid_utf xclass)
  for part in "${parts[@]}"; do
    $cc -O2 -DHAVE_CONFIG_H -DPCRE2_CODE_UNIT_WIDTH=8 -DPCRE2_STATIC -DSUPPORT_UNICODE -I. \
      -c "pcre2_$part.c" -o "windows-$part.o"
  done
  cp pcre2.h "$sysroot/include/"
  archive libpcre2-8.a windows-*.o
}

build_expat() {
  cd "$work/expat"
  [ -d lib ] || cd expat  # where the release has its sources
  cd lib
  # What its configure script would find.
  printf '#define %s\n' 'BYTEORDER 1234' 'XML_NS 1' 'XML_DTD 1' 'XML_CONTEXT_BYTES 1024' >expat_config.h
  local part
  for part in xmlparse xmlrole xmltok; do
    $cc -O2 -DHAVE_EXPAT_CONFIG_H -DXML_STATIC -I. -c "$part.c" -o "windows-$part.o"
  done
  cp expat.h expat_external.h "$sysroot/include/"
  archive libexpat.a windows-*.o
}

copy_headers() {
  cp "$include/zmq.hpp" "$include/zmq_addon.hpp" "$sysroot/include/"
  local folder
  for folder in nlohmann doctest CLI toml++ spdlog fmt; do
    rm -rf "${sysroot:?}/include/$folder"
    cp -rL "$include/$folder" "$sysroot/include/"
  done
  # Debian splits httplib.h into a header and a shared library; its source has it whole.
  cp "$work/cpp-httplib/httplib.h" "$sysroot/include/"
  ln -sfn "$include/boost" "$sysroot/include/boost"
  # Its include folder is found from where the file lies, so it must lie here.
  cp -r /usr/share/cmake/nlohmann_json "$sysroot/share/cmake/"
}

unpack_tcl() {
  mkdir -p "$work/tcl"
  fetch_lists
  (cd "$work/tcl" && apt apt-get download tcl8.6 libtcl8.6) >"$work/tcl.log" 2>&1 || fail "Tcl could not be fetched; see $work/tcl.log."
  local package
  for package in "$work/tcl"/*.deb; do dpkg-deb -x "$package" "$work/tcl"; done
  ln -sf tclsh8.6 "$work/tcl/usr/bin/tclsh"
}

launcher=()
if command -v ccache >/dev/null; then
  launcher=(-DCMAKE_C_COMPILER_LAUNCHER=ccache -DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
fi

for package in zeromq3 sqlite3 xxhash utf8proc pcre2 expat cpp-httplib; do fetch_source "$package"; done
if ! command -v tclsh >/dev/null; then
  [ -e "$work/tcl/usr/bin/tclsh" ] || unpack_tcl
  export PATH=$work/tcl/usr/bin:$PATH
  export LD_LIBRARY_PATH=$work/tcl/usr/lib/$(dpkg-architecture -qDEB_HOST_MULTIARCH)
  export TCL_LIBRARY=$work/tcl/usr/share/tcltk/tcl8.6
fi
step libxxhash.a build_xxhash
step libutf8proc.a build_utf8proc
step libpcre2-8.a build_pcre2
step libexpat.a build_expat
step libsqlite3.a build_sqlite
step libzmq.a build_zmq
copy_headers

rm -rf "$work"
printf '%s\n' "$version" >"$sysroot/.complete"
say "$sysroot is complete."

#!/usr/bin/env bash
# Builds the VS Code extension with the language server inside: build/vscode/glm-host-VERSION-PLATFORM.vsix. Needs Node 20
# with npm (installer/setup.sh vscode), and a release build of glm-language-server, which it makes if it is not there.
#
#   installer/vscode/build.sh                     for this machine
#   GLM_LANGUAGE_SERVER=FILE installer/vscode/build.sh linux-x64     with that server, for that platform
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
root=$PWD
fail() { printf 'build.sh: %s\n' "$*" >&2; exit 1; }

command -v npm >/dev/null || fail "npm is not installed; installer/setup.sh vscode brings it."
node -e 'process.exit(+process.versions.node.split(".")[0] >= 18 ? 0 : 1)' || fail "Node 18 or newer is needed, 20 is best."

case $(uname -m) in x86_64) here=linux-x64 ;; aarch64) here=linux-arm64 ;; *) fail "VS Code does not run on $(uname -m)." ;; esac
platform=${1:-$here}
server=${GLM_LANGUAGE_SERVER:-$root/build/release/bin/glm-language-server}
if [ ! -x "$server" ]; then
  [ -z "${GLM_LANGUAGE_SERVER:-}" ] || fail "there is no program $server."
  cmake --preset release >/dev/null
  cmake --build --preset release --target glm-language-server
fi

# In a copy, so that nothing is left in the sources.
work=$root/build/vscode/work
mkdir -p "$work"
for part in package.json package-lock.json tsconfig.json .vscodeignore README.md src walkthrough; do
  rm -rf "${work:?}/$part"
  cp -r "vscode-bridge/extension/$part" "$work/"
done
cp LICENSE "$work/LICENSE.txt"
rm -rf "$work/server" "$work/dist"
mkdir -p "$work/server"
cp "$server" "$work/server/"
case $platform in win32-*) ;; *) chmod 755 "$work/server/"*; strip "$work/server/"* 2>/dev/null || true ;; esac

cd "$work"
# esbuild's program comes as a package of its own: no install script needs to run.
npm ci --ignore-scripts --no-audit --no-fund --silent
npx tsc --noEmit
npm run --silent bundle
version=$(node -p 'require("./package.json").version')
out=$root/build/vscode/glm-host-$version-$platform.vsix
npx vsce package --no-dependencies --target "$platform" --out "$out" >"$root/build/vscode/vsce.log" 2>&1 ||
  { tail -n 20 "$root/build/vscode/vsce.log" >&2; fail "the package could not be made."; }
printf '%s\n' "$out"

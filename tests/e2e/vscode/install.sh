#!/usr/bin/env bash
# A real VS Code for the tests, in build/vscode-tests: code-server (VS Code 1.100 as a web server) with the native modules
# that it needs, and Playwright. Needs Node 20 with its headers, a C++ compiler and Chromium (installer/setup.sh vscode).
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
folder=${1:-$here/../../../build/vscode-tests}
mkdir -p "$folder"
cd "$folder"
[ ! -e done ] || exit 0
export npm_config_audit=false npm_config_fund=false npm_config_update_notifier=false
# Headers beside the program, so that none have to be downloaded.
node_home=$(dirname "$(dirname "$(readlink -f "$(command -v node)")")")
[ ! -e "$node_home/include/node" ] || export npm_config_nodedir=$node_home
cp "$here/package.json" package.json
npm i --ignore-scripts --silent
npm i --ignore-scripts --silent --no-save code-server@4.100.3 playwright-core
npm rebuild argon2 --silent
cd node_modules/code-server/lib/vscode
npm i --ignore-scripts --omit=dev --silent
npm rebuild @vscode/spdlog native-watchdog --silent
ln -sfn node_modules node_modules.asar
touch "$folder/done"

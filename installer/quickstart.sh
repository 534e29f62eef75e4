#!/usr/bin/env bash
# From a fresh clone to a first answer: installs what is needed, builds, puts `glm` into ~/.local/bin, brings the default
# model, starts the daemon and asks it something. Safe to run again: what is done already is not done twice.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

model=smollm2-135m
bin="$HOME/.local/bin"

step() { printf '\n\033[1m== %s\033[0m\n' "$*"; }
[ -t 1 ] || step() { printf '\n== %s\n' "$*"; }
fail() { printf '\nquickstart.sh: %s\n' "$*" >&2; exit 1; }

# Each compiler takes up to a gigabyte.
jobs() {
  local cores memory_gb
  cores=$(nproc)
  memory_gb=$(awk '/MemAvailable/{print int($2 / 1000000)}' /proc/meminfo)
  [ "$memory_gb" -ge 1 ] || memory_gb=1
  echo $((cores < memory_gb ? cores : memory_gb))
}

step "Installing what the build needs"
installer/setup.sh build || fail "the packages could not be installed, so nothing was built."

step "Building (a few minutes the first time)"
log=build/quickstart.log
mkdir -p build || fail "this folder cannot be written to: clone the project where you may write."
if ! { cmake --preset release && cmake --build --preset release --target glm glm-language-server -j "$(jobs)"; } >"$log" 2>&1; then
  tail -n 30 "$log" >&2
  fail "the build failed; the whole log is in $log."
fi
build/release/bin/glm --version

step "Installing glm into $bin"
if [ -x "$bin/glm" ] && ! cmp -s build/release/bin/glm "$bin/glm"; then
  # A daemon of the old program would answer in the old way.
  "$bin/glm" stop 2>/dev/null || true
fi
mkdir -p "$bin" && cp build/release/bin/glm "$bin/.glm.new" && mv -f "$bin/.glm.new" "$bin/glm" ||
  fail "glm could not be copied to $bin. Check that you may write there."
cp build/release/bin/glm-language-server "$bin/.glm-language-server.new" &&
  mv -f "$bin/.glm-language-server.new" "$bin/glm-language-server" ||
  fail "glm-language-server could not be copied to $bin. Check that you may write there."
glm="$bin/glm"
echo "$glm"

step "Bringing the model $model (98 MB)"
"$glm" pull "$model" || fail "the model could not be brought. Without a network, copy a .gguf file and \`glm pull\` it."

step "Asking: Name three uses of a pivot table"
"$glm" run --max-tokens 120 "Name three uses of a pivot table" ||
  fail "there was no answer. \`$glm status\` and the sentences above tell more."

step "It works"
case ":$PATH:" in
  *":$bin:"*) ;;
  *) printf 'Add glm to your PATH (new logins may have it already):\n\n    export PATH="$HOME/.local/bin:$PATH"\n\n' ;;
esac
cat <<'END'
Next:

    glm run "Explain XLOOKUP in two sentences"
    cat notes.txt | glm run "Summarise"
    glm chat
    glm status                       # the daemon goes on in the background; glm stop ends it
    glm models --catalogue           # models for real work
    glm pull glm-4-9b-0414           # 6.2 GB; a good one for a machine with 12 GB

The model that was brought is a very small one, for trying things out: expect mistakes. README.md says which model suits
which machine.
END

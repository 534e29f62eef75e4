#!/usr/bin/env python3
"""Our speed against llama.cpp's on the same files in the same run, as ratios.

    tests/bench/speed.py MODEL.gguf [MODEL.gguf ...] [--runs 5] [--threads 2] [--prompt 512] [--generate 128]

Runs `glm bench` and llama.cpp in turn (A B A B ...), each run a process of its own, and prints one line a model: median
tokens per second of both and the median of the run-by-run ratios. llama.cpp is the prebuilt library inside the npm
package node-llama-cpp, fetched into build/peers on first use; the program that drives it is built from
../shared/peers/peerbench.c, so this needs a checkout with ../shared beside it.

Where it is allowed, both run at real-time priority, so that other jobs on the machine disturb neither.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PEERS = ROOT / "build" / "peers"
PACKAGE = "node-llama-cpp@3.22.1"
LIBRARY = PEERS / "node_modules/@node-llama-cpp/linux-x64/bins/linux-x64"
SOURCE = ROOT.parent / "shared/peers/peerbench.c"


def fetch_peer():
    """Returns the program that drives llama.cpp, built on first use."""
    program = PEERS / "peerbench"
    if not SOURCE.exists():
        sys.exit(f"speed.py: {SOURCE} is missing: the peer's driver is not part of this repository.")
    PEERS.mkdir(parents=True, exist_ok=True)
    if not LIBRARY.exists():
        (PEERS / "package.json").write_text('{"private": true}\n')
        subprocess.run(["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", PACKAGE], cwd=PEERS, check=True,
                       stdout=subprocess.DEVNULL)
    if not program.exists() or program.stat().st_mtime < SOURCE.stat().st_mtime:
        subprocess.run(["gcc", "-O2", "-w", "-o", program, SOURCE, "-ldl", "-lm"], check=True)
    return program


def realtime():
    """Command prefix for real-time priority, or nothing where the system refuses it."""
    prefix = ["chrt", "-f", "1"]
    try:
        allowed = subprocess.run(prefix + ["true"], stderr=subprocess.DEVNULL).returncode == 0
    except FileNotFoundError:
        allowed = False
    return prefix if allowed else []


def run_json(command, **environment):
    output = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env={**os.environ, **environment}).stdout
    return json.loads(output)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+", type=pathlib.Path)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--prompt", type=int, default=512)
    parser.add_argument("--generate", type=int, default=128)
    parser.add_argument("--glm", type=pathlib.Path, default=ROOT / "build/release/bin/glm")
    options = parser.parse_args()

    peer = fetch_peer()
    prefix = realtime()
    work = ["-p", str(options.prompt), "-n", str(options.generate), "-t", str(options.threads), "-r", "1"]
    print(f"{'model':34} {'prompt ours':>12} {'peer':>9} {'ratio':>6}   {'decode ours':>12} {'peer':>9} {'ratio':>6}")
    for model in options.models:
        ours, theirs = [], []
        for _ in range(options.runs):
            ours.append(run_json(prefix + [options.glm, "bench", "-m", model, *work, "--json"]))
            theirs.append(run_json(prefix + [peer, "--lib", LIBRARY, "-m", model, *work], LD_LIBRARY_PATH=str(LIBRARY)))
        line = f"{model.stem:34}"
        for our_key, peer_key in (("prompt_tps", "pp_tps_median"), ("decode_tps", "tg_tps_median")):
            mine = [run[our_key] for run in ours]
            other = [run[peer_key] for run in theirs]
            ratio = statistics.median(a / b for a, b in zip(mine, other))
            line += f" {statistics.median(mine):12.1f} {statistics.median(other):9.1f} {ratio:6.2f}  "
        print(line, flush=True)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""The engine's speed beside llama.cpp's, on the same files in the same run, as one table of ratios.

    tests/bench/engine.py [--runs 5] [--threads 2] [--only WORD] [--models FOLDER] [--openvino]

Work by work, `glm bench` and llama.cpp run in turn (A B A B ...), each run a process of its own; the table has the
median of both, the median of the run-by-run ratios, and our share of what this machine was measured to reach at most in
the same minute (`glm bench --limits`): of reading memory for answers, of arithmetic for prompts.

llama.cpp is the prebuilt library inside the npm package node-llama-cpp, OpenVINO GenAI a PyPI package; both are fetched
into build/peers on first use. The programs that drive them and the generator of models with random weights are in
../shared/peers, so this needs a checkout with ../shared beside it. The default model itself is read from --models.

Where it is allowed, all run at real-time priority, so that other jobs on the machine disturb none of them.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
PEERS = ROOT / "build" / "peers"
PACKAGE = "node-llama-cpp@3.22.1"
LIBRARY = PEERS / "node_modules/@node-llama-cpp/linux-x64/bins/linux-x64"
SHARED = ROOT.parent / "shared/peers"
DEFAULT_MODEL = "SmolLM2-135M-Instruct.Q4_1"


def fetch_peer():
    """Returns the program that drives llama.cpp, built on first use."""
    program, source = PEERS / "peerbench", SHARED / "peerbench.c"
    if not source.exists():
        sys.exit(f"engine.py: {source} is missing: the peer's driver is not part of this repository.")
    PEERS.mkdir(parents=True, exist_ok=True)
    if not LIBRARY.exists():
        (PEERS / "package.json").write_text('{"private": true}\n')
        subprocess.run(["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", PACKAGE], cwd=PEERS, check=True,
                       stdout=subprocess.DEVNULL)
    if not program.exists() or program.stat().st_mtime < source.stat().st_mtime:
        subprocess.run(["gcc", "-O2", "-w", "-o", program, source, "-ldl", "-lm"], check=True)
    return program


def openvino_python():
    python = PEERS / "openvino/bin/python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", PEERS / "openvino"], check=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", "openvino-genai"], check=True)
    return python


def model_file(name, folder):
    """smol135-Q8_0, glm4small-Q4_K, ...: random weights of a real shape, made on first use; others lie in `folder`."""
    if not name.startswith(("smol135-", "glm4small-")):
        return folder / f"{name}.gguf"
    preset, quantisation = name.split("-")
    file = PEERS / "models" / f"{name}.gguf"
    if not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        family = "llama" if preset == "smol135" else "glm4"
        subprocess.run([sys.executable, SHARED / "gen_gguf.py", family, file, "--preset", preset, "--type", quantisation],
                       check=True, stdout=subprocess.DEVNULL)
    return file


def realtime():
    """Command prefix for real-time priority, or nothing where the system refuses it."""
    prefix = ["chrt", "-f", "1"]
    try:
        allowed = subprocess.run(prefix + ["true"], stderr=subprocess.DEVNULL).returncode == 0
    except FileNotFoundError:
        allowed = False
    return prefix if allowed else []


def run_json(command, **environment):
    output = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                            env={**os.environ, **environment}).stdout
    return json.loads(output)


class Bench:
    def __init__(self, options):
        self.options = options
        self.peer = fetch_peer()
        self.prefix = realtime()
        self.threads = str(options.threads)

    def ours(self, model, *work, prefix=None, threads=None):
        return run_json((self.prefix if prefix is None else prefix) +
                        [self.options.glm, "bench", "-m", model, "-t", threads or self.threads, "-r", "1", "--json", *work])

    def theirs(self, model, *work, prefix=None, threads=None):
        return run_json((self.prefix if prefix is None else prefix) +
                        [self.peer, "--lib", LIBRARY, "-m", model, "-t", threads or self.threads, "-r", "1", *work],
                        LD_LIBRARY_PATH=str(LIBRARY))

    def limits(self):
        return run_json(self.prefix + [self.options.glm, "bench", "--limits", "-t", self.threads, "--json"])

    def per_token(self, model, tokens, phase):
        """Bytes and operations of one token, counted by the profile."""
        profile = run_json([self.options.glm, "profile", model, "-p", str(tokens), "-r", "1", "-t", self.threads, "--json",
                            "-o", "-"])[phase]
        sums = {key: sum(entry[key] for entry in profile["operations"]) / profile["tokens"] for key in ("bytes", "operations")}
        return sums["bytes"], sums["operations"]


def prompt(tokens):
    def run(bench, model):
        work = ("-p", str(tokens), "-n", "0")
        return bench.ours(model, *work)["prompt_tps"], bench.theirs(model, *work)["pp_tps_median"]
    return run


def decode(depth=0, sequences=1, tokens=64):
    def run(bench, model):
        work = ["-p", "0", "-n", str(tokens), "-d", str(depth), "-b", str(sequences)]
        return bench.ours(model, *work)["decode_tps"], bench.theirs(model, *work)["tg_tps_median"]
    return run


def rows(bench, model):
    """64 rows with a common prefix of 200 tokens. llama.cpp takes whole rows, one prompt each, and answers as one batch."""
    ours = bench.ours(model, "--shared-prefix", "200", "-p", "32", "-n", "16", "-b", "64")["rows_per_s"]
    peer = bench.theirs(model, "-p", "232", "-n", "16", "-b", "64")
    seconds = 64 * 232 / peer["pp_tps_median"] + 64 * 16 / peer["tg_tps_median"]
    return ours, 64 / seconds


def crowded(bench, model):
    """Answers while another program keeps every core: ours with all threads, llama.cpp with one."""
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(bench.options.threads)]
    try:
        time.sleep(0.3)
        work = ("-p", "0", "-n", "32")
        return (bench.ours(model, *work, prefix=[])["decode_tps"],
                bench.theirs(model, *work, prefix=[], threads="1")["tg_tps_median"])
    finally:
        for process in busy:
            process.kill()
            process.wait()


def load(bench, model):
    """Loads a second."""
    work = ("-p", "0", "-n", "1")
    return 1 / bench.ours(model, *work)["load_s"], 1 / max(bench.theirs(model, *work)["load_s"], 0.005)


# work, what, model, unit of the limit that binds
WORKS = [
    *[("prompt 512", prompt(512), model, "operations") for model in
      ("smol135-Q8_0", "smol135-Q4_0", DEFAULT_MODEL, "smol135-Q4_K", "glm4small-Q4_0", "glm4small-Q4_K", "glm4small-Q6_K")],
    ("prompt 2048", prompt(2048), "smol135-Q8_0", "operations"),
    *[("answer", decode(tokens=128), model, "bytes") for model in
      (DEFAULT_MODEL, "smol135-Q4_0", "smol135-Q8_0", "glm4small-Q4_0", "glm4small-Q4_K")],
    ("answer at depth 4096", decode(depth=4096, tokens=32), "glm4small-Q4_0", None),
    ("16 answers at once", decode(sequences=16), "glm4small-Q4_0", None),
    ("64 rows, prefix 200", rows, "glm4small-Q4_0", None),
    ("answer, cores taken", crowded, "smol135-Q8_0", None),
    ("loads a second", load, DEFAULT_MODEL, None),
]


def share(bench, model, unit, rate):
    if unit is None:
        return ""
    limits = bench.limits()
    tokens_bytes, operations = bench.per_token(model, 512, "prompt" if unit == "operations" else "decode")
    if unit == "bytes":
        return f"{rate * tokens_bytes / 1e9 / limits['memory_read_gb_per_s']['all_threads']:.0%}"
    best = max(limits[key]["all_threads"] for key in ("int8_gop_per_s", "bf16_tiles_gflop_per_s") if key in limits)
    return f"{rate * operations / 1e9 / best:.0%}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--only", default="", metavar="WORD", help="only works or models whose name has it")
    parser.add_argument("--models", type=pathlib.Path, default=ROOT / "build/models", help="where the default model lies")
    parser.add_argument("--openvino", action="store_true", help="prompts of the 135M shape beside OpenVINO GenAI too")
    parser.add_argument("--glm", type=pathlib.Path, default=ROOT / "build/release/bin/glm")
    options = parser.parse_args()

    bench = Bench(options)
    print("| work | model | ours | llama.cpp | ratio | share of the limit |\n|---|---|---:|---:|---:|---:|")
    for work, run, name, unit in WORKS:
        if options.only not in f"{work} {name}":
            continue
        model = model_file(name, options.models)
        if not model.exists():
            print(f"| {work} | {name} | not measured: {model} is not there | | | |")
            continue
        pairs = [run(bench, model) for _ in range(options.runs)]
        ours, theirs = (statistics.median(values) for values in zip(*pairs))
        ratio = statistics.median(a / b for a, b in pairs)
        print(f"| {work} | {name} | {ours:.1f} | {theirs:.1f} | {ratio:.2f} | {share(bench, model, unit, ours)} |", flush=True)
    if options.openvino:
        python = openvino_python()
        for name in (DEFAULT_MODEL, "smol135-Q8_0", "smol135-Q4_0"):
            model = model_file(name, options.models)
            pairs = []
            for _ in range(options.runs):
                ours = bench.ours(model, "-p", "480", "-n", "0")["prompt_tps"]
                theirs = run_json(bench.prefix + [python, SHARED / "ovbench.py", model, bench.threads, "1"])
                pairs.append((ours, theirs["pp_tps_median"]))
            ours, theirs = (statistics.median(values) for values in zip(*pairs))
            ratio = statistics.median(a / b for a, b in pairs)
            print(f"| prompt 480 against OpenVINO | {name} | {ours:.1f} | {theirs:.1f} | {ratio:.2f} | |", flush=True)


if __name__ == "__main__":
    main()

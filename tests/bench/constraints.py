#!/usr/bin/env python3
"""Token masks of ours against llguidance on the same texts, tokens and vocabulary in the same run.

    tests/bench/constraints.py [--glm build/release/bin/glm] [--vocabulary 131072] [--lines N] [FILE.jsonl]

FILE (default: ../shared/vectors/json-schema/maskbench-sample.jsonl) has one {"schema", "tests"} a line. Prints how many
schemas pass, what is wrong, and for both engines the time of one token mask (TBM) and of compiling with the first mask
(TTFM) in microseconds; then our time to compile a schema of 200 properties. llguidance comes from PyPI into a virtual
environment under build/ on first use; the vocabulary is made here, the same every time.
"""
import argparse
import ctypes
import json
import pathlib
import random
import re
import struct
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
VENV = ROOT / "build/venv-constraints"
SAMPLE = ROOT.parent / "shared/vectors/json-schema/maskbench-sample.jsonl"


def byte_letters():
    """GPT-2's spelling of bytes as letters."""
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    letters = {byte: chr(byte) for byte in plain}
    for byte in range(256):
        letters.setdefault(byte, chr(256 + len(letters) - len(plain)))
    return letters


def make_tokens(size, text):
    """Bytes, pairs and triples of letters, numbers, JSON's punctuation, the words of TEXT, and made-up words."""
    letters = "etaoinshrdlcumwfgypbvkjxqz"
    tokens = {bytes([b]): None for b in range(256)}
    merges = []
    for a in letters + letters.upper():
        for b in letters:
            tokens.setdefault((a + b).encode())
            merges.append((a.encode(), b.encode()))
    for a in letters[:12]:
        for b in letters[:12]:
            for c in letters:
                tokens.setdefault((a + b + c).encode())
                merges.append(((a + b).encode(), c.encode()))
    for number in range(1000):
        for width in (1, 2, 3):
            tokens.setdefault(b"%0*d" % (width, number))
    marks = ['"', "{", "}", "[", "]", ":", ",", "\\", "/", "-", ".", "_", "(", ")", "=", "<", ">", "#", "$", "'", "*", "!", "?"]
    runs = [a + b for a in marks for b in marks] + [a + b + c for a in marks[:8] for b in marks[:8] for c in marks[:8]]
    runs += ['":"', '","', '"},{"', '"}],"', '":{"', '":["', '":[{"', '"]},"', '"}},"', "://", "...", '""', '"},"']
    for run in runs:
        tokens.setdefault(run.encode())
        tokens.setdefault((" " + run).encode())
    for count in range(1, 40):
        tokens.setdefault(b" " * count)
        tokens.setdefault(b"\n" + b" " * count)
    for point in [*range(0xC0, 0x250), *range(0x390, 0x450), *range(0x3041, 0x30FF), *range(0x4E00, 0x6000)]:
        tokens.setdefault(chr(point).encode())
    counts = {}
    for word in re.findall(r" ?[A-Za-z]{2,20}", text):
        counts[word] = counts.get(word, 0) + 1
    for word in sorted(counts, key=lambda w: (-counts[w], w))[: size // 4]:
        tokens.setdefault(word.encode())
    made = random.Random(20)
    syllables = [a + b + c for a in "bcdfghklmnprstvw" for b in "aeiou" for c in ["", "n", "r", "s", "t", "l"]]
    while len(tokens) < size - 2:
        word = "".join(made.choice(syllables) for _ in range(made.randint(2, 4)))
        word = made.choice([word, " " + word, word.capitalize(), " " + word.capitalize()])
        tokens.setdefault(word.encode())
    return list(tokens)[: size - 2], merges


def write_vocabulary(path, tokens, merges):
    """A GGUF file of metadata only."""
    letters = byte_letters()

    def string(text):
        raw = text.encode()
        return struct.pack("<Q", len(raw)) + raw

    def spelled(raw):
        return "".join(letters[b] for b in raw)

    texts = [spelled(token) for token in tokens] + ["<|begin_of_text|>", "<|end_of_text|>"]
    types = [1] * len(tokens) + [3, 3]
    entries = [
        string("general.architecture") + struct.pack("<I", 8) + string("llama"),
        string("tokenizer.ggml.model") + struct.pack("<I", 8) + string("gpt2"),
        string("tokenizer.ggml.pre") + struct.pack("<I", 8) + string("llama-bpe"),
        string("tokenizer.ggml.tokens") + struct.pack("<IIQ", 9, 8, len(texts)) + b"".join(map(string, texts)),
        string("tokenizer.ggml.token_type") + struct.pack("<IIQ", 9, 5, len(types)) + struct.pack(f"<{len(types)}i", *types),
        string("tokenizer.ggml.merges") + struct.pack("<IIQ", 9, 8, len(merges))
        + b"".join(string(spelled(a) + " " + spelled(b)) for a, b in merges),
        string("tokenizer.ggml.bos_token_id") + struct.pack("<II", 4, len(tokens)),
        string("tokenizer.ggml.eos_token_id") + struct.pack("<II", 4, len(tokens) + 1),
    ]
    path.write_bytes(struct.pack("<IIQQ", 0x46554747, 3, 0, len(entries)) + b"".join(entries))


def quantiles(times):
    times = sorted(times)
    if not times:
        return {}
    return {"count": len(times), "average": sum(times) / len(times), "p50": times[len(times) // 2],
            "p99": times[min(int(len(times) * 0.99), len(times) - 1)]}


def run_peer(model_tokens, lines, ids):
    """In the virtual environment: llguidance on the same token ids. Prints one JSON object."""
    import llguidance

    class Vocabulary:
        eos_token_id = len(model_tokens) + 1
        bos_token_id = len(model_tokens)
        special_token_ids = [len(model_tokens), len(model_tokens) + 1]
        tokens = [*model_tokens, b"<|begin_of_text|>", b"<|end_of_text|>"]

        def __call__(self, text):
            return list(text)

    tokenizer = llguidance.LLTokenizer(llguidance.TokenizerWrapper(Vocabulary()), slices=llguidance.LLTokenizer.json_slices())
    words = (len(Vocabulary.tokens) + 31) // 32
    mask = (ctypes.c_uint32 * words)()
    address = ctypes.addressof(mask)
    masks, firsts, passing, refused, accepted, errors = [], [], 0, 0, 0, 0
    place = 0
    for line in lines:
        tests = line["tests"]
        start = time.thread_time()
        try:
            grammar = llguidance.LLMatcher.grammar_from_json_schema(line["schema"])
            matcher = llguidance.LLMatcher(tokenizer, grammar, log_level=0)
            failed = matcher.is_error()
            if not failed:
                matcher.unsafe_compute_mask_ptr(address, words * 4)
                failed = matcher.is_error()
        except ValueError:
            failed = True
        if failed:
            errors += 1
            place += len(tests)
            continue
        firsts.append((time.thread_time() - start) * 1e6)
        good = True
        for test in tests:
            walker = matcher.deep_copy()
            taken = True
            for token in ids[place]:
                start = time.thread_time()
                walker.unsafe_compute_mask_ptr(address, words * 4)
                masks.append((time.thread_time() - start) * 1e6)
                # Where its text is forced, llguidance's mask has one tokenisation only; the walk takes any.
                if not walker.consume_token(token):
                    taken = False
                    break
            else:
                start = time.thread_time()
                walker.unsafe_compute_mask_ptr(address, words * 4)
                masks.append((time.thread_time() - start) * 1e6)
                taken = walker.is_accepting()
            place += 1
            if taken != test["valid"]:
                good = False
                refused += test["valid"]
                accepted += not test["valid"]
        passing += good
    print(json.dumps({"passing": passing, "compile_errors": errors, "valid_refused": refused, "invalid_accepted": accepted,
                      "tbm_us": quantiles(masks), "ttfm_us": quantiles(firsts)}))


def many_properties(count):
    kinds = [{"type": "string", "maxLength": 80}, {"type": "integer", "minimum": 0, "maximum": 999}, {"type": "boolean"},
             {"type": "array", "items": {"type": "number"}, "maxItems": 8}, {"enum": ["low", "middle", "high"]},
             {"type": "string", "format": "date"}, {"type": "string", "pattern": "^[A-Z]{2}-[0-9]{4}$"},
             {"type": "object", "properties": {"x": {"type": "number"}, "y": {"type": "number"}}, "required": ["x"]}]
    properties = {f"property_{i}": kinds[i % len(kinds)] for i in range(count)}
    return {"type": "object", "properties": properties, "required": list(properties)[::2], "additionalProperties": False}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("file", nargs="?", type=pathlib.Path, default=SAMPLE)
    parser.add_argument("--glm", default=ROOT / "build/release/bin/glm")
    parser.add_argument("--vocabulary", type=int, default=131072)
    parser.add_argument("--lines", type=int, default=10**9)
    parser.add_argument("--peer", help=argparse.SUPPRESS)
    parser.add_argument("--failures", type=pathlib.Path, help="where to write what did not pass")
    options = parser.parse_args()
    text = options.file.read_text()
    lines = [json.loads(line) for line in text.splitlines() if line.strip()][: options.lines]
    tokens, merges = make_tokens(options.vocabulary, text)
    folder = ROOT / "build/bench"
    folder.mkdir(parents=True, exist_ok=True)
    if options.peer:
        return run_peer(tokens, lines, [json.loads(line) for line in pathlib.Path(options.peer).read_text().splitlines()])

    model = folder / "vocabulary.gguf"
    write_vocabulary(model, tokens, merges)
    part = folder / "schemas.jsonl"
    part.write_text("".join(json.dumps(line) + "\n" for line in lines))
    documents = folder / "documents.jsonl"
    documents.write_text("".join(json.dumps(json.dumps(test["data"], ensure_ascii=False, separators=(",", ":"))) + "\n"
                                 for line in lines for test in line["tests"]))
    ids = folder / "ids.jsonl"
    with ids.open("wb") as out:
        subprocess.run([options.glm, "tokenize", "-m", model, "--batch", documents], stdout=out, check=True)

    ours = json.loads(subprocess.run([options.glm, "grammar", "bench", "-m", model, part, "--json"], stdout=subprocess.PIPE,
                                     check=True).stdout)
    if options.failures:
        options.failures.write_text("".join(json.dumps(one) + "\n" for one in ours["failures"]))
    if not (VENV / "bin/python").exists():
        subprocess.run([sys.executable, "-m", "venv", VENV], check=True)
        subprocess.run([VENV / "bin/pip", "-q", "install", "llguidance"], check=True)
    peer = json.loads(subprocess.run([VENV / "bin/python", __file__, options.file, "--peer", ids, "--lines", str(options.lines),
                                      "--vocabulary", str(options.vocabulary)], stdout=subprocess.PIPE, check=True).stdout)
    total = ours["schemas"]
    print(f"ours:       {ours['passing']} of {total} schemas pass ({100 * ours['passing'] / total:.1f} %), compile errors "
          f"{ours['compile_errors']}, {ours['valid_refused']} of {ours['valid']} valid refused, "
          f"{ours['invalid_accepted']} of {ours['invalid']} invalid accepted")
    print(f"llguidance: {peer['passing']} of {total} schemas pass, {peer['compile_errors']} compile errors, "
          f"{peer['valid_refused']} valid refused, {peer['invalid_accepted']} invalid accepted")
    for name, key in (("one mask", "tbm_us"), ("compile and first mask", "ttfm_us")):
        for quantity in ("average", "p50", "p99"):
            mine, other = ours[key][quantity], peer[key][quantity]
            print(f"{name}, {quantity}: {mine:.1f} us, llguidance {other:.1f} us, ratio {mine / max(other, 1e-9):.2f}")

    schema = folder / "many.json"
    schema.write_text(json.dumps(many_properties(200)))
    answer = folder / "many.txt"
    answer.write_text("{")
    milliseconds = [json.loads(subprocess.run([options.glm, "grammar", "check", "-m", model, "--json-schema", schema, "--text-file",
                                               answer, "--json"], stdout=subprocess.PIPE, check=True).stdout)["compile_ms"]
                    for _ in range(5)]
    print(f"a schema of 200 properties compiles in {sorted(milliseconds)[2]:.1f} ms (median of 5)")


if __name__ == "__main__":
    main()

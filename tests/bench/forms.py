#!/usr/bin/env python3
"""What demanding a form of the answer costs, and whether it always holds.

    tests/bench/forms.py MODEL.gguf [--outputs 1000] [--real-outputs 20] [--only valid,overhead,compile,jump]

MODEL is the default model's file. Prints, one line each:

    valid      for each of twenty schemas, expressions and grammars: outputs that are right of all outputs, by the
               random-weight models in tests/data/models and by MODEL. jsonschema and re (or a parser written here) say
               what is right, never the program that made the outputs. An output that its budget of tokens cut is wrong.
    overhead   what a form costs a token, against a decode step of MODEL: median and 99th percentile
    compile    the time to compile a schema of 200 properties
    jump       the speed of an object of ten fields with jump-ahead and without, in bytes of answer a second

Needs jsonschema from PyPI, and the programs `glm` and `form_generator` (ninja -C build/release form_generator).
"""
import argparse
import datetime
import json
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

import jsonschema

ROOT = pathlib.Path(__file__).resolve().parents[2]
SMALL = sorted((ROOT / "tests/data/models").glob("*.gguf"))


def closed(**properties):
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def nested(depth):
    schema = {"type": "null"}
    for _ in range(depth):
        schema = {"anyOf": [{"type": "null"}, closed(v={"type": "integer", "minimum": 0, "maximum": 99}, next=schema)]}
    return schema


LABELS = [f"label {number:05} 标签" for number in range(10_000)]
TEN_FIELDS = closed(
    identifier={"type": "string", "pattern": "^[A-Z]{2}[0-9]{4}$"}, given_name={"type": "string", "pattern": "^[A-Z][a-z]{2,8}$"},
    family_name={"type": "string", "pattern": "^[A-Z][a-z]{2,8}$"}, date_of_birth={"type": "string", "format": "date"},
    age={"type": "integer", "minimum": 0, "maximum": 120}, is_administrator={"type": "boolean"},
    department={"enum": ["engineering", "marketing", "research", "human resources"]}, country={"enum": ["Germany", "France", "Poland"]},
    salary={"type": "number", "minimum": 0, "maximum": 99999, "multipleOf": 0.5}, remark={"type": ["null", "boolean"]})

SCHEMAS = {
    "ten fields": TEN_FIELDS,
    "deep objects": nested(12),
    "deep arrays": {"$ref": "#/$defs/d0", "$defs": {
        **{f"d{i}": {"anyOf": [{"type": "boolean"}, {"type": "array", "items": {"$ref": f"#/$defs/d{i + 1}"}, "maxItems": 2}]} for i in range(6)},
        "d6": {"type": "null"}}},
    "CJK keys": closed(名前={"type": "string", "maxLength": 6}, 城市={"enum": ["北京", "上海", "東京"]}, 나이={"type": "integer", "minimum": 1, "maximum": 150}),
    "10,000 labels": {"enum": LABELS},
    "numeric ranges": closed(a={"type": "integer", "minimum": -1234, "maximum": 98765}, b={"type": "number", "exclusiveMinimum": -0.5, "maximum": 3.25},
                             c={"type": "integer", "minimum": 10, "multipleOf": 7, "maximum": 10**9}, d={"type": "number", "minimum": 0.125, "maximum": 0.25}),
    "counted patterns": closed(a={"type": "string", "pattern": "^([0-9a-f]{4}-){3}[0-9a-f]{4}$"}, b={"type": "string", "pattern": "^(ab|cd){2,7}x?$"}),
    "unions": {"type": "array", "minItems": 2, "maxItems": 4, "items": {"anyOf": [
        {"type": "null"}, {"type": "integer", "minimum": -9, "maximum": 9}, closed(kind={"const": "circle"}, r={"type": "integer", "minimum": 1, "maximum": 50}),
        closed(kind={"const": "square"}, side={"type": "boolean"})]}},
    "formats": closed(d={"type": "string", "format": "date"}, t={"type": "string", "format": "time", "maxLength": 20},
                      u={"type": "string", "format": "uuid"}, m={"type": "string", "format": "email", "maxLength": 24}),
    "lengths": closed(s={"type": "string", "minLength": 3, "maxLength": 9}, a={"type": "array", "items": {"type": "boolean"}, "minItems": 3, "maxItems": 5}),
    "optional": {"type": "object", "additionalProperties": False, "properties": {k: {"type": "boolean"} for k in "abcdefgh"}, "minProperties": 2},
    "dependent": {"type": "object", "additionalProperties": False, "properties": {k: {"type": "null"} for k in "abc"}, "dependentRequired": {"a": ["c"]}},
    "one of": {"oneOf": [closed(a={"type": "boolean"}), closed(b={"type": "integer", "minimum": 0, "maximum": 9})]},
    "all of": {"allOf": [{"type": "integer", "minimum": 3}, {"maximum": 4000}, {"multipleOf": 5}]},
    "prefix items": {"type": "array", "prefixItems": [{"type": "boolean"}, {"enum": ["x", "y"]}], "items": {"type": "null"}, "minItems": 2, "maxItems": 4},
}


FORMATS = jsonschema.FormatChecker(["email", "uuid"])


@FORMATS.checks("date", raises=ValueError)
def is_date(text):  # Python's dates begin with the year 1, those of RFC 3339 with 0
    return datetime.date.fromisoformat("2000" + text[4:] if text.startswith("0000") else text) is not None


@FORMATS.checks("time")  # of RFC 3339; jsonschema's own is that of an old draft
def is_time(text):
    return re.fullmatch(r"([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)(\.\d+)?([Zz]|[+-]([01]\d|2[0-3]):[0-5]\d)", text) is not None


def is_balanced(text):
    depth = 0
    for byte in text:
        depth += {"(": 1, ")": -1}.get(byte, 0)
        if depth < 0:
            return False
    return depth == 0 and set(text) <= set("()xyz")


def is_sum(text):
    return re.fullmatch(r"\d{1,3}([-+*]\d{1,3}){0,5} = \d{1,4}", text) is not None


# What must hold, and how it is checked.
FORMS = {name: ({"kind": "json_schema", "text": json.dumps(schema)}, schema) for name, schema in SCHEMAS.items()}
FORMS["address"] = ({"kind": "regex", "text": r"(25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(\.(25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)){3}"},
                    lambda text: all(part == str(int(part)) and int(part) < 256 for part in text.split(".")) and text.count(".") == 3)
FORMS["counted regex"] = ({"kind": "regex", "text": "([a-c]{3,17}[0-9]{2}){2,4}[一-龥]{1,3}"},
                          lambda text: re.fullmatch("([a-c]{3,17}[0-9]{2}){2,4}[一-龥]{1,3}", text) is not None)
FORMS["balanced"] = ({"kind": "grammar", "text": "root ::= a{1,3}\n" + "".join(
    f'{"abcdefg"[i]} ::= [xyz]{{1,2}} | "(" {"abcdefg"[i + 1]}{{0,2}} ")"\n' for i in range(6)) + "g ::= [xyz]\n"}, is_balanced)
FORMS["sum"] = ({"kind": "grammar", "text": 'root ::= n ([-+*] n){0,5} " = " [0-9]{1,4}\nn ::= [0-9]{1,3}\n'}, is_sum)
FORMS["choices"] = ({"kind": "choice", "choices": ["a", "ab", "abc", "a, b", '"', "是", "是的"]},
                    lambda text: text in ("a", "ab", "abc", "a, b", '"', "是", "是的"))


def validator(rule):
    if callable(rule):
        return rule
    checked = jsonschema.Draft202012Validator(rule, format_checker=FORMATS)
    labels = set(rule["enum"]) if len(rule.get("enum", ())) > 1000 else None

    def is_right(text):
        try:
            value = json.loads(text)
        except ValueError:
            return False
        return value in labels if labels else checked.is_valid(value)

    return is_right


def generate(options, model, requests, *flags):
    with tempfile.TemporaryFile() as file:
        file.write("".join(json.dumps(request) + "\n" for request in requests).encode())
        file.seek(0)
        output = subprocess.run([options.generator, model, *flags], stdin=file, check=True, stdout=subprocess.PIPE).stdout
    return [json.loads(line) for line in output.splitlines()]


def valid(options):
    for model, count in [*((path, options.outputs) for path in SMALL), (options.model, options.real_outputs)]:
        good = asked = 0
        for name, (form, rule) in FORMS.items():
            is_right = validator(rule)
            requests = [{"id": seed, "seed": seed, "prompt": "Answer: ", "form": form, "max_tokens": 700, "temperature": 1.0} for seed in range(count)]
            results = generate(options, model, requests)
            right = sum(r["finish_reason"] == "stop" and is_right(r["content"]) for r in results)
            wrong = next((r for r in results if r["finish_reason"] != "stop" or not is_right(r["content"])), None)
            good, asked = good + right, asked + count
            distinct = len({r["content"] for r in results})
            if wrong or options.verbose:
                print(f"valid  {model.stem}  {name}: {right} of {count}, {distinct} distinct", f"wrong: {wrong}" if wrong else "", flush=True)
        print(f"valid  {model.stem}: {good} of {asked} outputs of {len(FORMS)} forms", flush=True)


def percentile(values, part):
    return sorted(values)[min(len(values) - 1, int(len(values) * part))]


def overhead(options):
    free = [{"id": seed, "seed": seed, "prompt": "Tell me a story.", "max_tokens": 60, "temperature": 1.0} for seed in range(4)]
    steps = [us for result in generate(options, options.model, free, "--alone", "--cost") for us in result["step_us"]]
    requests = [{"id": name, "seed": seed, "prompt": "Answer: ", "form": form, "max_tokens": 120, "temperature": 1.0}
                for seed in range(3) for name, (form, _) in FORMS.items()]
    results = generate(options, options.model, requests, "--cost")
    masks = [us for result in results for us in result["mask_us"]]
    samples = [us for result in results for us in result["sample_us"]]
    step = statistics.median(steps)
    for what, costs in (("mask", masks), ("mask and sampling", [a + b for a, b in zip(masks, samples)])):
        for name, part in (("median", 0.5), ("p99", 0.99)):
            value = percentile(costs, part)
            print(f"overhead  {what}, {name}: {value:.1f} us a token, {value / step:.2%} of a decode step of {step:.0f} us ({len(costs)} tokens)", flush=True)


def compile_time(options):
    kinds = [{"type": "string"}, {"type": "integer", "minimum": 0}, {"type": "boolean"}, {"enum": ["a", "b"]}, {"type": "array", "items": {"type": "number"}},
             {"type": "string", "format": "date"}, {"type": "string", "pattern": "^[a-z]{2,9}$"}, closed(x={"type": "number"}, y={"type": "number"})]
    schema = closed(**{f"property_{i}": kinds[i % len(kinds)] for i in range(200)})
    times = []
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "s.json").write_text(json.dumps(schema))
        (pathlib.Path(folder) / "t.txt").write_text("{")
        for _ in range(7):
            shown = subprocess.run([options.glm, "grammar", "check", "-m", options.model, "--json-schema", f"{folder}/s.json",
                                    "--text-file", f"{folder}/t.txt", "--json"], stdout=subprocess.PIPE).stdout
            times.append(json.loads(shown)["compile_ms"])
    print(f"compile  200 properties: {statistics.median(times):.1f} ms", flush=True)


def jump(options):
    form = {"kind": "json_schema", "text": json.dumps(TEN_FIELDS)}
    requests = [{"id": seed, "seed": seed, "prompt": "A person: ", "form": form, "max_tokens": 400, "temperature": 0.8} for seed in range(6)]
    ratios = []
    for _ in range(5):
        speeds = []
        for flags in ((), ("--no-jump-ahead",)):
            results = generate(options, options.model, requests, "--alone", *flags)
            assert all(result["finish_reason"] == "stop" for result in results)
            speeds.append(sum(len(r["content"].encode()) for r in results) / sum(r["ms"] for r in results) * 1000)
        ratios.append(speeds[0] / speeds[1])
    print(f"jump  ten fields: {statistics.median(ratios):.2f}x as fast as without ({speeds[0]:.0f} against {speeds[1]:.0f} bytes/s in the last of "
          f"{len(ratios)} runs; {min(ratios):.2f} .. {max(ratios):.2f})", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=pathlib.Path)
    parser.add_argument("--outputs", type=int, default=1000, help="of each form and random-weight model (1000)")
    parser.add_argument("--real-outputs", type=int, default=20, help="of each form and MODEL (20)")
    parser.add_argument("--only", default="overhead,compile,jump,valid")
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("--glm", type=pathlib.Path, default=ROOT / "build/release/bin/glm")
    parser.add_argument("--generator", type=pathlib.Path, default=ROOT / "build/release/bin/form_generator")
    options = parser.parse_args()
    if not options.generator.exists():
        sys.exit(f"forms.py: {options.generator} is missing: build it with `ninja -C build/release form_generator`.")
    for name in options.only.split(","):
        {"valid": valid, "overhead": overhead, "compile": compile_time, "jump": jump}[name](options)


if __name__ == "__main__":
    main()

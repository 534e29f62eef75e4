"""tokenize, render and logits against reference vectors; models and files that are none. No daemon."""

import array
import hashlib
import math
import unittest

from harness import *

FAMILIES = "glm-4.6 glm-4.7-flash glm-5.2 glm-4-9b-chat glm-z1 glm-edge smollm2 gemma-3 llama-3.1".split()
KINDS = "gpt-2 smollm llama-bpe glm4 chatglm-bpe qwen2 deepseek-v3 spm".split()
ARCHITECTURES = ("llama", "chatglm", "glm4", "gemma3")


def fnv1a64(ids):
    value = 0xCBF29CE484222325
    for byte in array.array("I", ids).tobytes():
        value = (value ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return f"{value:016x}"


def expected_matches(case, field, ids):
    """Long results are stored as count, ends and hash."""
    if field in case:
        return case[field] == ids
    return (case[field + "_n"], case[field + "_head"], case[field + "_tail"], case[field + "_fnv1a64"].removeprefix("0x")) == (
        len(ids), ids[:8], ids[-8:], fnv1a64(ids))


def has(case, field):
    return field in case or field + "_n" in case


@needs_shared("vectors/tokenizers")
class TokenizerVectors(TestCase):
    def encode(self, kind, texts, markers):
        lines = "\n".join(json.dumps(text) for text in texts)
        result = self.succeeds("tokenize", "-m", SHARED / "vectors/tokenizers" / kind / "vocab.gguf", "--markers", markers,
                               "--batch", self.file("batch.jsonl", lines), timeout=300)
        return [json.loads(line) for line in result.stdout.split("\n")[:-1]]

    def test_ids_are_those_of_the_reference(self):
        for kind in KINDS:
            data = json.loads((SHARED / "vectors/tokenizers" / kind / "cases.json").read_text())
            cases = data["cases"]
            texts = [c["text"] if "text" in c else c["repeat"][0] * c["repeat"][1] for c in cases]
            for markers, field, fallback in [("user-defined", "ids", None), ("all", "ids_special", "ids"), ("none", "ids_plain", "ids")]:
                with self.subTest(kind=kind, markers=markers):
                    for case, ids in zip(cases, self.encode(kind, texts, markers), strict=True):
                        wanted = field if has(case, field) else fallback
                        self.assertTrue(wanted and expected_matches(case, wanted, ids), (case["tag"], ids[:40]))

    def test_bytes_that_are_no_text_are_taken(self):
        for kind in KINDS:
            data = json.loads((SHARED / "vectors/tokenizers" / kind / "cases.json").read_text())
            inputs = [{"hex": case["hex"]} for case in data["bytes"]]
            for case, ids in zip(data["bytes"], self.encode(kind, inputs, "none"), strict=True):
                if case.get("per_byte", kind == "spm") and has(case, "ids"):
                    self.assertTrue(expected_matches(case, "ids", ids), (kind, case["hex"], ids[:40]))


@needs_shared("vectors/templates")
class TemplateVectors(TestCase):
    def test_prompts_are_those_of_the_vendors_templates(self):
        for family in FAMILIES:
            cases = json.loads((SHARED / "vectors/templates" / family / "cases.json").read_text())["cases"]
            # Tools come with a later version.
            cases = [c for c in cases if c.get("tools") is None and "rendered" in c and "tool" not in json.dumps(c["messages"])]
            self.assertGreater(len(cases), 15)
            lines = []
            for case in cases:
                request = {k: case[k] for k in ("messages", "add_generation_prompt", "continue_final_message") if k in case}
                if case.get("enable_thinking") is not None:
                    request["enable_thinking"] = case["enable_thinking"]
                lines.append(json.dumps({**request, **(case.get("kwargs") or {})}))
            result = self.glm("render", "--family", family, "--batch", self.file("batch.jsonl", "\n".join(lines)))
            for case, line in zip(cases, result.stdout.split("\n")[:-1], strict=True):
                with self.subTest(family=family, case=case["name"]):
                    self.assertEqual(json.loads(line), case["rendered"])


class Render(TestCase):
    REQUEST = {"messages": [{"role": "user", "content": "Hi"}], "add_generation_prompt": True}

    def test_the_prompt_is_printed_as_it_is(self):
        expected = "<|im_start|>system\nYou are a helpful AI assistant named SmolLM, trained by Hugging Face<|im_end|>\n" \
                   "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n"
        request = self.file("request.json", json.dumps(self.REQUEST))
        self.assertEqual(self.succeeds("render", "--family", "smollm2", "--request", request).stdout, expected)
        piped = self.succeeds("render", "--family", "smollm2", "--request", "-", "--json", input=json.dumps(self.REQUEST))
        self.assertEqual(json.loads(piped.stdout), expected)

    @needs_model
    def test_a_models_own_template_is_found(self):
        request = self.file("request.json", json.dumps(self.REQUEST))
        by_model = self.succeeds("render", "-m", DEFAULT_MODEL, "--request", request).stdout
        self.assertEqual(by_model, self.succeeds("render", "--family", "smollm2", "--request", request).stdout)

    def test_a_request_that_cannot_be_rendered_is_told(self):
        self.fails(USAGE, "render", "--family", "glm-4.8", "--request", "-", says=["no family", "glm-4.6"])
        self.fails(USAGE, "render", "--family", "smollm2", "--request", "-", input="{", says="not valid JSON")
        self.fails(USAGE, "render", "--family", "smollm2", "--request", "-", input='{"messages": 5}', says="messages")
        self.fails(USAGE, "render", "--family", "smollm2", "--request", self.home.path / "absent", says="There is no file")
        self.fails(USAGE, "render", "--family", "smollm2", "--request", self.home.path, says="is a folder")
        self.fails(USAGE, "render", "--family", "smollm2", says="--request or --batch")

    def test_one_bad_line_does_not_spoil_a_batch(self):
        lines = [json.dumps(self.REQUEST), "{", "", json.dumps(self.REQUEST)]
        result = self.glm("render", "--family", "smollm2", "--batch", "-", input="\n".join(lines))
        self.assertEqual(result.returncode, USAGE)
        answers = [json.loads(line) for line in result.stdout.split("\n")[:-1]]
        self.assertEqual([type(a) for a in answers], [str, dict, str])
        self.assertIn("JSON", answers[1]["error"])


@needs_model
class Tokenize(TestCase):
    def test_json_and_lines_hold_the_same_ids(self):
        text = self.file("text 文.txt", "Hello, wörld!\n<|im_start|>")
        ids = json.loads(self.succeeds("tokenize", "-m", DEFAULT_MODEL, "--text-file", text, "--json").stdout)["ids"]
        lines = self.succeeds("tokenize", "-m", DEFAULT_MODEL, "--text-file", text).stdout.splitlines()
        self.assertEqual([int(line.split("\t")[0]) for line in lines], ids)
        self.assertEqual("".join(json.loads(line.split("\t")[1]) for line in lines), text.read_text())

    def test_a_users_text_forges_no_marker(self):
        def ids(markers):
            return json.loads(self.succeeds("tokenize", "-m", DEFAULT_MODEL, "--json", "--markers", markers, "--", "<|im_start|>").stdout)["ids"]
        self.assertEqual(ids("all"), [1])
        self.assertGreater(len(ids("none")), 3)
        self.assertNotIn(1, ids("none"))
        self.home.add_default_model()
        self.assertEqual(json.loads(self.succeeds("tokenize", "--json", "<|im_start|>").stdout)["ids"], ids("none"))

    def test_bad_input_is_told(self):
        self.fails(USAGE, "tokenize", "-m", DEFAULT_MODEL, says="in one way")
        self.fails(USAGE, "tokenize", "-m", DEFAULT_MODEL, "a", "--batch", "-", says="in one way")
        for line in ("5", '{"hex": "0"}', '{"hex": "zz"}', '{"hexa": "00"}', "nonsense", '["a"]'):
            self.fails(USAGE, "tokenize", "-m", DEFAULT_MODEL, "--batch", "-", input='"fine"\n' + line, says="Line 2 of the batch")
        self.fails(USAGE, "tokenize", "-m", DEFAULT_MODEL, "--markers", "some", "x", says="none, user-defined, all")

    def test_a_megabyte_of_one_word_is_tokenised(self):
        word = self.file("word.txt", "a" * 1_000_000)
        ids = json.loads(self.succeeds("tokenize", "-m", DEFAULT_MODEL, "--text-file", word, "--json", timeout=60).stdout)["ids"]
        self.assertGreater(len(ids), 1000)


class Logits(TestCase):
    def compare(self, name, *flags, limit):
        vector = json.loads((SHARED / f"vectors/models/{name}.json").read_text())
        out = self.home.path / "logits 文.f32"
        self.succeeds("logits", "-m", SHARED / f"vectors/models/{name}.gguf", "--tokens", ",".join(map(str, vector["tokens"])),
                      "--out", out, "-t", "2", *flags)
        ours = array.array("f", out.read_bytes())
        theirs = array.array("f", (SHARED / f"vectors/models/{name}.logits.f32").read_bytes())
        self.assertEqual(len(ours), vector["rows"] * vector["vocab"])
        self.assertEqual(len(ours), len(theirs))
        worst = max(abs(a - b) if math.isfinite(a) else math.inf for a, b in zip(ours, theirs))
        self.assertLessEqual(worst, limit, name)

    @needs_shared("vectors/models")
    def test_exact_logits_are_those_of_the_reference(self):
        names = [p.stem for p in sorted((SHARED / "vectors/models").glob("*.gguf"))]
        tested = [n for n in names if n.startswith(tuple(a + "-" for a in ARCHITECTURES))]
        self.assertGreaterEqual(len(tested), 9)
        for name in tested:
            with self.subTest(name=name):
                self.compare(name, "--exact", limit=1e-4)

    @needs_shared("vectors/models")
    def test_bad_tokens_are_told(self):
        model = SHARED / "vectors/models/llama-a.gguf"
        out = self.home.path / "out"
        for tokens, says in [("1,x", "`x` is no id"), ("-1", "no id"), ("1,,2", "no id"), ("1,", "no id"), ("", "no token"),
                             ("512", "vocabulary of 512"), ("99999999999", "no id")]:
            with self.subTest(tokens=tokens):
                self.fails(USAGE, "logits", "-m", model, "--tokens", tokens, "--out", out, says=says)
        many = ",".join(["1"] * 20_000)
        self.fails(TOO_LARGE, "logits", "-m", model, "--tokens", many, "--out", out, says="more than the model's context")
        self.fails(FAILURE, "logits", "-m", model, "--tokens", "1", "--out", "/no/such/folder/x", says="cannot be written")
        self.fails(FAILURE, "logits", "-m", model, "--tokens", ",".join(["1"] * 50), "--out", "/dev/full", says="disk full")
        self.fails(USAGE, "logits", "-m", model, says="needs --tokens and --out")


class FilesThatAreNoModels(TestCase):
    """Each by name, with every verb that opens one."""

    def refused(self, path, code, says):
        for verb in (["tokenize", "--json", "hello"], ["logits", "--tokens", "1", "--out", self.home.path / "o"]):
            with self.subTest(verb=verb[0], path=str(path)):
                self.fails(code, *verb, "-m", path, says=says)

    def test_wrong_paths(self):
        self.refused(self.home.path / "absent.gguf", NO_MODEL, "There is no file")
        self.refused(self.home.path, NO_MODEL, "is a folder")
        self.refused("smollm2-135m", NO_MODEL, "glm pull smollm2-135m")
        self.refused("no-such-model", NO_MODEL, "glm models")
        self.refused("../../etc/passwd", NO_MODEL, "There is no file")

    def test_other_kinds_of_files(self):
        self.refused(self.file("notes.gguf", "just some text\n" * 50), LOAD_FAILED, "text")
        self.refused(self.file("zero.gguf", b""), LOAD_FAILED, "")
        header = b'{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}'.ljust(100)
        self.refused(self.file("m.safetensors", struct.pack("<Q", 100) + header + b"\0\0\0\0"), LOAD_FAILED, "safetensors")
        self.refused(self.file("zip.gguf", b"PK\3\4" + b"\0" * 500), LOAD_FAILED, "")

    @needs_model
    def test_a_file_cut_short(self):
        whole = DEFAULT_MODEL.read_bytes()
        for length in (3, 20, 1000, 1_000_000, len(whole) // 2, len(whole) - 1):
            self.refused(self.file("cut.gguf", whole[:length]), LOAD_FAILED, "")

    def test_an_unknown_architecture_or_type_is_named(self):
        unknown = gguf([text_value("general.architecture", "warpdrive")], [("token_embd.weight", (32, 4), 0, b"\0" * 512)])
        self.fails(LOAD_FAILED, "logits", "-m", self.file("a.gguf", unknown), "--tokens", "1", "--out", self.home.path / "o", says="warpdrive")
        kind = gguf([text_value("general.architecture", "llama")], [("token_embd.weight", (256, 4), 16, b"\0" * 264)])
        self.fails(LOAD_FAILED, "logits", "-m", self.file("t.gguf", kind), "--tokens", "1", "--out", self.home.path / "o", says="IQ2_XXS")
        self.fails(LOAD_FAILED, "tokenize", "x", "-m", self.file("n.gguf", gguf([text_value("general.architecture", "llama")])), says="")

    def test_a_model_that_cannot_be_used_is_listed_with_the_reason(self):
        self.home.store.mkdir(parents=True)
        (self.home.store / "broken.gguf").write_bytes(b"GGUF")
        listed = json.loads(self.succeeds("models", "--json").stdout)
        self.assertEqual(listed[0]["name"], "broken")
        self.assertTrue(listed[0]["error"].endswith((".", "`")))
        self.assertIn("broken cannot be used", self.succeeds("models").stdout)


class Models(TestCase):
    def test_an_empty_store_says_how_to_fill_it(self):
        self.assertIn("glm pull smollm2-135m", self.succeeds("models").stdout)
        self.assertEqual(json.loads(self.succeeds("models", "--json").stdout), [])

    def test_the_catalogue_says_what_cannot_run_yet(self):
        entries = {e["name"]: e for e in json.loads(self.succeeds("models", "--catalogue", "--json").stdout)}
        self.assertTrue(entries["glm-4-9b-0414"]["runs"])
        self.assertFalse(entries["glm-4.7-flash"]["runs"])
        self.assertNotIn("gemma3-270m", entries)
        text = self.succeeds("models", "--catalogue").stdout
        self.assertIn("glm-4.7-flash cannot run yet", text)

    @needs_model
    def test_family_template_and_architecture_are_shown(self):
        self.home.add_default_model()
        if GEMMA_MODEL.exists():
            self.home.add_model(GEMMA_MODEL, "gemma3-270m.gguf")
        listed = {e["name"]: e for e in json.loads(self.succeeds("models", "--json").stdout)}
        small = listed["smollm2-135m"]
        self.assertEqual((small["architecture"], small["tokenizer"], small["chat_template"]), ("llama", "smollm", "smollm2"))
        self.assertNotIn("error", small)
        if GEMMA_MODEL.exists():
            self.assertEqual(listed["gemma3-270m"]["architecture"], "gemma3")

    def test_a_read_only_home_still_lists(self):
        self.home.path.chmod(0o500)
        self.addCleanup(self.home.path.chmod, 0o700)
        self.succeeds("models")
        self.succeeds("models", "--catalogue")


if __name__ == "__main__":
    unittest.main()

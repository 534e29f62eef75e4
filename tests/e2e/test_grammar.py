"""glm grammar: schemas, regular expressions and grammars tested on texts, with a vocabulary-only file."""

import unittest

from harness import *

VOCABULARY = ROOT / "tests/data/tokenizers/llama-bpe/vocab.gguf"


class Grammar(TestCase):
    def write(self, name, content):
        path = self.home.path / name
        path.write_text(content if isinstance(content, str) else json.dumps(content, ensure_ascii=False))
        return path

    def check(self, text, *constraint):
        result = self.succeeds("grammar", "check", "-m", VOCABULARY, *constraint, "--text-file", self.write("text", text), "--json")
        return json.loads(result.stdout)

    def test_a_schema_takes_what_is_valid_and_says_where_it_stops(self):
        schema = self.write("schema.json", {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]})
        answer = self.check('{"n": 12}', "--json-schema", schema)
        self.assertEqual((answer["accepted"], answer["complete"], answer["position"]), (True, True, 9))
        for key in ("compile_ms", "mask_us_p50", "mask_us_p99"):
            self.assertGreaterEqual(answer[key], 0)
        self.assertEqual(self.check('{"n": 1', "--json-schema", schema)["complete"], False)
        refused = self.check('{"n": "x"}', "--json-schema", schema)
        self.assertEqual((refused["accepted"], refused["complete"]), (False, False))
        self.assertLessEqual(refused["position"], 6)

    def test_regex_and_grammar(self):
        self.assertTrue(self.check("AB-12", "--regex", "[A-Z]{2}-[0-9]+")["complete"])
        self.assertFalse(self.check("AB-", "--regex", "[A-Z]{2}-[0-9]+")["complete"])
        grammar = self.write("g.gbnf", 'root ::= "(" root ")" | "x"')
        self.assertTrue(self.check("((x))", "--grammar", grammar)["complete"])
        self.assertFalse(self.check("((x)))", "--grammar", grammar)["accepted"])

    def test_what_cannot_be_used_is_told(self):
        schema = self.write("schema.json", {"type": "array", "uniqueItems": True})
        text = self.write("text", "x")
        base = ("grammar", "check", "-m", VOCABULARY, "--text-file", text)
        self.fails(USAGE, *base, "--json-schema", schema, says="uniqueItems")
        self.fails(USAGE, *base, "--regex", "(", says="regular expression")
        self.fails(USAGE, *base, "--grammar", self.write("g", "root ::= a"), says="not defined")
        self.fails(USAGE, *base, says="--json-schema")
        self.fails(USAGE, "grammar", says="check")
        self.fails(USAGE, "grammar", "bench", "-m", VOCABULARY, self.write("bad.jsonl", "[1]\n"), says="Line 1")

    def test_bench_counts(self):
        lines = [
            {"file": "a", "schema": {"type": "integer"}, "tests": [{"valid": True, "data": 1}, {"valid": False, "data": "x"}]},
            {"file": "b", "schema": {"uniqueItems": True}, "tests": []},
            {"file": "c", "schema": {"type": "string"}, "tests": [{"valid": True, "data": 5}]},
            {"file": "d", "schema": {"type": "string"}, "tests": [{"valid": False, "data": "s"}]},
        ]
        file = self.write("lines.jsonl", "".join(json.dumps(line) + "\n" for line in lines))
        answer = json.loads(self.succeeds("grammar", "bench", "-m", VOCABULARY, file, "--json").stdout)
        self.assertEqual((answer["passing"], answer["valid_refused"], answer["invalid_accepted"]), (1, 1, 1))
        self.assertEqual(answer["compile_errors"], {"uniqueItems": 1})
        for key in ("average", "p50", "p99"):
            self.assertGreater(answer["tbm_us"][key], 0)
            self.assertGreater(answer["ttfm_us"][key], 0)


if __name__ == "__main__":
    unittest.main()

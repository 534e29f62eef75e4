"""`glm render --template`: any chat template on requests; and which template a model is used with."""

import json
import unittest

from harness import DEFAULT_MODEL, OK, SHARED, USAGE, TestCase, needs_model, needs_shared

VECTORS = SHARED / "vectors/templates"
CHATML = (
    "{% for m in messages %}{{ '<|im_start|>' + m.role + '\n' + m.content + '<|im_end|>\n' }}{% endfor %}\n"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}\n"
)


def request_of(case, file):
    """What transformers would pass to the template, as one line."""
    request = {key: case[key] for key in ("messages", "tools", "add_generation_prompt", "continue_final_message", "kwargs") if key in case}
    if case.get("enable_thinking") is not None:
        request["enable_thinking"] = case["enable_thinking"]
    return json.dumps({**request, **file["special"], "now": file["now"]})


@needs_shared("vectors/templates")
class VendorsTemplates(TestCase):
    def test_every_reference_case_is_rendered_byte_for_byte(self):
        count = 0
        for folder in sorted(path.parent for path in VECTORS.glob("*/cases.json")):
            file = json.loads((folder / "cases.json").read_text())
            batch = self.file("batch.jsonl", "\n".join(request_of(case, file) for case in file["cases"]))
            for name in file["files"]:
                result = self.glm("render", "--template", VECTORS / "files" / name, "--batch", batch)
                self.assertEqual(result.returncode, USAGE if any("error" in case for case in file["cases"]) else OK)
                for case, line in zip(file["cases"], result.stdout.split("\n")[:-1], strict=True):
                    with self.subTest(template=name, case=case["name"]):
                        expected = {"error": case["error"]} if "error" in case else case["rendered"]
                        self.assertEqual(json.loads(line), expected)
                        count += 1
        self.assertGreater(count, 700)


class Template(TestCase):
    REQUEST = {"messages": [{"role": "user", "content": "Hi"}]}

    def template(self, source):
        return self.file("template.jinja", source)

    def test_a_template_file_renders_a_request(self):
        request = self.file("request.json", json.dumps(self.REQUEST))
        result = self.succeeds("render", "--template", self.template(CHATML), "--request", request)
        self.assertEqual(result.stdout, "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n")

    def test_a_request_that_raises_is_one_line_of_many(self):
        source = "{% if messages[0].content == 'no' %}{{ raise_exception('Not so.') }}{% endif %}{{ messages[0].content }}"
        lines = [json.dumps({"messages": [{"role": "user", "content": text}]}) for text in ("a", "no", "b")]
        lines.insert(1, '{"messages": 5}')
        result = self.glm("render", "--template", self.template(source), "--batch", "-", input="\n".join(lines))
        self.assertEqual(result.returncode, USAGE)
        answers = [json.loads(line) for line in result.stdout.split("\n")[:-1]]
        self.assertEqual([answers[0], *answers[2:]], ["a", {"error": "Not so."}, "b"])
        self.assertIn("messages must be a list", answers[1]["error"])

    def test_a_syntax_error_names_line_and_column(self):
        broken = self.template("ok\n  {% if x %}")
        self.fails(USAGE, "render", "--template", broken, "--request", "-", input=json.dumps(self.REQUEST),
                   says=["line 2, column", "endif"])

    def test_hostile_templates_stop_at_their_limit(self):
        for source, limit in [
            ("{% for a in 'x' * 9999 %}{% for b in 'x' * 9999 %}{% endfor %}{% endfor %}", "stopped in line 1"),
            ("{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}", "nests more than"),
            ("{{ 'x' * 10 ** 12 }}", "MiB of text"),
            ("{{ ''.__class__ }}", "is unsafe"),
        ]:
            with self.subTest(source=source):
                self.fails(USAGE, "render", "--template", self.template(source), "--request", "-",
                           input=json.dumps(self.REQUEST), says=limit)

    def test_flags_that_exclude_each_other(self):
        self.fails(USAGE, "render", "--family", "smollm2", "--template", "x", "--request", "-", says="--family")
        self.fails(USAGE, "render", "--template", self.home.path / "absent", "--request", "-", says="There is no file")

    @needs_model
    def test_special_tokens_come_from_the_model(self):
        source = "{{ bos_token }}|{{ eos_token }}|{{ messages[0].content }}"
        arguments = ["render", "-m", DEFAULT_MODEL, "--template", self.template(source), "--request", "-"]
        result = self.succeeds(*arguments, input=json.dumps(self.REQUEST))
        self.assertEqual(result.stdout, "<|im_start|>|<|im_end|>|Hi")

    @needs_model
    def test_a_model_renders_a_request_as_it_stands(self):
        request = json.dumps({"messages": [{"role": "system", "content": " a "}, {"role": "user", "content": "b\n"}]})
        result = self.succeeds("render", "-m", DEFAULT_MODEL, "--request", "-", input=request)
        self.assertEqual(result.stdout, "<|im_start|>system\n a <|im_end|>\n<|im_start|>user\nb\n<|im_end|>\n<|im_start|>assistant\n")


if __name__ == "__main__":
    unittest.main()

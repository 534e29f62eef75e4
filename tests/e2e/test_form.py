"""Answers of a demanded form from the real model: `glm run --json-schema`, `--choice`, `--regex`, `--grammar`, `--type`
and `--tools`. What the answers must be is checked by Python's own json and re, and by jsonschema where it is installed."""

import re
import unittest

from harness import *

try:
    import jsonschema
except ImportError:
    jsonschema = None

PERSON = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "minLength": 1, "maxLength": 20},
        "age": {"type": "integer", "minimum": 0, "maximum": 120},
        "born": {"type": "string", "format": "date"},
        "e-mail": {"type": "string", "format": "email", "maxLength": 30},
        "height": {"type": "number", "minimum": 0.5, "maximum": 2.5, "multipleOf": 0.125},
        "城市": {"enum": ["北京", "上海", "Paris"]},
        "tags": {"type": "array", "items": {"type": "string", "pattern": "^[a-z]{2,8}$"}, "minItems": 1, "maxItems": 3},
    },
    "required": ["name", "age", "born", "e-mail", "height", "城市", "tags"],
    "additionalProperties": False,
}
TREE = {"$ref": "#/$defs/tree", "$defs": {"tree": {"type": "object", "additionalProperties": False, "required": ["v", "next"], "properties": {
    "v": {"type": "integer", "minimum": 0, "maximum": 9}, "next": {"anyOf": [{"type": "null"}, {"$ref": "#/$defs/tree"}]}}}}}


def satisfies(value, schema):
    if jsonschema is None:
        return True
    return jsonschema.Draft202012Validator(schema, format_checker=jsonschema.FormatChecker()).is_valid(value)


@needs_model
class Form(DaemonTestCase):
    def answer(self, *arguments, **options):
        """One that is complete; stdout holds it and nothing but a line end."""
        result = self.succeeds("run", "--max-tokens", "400", *arguments, **options)
        self.assertEqual(result.stderr, "")
        return result.stdout.removesuffix("\n")

    def seeds(self, count, *arguments, **options):
        return [self.answer("--temperature", "1.3", "--seed", str(seed), *arguments, **options) for seed in range(count)]

    def refused(self, *arguments, says, **options):
        return self.fails(USAGE, "run", *arguments, "Hello", says=says, **options)

    def schema(self, schema):
        return self.file("schema.json", json.dumps(schema) if isinstance(schema, (dict, bool)) else schema)

    def refused_schema(self, schema, says):
        return self.refused("--json-schema", self.schema(schema), says=says)

    def refused_grammar(self, grammar, says):
        return self.refused("--grammar", self.file("grammar.gbnf", grammar), says=says)

    # --- every flag

    def test_a_schema(self):
        file = self.schema(PERSON)
        for text in [self.answer("--json-schema", file, "Invent a person"), *self.seeds(4, "--json-schema", file, "Invent a person")]:
            person = json.loads(text)
            self.assertEqual(list(person), list(PERSON["properties"]))
            self.assertTrue(satisfies(person, PERSON), text)
            self.assertNotIn("\n", text)

    def test_a_schema_that_refers_to_itself(self):
        file = self.schema(TREE)
        complete = 0
        for seed in range(6):
            result = self.glm("run", "--temperature", "1", "--seed", str(seed), "--max-tokens", "300", "--json-schema", file, "A list of two numbers, then null")
            if result.returncode == INCOMPLETE:  # nothing says where the list ends
                self.assertTrue(result.stdout.startswith('{"v": '), result.stdout)
                continue
            self.assertTrue(satisfies(json.loads(result.stdout), TREE), result.stdout)
            complete += 1
        self.assertGreater(complete, 0)

    def test_a_schema_from_stdin(self):
        text = self.answer("--json-schema", "-", "Is the sky blue?", input='{"type": "boolean"}')
        self.assertIn(text, ("true", "false"))

    def test_choices(self):
        labels = ["positive", "negative", "neutral"]
        for text in self.seeds(5, "--choice", ",".join(labels), "The mood of: I like it"):
            self.assertIn(text, labels)
        self.assertEqual(self.answer("--choice", "only", "Say it"), "only")
        spaced = self.answer("--choice", "yes , no", "Is water wet?")
        self.assertIn(spaced, ("yes", "no"))

    def test_choices_with_commas_and_quotes_are_given_one_by_one(self):
        labels = ["yes, of course", "no, never", 'he said "no"', " leading blank"]
        flags = [part for label in labels for part in ("--choice", label)]
        for text in self.seeds(5, *flags, "Is water wet?"):
            self.assertIn(text, labels)

    def test_choices_that_begin_alike(self):
        labels = ["a", "ab", "abc", "abcd abcd", "abcd"]
        said = self.seeds(25, "--choice", ",".join(labels), "--top-k", "0", "Say one of a, ab, abc")
        self.assertLessEqual(set(said), set(labels))
        self.assertGreater(len(set(said)), 1)

    def test_choices_beyond_ascii(self):
        labels = ["积极", "消极", "中性", "żółć", "🙂"]
        said = self.seeds(6, "--choice", ",".join(labels), "心情")
        self.assertLessEqual(set(said), set(labels))

    def test_ten_thousand_choices(self):
        labels = [f"label{number:05}" for number in range(10_000)]
        said = self.seeds(3, "--choice", ",".join(labels), "Pick one")
        self.assertLessEqual(set(said), set(labels))

    def test_a_regular_expression(self):
        for regex in (r"[A-Z]{2}-\d{4}", r"(\d{1,3}\.){3}\d{1,3}", r"(ab|cd){2,5}x?", r"[一-龥]{1,4}。", r"^\w{1,6} \w{1,6}$"):
            pattern = re.compile(regex)
            for text in self.seeds(2, "--regex", regex, "Answer"):
                self.assertTrue(pattern.fullmatch(text), (regex, text))

    def test_a_grammar(self):
        grammar = 'root ::= sum\nsum ::= term (("+" | "-") term){0,4}\nterm ::= [0-9]{1,3} | "(" sum ")"\n'
        file = self.file("sum.gbnf", grammar)
        for text in [*self.seeds(4, "--grammar", file, "A sum"), self.answer("--grammar", "-", "A sum", input=grammar)]:
            self.assertTrue(re.fullmatch(r"[0-9+()-]+", text), text)
            self.assertIsInstance(eval(re.sub(r"\b0+(?=\d)", "", text)), int)

    def test_a_grammar_around_a_schema(self):
        file = self.file("call.gbnf", 'root ::= "call " name " with " %json {"type": "object", "properties": {"n": {"type": "integer", "minimum": 1, '
                         '"maximum": 9}}, "required": ["n"], "additionalProperties": false} ";"\nname ::= "f" | "g"\n')
        for text in self.seeds(3, "--grammar", file, "Call something"):
            self.assertRegex(text, r'^call [fg] with \{"n": [1-9](\.0)?\};$')

    def test_types(self):
        self.assertIsInstance(json.loads(self.answer("--type", "number", "What is 2+2?")), (int, float))
        self.assertRegex(self.answer("--type", "date", "When did the war end?"), r"^\d{4}-[01]\d-[0-3]\d$")
        self.assertIn(self.answer("--type", "boolean", "Is water wet?"), ("true", "false"))
        items = self.glm("run", "--type", "list", "--max-tokens", "400", "Name three fish")
        if items.returncode == OK:
            self.assertIsInstance(json.loads(items.stdout), list)
        else:
            self.assertEqual(items.returncode, INCOMPLETE)
        for seed in range(3):
            grid = self.glm("run", "--type", "grid", "--temperature", "1", "--seed", str(seed), "--max-tokens", "300", "Numbers, please")
            if grid.returncode == OK:
                rows = json.loads(grid.stdout)
                self.assertEqual(len({len(row) for row in rows}), 1)

    # --- around them

    def test_an_answer_that_is_cut_has_an_exit_code_of_its_own(self):
        file = self.schema(PERSON)
        result = self.glm("run", "--json-schema", file, "--max-tokens", "5", "Invent a person")
        self.assertEqual(result.returncode, INCOMPLETE, result.stderr)
        self.assertIn("--max-tokens", result.stderr)
        shown = self.glm("run", "--json", "--json-schema", file, "--max-tokens", "5", "Invent a person")
        self.assertEqual(shown.returncode, INCOMPLETE)
        self.assertEqual(json.loads(shown.stdout)["finish_reason"], "length")
        self.assertEqual(json.loads(shown.stdout)["error"]["code"], "incomplete")
        self.assertIn("--max-tokens", shown.stderr)
        again = self.glm("run", "--json", "--json-schema", file, "--max-tokens", "5", "Invent a person")
        self.assertEqual(again.returncode, INCOMPLETE)
        self.assertTrue(json.loads(again.stdout)["from_memo"])

    def test_the_deadline_is_no_success(self):
        file = self.file("long.gbnf", 'root ::= [a-z ]{2000,3000} "."')
        self.fails(DEADLINE, "run", "--deadline", "1", "--max-tokens", "4000", "--grammar", file, "Write")

    def test_the_json_object(self):
        shown = json.loads(self.succeeds("run", "--json", "--choice", "a,b", "Pick").stdout)
        self.assertIn(shown["content"], ("a", "b"))
        self.assertEqual(shown["finish_reason"], "stop")
        self.assertEqual(shown["tool_calls"], [])

    def test_the_form_is_part_of_what_is_remembered(self):
        first = json.loads(self.succeeds("run", "--json", "--choice", "a,b", "Remember").stdout)
        second = json.loads(self.succeeds("run", "--json", "--choice", "a,b", "Remember").stdout)
        other = json.loads(self.succeeds("run", "--json", "--choice", "c,d", "Remember").stdout)
        self.assertTrue(second["from_memo"])
        self.assertEqual(first["content"], second["content"])
        self.assertFalse(other["from_memo"])
        self.assertIn(other["content"], ("c", "d"))

    def test_raw_prompts_have_forms_too(self):
        text = self.answer("--raw", "--choice", "Thursday,Tuesday", "Monday, Tuesday, Wednesday, ")
        self.assertEqual(text, "Thursday")

    def test_a_form_that_allows_everything_changes_nothing(self):
        prompt = ("--temperature", "0.9", "--max-tokens", "40", "--no-memo", "--seed")
        for seed in range(3):
            free = json.loads(self.succeeds("run", "--json", *prompt, str(seed), "Tell a tale").stdout)
            formed = json.loads(self.glm("run", "--json", *prompt, str(seed), "--regex", r"[\s\S]*", "Tell a tale").stdout)
            self.assertEqual(free["content"], formed["content"])

    @needs_gemma
    def test_a_base_model_has_forms_too(self):
        text = self.answer("-m", GEMMA_MODEL, "--raw", "--json-schema", self.schema({"type": "array", "items": {"type": "integer"}, "maxItems": 3}), "[1, 2,")
        self.assertIsInstance(json.loads(text), list)

    # --- bad input, by name

    def test_schemas_that_nothing_satisfies(self):
        self.refused_schema({"type": "object", "properties": {"a": {"$ref": "#"}}, "required": ["a"]}, "schema")
        self.refused_schema({"$ref": "#"}, "refers to itself")
        self.refused_schema({"type": "integer", "minimum": 5, "maximum": 4}, "contradicts")
        self.refused_schema({"type": "string", "enum": [1, 2]}, "contradicts")
        self.refused_schema({"allOf": [{"type": "string"}, {"type": "number"}]}, "contradicts")
        self.refused_schema(False, "contradicts")
        self.refused_schema({"type": "array", "minItems": 3, "maxItems": 2}, "contradicts")
        self.refused_schema({"enum": []}, "enum")

    def test_schemas_that_are_wrong(self):
        self.refused_schema("", "JSON")
        self.refused_schema("{", "JSON")
        self.refused_schema("[]", "schema")
        self.refused_schema({"type": "strnig"}, "strnig")
        self.refused_schema({"type": "string", "pattern": "("}, "expression `(`")
        self.refused_schema({"$ref": "#/$defs/nothing"}, "nothing")
        self.refused_schema('{"type": "number", "minimum": NaN}', "JSON")
        self.refused_schema('{"type": "number", "maximum": Infinity}', "JSON")
        self.refused_schema({"type": "number", "minimum": "3"}, "minimum")
        self.refused("--json-schema", "/no/such/file.json", says="/no/such/file.json")
        self.refused("--json-schema", self.file("latin.json", b'{"const": "\xe4"}'), says="UTF-8")

    def test_keywords_that_are_not_supported_are_named(self):
        self.refused_schema({"type": "array", "uniqueItems": True}, "uniqueItems")
        self.refused_schema({"$dynamicRef": "#x"}, "$dynamicRef")
        self.refused_schema({"$ref": "https://example.com/schema.json"}, "https://example.com/schema.json")
        self.refused_schema({"$schema": "https://example.com/dialect"}, "https://example.com/dialect")

    def test_grammars_that_are_wrong(self):
        self.refused_grammar('root ::= root "a" | "b"', ["root", "left"])
        self.refused_grammar('root ::= a\na ::= b "x"\nb ::= a | "y"', "left")
        self.refused_grammar("root ::= item", "item")
        self.refused_grammar('root ::= "a"\nroot ::= "b"', "root")
        self.refused_grammar('start ::= "a"', "root")
        self.refused_grammar('root ::= "a', "line 1")
        self.refused_grammar('root ::= "a" root', "end")
        self.refused_grammar("", "root")

    def test_regular_expressions_that_are_wrong(self):
        for regex in ("(", "[a", "a{3,1}", "*"):
            self.refused("--regex", regex, says="regular expression")
        self.refused("--regex", "a(?=b)", says="look")
        self.refused("--regex", r"(a)\1", says="reference")
        self.refused("--regex", "(a|b)*a(a|b){25}", says="regular expression")
        self.refused("--regex", "((a{1,1000}){1,1000}){1,1000}", says="regular expression")
        self.refused("--regex", "[^\\s\\S]", says="No text matches")

    def test_choices_that_are_wrong(self):
        self.refused("--choice", "", says="empty")
        self.refused("--choice", "a,,b", says="empty")
        self.refused("--type", "colour", says="colour")

    def test_a_million_alternatives(self):
        grammar = "root ::= " + " | ".join(f'"w{number}"' for number in range(1_000_000)) + "\n"
        result = self.glm("run", "--grammar", self.file("large.gbnf", grammar), "Pick", timeout=120)
        if result.returncode == OK:
            self.assertRegex(result.stdout, r"^w\d{1,6}\n$")
        else:
            self.assertEqual(result.returncode, USAGE)
            self.assertRegex(result.stderr, r"^glm: .*\.\n$")
        self.assertEqual(self.answer("--choice", "alive", "Still there?"), "alive")

    def test_forms_that_exclude_each_other(self):
        self.refused("--choice", "a,b", "--type", "number", says="one form")
        self.refused("--regex", "a", "--stop", "b", says="--stop")
        self.refused("--regex", "a", "--tools", self.file("tools.json", "[]"), says="--tools")


@needs_model
class Tools(DaemonTestCase):
    WEATHER = {"type": "function", "function": {"name": "get_weather", "description": "The weather of a city", "parameters": {
        "type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}}}

    # The default model's own template has no place for tools. This one shows so many calls that even a model which was not
    # made for them goes on with one.
    TEMPLATE = """{%- if tools %}{{- 'Tools: ' + (tools | tojson) + '\\n' }}{%- endif %}{%- for city in ['Paris', 'Rome', 'Berlin', 'Madrid', 'Oslo'] %}
{{- city + ': <tool_call>{"name": "get_weather", "arguments": {"city": "' + city + '"}}</tool_call>\\n' }}{%- endfor %}
{{- messages[0]['content'] + ':' }}"""

    def test_a_model_without_a_place_for_tools_says_so(self):
        file = self.file("tools.json", json.dumps([self.WEATHER]))
        self.fails(USAGE, "run", "--tools", file, "The weather in Paris?", says=["tools", "smollm2"])

    def test_tools_reach_the_prompt_and_calls_come_back_as_calls(self):
        model = self.file("with-tools.gguf", with_chat_template(DEFAULT_MODEL, self.TEMPLATE))
        file = self.file("tools.json", json.dumps([self.WEATHER]))
        prompt = "London"
        with_tools = json.loads(self.succeeds("run", "--json", "-m", model, "--tools", file, "--max-tokens", "60", prompt).stdout)
        without = json.loads(self.succeeds("run", "--json", "-m", model, "--max-tokens", "60", prompt).stdout)
        self.assertGreater(with_tools["usage"]["prompt_tokens"], without["usage"]["prompt_tokens"] + 20)
        self.assertEqual(without["tool_calls"], [])
        self.assertIn("<tool_call>", without["content"])
        self.assertNotIn("<tool_call>", with_tools["content"])
        self.assertTrue(with_tools["tool_calls"])
        for call in with_tools["tool_calls"]:
            self.assertEqual(set(call), {"id", "name", "arguments", "status", "problem", "source"})
        first = with_tools["tool_calls"][0]
        self.assertEqual((first["name"], first["status"]), ("get_weather", "complete"))
        self.assertIsInstance(first["arguments"]["city"], str)
        again = json.loads(self.succeeds("run", "--json", "-m", model, "--tools", file, "--max-tokens", "60", prompt).stdout)
        self.assertTrue(again["from_memo"])
        self.assertEqual(again["tool_calls"], with_tools["tool_calls"])

    def test_files_of_tools_that_are_wrong(self):
        for text, says in (("{", "JSON"), ("5", "list"), ("[5]", "tools"), ('[{"type": "function"}]', "tools")):
            self.fails(USAGE, "run", "--tools", self.file("tools.json", text), "Hello", says=says)
        self.fails(USAGE, "run", "--raw", "--tools", self.file("tools.json", "[]"), "Hello", says="--raw")

    # --- held to their form. Templates of three ways to write calls; the prompts are as short as can be.
    TOOLS = [
        {"type": "function", "function": {"name": "get_weather", "description": "The weather of a city", "parameters": {
            "type": "object", "additionalProperties": False, "required": ["city", "days"], "properties": {
                "city": {"type": "string", "minLength": 1, "maxLength": 20}, "days": {"type": "integer", "minimum": 1, "maximum": 7},
                "unit": {"enum": ["celsius", "fahrenheit"]}}}}},
        {"type": "function", "function": {"name": "add", "description": "Adds two numbers", "parameters": {
            "type": "object", "additionalProperties": False, "required": ["a", "b"], "properties": {
                "a": {"type": "number", "minimum": -1000, "maximum": 1000, "multipleOf": 0.5},
                "b": {"anyOf": [{"type": "null"}, {"type": "string", "pattern": "^[0-9]{1,3}$"}]}}}}},
        {"type": "function", "function": {"name": "now"}},
    ]
    WAYS = {
        "tagged": "{# <tool_call> #}",
        "tags": "{# <tool_call> <arg_key> #}",
        "bare": "{# <|python_tag|> #}",
    }

    def caller(self, way):
        template = self.WAYS[way] + "{%- if tools %}{{- 'Tools: ' + (tools | tojson) + '\\n' }}{%- endif %}{{- messages[0]['content'] + '\\n' }}"
        return self.file(f"{way}.gguf", with_chat_template(DEFAULT_MODEL, template))

    def check_call(self, call):
        self.assertEqual((call["status"], call["problem"]), ("complete", ""), call)
        schema = {tool["function"]["name"]: tool["function"].get("parameters", {"maxProperties": 0}) for tool in self.TOOLS}[call["name"]]
        self.assertTrue(satisfies(call["arguments"], schema), call)

    def called(self, model, *arguments):
        file = self.file("tools.json", json.dumps(self.TOOLS))
        shown = json.loads(self.succeeds("run", "--json", "-m", model, "--tools", file, "--max-tokens", "1500", *arguments, "London").stdout)
        self.assertEqual(shown["content"], "")
        self.assertEqual(shown["finish_reason"], "tool_calls")
        for call in shown["tool_calls"]:
            self.check_call(call)
        return shown["tool_calls"]

    def test_a_call_can_be_demanded(self):
        for way in self.WAYS:
            model = self.caller(way)
            for seed in range(4):
                self.assertTrue(self.called(model, "--tool-choice", "required", "--temperature", "1.2", "--seed", str(seed)))
            for name in ("get_weather", "add", "now"):
                calls = self.called(model, "--tool-choice", name)
                self.assertEqual([call["name"] for call in calls], [name])
        file = self.file("tools.json", json.dumps(self.TOOLS))
        lines = self.succeeds("run", "-m", model, "--tools", file, "--tool-choice", "now", "London").stdout.splitlines()
        self.assertEqual([json.loads(line) for line in lines], calls)

    def test_the_model_may_not_call_a_tool(self):
        model = self.caller("tagged")
        file = self.file("tools.json", json.dumps(self.TOOLS))
        said = [json.loads(self.succeeds("run", "--json", "-m", model, *flags, "--max-tokens", "20", "London").stdout)
                for flags in ((), ("--tools", file, "--tool-choice", "none"))]
        self.assertEqual(said[0]["content"], said[1]["content"])
        self.assertEqual(said[1]["tool_calls"], [])

    def test_a_call_that_is_cut_off(self):
        file = self.file("tools.json", json.dumps(self.TOOLS))
        for way in self.WAYS:
            arguments = ("run", "-m", self.caller(way), "--tools", file, "--tool-choice", "get_weather", "--max-tokens", "18", "London")
            shown = self.glm(*arguments, "--json")
            self.assertEqual(shown.returncode, INCOMPLETE, shown.stderr)
            self.assertEqual([call["status"] for call in json.loads(shown.stdout)["tool_calls"]], ["cut_off"], shown.stdout)
            self.assertEqual(self.glm(*arguments).returncode, INCOMPLETE)

    def test_a_tool_whose_schema_cannot_be_kept(self):
        broken = {"type": "object", "required": ["x"], "properties": {"x": {"type": "integer", "minimum": 5, "maximum": 3}}}
        unsupported = {"type": "object", "properties": {"x": {"type": "array", "uniqueItems": True}}}
        for way in self.WAYS:
            model = self.caller(way)
            for schema, says in ((broken, ["`bad`", "contradicts"]), (unsupported, ["`bad`", "uniqueItems"]), ({"type": "array"}, ["`bad`", "object"])):
                file = self.file("tools.json", json.dumps([*self.TOOLS, {"name": "bad", "parameters": schema}]))
                self.fails(USAGE, "run", "-m", model, "--tools", file, "London", says=says)

    def test_choices_of_a_tool_that_are_wrong(self):
        file = self.file("tools.json", json.dumps(self.TOOLS))
        self.fails(USAGE, "run", "--tools", file, "--tool-choice", "subtract", "Hello", says=["subtract", "get_weather, add, now"])
        self.fails(USAGE, "run", "--tool-choice", "required", "Hello", says="--tools")
        self.fails(USAGE, "run", "--tools", self.file("none.json", "[]"), "--tool-choice", "required", "Hello", says="tools")
        self.fails(USAGE, "run", "--tools", file, "--tool-choice", "required", "--stop", "x", "Hello", says="stop")


if __name__ == "__main__":
    unittest.main()

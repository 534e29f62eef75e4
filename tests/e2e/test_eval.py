"""`glm eval`: one expression, a file of them, mistakes."""

import json
import unittest

from harness import *


class Eval(TestCase):
    def value(self, expression):
        return json.loads(self.succeeds("eval", "--json", "--", expression).stdout)

    def test_each_type_has_its_name(self):
        for expression, kind, value in [
            ("1+2*3", "number", 7), ("1/4", "number", 0.25), ("-2^2", "number", 4), ("\"a\"&\"b\"", "text", "ab"), ("1=1", "boolean", True),
            ("DATE(2024,1,10)", "date", 45301), ("1/0", "error", "#DIV/0!"), ("IF(TRUE,\"\")", "text", ""), ("LEN(\"😀\")", "number", 2),
            ("=PMT(0,10,1000)", "number", -100), ("1e300*10", "number", 1e301),
        ]:
            with self.subTest(expression=expression):
                self.assertEqual(self.value(expression), {"type": kind, "value": value})

    def test_an_array_is_rows_of_values(self):
        self.assertEqual(
            self.value("{1,\"x\";TRUE,#N/A}"),
            {"type": "array", "value": [
                [{"type": "number", "value": 1}, {"type": "text", "value": "x"}],
                [{"type": "boolean", "value": True}, {"type": "error", "value": "#N/A"}]]})
        self.assertEqual(self.succeeds("eval", "{1,2;3,4}").stdout, "1\t2\n3\t4\n")

    def test_a_plain_value_is_what_a_cell_shows(self):
        for expression, shown in [
            ("1/4", "0.25"), ("\"a b\"", "a b"), ("TRUE", "TRUE"), ("NA()", "#N/A"), ("DATE(2024,1,10)", "2024-01-10"),
            ("DATE(2024,1,10)+TIME(6,30,0)", "2024-01-10 06:30:00"), ("TEXT(1234.5,\"#,##0.00\")", "1,234.50"),
        ]:
            with self.subTest(expression=expression):
                self.assertEqual(self.succeeds("eval", expression).stdout, shown + "\n")
        self.assertEqual(self.succeeds("eval", "1", "+", "2").stdout, "3\n")

    def test_a_mistake_gets_a_caret_and_the_nearest_name(self):
        result = self.fails(USAGE, "eval", "1 + VLOKUP(1)", says=["at column 5"])
        self.assertIn(":\n1 + VLOKUP(1)\n    ^~~~~~\nThere is no function `VLOKUP`. Did you mean `VLOOKUP`?\n", result.stderr)
        self.fails(USAGE, "eval", "(1", says=["at column 3", "to close the `(`"])
        self.fails(USAGE, "eval", "ROUND(1)", says="ROUND(number, digits)")
        self.fails(USAGE, "eval", "", says="Expected a value")
        self.fails(USAGE, "eval", "(" * 5000, says="nested more than")

    def test_one_way_to_give_expressions(self):
        self.fails(USAGE, "eval", says="one expression")
        self.fails(USAGE, "eval", "1", "--file", "x", says="one expression")
        self.fails(USAGE, "eval", b"\"\xff\"".decode(errors="surrogateescape"), says="not UTF-8")

    def test_a_file_is_one_expression_a_line(self):
        lines = "1+1\n\n=UPPER(\"é\")\r\nSUM(1\nTRUE\n"
        file = self.file("formulas.txt", lines)
        result = self.glm("eval", "--json", "--file", file)
        self.assertEqual(result.returncode, USAGE)
        answers = [json.loads(line) for line in result.stdout.splitlines()]
        self.assertEqual(answers[0], {"type": "number", "value": 2})
        self.assertEqual(answers[1], {"type": "text", "value": "É"})
        self.assertEqual(answers[2]["column"], 6)
        self.assertEqual(answers[3], {"type": "boolean", "value": True})
        plain = self.glm("eval", "--file", "-", input=lines)
        shown = plain.stdout.splitlines()
        self.assertEqual([*shown[:2], shown[3]], ["2", "É", "TRUE"])
        self.assertEqual(json.loads(shown[2])["column"], 6)
        self.assertIn("at line 4, column 6", plain.stderr)
        self.assertEqual(self.succeeds("eval", "--file", "-", input="1\n2\n").stdout, "1\n2\n")

    @needs_shared("vectors/functions/cases.jsonl")
    def test_excels_own_answers_come_out_of_the_program(self):
        cases = []
        with open(SHARED / "vectors/functions/cases.jsonl", encoding="utf-8") as file:
            for line in file:
                case = json.loads(line)
                if case["core"] and case["sure"] and not case["array"] and "\n" not in case["formula"]:
                    cases.append(case)
        result = self.glm("eval", "--json", "--file", "-", input="\n".join(case["formula"] for case in cases) + "\n")
        answers = [json.loads(line) for line in result.stdout.splitlines()]
        self.assertEqual(len(answers), len(cases))
        right = sum(self.agrees(answer, case) for answer, case in zip(answers, cases))
        self.assertGreaterEqual(right / len(cases), 0.995, f"{right} of {len(cases)}")

    @staticmethod
    def agrees(answer, case):
        kind, value = answer.get("type"), answer.get("value")
        if kind == "array":
            kind, value = value[0][0]["type"], value[0][0]["value"]
        if kind == "date":
            kind = "number"
        if case["type"] == "number":
            return kind == "number" and abs(value - case["value"]) <= case.get("tol", 1e-9) * max(abs(case["value"]), 1e-3)
        return kind == case["type"] and value == case["value"]


if __name__ == "__main__":
    unittest.main()

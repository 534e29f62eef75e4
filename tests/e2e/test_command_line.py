"""Verbs, flags, help, exit codes, and output that goes nowhere."""

import subprocess
import unittest

from harness import *

VERBS = "serve run chat models pull ps status stop bench tokenize render logits validate grammar eval table editor".split()


class Help(TestCase):
    def test_every_verb_explains_itself_with_examples(self):
        for verb in VERBS:
            with self.subTest(verb=verb):
                result = self.succeeds(verb, "--help")
                self.assertIn(f"glm {verb}", result.stdout)
                self.assertIn("Examples:", result.stdout)
                self.assertEqual(result.stderr, "")
                self.assertEqual(self.succeeds("help", verb).stdout, result.stdout)
                self.assertEqual(self.succeeds(verb, "-h").stdout, result.stdout)

    def test_the_overview_names_every_verb_and_the_exit_codes(self):
        overview = self.succeeds("--help").stdout
        for verb in VERBS:
            self.assertIn(f"\n  {verb} ", overview)
        self.assertIn("Exit codes:", overview)
        self.assertEqual(self.succeeds("help").stdout, overview)
        self.assertEqual(self.glm().returncode, USAGE)

    def test_the_version_is_one_line(self):
        self.assertRegex(self.succeeds("--version").stdout, r"^glm \d+\.\d+\.\d+\n$")


class Mistakes(TestCase):
    def test_a_mistyped_verb_gets_a_suggestion(self):
        for typed, meant in [("serv", "serve"), ("stats", "status"), ("tokenise", "tokenize"), ("rnu", "run"), ("--helo", "")]:
            with self.subTest(typed=typed):
                self.fails(USAGE, typed, says=[f"`glm {meant}`?" if meant else "glm --help"])
        self.fails(USAGE, "frobnicate", says="There is no verb `frobnicate`")

    def test_a_mistyped_flag_gets_a_suggestion(self):
        self.fails(USAGE, "run", "--tempreture", "1", "x", says="did you mean `--temperature`?")
        self.fails(USAGE, "run", "--max-token=5", "x", says="did you mean `--max-tokens`?")
        self.fails(USAGE, "status", "--jsn", says="did you mean `--json`?")
        self.fails(USAGE, "status", "extra", says="`extra` is not expected here")

    def test_a_value_out_of_range_is_refused_with_the_range(self):
        for flag, value in [
            ("--max-tokens", "0"), ("--max-tokens", "-5"), ("--max-tokens", "1e9"), ("--max-tokens", "99999999999999999999"),
            ("--max-tokens", "5.5"), ("--max-tokens", ""), ("--temperature", "-1"), ("--temperature", "11"),
            ("--temperature", "nan"), ("--temperature", "inf"), ("--temperature", "warm"), ("--temperature", "0x1p1z"),
            ("--top-p", "0"), ("--top-p", "1.1"), ("--min-p", "1"), ("--top-k", "-1"), ("--repetition-penalty", "0"),
            ("--seed", "-1"), ("--seed", "18446744073709551616"), ("--deadline", "0"),
        ]:
            with self.subTest(flag=flag, value=value):
                self.fails(USAGE, "run", flag, value, "hello", says=[flag, "from"])
        self.fails(USAGE, "run", "--thinking", "maybe", "hello", says=["--thinking", "on, off"])
        self.fails(USAGE, "run", "--max-tokens", says="--max-tokens")

    def test_an_empty_prompt_is_refused_before_a_daemon_is_started(self):
        for arguments, text in [((), ""), (("",), ""), (("  ", "\n"), " \n\t")]:
            self.fails(USAGE, "run", *arguments, input=text, says="The prompt is empty")
        self.fails(NO_DAEMON, "status", says="No daemon is running")

    def test_text_that_is_not_utf8_is_refused_with_its_place(self):
        self.fails(USAGE, "run", "Summarise", input=b"line one\ncaf\xe9\n", says=["not UTF-8", "byte 13", "line 2", "iconv"])
        self.fails(USAGE, "run", b"\xff".decode(errors="surrogateescape"), says="not UTF-8")
        self.fails(USAGE, "run", "--system", b"\xff".decode(errors="surrogateescape"), "x", says="--system")

    def test_raw_and_system_exclude_each_other(self):
        self.fails(USAGE, "run", "--raw", "--system", "Be brief.", "hello", says="--raw")

    def test_a_broken_setting_names_its_place(self):
        config = self.file(".config/glm-host/config.toml", "threads = 'many'\n")
        self.fails(USAGE, "models", says=[str(config), "threads"])
        config.write_text("")
        self.fails(USAGE, "models", says="GLM_HOST_THREADS", GLM_HOST_THREADS="-3")


class Output(TestCase):
    def test_a_reader_that_went_away_is_no_error_message(self):
        process = self.home.start("models", "--catalogue", stdin=subprocess.DEVNULL)
        process.stdout.close()  # before anything can have been written
        code = process.wait(30)
        self.assertEqual(process.stderr.read(), b"")
        process.stderr.close()
        self.assertIn(code, (OUTPUT_CLOSED, OK))

    def test_a_full_disk_behind_stdout_is_an_error(self):
        with open("/dev/full", "wb") as full:
            process = self.home.start("models", "--catalogue", stdout=full)
            _, errors = process.communicate(timeout=30)
        self.assertEqual(process.returncode, FAILURE)
        self.assertIn(b"cannot be written", errors)


if __name__ == "__main__":
    unittest.main()

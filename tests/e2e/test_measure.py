"""glm bench, glm profile and glm validate on the real model, without a daemon."""

import signal
import unittest

from harness import *


@needs_model
class Bench(TestCase):
    def bench(self, *arguments):
        return json.loads(self.succeeds("bench", "-m", DEFAULT_MODEL, "-t", "2", "-r", "1", "--json", *arguments, timeout=300).stdout)

    def test_the_json_has_medians_load_time_and_memory(self):
        answer = self.bench("-p", "32", "-n", "4")
        for key in ("prompt_tps", "decode_tps", "load_s", "peak_memory_bytes"):
            self.assertGreater(answer[key], 0, key)
        self.assertNotIn("rows_per_s", answer)
        self.assertEqual((answer["prompt_tokens"], answer["generated_tokens"], answer["threads"]), (32, 4, 2))
        self.fails(NO_DAEMON, "status", says="No daemon")

    def test_depth_sequences_and_shared_prefixes(self):
        deep = self.bench("-p", "0", "-n", "4", "-d", "64", "-b", "3")
        self.assertNotIn("prompt_tps", deep)
        self.assertGreater(deep["decode_tps"], 0)
        rows = self.bench("-p", "8", "-n", "4", "-b", "3", "--shared-prefix", "32")
        for key in ("prompt_tps", "decode_tps", "rows_per_s"):
            self.assertGreater(rows[key], 0, key)

    def test_what_cannot_be_measured_is_told(self):
        self.fails(TOO_LARGE, "bench", "-m", DEFAULT_MODEL, "-p", "1000000", says="context")
        self.fails(USAGE, "bench", "-m", DEFAULT_MODEL, "-p", "0", "-n", "0")
        self.fails(USAGE, "bench", "-m", DEFAULT_MODEL, "-t", "0", says="-t")
        self.fails(USAGE, "bench", "-r", "-1")
        self.fails(NO_MODEL, "bench", "-m", "nothing")

    def test_ctrl_c_ends_it(self):
        for verb in (["bench", "-r", "1000"], ["validate", "--inputs", "100000"]):
            process = self.home.start(*verb, "-m", DEFAULT_MODEL, "-t", "2")
            time.sleep(3)
            process.send_signal(signal.SIGINT)
            _, errors = process.communicate(timeout=20)
            self.assertEqual((verb[0], process.returncode), (verb[0], CANCELLED), errors)
            self.assertTrue(errors.startswith(b"glm: "), errors)


class Limits(TestCase):
    def test_the_machine_is_measured_without_a_model(self):
        limits = json.loads(self.succeeds("bench", "--limits", "-t", "2", "--json", timeout=120).stdout)
        self.assertEqual(limits["threads"], 2)
        for key in ("memory_read_gb_per_s", "cache_read_gb_per_s", "int8_gop_per_s", "f32_gflop_per_s"):
            self.assertGreater(limits[key]["one_thread"], 0, key)
            self.assertGreater(limits[key]["all_threads"], 0, key)
        self.assertIn("reading memory", self.succeeds("bench", "--limits", "-t", "1", timeout=120).stdout)


@needs_model
class Profile(TestCase):
    def test_every_layer_and_operation_is_on_the_page_and_in_the_numbers(self):
        page = self.home.path / "map <1>.html"
        profile = json.loads(self.succeeds("profile", DEFAULT_MODEL, "-p", "64", "-r", "1", "-t", "2", "--json", "-o", str(page), timeout=300).stdout)
        for phase, tokens in (("prompt", 64), ("decode", 1)):
            self.assertEqual(profile[phase]["tokens"], tokens)
            entries = profile[phase]["operations"]
            attention = [entry for entry in entries if entry["operation"] == "attention"]
            self.assertEqual([entry["layer"] for entry in attention], list(range(30)))
            # Operations are parts of the whole, and nearly all of it.
            spent = sum(entry["seconds"] for entry in entries)
            self.assertLessEqual(spent, profile[phase]["seconds"])
            self.assertGreater(spent, 0.8 * profile[phase]["seconds"])
        # Each token multiplies with each weight of a layer once: 576 x 1536 three times.
        gate_up = [entry for entry in profile["decode"]["operations"] if entry["operation"] == "gate, up"]
        self.assertEqual({entry["operations"] for entry in gate_up}, {2 * 2 * 576 * 1536})
        html = page.read_text()
        self.assertNotIn("http", html)
        self.assertEqual(html.count("<tr><th>29</th>"), 2)

    def test_the_text_names_the_page(self):
        page = self.home.path / "工程.html"
        text = self.succeeds("profile", "-m", DEFAULT_MODEL, "-p", "8", "-r", "1", "-t", "2", "-o", str(page), timeout=300).stdout
        self.assertIn("output head", text)
        self.assertIn(str(page), text)
        self.assertTrue(page.exists())

    def test_what_cannot_be_profiled_is_told(self):
        self.fails(TOO_LARGE, "profile", DEFAULT_MODEL, "-p", "1000000", "-o", "-", says="context")
        self.fails(FAILURE, "profile", DEFAULT_MODEL, "-p", "8", "-r", "1", "-o", "/nowhere/map.html", says="/nowhere/map.html")
        self.fails(USAGE, "profile", DEFAULT_MODEL, "another", says="one model")
        self.fails(NO_MODEL, "profile", "nothing")


@needs_model
class Validate(TestCase):
    def test_the_fast_path_agrees_with_exact_arithmetic(self):
        result = self.succeeds("validate", "-m", DEFAULT_MODEL, "-t", "2", "--inputs", "2", "--tokens", "8", "--json", timeout=300)
        answer = json.loads(result.stdout)
        self.assertEqual(len(answer["layers"]), 30)
        self.assertGreaterEqual(answer["logits"]["cosine"], 0.99)
        self.assertIsNone(answer["failure"])
        for layer in answer["layers"]:
            self.assertGreaterEqual(layer["cosine"], 0.99)

    def test_a_layer_below_the_limit_is_named(self):
        result = self.fails(FAILURE, "validate", "-m", DEFAULT_MODEL, "-t", "2", "--inputs", "1", "--tokens", "4", "--limit", "1",
                            says="lies below 1")
        self.assertRegex(result.stderr, r"layer \d+|the logits")
        self.assertIn("layer 29", result.stdout)
        result = self.fails(FAILURE, "validate", "-m", DEFAULT_MODEL, "-t", "2", "--inputs", "1", "--tokens", "4", "--limit", "1", "--json")
        answer = json.loads(result.stdout)
        self.assertEqual(answer["error"]["code"], "failed")
        self.assertEqual(len(answer["layers"]), 30)


if __name__ == "__main__":
    unittest.main()

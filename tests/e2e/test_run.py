"""`glm run` and `glm chat` against a daemon on the real model."""

import signal
import threading
import unittest

from harness import *

SHORT = ("--max-tokens", "12")
LONG = ("--max-tokens", "4000", "--no-memo", "Write a very long story about a lighthouse keeper and the sea.")


@needs_model
class Run(DaemonTestCase):
    def run_json(self, *arguments, **options):
        return json.loads(self.succeeds("run", "--json", *arguments, **options).stdout)

    def queue(self):
        return json.loads(self.succeeds("status", "--json").stdout)["queue"]

    def wait_until_running(self, count):
        wait_until(lambda: self.queue()["running"] == count, 20, f"not {count} requests running")

    def test_an_answer_is_text_on_stdout_and_nothing_else(self):
        result = self.succeeds("run", *SHORT, "Name", "three", "fish")
        self.assertTrue(result.stdout.strip())
        self.assertTrue(result.stdout.endswith("\n"))
        self.assertIn("--max-tokens", result.stderr)  # it was cut, and that is said

    def test_the_json_object_has_the_whole_answer(self):
        answer = self.run_json(*SHORT, "Name three fish")
        self.assertEqual(set(answer), {"model", "content", "reasoning", "tool_calls", "finish_reason", "from_memo", "usage"})
        self.assertEqual(answer["finish_reason"], "length")
        self.assertEqual(answer["usage"]["generated_tokens"], 12)
        self.assertGreater(answer["usage"]["prompt_tokens"], 5)
        text = self.succeeds("run", *SHORT, "Name three fish").stdout
        self.assertEqual(text, answer["content"] + "\n" * (not answer["content"].endswith("\n")))

    def test_an_equal_request_is_answered_from_the_memo_store(self):
        first = self.run_json(*SHORT, "Name four birds")
        second = self.run_json(*SHORT, "Name four birds")
        self.assertTrue(second["from_memo"])
        self.assertEqual(first["content"], second["content"])
        self.assertFalse(self.run_json(*SHORT, "--no-memo", "Name four birds")["from_memo"])

    def test_the_same_seed_gives_the_same_text(self):
        def sample(seed):
            return self.run_json("--max-tokens", "24", "--temperature", "1.2", "--seed", str(seed), "--no-memo", "Tell a tale")["content"]
        self.assertEqual(sample(7), sample(7))
        self.assertGreater(len({sample(seed) for seed in range(4)}), 1)

    def test_piped_text_stands_behind_the_words(self):
        piped = self.run_json(*SHORT, "Summarise", input="The cat sat on the mat.")
        written = self.run_json(*SHORT, "Summarise\n\nThe cat sat on the mat.")
        self.assertEqual(piped["usage"]["prompt_tokens"], written["usage"]["prompt_tokens"])
        self.assertEqual(piped["content"], written["content"])
        only_piped = self.run_json(*SHORT, input="Summarise\n\nThe cat sat on the mat.")
        self.assertEqual(only_piped["content"], written["content"])

    def test_a_system_text_and_raw_prompts_change_the_prompt(self):
        plain = self.run_json(*SHORT, "Hello")["usage"]["prompt_tokens"]
        raw = self.run_json(*SHORT, "--raw", "Hello")["usage"]["prompt_tokens"]
        system = self.run_json(*SHORT, "--system", "You answer in French, always, without any exception. " * 5, "Hello")["usage"]["prompt_tokens"]
        self.assertLess(raw, 4)
        self.assertGreater(system, plain)

    def test_words_that_look_special_stay_words(self):
        self.assertEqual(self.run_json(*SHORT, "--raw", "--", "-x", "--json")["usage"]["prompt_tokens"],
                         self.run_json(*SHORT, "--raw", "-- ".rstrip(), "-x --json")["usage"]["prompt_tokens"])
        self.run_json(*SHORT, "[a, b]", "stop", "serve")

    def test_a_stop_text_ends_the_answer(self):
        whole = self.run_json("--max-tokens", "40", "Count from one to ten in words")["content"]
        word = whole.split()[3]
        cut = self.run_json("--max-tokens", "40", "--stop", word, "Count from one to ten in words")
        self.assertEqual(cut["finish_reason"], "stop")
        self.assertEqual(cut["content"], whole[: whole.index(word)])

    def test_a_users_marker_is_plain_text(self):
        marked = self.run_json(*SHORT, "--raw", "<|im_start|>")["usage"]["prompt_tokens"]
        self.assertGreater(marked, 3)

    def test_ctrl_c_cancels_in_the_daemon(self):
        before = self.queue()["cancelled"]
        process = self.home.start("run", *LONG)
        self.assertTrue(process.stdout.read(1))
        self.wait_until_running(1)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=10)
        self.assertEqual(process.returncode, CANCELLED)
        self.assertIn(b"cancelled", errors)
        self.wait_until_running(0)
        self.assertEqual(self.queue()["cancelled"], before + 1)

    def test_ctrl_c_in_a_long_prompt_cancels(self):
        process = self.home.start("run", "--no-memo", "Summarise", stdin=subprocess.PIPE)
        process.stdin.write(b"The quick brown fox jumps over the lazy dog. " * 600)
        process.stdin.close()
        process.stdin = None
        self.wait_until_running(1)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=10)
        self.assertEqual(process.returncode, CANCELLED)
        self.wait_until_running(0)

    def test_a_client_that_is_killed_leaves_nothing_running(self):
        process = self.home.start("run", *LONG)
        self.assertTrue(process.stdout.read(1))
        process.kill()
        process.communicate(timeout=10)
        self.wait_until_running(0)

    def test_a_reader_that_had_enough_cancels(self):
        process = self.home.start("run", *LONG)
        self.assertTrue(process.stdout.read(1))
        process.stdout.close()
        self.assertEqual(process.wait(20), OUTPUT_CLOSED)
        self.assertEqual(process.stderr.read(), b"")
        process.stderr.close()
        self.wait_until_running(0)

    def test_a_slow_reader_gets_everything(self):
        process = self.home.start("run", "--json", "--max-tokens", "200", "--no-memo", "Tell me about the sea")
        time.sleep(1)
        answer = json.loads(process.communicate(timeout=60)[0])
        self.assertIn(answer["finish_reason"], ("length", "stop"))

    def test_many_at_once_are_all_answered(self):
        results = []
        def ask(i):
            results.append(self.glm("run", "--json", *SHORT, "--no-memo", f"Say the number {i}"))
        threads = [threading.Thread(target=ask, args=(i,)) for i in range(16)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual([r.returncode for r in results], [OK] * 16)

    def test_a_prompt_beyond_the_context_says_by_how_much(self):
        result = self.fails(TOO_LARGE, "run", "Summarise", input="word " * 20_000, says="context")
        self.assertRegex(result.stderr, r"\d[\d,]* ")

    def test_a_prompt_of_ten_megabytes_is_refused_and_the_daemon_lives(self):
        self.fails(TOO_LARGE, "run", "Summarise", input="lorem ipsum dolor " * 600_000, timeout=120)
        self.succeeds("run", *SHORT, "Name a fish")

    def test_a_deadline_is_kept(self):
        self.fails(DEADLINE, "run", "--deadline", "1", *LONG)
        self.wait_until_running(0)

    def test_models_that_cannot_answer(self):
        self.fails(NO_MODEL, "run", "-m", "no-such-model", "hello", says="no-such-model")
        self.fails(NO_MODEL, "run", "-m", "/no/such/file.gguf", "hello", says="/no/such/file.gguf")
        self.fails(NO_MODEL, "run", "-m", str(self.home.path), "hello", says="folder")
        text = self.file("text.gguf", "this is only text\n" * 100)
        self.fails(LOAD_FAILED, "run", "-m", text, "hello", says="text")
        cut = self.file("cut.gguf", DEFAULT_MODEL.read_bytes()[:5_000_000])
        self.fails(LOAD_FAILED, "run", "-m", cut, "hello")
        answer = json.loads(self.glm("run", "--json", "-m", "no-such-model", "hello").stdout)
        self.assertEqual(answer["error"]["code"], "no_model")

    def test_a_model_may_be_named_by_its_path(self):
        self.assertTrue(self.run_json(*SHORT, "-m", DEFAULT_MODEL, "Name a tree")["content"])

    @needs_gemma
    def test_a_base_model_continues_text(self):
        answer = self.run_json(*SHORT, "-m", GEMMA_MODEL, "--raw", "Monday, Tuesday, Wednesday,")
        self.assertIn("Thursday, Friday", answer["content"])

    def test_prompts_are_not_in_the_logs(self):
        self.succeeds("run", *SHORT, "xyzzy-secret-word")
        self.fails(TOO_LARGE, "run", "Summarise", input="xyzzy-secret-word " * 9000)
        for log in (self.home.path / ".local/state/glm-host").rglob("*.log*"):
            self.assertNotIn("xyzzy", log.read_text(errors="replace"), log)


@needs_model
class Chat(DaemonTestCase):
    def test_each_line_is_answered_with_what_was_said_before(self):
        result = self.succeeds("chat", *SHORT, input="Name a fish\nName another\n")
        self.assertGreaterEqual(len(result.stdout.strip()), 10)
        status = json.loads(self.succeeds("status", "--json").stdout)
        self.assertGreaterEqual(status["queue"]["answered"], 2)

    def test_clear_forgets(self):
        def last(lines):
            return self.succeeds("chat", *SHORT, input=lines).stdout.rstrip("\n")
        alone = last("Name a bird\n")
        self.assertTrue(last("Name a fish\n/clear\nName a bird\n").endswith(alone))

    def test_a_line_may_go_on_and_end_early(self):
        joined = self.succeeds("chat", *SHORT, input="Name\\\na tree\n").stdout
        asked = json.loads(self.succeeds("run", "--json", *SHORT, "Name\na tree").stdout)["content"]
        self.assertEqual(joined.strip(), asked.strip())
        self.assertEqual(self.succeeds("chat", input="/exit\nName a fish\n").stdout, "")
        self.assertEqual(self.succeeds("chat", input="").stdout, "")

    def test_an_error_ends_with_its_code_but_not_the_conversation(self):
        result = self.glm("chat", *SHORT, input="word " * 20_000 + "\nName a fish\n")
        self.assertEqual(result.returncode, TOO_LARGE)
        self.assertTrue(result.stdout.strip())


if __name__ == "__main__":
    unittest.main()

"""How failures are told: as JSON too, in whole sentences, with what to do; and things that are said though nothing failed."""

import json
import re
import unittest

from harness import *


class Json(TestCase):
    def error(self, code, *arguments, **options):
        result = self.fails(code, *arguments, **options)
        lines = result.stdout.splitlines()
        self.assertEqual(len(lines), 1, result.stdout)
        answer = json.loads(lines[0])
        self.assertEqual(list(answer), ["error"])
        self.assertEqual(list(answer["error"]), ["code", "message"])
        self.assertIn(answer["error"]["message"], result.stderr)
        return answer["error"]["code"]

    def test_every_kind_of_failure_is_one_object_on_stdout(self):
        alien = self.file("alien.gguf", tiny_model("mamba9"))
        for code, name, arguments in [
            (USAGE, "bad_request", ("run", "--json", "--tempreture", "1", "x")),
            (USAGE, "bad_request", ("run", "--temperature", "99", "--json", "x")),
            (USAGE, "bad_request", ("run", "--json")),
            (USAGE, "bad_request", ("frobnicate", "--json")),
            (NO_DAEMON, "no_daemon", ("status", "--json")),
            (NO_DAEMON, "no_daemon", ("ps", "--json")),
            (NO_MODEL, "no_model", ("pull", "--json", "no-such-model")),
            (NO_MODEL, "no_model", ("bench", "--json", "-m", "no-such-model")),
            (LOAD_FAILED, "model_load_failed", ("pull", "glm-4.7-flash", "--json")),
            (LOAD_FAILED, "model_load_failed", ("validate", "--json", "-m", alien)),
            (USAGE, "bad_request", ("models", "--json", "extra")),
            (NO_MODEL, "no_model", ("tokenize", "--json", "--batch", "no-such-file")),
            (USAGE, "bad_request", ("tokenize", "--json", "x", "--batch", "y")),
            (USAGE, "bad_request", ("render", "--json", "--request", "x", "--batch", "y")),
            (USAGE, "bad_request", ("grammar", "--json", "check")),
            (USAGE, "bad_request", ("eval", "--json", "1 +")),
        ]:
            with self.subTest(arguments=arguments):
                self.assertEqual(self.error(code, *arguments), name)

    def test_without_json_stdout_stays_empty(self):
        self.assertEqual(self.fails(NO_DAEMON, "status").stdout, "")
        self.assertEqual(self.fails(USAGE, "eval", "--", "(", "--json").stdout, "")

    def test_the_daemons_errors_too(self):
        self.home.add_model(self.file("nan.gguf", tiny_model(nan_in="output_norm.weight")), "nan.gguf")
        self.assertEqual(self.error(FAILURE, "run", "--json", "-m", "nan", "--raw", "x"), "backend_failed")
        self.assertEqual(self.error(TOO_LARGE, "run", "--json", "-m", "nan", "--raw", "x" * 300), "too_large")

    def test_help_tells_of_it(self):
        for verb in ("run", "pull", "status", "ps", "models", "bench", "tokenize", "render", "validate", "grammar", "eval"):
            self.assertIn('{"error": {"code": "...", "message"', " ".join(self.succeeds(verb, "--help").stdout.split()), verb)
        self.assertIn('{"error": {"code": "...", "message"', self.succeeds("--help").stdout)


class Flags(TestCase):
    def test_a_missing_value_is_not_taken_from_the_next_flag(self):
        for arguments in (["--max-tokens"], ["--max-tokens", "--raw", "x"], ["--max-tokens=", "x"], ["--model", "-s", "y", "x"]):
            self.fails(USAGE, "run", *arguments, says=["is missing", f"`--{'model MODEL' if '--model' in arguments else 'max-tokens N'}`"])

    def test_flags_twice_and_switches_with_values(self):
        self.fails(USAGE, "run", "--seed", "1", "--seed", "2", "x", says="The flag --seed is given twice")
        self.fails(USAGE, "bench", "-t", "1", "--threads=2", says="The flag --threads is given twice")
        self.fails(USAGE, "run", "--raw=maybe", "x", says="The flag --raw takes no value")

    def test_text_in_another_encoding_is_refused_where_it_stands(self):
        bad = b"caf\xe9".decode(errors="surrogateescape")
        for flag in ("--stop", "--system", "--seed", "--thinking"):
            self.fails(USAGE, "run", flag, bad, "x", says=[f"The value of {flag} is not UTF-8", "byte 4"])
        self.fails(USAGE, "run", "-m", bad, "x", says="not UTF-8")
        self.fails(USAGE, "grammar", "check", "--regex", bad, "--text-file", "x", says="--regex is not UTF-8")
        # A path may be any bytes.
        self.home.path.joinpath(bad + ".gguf").write_bytes(tiny_model())
        path = os.fsencode(self.home.path) + b"/caf\xe9.gguf"
        self.succeeds("bench", "-m", os.fsdecode(path), "-p", "4", "-n", "1", "-r", "1")

    def test_no_help_is_wider_than_a_terminal(self):
        for verb in ("serve run chat models pull ps status stop bench tokenize render logits validate grammar eval".split()):
            for line in self.succeeds(verb, "--help").stdout.splitlines():
                self.assertLessEqual(len(line), 80, f"{verb}: {line}")
        for line in self.succeeds("--help").stdout.splitlines():
            self.assertLessEqual(len(line), 80, line)


class Weights(TestCase):
    def test_numbers_that_are_none_are_blamed_on_the_file(self):
        for tensor in ("blk.0.attn_q.weight", "output_norm.weight", "output.weight"):
            model = self.file("nan.gguf", tiny_model(nan_in=tensor))
            for verb in (("bench", "-p", "4", "-n", "2", "-r", "1"), ("bench", "-p", "0", "-n", "2", "-r", "1"),
                         ("bench", "-p", "2", "-n", "0", "-r", "1"), ("validate", "--inputs", "1"),
                         ("logits", "--tokens", "1,2,3", "--out", self.home.path / "x", "--exact"),
                         ("logits", "--tokens", "1,2,3", "--out", self.home.path / "x")):
                with self.subTest(tensor=tensor, verb=verb):
                    self.fails(LOAD_FAILED, *verb, "-m", model, says=["not finite", f"`{tensor}`", "glm pull", str(model)])
        sound = self.file("sound.gguf", tiny_model())
        self.succeeds("bench", "-m", sound, "-p", "4", "-n", "2", "-r", "1")
        self.succeeds("validate", "-m", sound, "--inputs", "1")

    def test_an_offset_beyond_any_file_is_damage(self):
        data = tiny_model()
        name = b"blk.0.ffn_norm.weight"
        at = data.rindex(name) + len(name) + 4 + 8 + 4
        model = self.file("far.gguf", data[:at] + struct.pack("<Q", 1 << 63) + data[at + 8:])
        result = self.fails(LOAD_FAILED, "bench", "-m", model, says=["is damaged", "blk.0.ffn_norm.weight"])
        self.assertNotIn("cut short", result.stderr)
        self.fails(LOAD_FAILED, "bench", "-m", self.file("cut.gguf", data[:-500]), says="is cut short")


class Memory(TestCase):
    def test_what_does_not_fit_is_refused_before_it_is_loaded(self):
        model = self.file("tiny.gguf", tiny_model(context=1 << 20))
        numbers = r"needs [\d.]+ [KMGT]iB of memory"
        for verb in (("bench", "-b", "4096", "-d", "1000000", "-n", "64"), ("bench", "--memory-limit", "16KiB"),
                     ("logits", "--tokens", "1", "--out", "x"), ("validate",)):
            with self.subTest(verb=verb):
                environment = {} if verb[0] == "bench" else {"GLM_HOST_MEMORY_LIMIT": "16KiB"}
                result = self.fails(LOAD_FAILED, *verb, "-m", model, **environment)
                self.assertRegex(result.stderr, numbers)
        self.assertFalse((self.home.path / "x").exists())
        self.fails(LOAD_FAILED, "bench", "-m", model, "--memory-limit", "16KiB", says=["Raise memory_limit", "-b"])
        self.fails(USAGE, "bench", "-m", model, "--memory-limit", "lots", says="--memory-limit")
        self.succeeds("bench", "-m", model, "-p", "4", "-n", "2", "-r", "1", "--memory-limit", "1GiB")

    def test_a_validation_takes_what_the_context_holds(self):
        model = self.file("tiny.gguf", tiny_model(context=300))
        self.succeeds("validate", "-m", model, "--inputs", "1", "--tokens", "300")
        self.fails(USAGE, "validate", "-m", model, "--tokens", "301", says=["300", "context"])
        self.fails(USAGE, "validate", "-m", model, "--tokens", "4097", says=["--tokens", "1 to 4096"])

    def test_the_daemons_sentences_name_the_setting(self):
        self.home.add_model(self.file("tiny.gguf", tiny_model(context=4096)), "tiny.gguf")
        self.fails(LOAD_FAILED, "run", "-m", "tiny", "--raw", "x", says=["memory_limit of 64.0 KiB", "Raise memory_limit"],
                   GLM_HOST_MEMORY_LIMIT="64KiB")
        self.succeeds("stop")
        self.fails(TOO_LARGE, "run", "-m", "tiny", "--raw", "word " * 500, says=["kv_bytes", "4096"], GLM_HOST_KV_BYTES="64KiB")
        self.succeeds("stop")

    @needs_model
    def test_an_answer_cut_by_the_cache_names_it(self):
        self.home.add_default_model()
        result = self.succeeds("run", "--max-tokens", "400", "Write a very long story about the sea.", GLM_HOST_KV_BYTES="4MiB")
        self.assertRegex(result.stderr, r"fill the context of \d+ tokens")
        self.assertIn("raise kv_bytes", result.stderr)
        self.succeeds("stop")

    def test_a_prompt_that_cannot_fit_is_refused_by_its_length_in_bytes(self):
        self.home.add_model(self.file("tiny.gguf", tiny_model()), "tiny.gguf")
        self.fails(TOO_LARGE, "run", "-m", "tiny", "--raw", input="word " * 2_000_000, says=["at least", "256"])
        # Exactly: tokens of a byte each.
        self.fails(TOO_LARGE, "run", "-m", "tiny", "--raw", "x" * 256, says="by 1 tokens")
        self.succeeds("run", "-m", "tiny", "--raw", "x" * 255)


class Daemon(TestCase):
    def setUp(self):
        super().setUp()
        self.home.add_model(self.file("tiny.gguf", tiny_model()), "tiny.gguf")

    def test_an_empty_answer_is_told(self):
        result = self.succeeds("run", "-m", "tiny", "--raw", "x")
        self.assertEqual(result.stdout, "")
        self.assertIn("the answer is empty", result.stderr)

    def test_closed_streams(self):
        command = f'"{GLM}" run -m tiny --raw "x"'
        for closed, code in (("<&-", OK), ("2>&-", OK), ("<&- 2>&-", OK)):
            result = subprocess.run(["sh", "-c", f"{command} {closed}"], env=self.home.environment, capture_output=True, timeout=60)
            self.assertEqual(result.returncode, code, (closed, result.stderr))
        result = subprocess.run(["sh", "-c", f'"{GLM}" models --catalogue >&-'], env=self.home.environment, capture_output=True, timeout=60)
        self.assertEqual(result.returncode, FAILURE)
        self.assertIn(b"cannot be written", result.stderr)
        result = subprocess.run(["sh", "-c", f'"{GLM}" run <&-'], env=self.home.environment, capture_output=True, timeout=60)
        self.assertEqual(result.returncode, USAGE)
        self.assertIn(b"The prompt is empty", result.stderr)

    def test_what_was_stopped_is_said(self):
        self.succeeds("run", "-m", "tiny", "--raw", "x")
        self.assertIn("tiny is no longer in memory", self.succeeds("stop", "-m", "tiny").stdout)
        pid = self.home.daemon_pid()
        self.assertEqual(self.succeeds("stop").stdout, f"The daemon (process {pid}) has ended.\n")

    def test_a_socket_that_was_removed_is_named_with_the_way_out(self):
        self.succeeds("run", "-m", "tiny", "--raw", "x")
        pid = self.home.daemon_pid()
        socket = json.loads((self.home.runtime / "host.json").read_text())["address"].removeprefix("ipc://")
        os.kill(pid, signal.SIGSTOP)  # else it ends by itself
        os.unlink(socket)
        for verb in (("status",), ("stop",)):
            self.fails(NO_DAEMON, *verb, says=[socket, str(pid), "glm stop --force"])
        self.assertIn(str(pid), self.succeeds("stop", "--force").stdout)
        self.succeeds("run", "-m", "tiny", "--raw", "x")

    def test_a_daemon_whose_socket_was_removed_makes_room_for_another(self):
        self.succeeds("run", "-m", "tiny", "--raw", "x")
        pid = self.home.daemon_pid()
        os.unlink(json.loads((self.home.runtime / "host.json").read_text())["address"].removeprefix("ipc://"))
        self.succeeds("run", "-m", "tiny", "--raw", "x")
        self.assertNotEqual(self.home.daemon_pid(), pid)

    def test_a_host_json_that_was_removed_is_told(self):
        self.succeeds("run", "-m", "tiny", "--raw", "x")
        os.kill(self.home.daemon_pid(), signal.SIGSTOP)  # else it is written anew
        (self.home.runtime / "host.json").unlink()
        self.fails(NO_DAEMON, "status", says=["host.json", "glm stop --force"])
        self.succeeds("stop", "--force")
        self.succeeds("run", "-m", "tiny", "--raw", "x")

    def test_a_home_that_cannot_be_used_is_no_daemon(self):
        for home in ("/dev/null", "/proc/nothing"):
            for verb in (("run", "x"), ("chat",), ("status",)):
                self.fails(NO_DAEMON, *verb, GLM_HOST_HOME=home)
            self.fails(NO_DAEMON, "run", "x", says=[home, "GLM_HOST_HOME"], GLM_HOST_HOME=home)
            serve = self.glm("serve", GLM_HOST_HOME=home, timeout=20)
            self.assertEqual(serve.returncode, NO_DAEMON)
            self.assertIn(home, serve.stderr)

    @needs_root
    def test_a_full_disk_at_the_start_is_told(self):
        small = self.home.path / "small disk"
        small.mkdir()
        mount_small_disk(self, small, "64k")
        with contextlib.suppress(OSError), open(small / "fill", "wb", buffering=0) as fill:
            while True:
                fill.write(b"\0" * 4096)
        environment = {"GLM_HOST_HOME": str(small / "home")}
        self.fails(NO_DAEMON, "run", "x", says=["is full", str(small), "Make room"], **environment)
        serve = self.glm("serve", timeout=20, **environment)
        self.assertEqual(serve.returncode, NO_DAEMON)
        self.assertIn("Make room", serve.stderr)


class Settings(TestCase):
    def test_the_settings_that_hold_are_shown_with_their_source(self):
        plain = self.succeeds("serve", "--show-settings").stdout
        config = self.file(".config/glm-host/config.toml", "max_queue = 7\n")
        self.assertIn(f"# {config} (there is none yet)\n", plain)
        result = self.succeeds("serve", "--show-settings", "--threads", "3", "--models-folder", "my \"models\"",
                               GLM_HOST_KEEP_ALIVE_S="10m")
        self.assertIn(f"# {config}\n", result.stdout)
        for line in ("threads = 3  # from the flag --threads", "max_queue = 7  # from config.toml", "# log_files = 5",
                     "keep_alive_s = 600  # from the environment variable GLM_HOST_KEEP_ALIVE_S"):
            self.assertIn("\n" + line + "\n", result.stdout)
        # It is a settings file itself.
        config.write_text(result.stdout)
        again = self.succeeds("serve", "--show-settings").stdout
        values = re.findall(r"^\w+ = .*?(?=  #)", result.stdout, re.M)
        self.assertEqual(len(values), 4)
        self.assertEqual(re.findall(r"^\w+ = .*?(?=  #)", again, re.M), values)
        self.fails(USAGE, "serve", "--show-settings", "--threads", "many", says="threads")


class Batches(TestCase):
    """A line of output for each line of input that is not empty; a bad one is {"error": ...}, and the exit code 2."""

    def lines(self, *arguments, input, code=USAGE):
        result = self.glm(*arguments, input=input)
        self.assertEqual(result.returncode, code, result.stderr)
        return result.stdout.splitlines()

    def test_tokenize(self):
        model = self.file("tiny.gguf", tiny_model())
        out = self.lines("tokenize", "-m", model, "--batch", "-", input='"a"\nnonsense\n\n{"hex": "0"}\n"b"')
        self.assertEqual([json.loads(out[0]), json.loads(out[3])], [[97], [98]])
        told = self.glm("tokenize", "-m", model, "--batch", "-", input='"a"\nnonsense\n5').stderr
        self.assertRegex(told, "^glm: 2 of 3 lines cannot be used; .* Line 2 of the batch is neither")
        for line, number in ((out[1], 2), (out[2], 4)):
            self.assertIn(f"Line {number}", json.loads(line)["error"])
        self.assertEqual(self.lines("tokenize", "-m", model, "--batch", "-", input='"a"\n', code=OK), ["[97]"])

    def test_render(self):
        good = '{"messages": [{"role": "user", "content": "Hi"}]}'
        out = self.lines("render", "--family", "smollm2", "--batch", "-", input=f"{good}\nnonsense\n\n{{\"messages\": 5}}\n{good}\n")
        self.assertEqual(["error" in json.loads(line) for line in out], [False, True, True, False])

    def test_eval(self):
        out = self.lines("eval", "--file", "-", input=b"1+1\n1+\n\n\"\xff\"\n{1;2}\n3\n")
        self.assertEqual([out[0], *out[3:]], ["2", "1 2", "3"])
        for line in out[1:3]:
            self.assertIn("error", json.loads(line))

    def test_text_through_a_pipe_and_logits_to_one(self):
        model = self.file("tiny.gguf", tiny_model())
        self.assertEqual(json.loads(self.succeeds("tokenize", "-m", model, "--json", input=b"a\xff\n").stdout)["ids"][0], 97)
        to_file = self.succeeds("logits", "-m", model, "--tokens", "1,2", "--out", self.home.path / "x")
        self.assertEqual(to_file.stdout, "")
        piped = self.succeeds("logits", "-m", model, "--tokens", "1,2", "--out", "-")
        self.assertEqual(piped.stdout_bytes, (self.home.path / "x").read_bytes())
        self.assertEqual(len(piped.stdout_bytes), 2 * 257 * 4)


class Chat(TestCase):
    LEFT, UP = "\x1b[D", "\x1b[A"

    def setUp(self):
        super().setUp()
        self.home.add_model(self.file("tiny.gguf", tiny_model()), "tiny.gguf")

    def chat(self, **environment):
        terminal = Terminal(self, [GLM, "chat", "-m", "tiny"], {**self.home.environment, "TERM": "xterm", **environment})
        terminal.read_until("> ")
        return terminal

    def test_lines_can_be_edited_and_come_back(self):
        for locale in ("C.UTF-8", "C"):
            chat = self.chat(LANG=locale)
            chat.type("/hlp" + 2 * self.LEFT + "e\r")
            chat.read_until("forget what was said")
            chat.read_until("> ")
            chat.type("/näch" + self.LEFT + "ö\r")
            chat.read_until("there is no command /näcöh")
            chat.read_until("> ")
            chat.type(2 * self.UP + "\r")
            chat.read_until("forget what was said")
            chat.read_until("> ")
            chat.type("\x04")
            self.assertEqual(chat.wait(), OK)

    def test_ctrl_c_ends_it_and_gives_the_terminal_back(self):
        import termios

        chat = self.chat()
        chat.type("half a line")
        chat.read_until("half a line")
        during = termios.tcgetattr(chat.terminal)[3]
        chat.type("\x03")
        self.assertEqual(chat.wait(), CANCELLED)
        after = termios.tcgetattr(chat.terminal)[3]
        self.assertFalse(during & termios.ICANON)
        self.assertTrue(after & termios.ICANON and after & termios.ECHO)

    def test_a_pipe_is_read_as_it_is(self):
        result = self.succeeds("chat", "-m", "tiny", input="/help\n/nothing\n")
        self.assertIn("/nothing", result.stderr)
        self.assertNotIn("> ", result.stderr)


class Readme(TestCase):
    def test_machines_are_those_of_the_catalogue(self):
        catalogue = json.loads(self.succeeds("models", "--catalogue", "--json").stdout)
        memory = {}
        for model in catalogue:
            for number, quantisation in enumerate(model["quantisations"]):
                memory[quantisation["name"]] = quantisation["memory_gb"]
                if number == 0:
                    memory[model["name"]] = quantisation["memory_gb"]
        said = re.findall(r"`(?:glm pull )?([a-z0-9.:_-]+)`[^|\n`]*?\|? *from (\d+) GB", (ROOT / "README.md").read_text())
        self.assertGreaterEqual(len(said), 6, said)
        for name, gigabytes in said:
            self.assertEqual((name, int(gigabytes)), (name, memory[name]))


if __name__ == "__main__":
    unittest.main()

"""glm.exe under Wine, on the real default model, over tcp with CURVE. run.sh builds it and prepares the Wine prefix.

The same requests go to the Linux program, and the texts must be equal. An exit code of 0 proves nothing under Wine, where a
crash can look so: each test looks at what was said or done.
"""

import ctypes
import ctypes.util
import os
import pathlib
import re
import signal
import subprocess
import sys
import unittest.mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))
from harness import *

WINE = os.environ["GLM_TEST_WINE"]
GLM_EXE = os.environ["GLM_EXE"]
PREFIX = pathlib.Path(os.environ["WINEPREFIX"])
ALREADY_RUNNING = 9

PROMPTS = ("Name three uses of a pivot table", "Écris le mot « tableur » et 表格, please.")
LONG = ("--max-tokens", "4000", "--no-memo", "Write a very long story about a lighthouse keeper and the sea.")


def windows_path(path):
    return "Z:" + str(path).replace("/", "\\")


class WindowsHome(Home):
    """A home whose programs are Windows programs. Without a folder: the folders that Windows itself names."""

    def __init__(self, with_folder=True):
        super().__init__()
        self.environment = {**os.environ}
        if with_folder:
            self.environment["GLM_HOST_HOME"] = windows_path(self.path)
            self.data, self.run = self.path / "data", self.path / "run"
        else:
            (user,) = (each for each in (PREFIX / "drive_c/users").iterdir() if each.name != "Public")
            self.data = user / "AppData/Local/glm-host"
            self.run = self.data / "run"

    @property
    def store(self):
        return self.data / "models"

    @property
    def runtime(self):
        return self.run

    def start(self, *arguments, **options):
        return subprocess.Popen(
            [WINE, GLM_EXE, *map(str, arguments)],
            env={**self.environment, **options.pop("environment", {})},
            **{"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options},
        )

    def glm(self, *arguments, input=b"", timeout=60, **environment):
        data = input.encode() if isinstance(input, str) else input
        # Files, not pipes: a daemon that Wine starts for it keeps its stderr open.
        with tempfile.TemporaryFile() as said, tempfile.TemporaryFile() as words, tempfile.TemporaryFile() as errors:
            said.write(data)
            said.seek(0)
            process = self.start(*arguments, stdin=said, stdout=words, stderr=errors, environment=environment)
            try:
                process.wait(timeout)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
                raise
            texts = []
            for file in (words, errors):
                file.seek(0)
                texts.append(file.read().decode(errors="replace"))
            return subprocess.CompletedProcess(arguments, process.returncode, *texts)

    def host_json(self):
        return json.loads((self.runtime / "host.json").read_text())

    def linux_pids(self):
        """Its daemons as Linux sees them."""
        found = []
        for folder in pathlib.Path("/proc").iterdir():
            with contextlib.suppress(OSError, ValueError):
                words = (folder / "cmdline").read_bytes().split(b"\0")
                ours = (folder / "environ").read_bytes().split(b"\0")
                home = self.environment.get("GLM_HOST_HOME", "")
                is_ours = f"WINEPREFIX={PREFIX}".encode() in ours and (not home or f"GLM_HOST_HOME={home}".encode() in ours)
                program = pathlib.Path(GLM_EXE).name.encode()
                if b"serve" in words and any(word.endswith(program) for word in words[:2]) and is_ours:
                    found.append(int(folder.name))
        return found

    def close(self):
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.glm("stop", "--force", timeout=60)
        for pid in self.linux_pids():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        shutil.rmtree(self.path, ignore_errors=True)
        if "GLM_HOST_HOME" not in self.environment:
            shutil.rmtree(self.data, ignore_errors=True)


class WindowsTestCase(unittest.TestCase):
    maxDiff = 2000
    glm = TestCase.glm
    succeeds = TestCase.succeeds
    fails = TestCase.fails
    file = TestCase.file

    def run_json(self, *arguments, **options):
        return json.loads(self.succeeds("run", "--json", *arguments, **options).stdout)

    def status(self):
        return json.loads(self.succeeds("status", "--json").stdout)


def linux_answers(kernels, *requests):
    """What the Linux program says to each with the same kernels: a matrix unit, which Wine may not give, rounds in its own
    way. Its home is in /tmp, because the name of its socket must be short."""
    with unittest.mock.patch.object(tempfile, "tempdir", "/tmp"):
        home = Home()
    try:
        home.add_default_model()
        home.environment["GLM_KERNELS"] = kernels
        results = [home.glm("run", *request) for request in requests]
        for result in results:
            assert result.returncode == OK, result.stderr
        return [result.stdout for result in results]
    finally:
        home.close()


class Messages:
    """A bare ZeroMQ client of this system's own libzmq."""

    DEALER, LINGER, RCVTIMEO, SERVERKEY, PUBLICKEY, SECRETKEY = 5, 17, 27, 50, 48, 49

    def __init__(self):
        self.zmq = ctypes.CDLL(ctypes.util.find_library("zmq") or "libzmq.so.5")
        for name in ("zmq_ctx_new", "zmq_socket"):
            getattr(self.zmq, name).restype = ctypes.c_void_p
        self.context = ctypes.c_void_p(self.zmq.zmq_ctx_new())

    def key_pair(self):
        public, secret = ctypes.create_string_buffer(41), ctypes.create_string_buffer(41)
        assert self.zmq.zmq_curve_keypair(public, secret) == 0
        return public.value, secret.value

    def answer(self, address, keys, frames, milliseconds):
        """The first frame of the answer; nothing after that time. keys: server, own public, own secret; or none."""
        socket = ctypes.c_void_p(self.zmq.zmq_socket(self.context, self.DEALER))
        try:
            for option, value in ((self.LINGER, 0), (self.RCVTIMEO, milliseconds)):
                number = ctypes.c_int(value)
                assert self.zmq.zmq_setsockopt(socket, option, ctypes.byref(number), ctypes.c_size_t(4)) == 0
            for option, key in zip((self.SERVERKEY, self.PUBLICKEY, self.SECRETKEY), keys):
                assert self.zmq.zmq_setsockopt(socket, option, key, ctypes.c_size_t(len(key))) == 0
            assert self.zmq.zmq_connect(socket, address.encode()) == 0
            for i, frame in enumerate(frames):
                more = 2 if i + 1 < len(frames) else 0
                assert self.zmq.zmq_send(socket, frame, ctypes.c_size_t(len(frame)), more) == len(frame)
            buffer = ctypes.create_string_buffer(65536)
            size = self.zmq.zmq_recv(socket, buffer, ctypes.c_size_t(65536), 0)
            return None if size < 0 else buffer.raw[: min(size, 65536)]
        finally:
            self.zmq.zmq_close(socket)

    def close(self):
        self.zmq.zmq_ctx_term(self.context)


@needs_model
class Serving(WindowsTestCase):
    """One daemon, `glm.exe serve`, in a home with a space and letters beyond ASCII in its name."""

    @classmethod
    def setUpClass(cls):
        cls.home = WindowsHome()
        cls.addClassCleanup(cls.home.close)
        cls.home.add_default_model()
        cls.daemon = cls.home.start("serve", stderr=subprocess.STDOUT)
        cls.addClassCleanup(cls.end_daemon)
        wait_until(lambda: cls.home.runtime.joinpath("host.json").exists() or cls.daemon.poll() is not None, 60, "no host.json")

    @classmethod
    def end_daemon(cls):
        cls.daemon.kill()
        cls.daemon.wait()
        cls.daemon.stdout.close()

    def test_it_listens_on_loopback_with_keys(self):
        host = self.home.host_json()
        port = int(re.fullmatch(r"tcp://127\.0\.0\.1:(\d+)", host["address"])[1])
        keys = [host[name] for name in ("server_key", "client_key", "client_secret")]
        self.assertEqual([len(key) for key in keys], [40, 40, 40])
        self.assertEqual(len(set(keys)), 3)
        listening = [line.split()[1] for table in ("tcp", "tcp6") if os.path.exists(f"/proc/net/{table}")
                     for line in open(f"/proc/net/{table}") if line.split()[3] == "0A"]
        self.assertIn(f"0100007F:{port:04X}", listening)
        self.assertEqual([each for each in listening if each.endswith(f":{port:04X}")], [f"0100007F:{port:04X}"])

    def test_nobody_else_may_look_into_its_files(self):
        self.run_json("--max-tokens", "4", "Say yes")
        for path in (self.home.runtime, self.home.runtime / "host.json", self.home.runtime / "daemon.lock", self.home.data,
                     self.home.path / "state"):
            self.assertEqual(path.stat().st_mode & 0o007, 0, path)

    def test_status(self):
        status = self.status()
        for name in ("pid", "version", "endpoint", "models", "queue"):
            self.assertIn(name, status)
        host = self.home.host_json()
        self.assertEqual((status["pid"], status["endpoint"]), (host["pid"], host["address"]))
        self.assertIn("smollm2-135m", [model["name"] for model in status["models"]])  # others are there by their paths

    def test_the_answers_are_those_of_the_linux_program(self):
        sampled = ("--max-tokens", "40", "--temperature", "0.9", "--seed", "11", "--no-memo", "Tell a tale of a fox")
        requests = [("--max-tokens", "48", prompt) for prompt in PROMPTS] + [sampled]
        for request, expected in zip(requests, linux_answers(self.status()["kernels"], *requests)):
            with self.subTest(request=request):
                answer = self.succeeds("run", *request).stdout
                self.assertGreater(len(answer), 40)
                self.assertEqual(answer, expected)

    def test_an_equal_request_is_answered_from_the_memo_store(self):
        first = self.run_json("--max-tokens", "16", "Name four birds")
        second = self.run_json("--max-tokens", "16", "Name four birds")
        self.assertFalse(first["from_memo"])
        self.assertTrue(second["from_memo"])
        self.assertEqual(first["content"], second["content"])
        self.assertTrue((self.home.data / "memo.sqlite").exists())

    def test_piped_text_stands_behind_the_words(self):
        text = "La qualité de l'été: 数据表格.\r\nSecond line."
        piped = self.run_json("--max-tokens", "12", "Summarise", input=text)
        written = self.run_json("--max-tokens", "12", f"Summarise\n\n{text}")
        self.assertEqual(piped["usage"]["prompt_tokens"], written["usage"]["prompt_tokens"])
        self.assertEqual(piped["content"], written["content"])

    def test_an_answer_is_streamed_and_a_client_that_is_killed_leaves_nothing_running(self):
        process = self.home.start("run", *LONG)
        self.assertTrue(process.stdout.read(1))
        self.assertIsNone(process.poll())
        wait_until(lambda: self.status()["queue"]["running"] == 1, 20, "the answer came as a whole")
        process.kill()
        process.communicate(timeout=20)
        wait_until(lambda: self.status()["queue"]["running"] == 0, 20, "a killed client's request runs on")

    def test_several_at_once_are_all_answered(self):
        processes = [self.home.start("run", "--json", "--max-tokens", "8", "--no-memo", f"Say the number {i}") for i in range(6)]
        for process in processes:
            out, errors = process.communicate(timeout=60)
            self.assertTrue(json.loads(out)["content"], errors)

    def test_without_the_keys_nobody_is_served(self):
        host = self.home.host_json()
        server, public, secret = (host[name].encode() for name in ("server_key", "client_key", "client_secret"))
        messages = Messages()
        self.addCleanup(messages.close)
        stranger = messages.key_pair()
        hello = (b"\x01\x01", b"\x07" + bytes(7), b"\x80")  # version and kind, request id, an empty map
        def ask(keys, milliseconds):
            return messages.answer(host["address"], keys, hello, milliseconds)
        self.assertIsNone(ask((), 2500))
        self.assertIsNone(ask((server, *stranger), 2500))
        self.assertIsNone(ask((stranger[0], public, secret), 2500))
        # The same bytes with the keys are answered, so it was the keys.
        self.assertIsNotNone(ask((server, public, secret), 20_000))
        self.assertTrue(self.status()["pid"])

    def test_a_second_daemon_is_refused(self):
        result = self.glm("serve", timeout=60)
        self.assertEqual(result.returncode, ALREADY_RUNNING)
        self.assertIn("is running already", result.stderr)
        self.assertEqual(self.home.host_json()["pid"], self.status()["pid"])

    def test_models_that_cannot_answer(self):
        self.fails(NO_MODEL, "run", "-m", "no-such-model", "hello", says="no-such-model")
        self.fails(NO_MODEL, "run", "-m", "Z:\\no\\such\\文件.gguf", "hello", says="Z:\\no\\such\\文件.gguf")
        self.fails(NO_MODEL, "run", "-m", windows_path(self.home.path), "hello", says="folder")
        text = self.file("text.gguf", "this is only text\n" * 100)
        self.fails(LOAD_FAILED, "run", "-m", windows_path(text), "hello", says="text")
        with open(DEFAULT_MODEL, "rb") as whole:
            cut = self.file("cut.gguf", whole.read(5_000_000))
        self.fails(LOAD_FAILED, "run", "-m", windows_path(cut), "hello", says="cut.gguf")
        self.assertTrue(self.status()["pid"])

    def test_a_model_in_a_folder_with_spaces_and_cjk(self):
        folder = self.home.path / "mes modèles 模型"
        folder.mkdir()
        model = folder / "小 model.gguf"
        model.symlink_to(DEFAULT_MODEL)
        by_path = self.run_json("--max-tokens", "12", "-m", windows_path(model), "Name a tree")
        self.assertEqual(by_path["content"], self.run_json("--max-tokens", "12", "Name a tree")["content"])

    def test_an_idle_daemon_uses_no_processor_time(self):
        self.run_json("--max-tokens", "4", "Say no")
        (pid,) = self.home.linux_pids()
        def used():
            fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
            return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        time.sleep(1)
        before = used()
        time.sleep(2)
        self.assertLess(used() - before, 0.1)


@needs_model
class OnItsOwn(WindowsTestCase):
    """In the folders that Windows names, with the daemon that `glm.exe run` starts."""

    def setUp(self):
        self.home = WindowsHome(with_folder=False)
        self.addCleanup(self.home.close)

    def test_without_a_daemon(self):
        self.fails(NO_DAEMON, "status", says="glm serve")
        self.assertIn("no daemon is running", self.glm("stop").stderr)

    def test_without_any_model(self):
        self.fails(NO_MODEL, "run", "hello", says="glm pull")

    def test_run_starts_a_daemon_and_stop_ends_it(self):
        self.home.add_default_model()
        first = self.succeeds("run", "--json", "--max-tokens", "12", "Name a fish")
        self.assertIn("no daemon is running, so one is started", first.stderr)
        (pid,) = self.home.linux_pids()
        self.assertTrue((self.home.runtime / "host.json").exists())

        # Killed, it leaves host.json and the lock's file behind, and what it had answered.
        os.kill(pid, signal.SIGKILL)
        wait_until(lambda: not self.home.linux_pids(), 20, "it is still there")
        self.assertTrue((self.home.runtime / "host.json").exists())
        second = self.succeeds("run", "--json", "--max-tokens", "12", "Name a fish")
        self.assertIn("no daemon is running, so one is started", second.stderr)
        self.assertTrue(json.loads(second.stdout)["from_memo"])
        self.assertEqual(json.loads(second.stdout)["content"], json.loads(first.stdout)["content"])

        self.succeeds("stop")
        wait_until(lambda: not self.home.linux_pids(), 20, "it is still there")
        self.assertFalse((self.home.runtime / "host.json").exists())
        self.fails(NO_DAEMON, "status", says="No daemon is running")
        self.assertNotIn("fish", "".join(log.read_text(errors="replace") for log in self.home.data.rglob("*.log")))

    def test_serve_ends_when_it_is_asked_to(self):
        daemon = self.home.start("serve", stderr=subprocess.STDOUT)
        wait_until(lambda: (self.home.runtime / "host.json").exists() or daemon.poll() is not None, 60, "no host.json")
        self.succeeds("stop")
        said, _ = daemon.communicate(timeout=30)
        self.assertIn(b"listening on tcp://127.0.0.1:", said)
        self.assertEqual(daemon.returncode, OK)
        self.assertFalse((self.home.runtime / "host.json").exists())


@needs_model
class WithoutDaemon(WindowsTestCase):
    @classmethod
    def setUpClass(cls):
        cls.home = WindowsHome()
        cls.addClassCleanup(cls.home.close)

    def linux(self, *arguments):
        result = subprocess.run([GLM, *map(str, arguments)], capture_output=True, timeout=120)
        self.assertEqual(result.returncode, OK, result.stderr)
        return result.stdout.decode()

    def test_help_and_mistakes(self):
        self.assertIn("glm run", self.succeeds("--help").stdout)
        self.fails(USAGE, "rnu", says="run")
        self.fails(USAGE, "run", "--temperature", "-3", "hello", says="--temperature")

    def test_tokens_are_those_of_the_linux_program(self):
        text = self.file("text 文.txt", "Hello, 世界! Füße\r\n\t🦊 x" * 20)
        self.assertEqual(json.loads(self.succeeds("tokenize", "-m", windows_path(DEFAULT_MODEL), "--text-file", windows_path(text), "--json").stdout),
                         json.loads(self.linux("tokenize", "-m", DEFAULT_MODEL, "--text-file", text, "--json")))

    def test_exact_logits_are_those_of_the_linux_program(self):
        def numbers(file):
            data = file.read_bytes()
            return struct.unpack(f"<{len(data) // 4}f", data)
        ours, theirs = self.home.path / "ours 数.f32", self.home.path / "theirs.f32"
        self.succeeds("logits", "-m", windows_path(DEFAULT_MODEL), "--tokens", "1,504,253,9000", "--out", windows_path(ours), "--exact")
        self.linux("logits", "-m", DEFAULT_MODEL, "--tokens", "1,504,253,9000", "--out", theirs, "--exact")
        a, b = numbers(ours), numbers(theirs)
        self.assertEqual((len(a), len(a) % 4), (len(b), 0))
        self.assertGreater(max(a), 1)
        self.assertLess(max(abs(x - y) for x, y in zip(a, b)), 1e-4)

    def test_a_local_file_is_pulled(self):
        result = self.succeeds("pull", windows_path(DEFAULT_MODEL), "--name", "little")
        self.assertEqual((self.home.store / "little.gguf").stat().st_size, DEFAULT_MODEL.stat().st_size, result.stderr)
        self.assertIn("little", self.succeeds("models").stdout)


if __name__ == "__main__":
    unittest.main()

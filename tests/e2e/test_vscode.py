"""The extension in a real VS Code (code-server) in headless Chromium, with the real server, daemon and default model.

    VSCODE_TESTS   where tests/e2e/vscode/install.sh put them (default: build/vscode-tests)
    GLM_VSIX       the package (default: the one in build/vscode)

Screenshots are kept in build/vscode-tests/screenshots.
"""

import json
import os
import pathlib
import shlex
import shutil
import signal
import socket
import subprocess
import unittest
import urllib.request

import harness
from harness import DaemonTestCase, needs_model, wait_until

TESTS = pathlib.Path(os.environ.get("VSCODE_TESTS", harness.ROOT / "build/vscode-tests"))
ENTRY = TESTS / "node_modules/code-server/out/node/entry.js"
PACKAGES = sorted((harness.ROOT / "build/vscode").glob("*.vsix"))
VSIX = pathlib.Path(os.environ["GLM_VSIX"]) if "GLM_VSIX" in os.environ else (PACKAGES[-1] if PACKAGES else None)
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
NODE = shutil.which("node")
SCREENSHOTS = harness.ROOT / "build/vscode-tests/screenshots"

CODE = """import json


def read_config(path):
    with open(path) as stream:
        return json.load(stream)


def write_config(path, config):
    with open(path, "w") as stream:
"""

SETTINGS = {
    "glm.startDaemon": "never",
    "workbench.startupEditor": "none",
    "editor.inlineSuggest.enabled": True,
    # While a list of words is open, VS Code hides ghost text that does not go on from the word selected there.
    "editor.quickSuggestions": {"other": "off", "comments": "off", "strings": "off"},
    "extensions.autoUpdate": False,
    "extensions.autoCheckUpdates": False,
    "telemetry.telemetryLevel": "off",
    "files.simpleDialog.enable": True,
    "window.restoreWindows": "none",
}


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@unittest.skipUnless(ENTRY.exists(), f"{TESTS} is not there (tests/e2e/vscode/install.sh brings it)")
@unittest.skipUnless(VSIX and VSIX.exists(), "there is no package (installer/vscode/build.sh makes it)")
@unittest.skipUnless(CHROMIUM and NODE, "Chromium or Node is not installed")
@needs_model
class VsCode(DaemonTestCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.workspace = cls.home.path / "work 工程"
        cls.workspace.mkdir()
        cls.user = cls.home.path / "vscode"
        (cls.user / "data/User").mkdir(parents=True)
        (cls.user / "data/User/settings.json").write_text(json.dumps(SETTINGS))
        cls.port = free_port()
        (cls.user / "config.yaml").write_text(f"bind-addr: 127.0.0.1:{cls.port}\nauth: none\ncert: false\n")
        cls.base = f"http://127.0.0.1:{cls.port}"
        cls.install()
        cls.start_editor()

    @classmethod
    def install(cls):
        """By `glm editor install`, with an editor on the PATH as a user has one."""
        folder = cls.home.path / "bin"
        folder.mkdir()
        program = folder / "code-server"
        words = " ".join(shlex.quote(word) for word in cls.command())
        program.write_text(f'#!/bin/sh\nexec {words} "$@"\n')
        program.chmod(0o755)
        path = f"{folder}:{cls.home.environment['PATH']}"
        result = cls.home.glm("editor", "install", "--editor", "code-server", "--vsix", VSIX, PATH=path)
        if result.returncode != 0 or "Installed into code-server" not in result.stdout:
            raise AssertionError(result.stdout + result.stderr)

    @classmethod
    def command(cls):
        return [
            NODE, str(ENTRY), "--config", str(cls.user / "config.yaml"), "--user-data-dir", str(cls.user / "data"),
            "--extensions-dir", str(cls.user / "extensions"), "--disable-telemetry", "--disable-update-check",
            "--disable-workspace-trust", "--disable-getting-started-override",
        ]

    @classmethod
    def code_server(cls):
        with open(cls.user / "log", "ab") as log:
            return subprocess.Popen(
                cls.command(), stdout=log, stderr=log, env=cls.home.environment, start_new_session=True
            )

    @classmethod
    def start_editor(cls):
        cls.editor = cls.code_server()
        cls.addClassCleanup(cls.end_editor)

        def healthy():
            try:
                return urllib.request.urlopen(cls.base + "/healthz", timeout=1).status == 200
            except OSError:
                return False

        wait_until(healthy, 60, "code-server does not answer")
        cls.drive("first", [
            ["open", None], ["text", "with a model on this machine"], ["run", "GLM: First Steps"], ["text", "Bring a model"],
        ])

    @classmethod
    def end_editor(cls):
        if cls.editor.poll() is None:
            os.killpg(cls.editor.pid, signal.SIGKILL)
            cls.editor.wait()

    @classmethod
    def drive(cls, name, steps):
        plan = cls.user / f"{name}.json"
        plan.write_text(json.dumps({"workspace": str(cls.workspace), "steps": steps}))
        result = subprocess.run(
            [NODE, str(pathlib.Path(__file__).parent / "vscode/drive.mjs"), cls.base, str(plan), str(SCREENSHOTS / name)],
            capture_output=True, text=True, timeout=240,
            env={**os.environ, "VSCODE_TESTS": str(TESTS), "CHROMIUM": CHROMIUM},
        )
        lines = [json.loads(line) for line in result.stdout.splitlines() if line.startswith("{")]
        if result.returncode != 0:
            raise AssertionError(f"{lines[-1:]} {result.stderr[-2000:]}; see {SCREENSHOTS / name}")
        return [line["value"] for line in lines]

    def file(self, name, text):
        path = self.workspace / name
        path.write_bytes(text.encode())
        return path

    def server_pids(self):
        found = subprocess.run(["pgrep", "-f", str(self.user / "extensions")], capture_output=True, text=True)
        pids = []
        for pid in found.stdout.split():
            try:
                name = os.readlink(f"/proc/{pid}/exe")
            except OSError:
                continue
            if name.endswith("glm-language-server"):
                pids.append(int(pid))
        return pids

    def test_ghost_text_word_by_word_along_and_with_tab(self):
        file = self.file("config.py", CODE)
        values = self.drive("python", [
            ["open", "config.py"], ["press", "Control+End"], ["type", "        json."],
            ["ghost", "dump("], ["typeAlong", 3], ["press", "Control+ArrowRight"], ["ghost", "config"], ["press", "Tab"],
            ["save"],
        ])
        first, along = values[3], values[4]
        self.assertTrue(along["text"].startswith(first[:4]), values)
        self.assertEqual(along["gone"], [], "the ghost text went away or changed while it was typed along")
        self.assertEqual(along["rest"][:3], along["text"][3:6])
        saved = file.read_bytes().decode()
        self.assertTrue(saved.startswith(CODE + "        json.dump(config, stream"), saved)
        self.assertEqual(saved.count("json.dump"), 1)

    def test_escape_hides_it_and_nothing_is_inserted(self):
        file = self.file("escape.py", CODE)
        self.drive("escape", [
            ["open", "escape.py"], ["press", "Control+End"], ["type", "        json."], ["ghost", "dump("],
            ["press", "Escape"], ["noGhost"], ["save"],
        ])
        self.assertEqual(file.read_bytes().decode(), CODE + "        json.")

    def test_crlf_tabs_cjk_and_emoji_before_the_cursor(self):
        head = CODE.replace("    ", "\t").replace("\n", "\r\n") + "\t\t名前 = '😀工程'; json"
        file = self.file("名前.py", head)
        values = self.drive("crlf", [
            ["open", "名前.py"], ["press", "Control+End"], ["type", "."], ["ghost", "dump("], ["press", "Tab"], ["save"],
        ])
        saved = file.read_bytes().decode()
        self.assertTrue(saved.startswith(head + ".dump("), values)
        self.assertEqual(saved.count("\n"), saved.count("\r\n"), "a line end is not the document's")
        self.assertNotIn("    ", saved)

    def test_the_reason_is_shown_when_nothing_is(self):
        self.file(".env", "KEY=1\n")
        self.drive("why", [
            ["open", ".env"], ["press", "Control+End"], ["type", "TOKEN="], ["wait", 1500], ["noGhost"],
            ["run", "GLM: Why Is Nothing Shown?"], ["text", "secrets"],
        ])

    def test_y_the_daemon_killed_and_back(self):
        self.file("back.py", CODE)
        os.kill(self.home.daemon_pid(), signal.SIGKILL)
        type(self).daemon.wait()
        type(self).daemon = self.home.start("serve", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.drive("back", [
            ["open", "back.py"], ["press", "Control+End"], ["wait", 4000], ["type", "        json."], ["ghost", "dump("],
        ])

    def test_z_the_editor_killed_leaves_no_process(self):
        self.file("killed.py", CODE)
        self.drive("killed", [["open", "killed.py"], ["press", "Control+End"], ["type", "        json."], ["ghost", "dump("]])
        wait_until(self.server_pids, 10, "no language server runs")
        os.killpg(self.editor.pid, signal.SIGKILL)
        self.editor.wait()
        # Extension hosts are processes of their own; without their server they end by themselves, and ours with them.
        wait_until(lambda: not self.server_pids(), 30, "a language server is left behind")


if __name__ == "__main__":
    unittest.main()

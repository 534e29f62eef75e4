"""glm64.xll under Wine, loaded by excel_host.exe, against the real daemon with the real model. run.sh builds them.

Each workbook script in tests/e2e/excel_host/scripts is one test; what they say is told in the README beside them. An exit
code proves nothing under Wine, so a script has passed only when excel_host says so in words.
"""

import os
import pathlib
import queue
import shutil
import subprocess
import threading
import unittest

from test_glm_exe import *

EXCEL_HOST = os.environ["GLM_EXCEL_HOST"]
XLL = pathlib.Path(os.environ["GLM_XLL"])
SCRIPTS = pathlib.Path(__file__).resolve().parents[1] / "e2e/excel_host/scripts"


def load_tests(loader, _, __):
    """The tests of this file alone, although it shares the names of another."""
    return unittest.TestSuite(loader.loadTestsFromTestCase(case) for case in (Workbooks, Com))


class Daemon:
    """One `glm.exe serve` in a home of its own, that can be stopped and started."""

    def __init__(self):
        self.home = WindowsHome()
        self.home.add_default_model()
        self.process = None
        self.start()

    def start(self):
        self.process = self.home.start("serve", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_until(lambda: self.home.glm("status").returncode == OK, 90, "the daemon does not come")

    def stop(self):
        self.home.glm("stop", "--force")
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(20)
        self.process.kill()
        self.process.wait()

    def queue(self):
        return json.loads(self.home.glm("status", "--json").stdout)["queue"]

    def close(self):
        self.stop()
        self.home.close()


@needs_model
class Workbooks(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = Daemon()
        cls.addClassCleanup(cls.daemon.close)
        cls.folder = cls.daemon.home.path / "books 簿"
        cls.folder.mkdir()
        cls.remembered = None

    def run_scripts(self, *names, seconds=420):
        process = subprocess.Popen(
            [WINE, EXCEL_HOST, windows_path(XLL), *(windows_path(SCRIPTS / f"{name}.txt") for name in names)],
            cwd=self.folder, env=self.daemon.home.environment,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
        lines = queue.Queue()
        reader = threading.Thread(target=lambda: [lines.put(line) for line in process.stdout] + [lines.put(None)])
        reader.start()
        said = []
        end = time.monotonic() + seconds
        try:
            while (line := lines.get(timeout=max(0.1, end - time.monotonic()))) is not None:
                said.append(line)
                if line.startswith("@ "):
                    answer = self.answer(line[2:].strip())
                    said.append(f"-> {answer}\n")
                    process.stdin.write(answer + "\n")
                    process.stdin.flush()
        except queue.Empty:
            self.fail("excel_host does not end; it said:\n" + "".join(said))
        finally:
            process.kill()
            process.wait()
            reader.join()
            process.stdin.close()
            process.stdout.close()
        self.assertIn(f"{len(names)} passed, 0 failed", "".join(said), "".join(said))

    def answer(self, request):
        """What the script asked for; "ok" or a sentence."""
        match request.split():
            case ["requests" | "memo", "remember"]:
                type(self).remembered = self.daemon.queue()
            case ["requests", "none"]:
                now = self.daemon.queue()
                changed = {key: now[key] - self.remembered[key] for key in ("answered", "from_memo", "coalesced", "failed")}
                if any(changed.values()):
                    return f"the daemon was asked again: {changed}"
            case ["requests", "at", "most", number]:
                asked = self.daemon.queue()["answered"] - self.remembered["answered"]
                if asked > int(number):
                    return f"the daemon answered {asked} requests"
            case ["memo", "only"]:
                now = self.daemon.queue()
                asked, known = (now[key] - self.remembered[key] for key in ("answered", "from_memo"))
                if asked != known:
                    return f"{asked} were answered and only {known} of them from the memo store"
            case ["idle"]:
                wait_until(lambda: (lambda q: q["running"] + q["waiting"] == 0)(self.daemon.queue()), 20, "it is not idle")
            case ["daemon", "stop"]:
                self.daemon.stop()
            case ["daemon", "start"]:
                self.daemon.start()
            case _:
                return f"nobody knows how to do {request!r}"
        return "ok"

    def test_reopen_in_a_new_process(self):
        self.run_scripts("recalculation_insert_and_reopen")
        self.run_scripts("reopen_in_a_new_process")


def add_scripts():
    for path in sorted(SCRIPTS.glob("*.txt")):
        if not hasattr(Workbooks, f"test_{path.stem}"):
            setattr(Workbooks, f"test_{path.stem}", lambda self, name=path.stem: self.run_scripts(name))


add_scripts()


class Com(unittest.TestCase):
    """The RTD class from outside of our code: registered by regsvr32, made and called by a script."""

    SCRIPT = """
Set server = CreateObject("GlmHost.Rtd")
started = server.ServerStart(Nothing)
first = server.ConnectData(1, Array("00000000000000000000000000000000"), True)
other = server.ConnectData(2, Array("no topic"), True)
count = 0
values = server.RefreshData(count)
server.DisconnectData 1
server.DisconnectData 2
alive = server.Heartbeat
server.ServerTerminate
Set file = CreateObject("Scripting.FileSystemObject").CreateTextFile("said.txt", True)
file.WriteLine started & " " & first & " " & other & " " & count & " " & UBound(values, 1) & " " & alive
file.Close
"""

    def run_wine(self, *arguments, folder):
        return subprocess.run([WINE, *arguments], cwd=folder, timeout=60, capture_output=True, env=os.environ)

    def classes(self):
        return b"GlmHost.Rtd" in self.run_wine("reg", "query", "HKCU\\Software\\Classes\\GlmHost.Rtd", folder="/").stdout

    def test_a_script_makes_the_rtd_class(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "rtd.vbs").write_text(self.SCRIPT)
            self.run_wine("regsvr32", "/s", windows_path(XLL), folder=folder)
            self.assertTrue(self.classes())
            self.run_wine("cscript", "//nologo", "rtd.vbs", folder=folder)
            # Wine hides what a script says of its errors; what it wrote is the proof.
            self.assertTrue((folder / "said.txt").exists(), "the script did not come to its end")
            self.assertEqual((folder / "said.txt").read_text().split(), ["1", "unknown", "unknown", "0", "1", "1"])
            self.run_wine("regsvr32", "/s", "/u", windows_path(XLL), folder=folder)
            self.assertFalse(self.classes())


if __name__ == "__main__":
    unittest.main()

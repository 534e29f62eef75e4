"""How a daemon begins, goes on and ends: starts by need, stale traces, kill -9, other users, full and read-only disks."""

import resource
import signal
import socket
import stat
import threading
import unittest

from harness import *

SHORT = ("--max-tokens", "8", "--no-memo")
ASK = ("run", *SHORT, "Name a fish")


class WithoutModel(TestCase):
    def test_status_and_ps_without_a_daemon(self):
        self.fails(NO_DAEMON, "status", says=["No daemon is running", "glm serve"])
        self.fails(NO_DAEMON, "status", "--json", says="No daemon is running")
        self.fails(NO_DAEMON, "ps", says="No daemon is running")
        self.assertIn("no daemon is running", self.succeeds("stop").stderr)

    def test_the_status_has_what_scripts_need(self):
        daemon = self.home.start("serve")
        self.addCleanup(daemon.communicate)
        wait_until(lambda: self.home.daemon_pid(), 20, "no daemon")
        status = json.loads(self.succeeds("status", "--json").stdout)
        self.assertEqual(status["pid"], daemon.pid)
        for key in ("pid", "version", "endpoint", "models", "queue"):
            self.assertIn(key, status)
        self.assertEqual(status["models"], [])
        for key in ("waiting", "running", "answered", "refused"):
            self.assertIn(key, status["queue"])
        self.assertIn(str(daemon.pid), self.succeeds("status").stdout)
        self.assertIn("No model is loaded", self.succeeds("ps").stdout)
        self.fails(NO_MODEL, "run", "hello", says="glm pull smollm2-135m")
        self.succeeds("stop")
        self.assertEqual(daemon.wait(10), OK)
        self.fails(NO_DAEMON, "status")
        self.assertEqual([p.name for p in self.home.runtime.iterdir() if p.suffix not in (".lock",)], [])

    def test_signals_end_it_cleanly(self):
        for sent in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            daemon = self.home.start("serve")
            wait_until(lambda: self.home.daemon_pid(), 20, "no daemon")
            daemon.send_signal(sent)
            daemon.communicate(timeout=15)
            self.assertEqual(daemon.returncode, OK, sent)
            self.fails(NO_DAEMON, "status")

    def test_a_second_daemon_is_refused_with_the_process_of_the_first(self):
        daemon = self.home.start("serve")
        self.addCleanup(daemon.communicate)
        wait_until(lambda: self.home.daemon_pid(), 20, "no daemon")
        second = self.glm("serve", timeout=20)
        self.assertEqual(second.returncode, 9)
        self.assertIn(str(daemon.pid), second.stderr)
        self.assertEqual(self.home.daemon_pid(), daemon.pid)
        self.succeeds("stop")

    def test_an_idle_daemon_uses_no_processor(self):
        daemon = self.home.start("serve")
        self.addCleanup(daemon.communicate)
        wait_until(lambda: self.home.daemon_pid(), 20, "no daemon")
        def ticks():
            fields = pathlib.Path(f"/proc/{daemon.pid}/stat").read_text().rsplit(")", 1)[1].split()
            return int(fields[11]) + int(fields[12])
        time.sleep(1)
        before = ticks()
        time.sleep(4)
        self.assertLessEqual(ticks() - before, 2)
        self.succeeds("stop")

    def test_wrong_flags_and_settings_keep_it_from_starting(self):
        self.fails(USAGE, "serve", "--threads", "-1")
        self.fails(USAGE, "serve", "--endpoint", "tcp://0.0.0.0:1")
        config = self.file(".config/glm-host/config.toml", "thread = 4\n")
        self.fails(USAGE, "serve", says=["thread", "threads"])
        # A client that would start one tells the reason.
        result = self.glm("run", "hello")
        self.assertIn(result.returncode, (USAGE, NO_DAEMON))
        self.assertIn("threads", result.stderr)
        config.unlink()

    def test_the_settings_explain_themselves(self):
        text = self.succeeds("serve", "--show-settings").stdout
        self.assertIn("threads", text)
        self.file(".config/glm-host/config.toml", text)
        self.assertEqual(self.succeeds("serve", "--show-settings").stdout, text.replace(" (there is none yet)", ""))
        self.succeeds("models")


@needs_model
class Starts(TestCase):
    def setUp(self):
        super().setUp()
        self.home.add_default_model()

    def test_run_starts_one_and_says_so(self):
        first = self.succeeds(*ASK)
        self.assertIn("no daemon is running", first.stderr)
        pid = self.home.daemon_pid()
        self.assertNotIn("no daemon is running", self.succeeds(*ASK).stderr)
        self.assertEqual(self.home.daemon_pid(), pid)
        self.assertIn("smollm2-135m", self.succeeds("ps").stdout)
        self.succeeds("stop", "-m", "smollm2-135m")
        self.assertIn("No model is loaded", self.succeeds("ps").stdout)
        self.succeeds(*ASK)

    def test_several_clients_start_only_one(self):
        results = []
        threads = [threading.Thread(target=lambda: results.append(self.glm(*ASK))) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual([r.returncode for r in results], [OK] * 6, [r.stderr for r in results])
        daemons = [p for p in pathlib.Path("/proc").glob("[0-9]*/cmdline") if self.is_our_daemon(p)]
        self.assertEqual(len(daemons), 1)

    def is_our_daemon(self, cmdline):
        try:
            environment = (cmdline.parent / "environ").read_bytes()
            return cmdline.read_bytes().endswith(b"\0serve\0") and str(self.home.path).encode() in environment
        except OSError:
            return False

    def test_a_killed_daemon_leaves_nothing_in_the_way(self):
        for moment in (0.0, 0.3):
            self.succeeds(*ASK)
            pid = self.home.daemon_pid()
            os.kill(pid, signal.SIGKILL)
            time.sleep(moment)
            self.succeeds(*ASK)
            self.assertNotEqual(self.home.daemon_pid(), pid)

    def test_a_daemon_killed_under_a_request_is_told_and_finished_answers_stay(self):
        kept = json.loads(self.succeeds("run", "--json", "--max-tokens", "8", "Name a bird").stdout)
        process = self.home.start("run", "--max-tokens", "4000", "--no-memo", "Write a very long story about the sea")
        self.assertTrue(process.stdout.read(1))
        os.kill(self.home.daemon_pid(), signal.SIGKILL)
        _, errors = process.communicate(timeout=20)
        self.assertEqual(process.returncode, FAILURE)
        self.assertTrue(errors.startswith(b"glm: "))
        again = json.loads(self.succeeds("run", "--json", "--max-tokens", "8", "Name a bird").stdout)
        self.assertTrue(again["from_memo"])
        self.assertEqual(again["content"], kept["content"])

    def test_traces_of_an_old_daemon_do_not_block(self):
        self.home.runtime.mkdir(parents=True)
        self.home.runtime.chmod(0o700)
        lock = self.home.runtime / "daemon.lock"
        lock.write_text("999999\n")
        lock.chmod(0o600)
        host = self.home.runtime / "host.json"
        host.write_text(json.dumps({"address": f"ipc://{self.home.runtime}/daemon.sock", "pid": 999999, "protocol_version": 1,
                                    "version": "0.0.1", "server_key": ""}))
        host.chmod(0o600)
        stale = socket.socket(socket.AF_UNIX)
        with contextlib.suppress(OSError):  # a home may be too long for a socket's name; the daemon has its way around
            stale.bind(str(self.home.runtime / "daemon.sock"))
        stale.close()
        self.succeeds(*ASK)

    def test_a_damaged_host_json_of_a_dead_daemon_is_replaced(self):
        self.home.runtime.mkdir(parents=True)
        self.home.runtime.chmod(0o700)
        host = self.home.runtime / "host.json"
        host.write_text("{ nonsense")
        host.chmod(0o600)
        self.fails(NO_DAEMON, "status", says="No daemon is running")
        self.succeeds(*ASK)

    def test_a_daemon_writes_its_host_json_anew(self):
        self.succeeds(*ASK)
        pid = self.home.daemon_pid()
        for content in ("{ nonsense", "", None):
            host = self.home.runtime / "host.json"
            host.unlink() if content is None else host.write_text(content)
            self.succeeds(*ASK)
            self.assertEqual(self.home.daemon_pid(), pid)

    def test_a_damaged_host_json_of_a_hanging_daemon_is_told_with_the_way_out(self):
        self.succeeds(*ASK)
        os.kill(self.home.daemon_pid(), signal.SIGSTOP)
        (self.home.runtime / "host.json").write_text("{ nonsense")
        for verb in (("status",), ("stop",)):
            self.fails(NO_DAEMON, *verb, says=["host.json is damaged", "glm stop --force"])
        self.succeeds("stop", "--force")
        self.succeeds(*ASK)

    def test_a_daemon_that_nobody_can_find_ends(self):
        for removed in ("run", "run/daemon.lock"):
            self.succeeds(*ASK)
            pid = self.home.daemon_pid()
            path = self.home.runtime.parent / removed
            shutil.rmtree(path) if path.is_dir() else path.unlink()
            self.succeeds(*ASK)
            self.assertNotEqual(self.home.daemon_pid(), pid)
            ended = time.monotonic() + 10
            while pathlib.Path(f"/proc/{pid}").exists():
                self.assertLess(time.monotonic(), ended, "the old daemon goes on")
                time.sleep(0.05)

    def test_two_daemons_do_not_share_a_home(self):
        self.succeeds(*ASK)
        elsewhere = self.home.path / "run elsewhere"
        elsewhere.mkdir(mode=0o700)
        pid = self.home.daemon_pid()
        second = self.glm("serve", XDG_RUNTIME_DIR=str(elsewhere), timeout=30)
        self.assertEqual(second.returncode, 9, second.stderr)
        for part in (str(pid), "XDG_RUNTIME_DIR"):
            self.assertIn(part, second.stderr)

    @unittest.skipIf(os.geteuid() == 0, "root may read any folder")
    def test_a_models_folder_that_cannot_be_read_leaves_the_daemon_reachable(self):
        self.succeeds(*ASK)
        self.home.store.chmod(0)
        self.addCleanup(self.home.store.chmod, 0o700)
        self.assertIn("cannot be read", json.loads(self.succeeds("status", "--json").stdout)["problem"])
        self.succeeds("run", "-m", DEFAULT_MODEL, "--max-tokens", "2", "Name a fish")
        self.succeeds("stop")

    def test_relative_paths_mean_the_callers_folder(self):
        folder = self.home.path / "project"
        folder.mkdir()
        (folder / "mine.gguf").symlink_to(DEFAULT_MODEL)
        environment = {**self.home.environment, "GLM_HOST_HOME": "here"}

        def glm(*arguments):
            return subprocess.run([GLM, *arguments], cwd=folder, env=environment, capture_output=True, text=True, timeout=120)

        self.addCleanup(lambda: glm("stop", "--force"))
        for model in ("mine.gguf", "./mine.gguf", "../project/mine.gguf"):
            result = glm("run", "-m", model, "--max-tokens", "2", "Hello")
            self.assertEqual(result.returncode, OK, result.stderr)
        self.assertTrue((folder / "here" / "data" / "memo.sqlite").exists())
        self.assertEqual(glm("run", "-m", str(folder).lstrip("/") + "/mine.gguf", "Hello").returncode, NO_MODEL)
        self.assertEqual(glm("stop", "-m", "").returncode, USAGE)
        self.assertEqual(glm("status").returncode, OK)

    @needs_root
    def test_another_user_cannot_reach_it(self):
        self.succeeds(*ASK)
        self.home.path.chmod(0o755)
        for folder in (self.home.path / ".local", self.home.path / ".local/state", self.home.path / ".local/share"):
            folder.chmod(0o755)
        for verb in (["status"], ["run", "hello"], ["stop"]):
            result = subprocess.run([GLM, *verb], env=self.home.environment, user=65534, group=65534, extra_groups=[], capture_output=True,
                                    timeout=60, stdin=subprocess.DEVNULL)
            self.assertNotEqual((verb[0], result.returncode), ("run", OK), result.stderr)
            self.assertNotIn(b'"pid"', result.stdout)
        self.assertTrue(self.home.daemon_pid())
        def mode(path):
            return stat.S_IMODE(path.stat().st_mode)
        self.assertEqual(mode(self.home.runtime) & 0o077, 0)
        data = self.home.path / ".local/share/glm-host"
        for private in data.glob("memo*"):
            readable = subprocess.run(["cat", private], user=65534, group=65534, extra_groups=[], capture_output=True)
            self.assertNotEqual(readable.returncode, 0, private)
        for log in (self.home.path / ".local/state/glm-host").rglob("*.log"):
            readable = subprocess.run(["cat", log], user=65534, group=65534, extra_groups=[], capture_output=True)
            self.assertNotEqual(readable.returncode, 0, log)

    @needs_root
    def test_a_read_only_home_is_told(self):
        home = self.home.path / "read only"
        home.mkdir(mode=0o555)
        os.chown(home, 65534, 65534)
        self.home.path.chmod(0o755)
        environment = {**self.home.environment, "HOME": str(home)}
        result = subprocess.run([GLM, "run", "-m", DEFAULT_MODEL, "hello"], env=environment, user=65534, group=65534, extra_groups=[],
                                capture_output=True, timeout=60, stdin=subprocess.DEVNULL)
        self.assertIn(result.returncode, (FAILURE, NO_DAEMON))
        self.assertTrue(result.stderr.startswith(b"glm: "), result.stderr)
        self.assertIn(b"read only", result.stderr)

    @needs_root
    def test_a_full_disk_does_not_keep_answers_away(self):
        home = self.home.path / "full"
        home.mkdir()
        mount_small_disk(self, home, "2m")
        environment = {"HOME": str(home), "GLM_HOST_MODELS_FOLDER": str(self.home.store)}
        self.addCleanup(lambda: self.glm("stop", "--force", **environment))
        self.succeeds(*ASK, **environment)
        with contextlib.suppress(OSError):
            (home / "filler").write_bytes(b"x" * 3_000_000)
        for i in range(3):
            answer = self.succeeds("run", "--max-tokens", "8", f"Name {i} fish", **environment)
            self.assertTrue(answer.stdout.strip())

    def test_too_little_memory_is_told_with_numbers(self):
        result = self.fails(LOAD_FAILED, *ASK, GLM_HOST_MEMORY_LIMIT="20 MiB")
        self.assertRegex(result.stderr, r"\d")


if __name__ == "__main__":
    unittest.main()

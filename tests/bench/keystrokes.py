#!/usr/bin/env python3
"""Replays commits of a repository as keystrokes into glm-language-server, as an editor would send them, and measures.

    tests/bench/keystrokes.py --minutes 5 --wpm 90 REPOSITORY [--pattern '*.py']

Each run of added lines in a commit is typed into the file as it was before, character by character at the given rhythm,
with pauses at line ends, one mistyped character in forty, taken back, and a jump to the next place between runs. Ghost
text is asked for after each key, as VS Code does: the question before it is cancelled. A text that is shown and fits for
its first line is accepted one time in three (the rest is typed). The daemon and the model are real and must be there:

    GLM_BINARY, GLM_LANGUAGE_SERVER   the programs (default: build/release/bin)
    GLM_TEST_MODELS                   folder with SmolLM2-135M-Instruct.Q4_1.gguf

keystrokes_llama.mjs replays the same questions (--trace) through llama.cpp.

Prints one JSON object; --table a table for people.
"""

import argparse
import json
import pathlib
import random
import statistics
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))
import harness  # noqa: E402
from lsp_client import LspClient  # noqa: E402
from test_language_server import SERVER  # noqa: E402


def git(repository, *arguments):
    return subprocess.run(["git", "-C", repository, *arguments], capture_output=True, check=True).stdout.decode(errors="replace")


def commits(repository, pattern, most):
    """(file name, text before, [(line, added text)]) for commits that only add to a file here and there."""
    for commit in git(repository, "log", "--no-merges", "--format=%H", f"-{most}", "--", pattern).split():
        names = git(repository, "diff-tree", "--no-commit-id", "--name-only", "-r", "--diff-filter=M", commit, "--", pattern)
        for name in names.splitlines():
            try:
                before = git(repository, "show", f"{commit}^:{name}")
            except subprocess.CalledProcessError:
                continue
            runs = []
            shift = 0
            for line in git(repository, "diff", "-U0", f"{commit}^", commit, "--", name).splitlines():
                if line.startswith("@@"):
                    old, new = line.split()[1], line.split()[2]
                    start, _, count = old[1:].partition(",")
                    # Pure additions: what was removed would have to be removed by hand.
                    added = [] if count == "0" else None
                    place = int(new[1:].partition(",")[0]) - 1
                    if added is not None:
                        runs.append((place, added, shift))
                    removed = int(count or 1)
                    shift += 0 if added is not None else int(new.partition(",")[2] or 1) - removed
                    current = added
                elif line.startswith("+") and not line.startswith("+++") and runs and current is not None:
                    current.append(line[1:])
            runs = [(place - shift, "".join(text + "\n" for text in added)) for place, added, shift in runs]
            runs = [(place, text) for place, text in runs if 20 <= len(text) <= 2000]
            if runs and len(before) < 400_000:
                yield name, before, runs


def percentile(values, share):
    values = sorted(values)
    return values[min(len(values) - 1, int(len(values) * share))] if values else None


class Typist:
    def __init__(self, client, wpm, seed):
        self.client = client
        self.random = random.Random(seed)
        self.gap = 60 / (wpm * 5)
        self.open_question = None
        self.shown = None  # (line, character, text) as an editor would show it
        self.to_ghost = []  # seconds from a question to its text
        self.keys = 0
        self.questions = 0
        self.shown_texts = 0
        self.replaced = 0  # a text that still fitted gave way to another
        self.accepted_characters = 0
        self.typed_characters = 0
        self.cancel_answers = []
        self.trace = None  # a list: what was asked for, and when, for the same replay through another program

    def begin_file(self, uri, text, language):
        self.uri, self.lines = uri, text.split("\n")
        self.client.open(uri, text, language)
        self.open_question, self.shown = None, None

    def insert(self, line, character, text, delete=0):
        self.client.insert(self.uri, line, character, text, delete)
        before = self.lines[line]
        units = before.encode("utf-16-le")
        new = (units[: 2 * character] + text.encode("utf-16-le") + units[2 * (character + delete) :]).decode("utf-16-le")
        self.lines[line : line + 1] = new.split("\n")

    def cancel(self):
        if self.open_question is None:
            return
        request, asked, _ = self.open_question
        self.open_question = None
        if request in self.client.answers:
            return
        sent = time.monotonic()
        self.client.notify("$/cancelRequest", {"id": request})
        self.cancel_answers.append((request, sent))

    def ask(self, line, character):
        self.cancel()
        self.questions += 1
        request = self.client.begin_completion(self.uri, line, character)
        if self.trace is not None:
            before = self.lines[line].encode("utf-16-le")[: 2 * character].decode("utf-16-le")
            text = "\n".join([*self.lines[:line], before])
            # From a place that stays while a line is typed, as the server's own windows do.
            begin = max(0, -(-(len(text) - 6144) // 2048) * 2048)
            self.trace.append({"at": time.monotonic(), "prefix": text[begin:]})
        self.open_question = (request, time.monotonic(), (line, character))

    def look(self):
        """Takes an answer that has come."""
        if self.open_question is None:
            return
        request, asked, place = self.open_question
        answer = self.client.answers.pop(request, None)
        if answer is None:
            return
        self.open_question = None
        result = answer.get("result")
        old = self.shown if self.shown and self.shown[:2] == place else None
        if not result:
            # A text that fits goes on being shown by the editor itself.
            return
        text = result["items"][0]["insertText"]
        self.to_ghost.append(answer["at"] - asked)
        self.shown_texts += 1
        if old and not text.startswith(old[2]) and not old[2].startswith(text):
            self.replaced += 1
        if old is None or len(text) > len(old[2]):
            self.shown = (*place, text)

    def wait(self, seconds):
        end = time.monotonic() + seconds
        while True:
            self.look()
            left = end - time.monotonic()
            if left <= 0:
                return
            time.sleep(min(left, 0.005))

    def key(self, line, character, text):
        self.keys += 1
        self.typed_characters += len(text)
        self.insert(line, character, text)
        if self.shown and self.shown[:2] == (line, character) and self.shown[2].startswith(text) and text != "\n":
            self.shown = (line, character + 1, self.shown[2][1:]) if len(self.shown[2]) > 1 else None
        else:
            self.shown = None

    def type_run(self, line, text, until):
        """Types TEXT as new lines before LINE."""
        self.insert(line, 0, "\n")
        character = 0
        at = 0
        while at < len(text) - 1 and time.monotonic() < until:
            rest = text[at:-1]
            ending = rest.split("\n", 1)[0]
            self.look()
            if self.shown and self.shown[:2] == (line, character) and self.random.random() < 0.33:
                first = self.shown[2].split("\n", 1)[0]
                if first and ending.startswith(first):
                    self.wait(0.3)  # to read it
                    self.insert(line, character, first)
                    self.accepted_characters += len(first)
                    character += len(first.encode("utf-16-le")) // 2
                    at += len(first)
                    self.shown = None
                    self.ask(line, character)
                    self.wait(self.gap)
                    continue
            c = text[at]
            if self.random.random() < 1 / 40 and c.isalpha():
                self.key(line, character, "q")
                self.ask(line, character + 1)
                self.wait(self.gap * 1.5)
                self.keys += 1
                self.insert(line, character, "", delete=1)
                self.shown = None
                self.ask(line, character)
                self.wait(self.gap)
            if c == "\n":
                # Editors indent the new line by themselves.
                following = rest[1:].split("\n", 1)[0]
                indentation = following[: len(following) - len(following.lstrip(" \t"))]
                self.key(line, character, "\n" + indentation)
                line, character = line + 1, len(indentation)
                at += 1 + len(indentation)
                self.ask(line, character)
                self.wait(self.gap * self.random.choice((2, 4, 8)))
                continue
            self.key(line, character, c)
            character += len(c.encode("utf-16-le")) // 2
            at += 1
            self.ask(line, character)
            self.wait(self.gap * self.random.uniform(0.5, 1.5))
        return line


def cancel_to_idle(home, client, samples):
    """Milliseconds from a cancel to a daemon that has ended the request, by the daemon's own log of requests."""
    uri = "untitled:cancel.py"
    client.open(uri, "")
    log = home.path / ".local/state/glm-host/daemon.log"
    times = []
    for i in range(samples):
        text = f"def function_{i}(value):"
        client.insert(uri, 0, 0, text + "\n")
        request = client.begin_completion(uri, 0, len(text), explicit=True)
        time.sleep(0.15)
        size = log.stat().st_size
        begin = time.monotonic()
        client.notify("$/cancelRequest", {"id": request})
        client.wait_answer(request)
        while "cancelled" not in log.read_bytes()[size:].decode(errors="replace"):
            if time.monotonic() - begin > 2:
                break
        else:
            times.append(1000 * (time.monotonic() - begin))
    client.notify("textDocument/didClose", {"textDocument": {"uri": uri}})
    return times


def did_change(client, text):
    """The server's time for one didChange in a large file: a burst of them, and one question behind it."""
    uri = "untitled:large.py"
    client.open(uri, text)
    lines = text.count("\n")
    samples = []
    for i in range(200):
        begin = time.perf_counter()
        for j in range(50):
            client.insert(uri, (i * 50 + j) * 7919 % lines, 0, "x")
        client.request("glm/why", {"uri": uri})
        samples.append((time.perf_counter() - begin) / 51)
    client.notify("textDocument/didClose", {"textDocument": {"uri": uri}})
    return samples


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("repository", nargs="?", default=str(harness.ROOT))
    parser.add_argument("--pattern", default="*.py")
    parser.add_argument("--language", default="python")
    parser.add_argument("--minutes", type=float, default=5)
    parser.add_argument("--wpm", type=float, default=90)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--commits", type=int, default=200)
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--trace", help="writes what was asked for, and when, for keystrokes_llama.mjs")
    arguments = parser.parse_args()

    home = harness.Home()
    daemon = None
    try:
        home.add_default_model()
        daemon = home.start("serve", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        harness.wait_until(lambda: home.daemon_pid() is not None, 30, "the daemon does not answer")
        client = LspClient(SERVER, home.environment)
        client.initialize()
        client.wait_ready()
        typist = Typist(client, arguments.wpm, arguments.seed)
        typist.trace = [] if arguments.trace else None
        until = time.monotonic() + 60 * arguments.minutes
        memory = []
        begin = time.monotonic()
        for number, (name, before, runs) in enumerate(commits(arguments.repository, arguments.pattern, arguments.commits)):
            uri = f"untitled:{number}/{name}"
            typist.begin_file(uri, before, arguments.language)
            for place, text in reversed(runs):
                if time.monotonic() >= until:
                    break
                typist.type_run(min(place, len(typist.lines) - 1), text, until)
                typist.wait(0.5)
            typist.cancel()
            client.notify("textDocument/didClose", {"textDocument": {"uri": uri}})
            memory.append(client.request("glm/statistics")["memoryBytes"])
            if time.monotonic() >= until:
                break
        if arguments.trace:
            pathlib.Path(arguments.trace).write_text("".join(json.dumps(one) + "\n" for one in typist.trace))
        took = time.monotonic() - begin
        counts = client.request("glm/statistics")
        late = [client.answers[r]["at"] - sent for r, sent in typist.cancel_answers if r in client.answers]
        large = did_change(client, "def function(argument):\n    return argument + 1\n" * 20_000)
        idle = cancel_to_idle(home, client, 40)
        answered = counts["typedAlong"] + counts["fromStream"] + counts["fromCache"] + counts["fromModel"]
        without = counts["typedAlong"] + counts["fromCache"]
        ended = max(1, counts["endedStreams"])
        report = {
            "minutes": round(took / 60, 2),
            "words_per_minute": arguments.wpm,
            "keys": typist.keys,
            "questions": counts["questions"],
            "shown": typist.shown_texts,
            "ghost_text_ms_p50": round(1000 * (percentile(typist.to_ghost, 0.5) or 0), 1),
            "ghost_text_ms_p95": round(1000 * (percentile(typist.to_ghost, 0.95) or 0), 1),
            "share_of_shown_without_model_work": round(without / max(1, answered), 3),
            "share_of_keys_without_new_model_work": round(1 - counts["started"] / max(1, typist.keys), 3),
            "replaced_while_fitting": typist.replaced,
            "accepted_characters": typist.accepted_characters,
            "typed_characters": typist.typed_characters,
            "cancel_answer_ms_p99": round(1000 * (percentile(late, 0.99) or 0), 2),
            "cancel_to_idle_ms_p50": round(percentile(idle, 0.5) or 0, 1),
            "cancel_to_idle_ms_p99": round(percentile(idle, 0.99) or 0, 1),
            "cancels_measured": len(idle),
            "prompt_tokens_per_request": round(counts["promptTokens"] / ended),
            "prompt_share_computed": round(1 - counts["cachedTokens"] / max(1, counts["promptTokens"]), 3),
            "did_change_ms_p50": round(1000 * statistics.median(large), 3),
            "did_change_ms_p99": round(1000 * percentile(large, 0.99), 3),
            "memory_mb_first": round(memory[0] / 1e6, 1) if memory else None,
            "memory_mb_last": round(memory[-1] / 1e6, 1) if memory else None,
            "server": counts,
        }
        client.stop()
    finally:
        home.close()
        if daemon is not None:
            daemon.kill()
            daemon.wait()
    if arguments.table:
        for key, value in report.items():
            if key != "server":
                print(f"{key:40} {value}")
    else:
        print(json.dumps(report, indent=2))


if __name__ == "__main__":
    main()

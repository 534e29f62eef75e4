"""A client of glm-language-server as an editor is one: LSP over its stdin and stdout. Nothing but the standard library."""

import json
import queue
import subprocess
import threading
import time


class LspClient:
    def __init__(self, program, environment, *arguments):
        self.process = subprocess.Popen(
            [program, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment
        )
        self.next_id = 0
        self.answers = {}
        self.notifications = queue.Queue()
        self.seen = []  # all notifications
        self.changed = threading.Condition()
        self.closed = False
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()
        self.versions = {}

    # --- bytes

    def send_bytes(self, data):
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def send(self, message):
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.send_bytes(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))

    def _read(self):
        stream = self.process.stdout
        while True:
            length = None
            while True:
                line = stream.readline()
                if not line:
                    with self.changed:
                        self.closed = True
                        self.changed.notify_all()
                    return
                line = line.strip()
                if not line:
                    break
                name, _, value = line.partition(b":")
                if name.lower() == b"content-length":
                    length = int(value)
            message = json.loads(stream.read(length))
            message["at"] = time.monotonic()
            with self.changed:
                if "method" in message:
                    self.seen.append(message)
                else:
                    self.answers[message.get("id")] = message
                self.changed.notify_all()

    # --- messages

    def notify(self, method, params=None):
        self.send({"method": method, "params": params if params is not None else {}})

    def begin(self, method, params=None):
        self.next_id += 1
        self.send({"id": self.next_id, "method": method, "params": params if params is not None else {}})
        return self.next_id

    def wait_answer(self, request, timeout=30):
        end = time.monotonic() + timeout
        with self.changed:
            while request not in self.answers:
                left = end - time.monotonic()
                if left <= 0 or self.closed:
                    raise AssertionError(f"no answer to request {request}" + (": the server ended" if self.closed else ""))
                self.changed.wait(left)
            return self.answers.pop(request)

    def request(self, method, params=None, timeout=30):
        answer = self.wait_answer(self.begin(method, params), timeout)
        if "error" in answer:
            raise AssertionError(f"{method}: {answer['error']}")
        return answer["result"]

    def wait_notification(self, method, accept=lambda params: True, timeout=30):
        end = time.monotonic() + timeout
        with self.changed:
            while True:
                for message in self.seen:
                    if message["method"] == method and accept(message["params"]):
                        return message["params"]
                left = end - time.monotonic()
                if left <= 0 or self.closed:
                    raise AssertionError(f"no {method}; there was {[m for m in self.seen if m['method'] == method][-3:]}")
                self.changed.wait(left)

    # --- what an editor does

    def initialize(self, root=None, options=None, capabilities=None, pid=None):
        result = self.request(
            "initialize",
            {
                "processId": pid,
                "rootUri": root.as_uri() if root else None,
                "capabilities": {"textDocument": {"inlineCompletion": {}}} if capabilities is None else capabilities,
                "initializationOptions": options or {},
            },
        )
        self.notify("initialized")
        return result

    def wait_ready(self, timeout=60):
        return self.wait_notification("glm/status", lambda s: s["state"] == "ready", timeout)

    def open(self, uri, text, language="python"):
        self.versions[uri] = 1
        self.notify("textDocument/didOpen", {"textDocument": {"uri": uri, "languageId": language, "version": 1, "text": text}})

    def insert(self, uri, line, character, text, delete=0):
        self.versions[uri] += 1
        change = {
            "range": {"start": {"line": line, "character": character}, "end": {"line": line, "character": character + delete}},
            "text": text,
        }
        self.notify(
            "textDocument/didChange",
            {"textDocument": {"uri": uri, "version": self.versions[uri]}, "contentChanges": [change]},
        )

    def begin_completion(self, uri, line, character, explicit=False):
        return self.begin(
            "textDocument/inlineCompletion",
            {
                "textDocument": {"uri": uri},
                "position": {"line": line, "character": character},
                "context": {"triggerKind": 1 if explicit else 2},
            },
        )

    def complete(self, uri, line, character, explicit=False, timeout=30):
        """The first item, or None."""
        answer = self.wait_answer(self.begin_completion(uri, line, character, explicit), timeout)
        result = answer.get("result")
        return result["items"][0] if result else None

    def stop(self):
        try:
            if self.process.poll() is None:
                self.request("shutdown", timeout=10)
                self.notify("exit")
                self.process.wait(10)
        except (AssertionError, OSError, ValueError, subprocess.TimeoutExpired):
            self.process.kill()
        code = self.process.wait(10)
        self.reader.join(10)
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            try:
                stream.close()
            except OSError:
                pass
        return code

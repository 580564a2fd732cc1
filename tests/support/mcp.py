"""Servers of the Model Context Protocol: the crate's examples, watched, and requests to them byte by byte."""

import http.client
import json
import signal
import subprocess
import threading
import time
from contextlib import closing, contextmanager
from pathlib import Path

from support.process import ROOT, executable

REVISION = "2026-07-28"
#: Headers of all requests.
COMMON = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "MCP-Protocol-Version": REVISION}
#: What a client says that can show forms.
FORMS = {"elicitation": {"form": {}}}
#: What one says that knows tasks, too.
TASKS = {**FORMS, "extensions": {"io.modelcontextprotocol/tasks": {}}}


class McpRequests:
    """Requests to a server on this machine, byte by byte."""

    def __init__(self, port):
        self.port = port

    def post(self, body, headers=None, timeout=20.0):
        """Status and text of the answer to a body; a header with the value None is left out."""
        sent = {**COMMON, **(headers or {})}
        body = body if isinstance(body, bytes) else json.dumps(body).encode()
        with closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)) as connection:
            connection.putrequest("POST", "/mcp", skip_host="Host" in sent)
            for name, value in {**sent, "Content-Length": str(len(body))}.items():
                if value is not None:
                    connection.putheader(name, value)
            connection.endheaders(body)
            answer = connection.getresponse()
            return answer.status, answer.read().decode()

    def start(self, tool, arguments, **more):
        """The open connection of a call, whose answer nobody has read yet. Closing it is going away."""
        params = {"name": tool, "arguments": arguments, "_meta": meta(), **more}
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20.0)
        connection.request("POST", "/mcp", body, {**COMMON, "Mcp-Method": "tools/call", "Mcp-Name": tool})
        return connection

    @contextmanager
    def listen(self, headers=None, **requested):
        """Messages of a subscription, as they come; a socket that says nothing for long is an error."""
        params = {"notifications": requested, "_meta": meta()}
        body = json.dumps({"jsonrpc": "2.0", "id": 5, "method": "subscriptions/listen", "params": params})
        sent = {**COMMON, "Mcp-Method": "subscriptions/listen", **(headers or {})}
        with closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=20.0)) as connection:
            connection.request("POST", "/mcp", body, sent)
            answer = connection.getresponse()
            assert answer.status == 200, answer.read()
            lines = (line.decode().removeprefix("data:").strip() for line in answer if line.startswith(b"data:"))
            yield (json.loads(line) for line in lines if line)

    def ask(self, method, params=None, capabilities=FORMS, headers=None):
        """Status and message of the answer to a request; no message where a stranger is refused."""
        params = dict(params or {})
        params["_meta"] = meta(capabilities, **params.pop("_meta", {}))
        names = {"Mcp-Method": method, **({"Mcp-Name": name(params)} if name(params) else {})}
        status, text = self.post({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}, {**names, **(headers or {})})
        return status, next(iter(reversed(messages(text))), None)

    def call(self, tool, arguments=None, capabilities=FORMS, headers=None, **more):
        """Result of a tool, or the error of the protocol."""
        status, message = self.ask("tools/call", {"name": tool, "arguments": arguments or {}, **more}, capabilities, headers)
        assert status == 200, (status, message)
        return message.get("result") or message["error"]


class McpServer(McpRequests):
    """A running example that listens on HTTP. Leaving the `with` block stops it, and checks that it ended cleanly."""

    def __init__(self, name, *options):
        command = [str(executable(name)), *map(str, options), "--http", "127.0.0.1:0"]
        self.lines = []
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self):
        for line in self.process.stderr:
            self.lines.append(line.rstrip("\n"))

    def __enter__(self):
        self.url = self.wait_for("ready: ").removeprefix("ready: ")
        self.port = int(self.url.rpartition(":")[2].partition("/")[0])
        return self

    def __exit__(self, kind, *_):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        try:
            code = self.process.wait(10.0)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise AssertionError(f"still running 10 s after Ctrl-C:\n{self.output()}") from None
        said = self.process.stdout.read()
        self._reader.join(10.0)
        assert kind or (code == 0 and said == ""), f"ended with {code}, wrote {said!r} on stdout:\n{self.output()}"
        if kind:
            print(self.output())

    def output(self):
        """All that it logged."""
        return "\n".join(self.lines)

    def wait_for(self, text, timeout=20.0):
        """The first line that has a text in it, once there is one."""
        end = time.monotonic() + timeout
        while True:
            found = next((line for line in list(self.lines) if text in line), None)
            if found is not None:
                return found
            assert self.process.poll() is None, f"it ended:\n{self.output()}"
            assert time.monotonic() < end, f"no line with `{text}` in {timeout} s:\n{self.output()}"
            time.sleep(0.01)


def commander(folder, copies=2):
    """Options of `karakuri` that make a simulated robot's server, whose envelope and audit log are in a folder. Of so many copies."""
    guarded = Path(folder, "envelope.yaml")
    if not guarded.exists():
        text = (ROOT / "config/envelopes/table.yaml").read_text()
        assert "copies: 16" in text
        guarded.write_text(text.replace("copies: 16", f"copies: {copies}"))
        guarded.chmod(0o444)
    return ["mcp", ROOT / "config/scenes/pick_and_place.yaml", "--envelope", guarded, "--audit", Path(folder, "audit.jsonl")]


def principals(folder, **verbs):
    """Writes the envelope of the table for principals of these names, each with the verbs that it may call."""
    text = (ROOT / "config/envelopes/table.yaml").read_text()
    (line,) = [line for line in text.splitlines() if line.startswith("  local: ")]
    entries = [f"  {name}: {{verbs: {allowed}, approval: elicitation}}" for name, allowed in verbs.items()]
    guarded = Path(folder, "envelope.yaml")
    guarded.write_text(text.replace(line, "\n".join(entries)).replace("copies: 16", "copies: 2"))
    guarded.chmod(0o444)


def bearer(name):
    """Header of a principal, and its token."""
    token = name.ljust(32, "0")
    return f"Bearer {token}", token


class CommanderServer(McpServer):
    """A running `karakuri mcp`, with the envelope of the table."""

    def __init__(self, folder, *options, copies=2):
        super().__init__("karakuri", *commander(folder, copies), *options)


def meta(capabilities=FORMS, **more):
    """What each request says about its client."""
    prefix = "io.modelcontextprotocol/"
    return {
        f"{prefix}protocolVersion": REVISION,
        f"{prefix}clientCapabilities": capabilities,
        f"{prefix}clientInfo": {"name": "test", "version": "1"},
        **more,
    }


def name(params):
    """What a request is about, for its header."""
    return params.get("name") or params.get("uri") or params.get("taskId")


def messages(text):
    """Messages of an answer, one of JSON or a stream of events."""
    if text.lstrip().startswith("{"):
        return [json.loads(text)]
    lines = [line.removeprefix("data:").strip() for line in text.splitlines() if line.startswith("data:")]
    return [json.loads(line) for line in lines if line]

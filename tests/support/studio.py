"""A client of the studio, as the page is one."""

import json
import re
import threading
import time
from contextlib import ExitStack

from support import clients

PING = 0.2  # s; half a second of silence stops the robot


class Page:
    """A client of the studio's WebSocket that, like the page, pings it all the time."""

    def __init__(self, address):
        host, token = re.fullmatch(r"http://([^/]+)/#token=(\S+)", address).groups()
        connect = clients.load("websockets.sync.client").connect
        self._stack = ExitStack()
        self._socket = self._stack.enter_context(connect(f"ws://{host}/ws", subprotocols=["karakuri.studio.v1"], max_size=None))
        self._last, self._gone = 0, threading.Event()
        self.frames = 0
        self.welcome = self.ask("hello", token=token)
        self._pings = threading.Thread(target=self._ping, daemon=True)
        self._pings.start()

    def _ping(self):
        while not self._gone.wait(PING):
            self._socket.send(json.dumps({"id": 0, "op": "ping", "args": {}}))

    def hush(self):
        """Stop the pings, as a page whose user has gone."""
        self._gone.set()
        self._pings.join()

    def close(self):
        self.hush()
        self._stack.close()

    def _receive(self, timeout=30.0):
        message = self._socket.recv(timeout)
        if isinstance(message, bytes):
            self.frames += 1
            return None
        return json.loads(message)

    def ask(self, operation, **arguments):
        """Request an operation; return its result, or the message of its error."""
        self._last += 1
        self._socket.send(json.dumps({"id": self._last, "op": operation, "args": arguments}))
        while True:
            message = self._receive()
            if message and message.get("id") == self._last:
                return message["error"] if "error" in message else message["result"]

    def event(self, kind, fits):
        """Wait for an event of a kind that fulfils a condition."""
        while True:
            message = self._receive()
            if message and message.get("ev") == kind and fits(message):
                return message

    def live(self, *modes):
        """Wait for the event `live` with one of these modes."""
        return self.event("live", lambda live: live["mode"] in modes)

    def wait_for_robot(self):
        """Wait for the first frame with measured joint positions."""
        while self.frames == 0:
            self._receive()


def address(output):
    """The page's address, which the node prints when it starts; `output()` is what it printed so far."""
    deadline = time.monotonic() + 60.0
    while time.monotonic() < deadline:
        found = re.search(r"http://\S+/#token=\S+", output())
        if found:
            return found.group()
        time.sleep(0.05)
    raise AssertionError(output())

"""Emulated buses: `karakuri emulate`, watched, and its side channel."""

import json
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
from pathlib import Path

from support.process import executable


class Emulator:
    """A running emulator. Leaving the `with` block stops it and checks that it stopped cleanly, unless a test failed before."""

    def __init__(self, bus, *options, folder=None):
        # Short, as names of sockets have to be. One that is given is that of an emulator which was killed.
        self.folder = Path(folder or tempfile.mkdtemp(prefix="karakuri-"))
        self.link, self.socket = self.folder / "bus", self.folder / "side"
        command = [executable("karakuri"), "emulate", bus, "--pty", self.link, "--side", self.socket, *options]
        self.lines = []
        self.process = subprocess.Popen(
            [str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        self._side = None
        self._is_killed = False

    def _read(self):
        for line in self.process.stdout:
            self.lines.append(line.rstrip("\n"))

    def __enter__(self):
        self.wait_for("ready: ")
        self._side = socket.socket(socket.AF_UNIX)
        self._side.settimeout(10.0)
        self._side.connect(str(self.socket))
        self._answers = self._side.makefile("r")
        return self

    def __exit__(self, kind, *_):
        try:
            if self._side:
                self._answers.close()
                self._side.close()
            code = self.stop()
            assert kind or self._is_killed or (code == 0 and not self.link.is_symlink() and not self.socket.exists()), (
                f"stopped with {code}; left are {list(self.folder.iterdir())}:\n" + self.output()
            )
            if kind:
                print(self.output())
        finally:
            if not self._is_killed:
                shutil.rmtree(self.folder, ignore_errors=True)

    def kill(self):
        """Ends it as a power cut would; another one may take its folder."""
        self._is_killed = True
        self.process.kill()
        self.process.wait()

    def output(self):
        """All that it printed."""
        return "\n".join(self.lines)

    def wait_for(self, text, timeout=20.0):
        """Waits for a line that begins with a text."""
        end = time.monotonic() + timeout
        while not any(line.startswith(text) for line in self.lines):
            assert self.process.poll() is None or self._reader.is_alive(), f"it ended:\n{self.output()}"
            assert time.monotonic() < end, f"no line `{text}` in {timeout} s:\n{self.output()}"
            time.sleep(0.005)

    def stop(self, number=signal.SIGINT, timeout=10.0):
        """Ends it as Ctrl-C does; the exit code."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        try:
            code = self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise AssertionError(f"still running {timeout} s after signal {number}:\n{self.output()}") from None
        self._reader.join(timeout)
        return code

    def ask(self, request):
        """The answer to a request of the side channel; an error is raised."""
        self._side.sendall(json.dumps(request).encode() + b"\n")
        answer = json.loads(self._answers.readline())
        if "error" in answer:
            raise ValueError(answer["error"])
        return answer

    def state(self):
        """The truth about its servos."""
        return self.ask("state")

    def servo(self, number):
        """The truth about the servo with an id."""
        return next(servo for servo in self.state()["servos"] if servo["id"] == number)

    def fault(self, fault):
        """Switches a fault on, as `drop=0.1`."""
        return self.ask({"fault": fault})

    def clear(self, name="all"):
        """Switches the faults of a name off."""
        return self.ask({"clear": name})

    def turn(self, number, position_rad):
        """Turns a shaft by hand."""
        return self.ask({"turn": {"id": number, "position_rad": position_rad}})

    def stops(self, number, least_rad, greatest_rad):
        """Puts something hard in a shaft's path."""
        return self.ask({"stops": {"id": number, "least_rad": least_rad, "greatest_rad": greatest_rad}})

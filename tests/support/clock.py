"""A system clock that a test sets, as a process sees it."""

import os
import struct
import subprocess
from pathlib import Path

SOURCE = Path(__file__).with_name("set_clock.c")


class SetClock:
    """Clock of processes that are started with `environment`, which begins right."""

    def __init__(self, folder):
        self._file, library = folder / "clock", folder / "set_clock.so"
        self.set(0)
        subprocess.run([os.environ.get("CC", "cc"), "-shared", "-fPIC", "-O1", "-o", library, SOURCE, "-ldl"], check=True)
        self.environment = {"LD_PRELOAD": str(library), "SET_CLOCK": str(self._file)}

    def set(self, seconds):
        """Sets the clock to so many seconds after the right time."""
        with open(self._file, "r+b" if self._file.exists() else "w+b") as file:
            file.write(struct.pack("q", seconds))

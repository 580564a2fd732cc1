"""Programs that disturb those beside them."""

import subprocess
import sys
from contextlib import contextmanager


# Who runs before whom is decided again at each burst. Without the pauses all that runs beside would take several times as long, and no
# order would be met that bursts do not bring about.
BURSTS = """
import random, time
while True:
    end = time.monotonic() + 0.01
    while time.monotonic() < end: pass
    time.sleep(random.uniform(0.0, 0.06))
"""


@contextmanager
def load(n):
    """Programs that each want a whole processor at random instants, for 10 ms."""
    busy = [subprocess.Popen([sys.executable, "-c", BURSTS]) for _ in range(n)]
    try:
        yield
    finally:
        for process in busy:
            process.kill()
            process.wait()

"""Robots from their launch files, with a driver on a port."""

import signal
import subprocess
import threading
from contextlib import contextmanager

from support.leftovers import wait_gone
from support.process import ROOT, executable


@contextmanager
def launched(environment, name, device, hardware, *arguments):
    """A robot's launch file with its driver on a port; gives a function that tells what it printed so far."""
    command = [executable("karakuri"), "launch", ROOT / f"launch/{name}.launch.xml", f"hardware:={hardware}", f"device:={device}", *arguments]
    process = subprocess.Popen(
        [str(word) for word in command], env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    lines = []
    reader = threading.Thread(target=lambda: lines.extend(process.stdout), daemon=True)
    reader.start()
    try:
        yield lambda: "".join(lines)
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(timeout=60)
        reader.join(10)
        output = "".join(lines)
        print(output)
    assert process.returncode == 0 and "has died" not in output, output
    wait_gone(environment)

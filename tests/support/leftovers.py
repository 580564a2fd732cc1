"""Processes that a test must not leave behind."""

import os
import time


def left_behind(environment):
    """Processes that carry this test's mark."""
    mark = f"KARAKURI_TEST={environment['KARAKURI_TEST']}".encode()
    found = []
    for process in os.listdir("/proc"):
        if process.isdigit() and int(process) != os.getpid():
            try:
                with open(f"/proc/{process}/environ", "rb") as file:
                    if mark in file.read().split(b"\0"):
                        found.append(open(f"/proc/{process}/cmdline").read().replace("\0", " "))
            except OSError:
                pass
    return found


def wait_gone(environment, seconds=30.0):
    end = time.monotonic() + seconds
    while left_behind(environment) and time.monotonic() < end:
        time.sleep(0.05)
    assert left_behind(environment) == []

"""Ctrl-C and SIGTERM, caught from the import of this module on.

They are raised where the program is, and remembered: what is raised within an extension or the garbage collector is swallowed
there, or becomes another error. Loops that wait call `check`, spin within `wait`, and the whole is within `announced`.
"""
import contextlib
import os
import signal
import sys

SIGNALS = (signal.SIGINT, signal.SIGTERM)
came = held = False


def check():
    """Raises what was swallowed."""
    if came:
        raise KeyboardInterrupt


@contextlib.contextmanager
def wait():
    """Signals wait for the end of the block: what is started within is known to who has to stop it."""
    global held
    held = True
    try:
        yield
    finally:
        held = False
    check()


@contextlib.contextmanager
def announced():
    """What a signal made of an extension's call is that signal, not an error."""
    try:
        yield
    except Exception:
        check()
        raise


def ignore():
    """From here on: the program tidies up."""
    for name in SIGNALS:
        signal.signal(name, signal.SIG_IGN)


def heed():
    """From here on as at the start, with none remembered: what follows may be left out."""
    global came
    came = False
    for name in SIGNALS:
        signal.signal(name, come)


def come(_signal, _frame):
    global came
    came = True
    if not held:
        raise KeyboardInterrupt


def end(kind, value, trace):
    """A signal while the program is still being imported ends it as one in its main part does: nothing was started."""
    if came and issubclass(kind, KeyboardInterrupt):
        print("\ninterrupted", flush=True)
        os._exit(130)
    sys.__excepthook__(kind, value, trace)


heed()
sys.excepthook = end

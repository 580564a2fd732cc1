"""What is said and written of a demonstration."""

import contextlib
import subprocess


class Failed(Exception):
    """The demonstration failed; the message says why."""


def say(text):
    print(text, flush=True)


def attempt(command):
    """Draws, by a command of the program; a picture that fails is no failure of the demonstration."""
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        say(f"(not drawn: {done.stderr.strip().splitlines()[-1] if done.stderr.strip() else command[1]})")


@contextlib.contextmanager
def whole(path):
    """A file to write, which is there whole or not at all."""
    part = path.with_suffix(path.suffix + ".part")
    try:
        with open(part, "w", newline="") as file:
            yield file
        part.replace(path)
    except OSError as reason:
        raise Failed(f"cannot write {path}: {reason.strerror}") from None
    finally:
        part.unlink(missing_ok=True)

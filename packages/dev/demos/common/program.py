"""Where the program `karakuri` is."""

import os
import pathlib
import shutil


def find_program():
    """The program `karakuri` of the first prefix that has it."""
    for prefix in os.environ.get("AMENT_PREFIX_PATH", "").split(":"):
        program = pathlib.Path(prefix) / "lib/karakuri/karakuri"
        if program.exists():
            return str(program)
    found = shutil.which("karakuri")
    if found is None:
        raise SystemExit("the program `karakuri` is not there; run this through ./dev demo, or build with ./dev build")
    return found

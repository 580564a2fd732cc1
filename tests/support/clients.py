"""Programs of others that drive servos or call servers: installed once under .ros/clients, a folder for each file of tests/*/clients.

`./dev test` runs this file before the tests, and shows pip's progress; a test that finds a folder missing installs it, too.
"""

import hashlib
import importlib
import importlib.machinery
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FILES = sorted((ROOT / "tests").glob("*/clients/*.txt"))
INSTALLED = ROOT / ".ros/clients"


def folder(name):
    """Where the packages of `clients/NAME.txt` are, by its content and the version of Python; installed if they are not."""
    file = next(file for file in FILES if file.stem == name)
    content = hashlib.sha256(file.read_bytes()).hexdigest()[:12]
    place = INSTALLED / f"{name}-py{sys.version_info.major}.{sys.version_info.minor}-{content}"
    if not place.is_dir():
        install(file, place)
    return place


def install(file, place):
    """Whole or not at all, whoever else does the same at this moment. What was downloaded stays in pip's cache."""
    INSTALLED.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=INSTALLED) as beside:
        Path(beside, "whole").mkdir()  # also where nothing of the file is for this Python
        pip = [sys.executable, "-m", "pip", "install", "--disable-pip-version-check", "--no-deps", "--no-compile"]
        done = subprocess.run([*pip, "--progress-bar", "off", "--target", f"{beside}/whole", "-r", file])
        if done.returncode != 0:
            raise SystemExit(f"{file} cannot be installed: see above; is there a network?")
        try:
            os.rename(f"{beside}/whole", place)
        except OSError:
            if not place.is_dir():
                raise
    for old in INSTALLED.glob(f"{file.stem}-py*"):
        if old != place:
            shutil.rmtree(old, ignore_errors=True)


def load(module):
    """Imports a module of the one folder that has it. What the interpreter has itself comes first."""
    for file in FILES:
        place = str(folder(file.stem))
        if importlib.machinery.PathFinder.find_spec(module.partition(".")[0], [place]):
            if place not in sys.path:
                sys.path.append(place)
            return importlib.import_module(module)
    raise ModuleNotFoundError(f"no file of tests/*/clients names a package with `{module}`")


if __name__ == "__main__":
    for file in FILES:
        folder(file.stem)

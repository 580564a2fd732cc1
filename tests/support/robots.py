"""Published robots with their meshes: the PyPI package example-robot-data, installed once under .ros/."""

import pathlib
import shutil
import subprocess
import sys
import tempfile

from support.process import ROOT

LOCK = ROOT / "tests/robots/requirements.lock"


def package_path():
    """The folder that holds the ROS package `example-robot-data`, for ROS_PACKAGE_PATH."""
    version = next(line for line in LOCK.read_text().splitlines() if "==" in line).split()[0].split("==")[1]
    installed = ROOT / f".ros/example-robot-data-{version}"
    share = "cmeel.prefix/share"
    if not (installed / share / "example-robot-data").is_dir():
        installed.parent.mkdir(exist_ok=True)
        with tempfile.TemporaryDirectory(dir=installed.parent) as folder:
            pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--no-compile"]
            done = subprocess.run([*pip, "--target", folder, "-r", LOCK], capture_output=True, text=True, timeout=600)
            assert done.returncode == 0, f"{LOCK} cannot be installed; is there a network?\n{done.stderr}"
            # Whole or not at all, whoever else does the same at this moment.
            whole = pathlib.Path(folder) / "whole"
            whole.mkdir()
            shutil.move(pathlib.Path(folder) / "cmeel.prefix", whole)
            try:
                whole.rename(installed)
            except OSError:
                assert (installed / share).is_dir()
    return installed / share

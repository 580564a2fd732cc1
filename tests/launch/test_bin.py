"""The demonstration of a box of objects: different ones are on the tray, by the commands that were rehearsed."""

import json
import subprocess
import sys

import pytest
from support.process import ROOT

DEMO = ROOT / "packages/dev/demos/bin.py"


@pytest.mark.apart
def test_different_objects_of_a_box_are_on_the_tray(environment, tmp_path):
    command = [sys.executable, str(DEMO), "--out", str(tmp_path), "--objects", "15", "--count", "3"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=400)
    assert done.returncode == 0, done.stdout + done.stderr
    hands = json.loads((tmp_path / "report.json").read_text())["hands"]
    assert list(hands) == ["arm6", "arm6_bellows", "arm6_scissor"]
    for hand, found in hands.items():
        assert len(found["stands"]) == len(found["taken"]) == 3, hand
        assert all(taken["outcome"] == "DONE" and taken["as_rehearsed"] for taken in found["taken"]), hand
        assert (tmp_path / f"{hand}.png").stat().st_size > 20_000
    assert "SUCCESS: 3 different objects" in done.stdout

"""The demonstration of hands: what it says was placed is placed, what cannot be held is refused, and pictures are drawn."""

import json
import subprocess
import sys

import pytest
from support.leftovers import wait_gone
from support.process import ROOT

DEMO = ROOT / "packages/dev/demos/hands.py"


@pytest.mark.apart
def test_a_hand_takes_what_it_can_and_says_what_it_cannot(environment, tmp_path):
    command = [sys.executable, str(DEMO), "--out", str(tmp_path), "--hands", "arm6", "arm6_three_fingers", "--objects", "can", "cone", "plate"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=400)
    wait_gone(environment)
    assert done.returncode == 0, done.stdout + done.stderr
    hands = json.loads((tmp_path / "report.json").read_text())["hands"]
    assert {hand: [run["outcome"] for run in runs.values()] for hand, runs in hands.items()} == {
        "arm6": ["placed", "refused", "refused"],
        "arm6_three_fingers": ["placed", "placed", "refused"],
    }
    assert "no cones" in hands["arm6"]["cone"]["message"]
    assert all((tmp_path / f"{hand}.png").stat().st_size > 20_000 for hand in hands)
    assert "SUCCESS: 3 of 6 placed" in done.stdout

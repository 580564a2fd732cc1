"""A published plan of a language model: each of its calls is rehearsed and carried out, and the block lies in the bowl.

The other plan is carried out by running nodes in tests/nodes/test_commander.py.
"""

import json
import subprocess
import sys

import pytest
from support.process import ROOT

DEMO = ROOT / "packages/dev/demos/words.py"


@pytest.mark.apart
def test_a_published_plan_moves_the_block_into_the_bowl(environment, tmp_path):
    plan, n_acts = "gemini_overview", 10
    done = subprocess.run([sys.executable, str(DEMO), "--plan", plan, "--out", str(tmp_path)], env=environment, capture_output=True, text=True, timeout=400)
    assert done.returncode == 0, done.stdout + done.stderr
    report = json.loads((tmp_path / "report.json").read_text())
    assert {plan: run["is_in_bowl"] for plan, run in report.items()} == {plan: True}
    lines = [json.loads(line) for line in (tmp_path / plan / "audit.jsonl").read_text().splitlines()]
    ends = [line for line in lines if line["verb"] == "act" and line["command_hash"]]
    assert [line["result"]["outcome"] for line in ends] == ["DONE"] * n_acts
    assert len(list((tmp_path / plan).glob("*.png"))) == n_acts

"""The random tasks: in lockstep, a few of them; what is said of each is so, and a report says what was said."""

import json
import subprocess
import sys

import pytest
from support.leftovers import wait_gone
from support.process import ROOT

DEMO = ROOT / "packages/dev/demos/tasks.py"


@pytest.mark.apart
def test_random_tasks_end_as_they_say(environment, tmp_path):
    command = [sys.executable, str(DEMO), "--out", str(tmp_path), "--hands", "arm6", "--tasks", "5", "--lockstep"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=400)
    wait_gone(environment)
    assert done.returncode == 0, done.stdout + done.stderr
    report = json.loads((tmp_path / "report.json").read_text())
    runs = report["hands"]["arm6"]
    assert len(runs) == 5 and report["seed"] == 1
    assert all(run["wrong"] == "" and not run["dropped"] for run in runs.values())
    assert {"placed", "refused"} <= {run["outcome"] for run in runs.values()}
    assert "SUCCESS: of 5 tasks" in done.stdout

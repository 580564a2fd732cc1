"""The experiments of parallel inverse dynamics from their launch files: as good as stated, and again the same."""

import json
import signal
import subprocess
import sys
import time

import pytest
from support.leftovers import wait_gone
from support.process import ROOT

pytestmark = pytest.mark.apart

DEMO = ROOT / "packages/dev/demos/experiments.py"


def experiments(environment, out, *names):
    command = [sys.executable, str(DEMO), "--out", str(out), *names]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600)
    return done.returncode, done.stdout + done.stderr, json.loads((out / "report.json").read_text())["experiments"]


@pytest.mark.parametrize("name", ["branched", "branched_loop", "arm6_fast", "khr1_arms"])
def test_fast_motions_are_followed(environment, tmp_path, name):
    code, text, report = experiments(environment, tmp_path, name)
    assert code == 0, text
    runs = report[name]
    assert all(run["samples"] >= run["samples_due"] - 2 for run in runs.values()), text
    without = runs["feedback alone"]["joint_error_largest"]
    assert runs["with feed-forward"]["joint_error_largest"] < 0.2 * without, text


def test_exact_and_scheme_agree_at_every_step(environment, tmp_path):
    code, text, report = experiments(environment, tmp_path, "three_links")
    assert code == 0, text
    runs = report["three_links"]
    for step in (1, 4, 10):
        exact, scheme = (runs[f"{method}, {step} ms"]["joint_error_largest"] for method in ("exact", "scheme"))
        assert abs(scheme - exact) < 0.01 * exact, text
    assert runs["exact, 1 ms"]["joint_error_largest"] < runs["exact, 10 ms"]["joint_error_largest"], text


@pytest.mark.parametrize(("name", "limit"), [("wall_tracing", 0.05), ("two_arms", 0.1)])
def test_forces_are_held_and_runs_repeat(environment, tmp_path, name, limit):
    # The demonstration fails when two equal runs differ in a bit.
    code, text, report = experiments(environment, tmp_path, name)
    assert code == 0, text
    run = report[name]["with feed-forward"]
    assert run["force_samples"] > 2000, text
    assert run["force_error_largest"] < limit, text
    assert report[name]["feedback alone"]["force_error_largest"] > 0.5, text
    assert run.get("block_error_largest_m", 0.0) < 5e-3, text


def test_force_feedback_takes_most_of_the_error_that_friction_makes(environment, tmp_path):
    code, text, report = experiments(environment, tmp_path, "force_feedback")
    assert code == 0, text
    runs = report["force_feedback"]
    without, with_it = runs["K_F = 0"], runs["K_F = 4"]
    assert with_it["force_samples"] > 2000, text
    # At rest 1/(1 + K_F) would be left; the filter lets through what changes faster.
    assert with_it["force_error_rms"] < 0.4 * without["force_error_rms"], text
    assert without["force_error_rms"] > 0.01, text
    assert with_it["block_error_largest_m"] < without["block_error_largest_m"] + 1e-3, text


def test_interrupted_it_leaves_nothing_behind(environment, tmp_path):
    command = [sys.executable, str(DEMO), "--out", str(tmp_path), "wall_tracing"]
    process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    time.sleep(4.0)  # the moment itself is what is tried
    process.send_signal(signal.SIGTERM)
    text, _ = process.communicate(timeout=60)
    assert process.returncode == 130, text
    wait_gone(environment)

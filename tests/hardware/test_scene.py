"""A robot on emulated boards with the physics behind them, and motions in the boards' memory."""

import subprocess
import time
from pathlib import Path

import pytest
from support.process import executable

pytestmark = pytest.mark.realtime

ROOT = Path(__file__).resolve().parents[2]
KHR1 = ("--hardware", ROOT / "config/hardware/khr1.yaml", "--scene", ROOT / "config/scenes/walk.yaml")
# The posture of the scene: bytes of the channels.
STAND = {1: 25, 2: 0, 3: 90, 6: 90, 7: 155, 8: 180, 9: 90}
STAND |= {13: 88, 14: 76, 15: 37, 16: 129, 17: 92, 19: 92, 20: 104, 21: 143, 22: 51, 23: 88}


def hardware(task, *words):
    command = [executable("karakuri"), "hardware", task, "rcb1", *words, "--yes"]
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=60)
    done.said = " ".join(done.stderr.split())
    return done


def motion(path, *positions):
    lines = ["positions:"]
    for speed, degrees in positions:
        channels = ", ".join(f"{channel}: {value}" for channel, value in degrees.items())
        lines.append(f"  - {{speed: {speed}, degrees: {{{channels}}}}}")
    path.write_text("\n".join(lines) + "\n")
    return path


def test_a_motion_is_uploaded_and_played_by_a_robot_that_stands(emulate, tmp_path):
    emulator = emulate("rcb1", *KHR1)
    robot = emulator.state()["robot"]
    assert robot["is_held"] and not robot["has_fallen"]
    # Both arms out and back, while it stands.
    wave = motion(tmp_path / "wave.yaml", (4, STAND), (4, STAND | {2: 60, 8: 120}), (4, STAND))
    done = hardware("upload", emulator.link, 3, wave)
    assert done.returncode == 0 and "motion 3 of both boards has 3 positions, read back" in done.said
    assert emulator.state()["robot"]["is_held"], "an upload moves nothing"
    done = hardware("play", emulator.link, 3)
    assert done.returncode == 0 and "motion 3 was played in" in done.said, done.said
    state = emulator.state()
    assert not state["robot"]["is_held"] and not state["robot"]["has_fallen"]
    efforts = {servo["id"]: abs(servo["effort_nm"]) for servo in state["servos"]}
    assert efforts[15] > 0.05 and efforts[21] > 0.05, "the knees carry it"
    for servo in (14, 15, 16, 20, 21, 22):
        emulator.fault(f"torque-lost={servo}")
    deadline = time.monotonic() + 10
    while not emulator.state()["robot"]["has_fallen"]:
        assert time.monotonic() < deadline, "it stands on limp legs"
        time.sleep(0.1)


def test_the_side_channel_tells_where_things_are(emulate):
    emulator = emulate("feetech", "--hardware", ROOT / "config/hardware/so101.yaml", "--scene", ROOT / "config/scenes/so101.yaml")
    state = emulator.state()
    # Table and its foot are fixed, and left out.
    [cube] = state["objects"]
    assert cube["name"] == "cube" and cube["position_m"] == pytest.approx([0.23, -0.12, 0.7625], abs=1e-4), cube
    assert cube["orientation_xyzw"] == pytest.approx([0, 0, 0, 1], abs=1e-6)
    assert emulate("feetech", "--ids", "1").state()["objects"] == []


@pytest.mark.parametrize(
    ("words", "text", "sentence"),
    [
        ([40], "positions: []", "there is no motion 40; write one from 0 to 39"),
        ([0], "positions: []", "there is no position; write one a line"),
        ([0], "positions: [{degrees: {25: 0}}]", "there is no channel 25; write one from 1 to 24"),
        ([0], "positions: [{degrees: {1: 181}}]", "channel 1 would go to 181 degrees; it has 0 to 180"),
        ([0], "positions: [" + "{degrees: {1: 9}}, " * 101 + "]", "101 positions are more than the 100"),
    ],
)
def test_motions_that_boards_cannot_keep_are_refused(emulate, tmp_path, words, text, sentence):
    emulator = emulate("rcb1")
    path = tmp_path / "motion.yaml"
    path.write_text(text)
    done = hardware("upload", emulator.link, *words, path)
    assert done.returncode == 1 and sentence in done.said


def test_what_is_not_there_is_not_played(emulate):
    emulator = emulate("rcb1")
    done = hardware("play", emulator.link, 7)
    assert done.returncode == 1 and "motion 7 has no positions; upload it first" in done.said


def test_a_motion_follows_the_clock_of_its_board(emulate, tmp_path):
    """Board 1 is fast by 20 %: it is there earlier."""
    emulator = emulate("rcb1", "--clock-skew", "0.2")
    path = motion(tmp_path / "slow.yaml", (7, {6: 90, 13: 88}), (7, {6: 150, 13: 28}))
    assert hardware("upload", emulator.link, 0, path).returncode == 0
    play = subprocess.Popen(
        [executable("karakuri"), "hardware", "play", "rcb1", str(emulator.link), "0", "--yes"]
    )
    ends = {}
    deadline = time.monotonic() + 10
    while len(ends) < 2 and time.monotonic() < deadline:
        state = emulator.state()
        for servo in state["servos"]:
            goal = {6: 60, 13: -62}.get(servo["id"])
            if goal is not None and abs(servo["position_rad"] * 57.2958 - goal) < 0.5:
                ends.setdefault(servo["id"], state["time_s"])
    assert play.wait(timeout=10) == 0
    # 60° at 60 °/s take 1 s by the board's clock.
    assert ends[6] - ends[13] == pytest.approx(1 - 1 / 1.2, abs=0.06), ends


def test_files_that_do_not_fit_are_refused(tmp_path):
    def said(*words):
        command = [executable("karakuri"), "emulate", *words, "--pty", tmp_path / "link"]
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=60)
        assert done.returncode != 0
        return " ".join(done.stderr.split())

    assert "is of a rcb1 bus; write `karakuri emulate rcb1`" in said("feetech", *KHR1)
    assert "--hardware names joints of a robot; add `--scene SCENE`" in said("rcb1", *KHR1[:2])
    assert "--hardware" in said("rcb1", *KHR1[2:])

"""Motions in the ROM of an emulated RCB-4: what `karakuri hardware upload` writes, the Python package rcb4 reads and plays, and the
other way round."""

import math
import re
import signal
import time

import pytest
from support import parity
from test_hardware import Talk, hardware
from test_rcb4_client import COUNTS_PER_DEGREE, FRAME, MOTIONS, ONE_COUNT, block, degrees, framed

pytestmark = pytest.mark.bus

# A motion as file, and what the client makes of it: servos, degrees, frames.
WAVE = """
positions:
  - {time: 0.45, degrees: {0: 20, 2: -20.5}}
  - {time: 0.30, degrees: {0: hold, 1: 15}}
  - {time: 0.60, degrees: {0: 0, 1: 0, 2: 0}}
"""
TABLE = "NO,NAME,TIME,0,1,2\n0,up,0.45,20,,-20.5\n1,side,0.3,hold,15,\n2,back,0.6,0,0,0\n"
SECONDS = 0.45 + 0.30 + 0.60


@pytest.fixture
def connect(client, monkeypatch):
    """Connects the client to an emulator."""
    parity.leave_out(monkeypatch)
    boards = []

    def connect(bus, baud=115_200):
        board = client("rcb4.rcb4interface").RCB4Interface()
        assert board.open(port=str(bus.link), baudrate=baud)
        boards.append(board)
        return board

    yield connect
    for board in boards:
        board.close()


def written(tmp_path, text, name="wave.yaml"):
    path = tmp_path / name
    path.write_text(text)
    return path


def program(client):
    """The same motion by the client's own functions."""
    asm = client("rcb4.asm")
    second = [0x10, *asm.encode_servo_ids_to_5bytes_bin([0, 1]), 20]
    second += [int(byte) for byte in asm.encode_servo_positions_to_bytes([32767, round(7500 + 15 * COUNTS_PER_DEGREE)])]
    first = block(asm, [0, 2], [20, -20.5], 30)
    third = block(asm, [0, 1, 2], [0, 0, 0], 40)
    return first + framed(asm, second) + third + framed(asm, [0x0D])


def until(condition, what, timeout=5.0):
    end = time.monotonic() + timeout
    while not condition():
        assert time.monotonic() < end, f"no {what} within {timeout} s"


@pytest.mark.parametrize("name, text", [("wave.yaml", WAVE), ("wave.csv", TABLE)])
def test_what_we_upload_another_client_reads_and_plays(emulate, connect, client, tmp_path, name, text):
    bus = emulate("rcb4")
    done = hardware("upload", "rcb4", bus.link, 5, written(tmp_path, text, name), "--yes")
    assert done.returncode == 0 and "motion 5 of the board has 3 moves, read back" in done.said, done.stderr
    assert not any(servo["torque_on"] for servo in bus.state()["servos"]), "an upload moves nothing"
    board = connect(bus)
    expected = program(client)
    assert board.read_rom(MOTIONS + 4 * board.MotionSingleDataCount, len(expected)) == expected
    board.search_servo_ids()
    board.hold()
    until(lambda: bus.servo(0)["torque_on"], "torque")
    start = time.monotonic()
    assert board.play_motion(5)
    until(lambda: board.get_motion_play_number() == 5, "play")
    until(lambda: abs(degrees(bus, 0) - 20) < 1 and abs(degrees(bus, 2) + 20.5) < 1, "first position")
    until(lambda: board.get_motion_play_number() == 0, "end")
    assert SECONDS - 3 * FRAME < time.monotonic() - start < SECONDS + 0.5
    until(lambda: all(abs(degrees(bus, servo)) < ONE_COUNT for servo in range(3)), "return to the middle")


def test_what_another_client_writes_we_play(emulate, connect, client):
    bus = emulate("rcb4")
    board = connect(bus)
    asm = client("rcb4.asm")
    board.write_rom(MOTIONS, block(asm, [3, 4], [25, -10], 40) + framed(asm, [0x0D]))
    board.close()
    # The client has left the board at its own baud rate.
    done = hardware("play", "rcb4", bus.link, 1, "--yes")
    assert done.returncode == 0 and "motion 1 was played in 0." in done.said, done.stderr
    assert "moves the robot for 0.6 s" in done.said
    assert [degrees(bus, servo) for servo in (3, 4)] == pytest.approx([25, -10], abs=2 * ONE_COUNT)
    assert [servo["id"] for servo in bus.state()["servos"] if servo["torque_on"]] == [3, 4], "the others stay limp"


@pytest.mark.parametrize("project, baud", [([], 115_200), (["--project"], 625_000)])
def test_a_motion_of_ours_is_played(emulate, tmp_path, project, baud):
    bus = emulate("rcb4", *project, "--baud", baud)
    if not project:
        # A limp shaft that somebody has turned is held where it is, then goes on from there.
        bus.turn(0, math.radians(30))
    assert hardware("upload", "rcb4", bus.link, 120, written(tmp_path, WAVE), "--yes").returncode == 0
    done = hardware("play", "rcb4", bus.link, 120, "--yes")
    assert done.returncode == 0 and "motion 120 was played in 1." in done.said, done.stderr
    assert [degrees(bus, servo) for servo in range(3)] == pytest.approx([0, 0, 0], abs=2 * ONE_COUNT)
    info = hardware("info", "rcb4", bus.link, 0, "--baud", baud).stdout
    assert re.search(rf"runs its program +{int(bool(project))}\b", info), f"as before: {info}"


def test_ctrl_c_stops_a_motion_where_it_is(emulate, tmp_path):
    bus = emulate("rcb4")
    far = written(tmp_path, "positions: [{time: 3, degrees: {0: 90}}]")
    assert hardware("upload", "rcb4", bus.link, 2, far, "--yes").returncode == 0
    talk = Talk("play", "rcb4", bus.link, 2)
    talk.hears(r"Motion 2 moves the robot for 3.0 s. Is its path free\? \[y/N\]")
    talk.process.stdin.write(b"y\n")
    talk.process.stdin.flush()
    until(lambda: degrees(bus, 0) > 20, "start")
    talk.process.send_signal(signal.SIGINT)
    assert talk.process.wait(10) != 0
    stopped = degrees(bus, 0)
    time.sleep(0.3)
    assert degrees(bus, 0) == pytest.approx(stopped, abs=0.5) and stopped < 80, "but for its lag"
    assert bus.servo(0)["torque_on"], "it holds"


def test_an_answer_that_is_no_yes_writes_and_moves_nothing(emulate, connect, tmp_path):
    bus = emulate("rcb4")
    done = hardware("upload", "rcb4", bus.link, 1, written(tmp_path, WAVE), answer="no\n")
    assert done.returncode == 1 and "nothing was done" in done.said
    assert connect(bus).read_rom(MOTIONS, 16) == b"\xff" * 16


@pytest.mark.parametrize(
    "task, number, text, sentence",
    [
        ("upload", 0, WAVE, "there is no motion 0; write one from 1 to 120"),
        ("upload", 121, WAVE, "there is no motion 121; write one from 1 to 120"),
        ("upload", 1, "positions: []", "there is no move; write one"),
        ("upload", 1, "positions: [{time: 9, degrees: {0: 1}}]", "a move takes 0.015 s to 3.825 s, not 9 s; write"),
        ("upload", 1, "positions: [{time: 1, degrees: {40: 1}}]", "there is no servo 40; write one from 0 to 34"),
        ("upload", 1, "positions: [{time: 1, degrees: {0: [1]}}]", "degrees, `hold` or `free`"),
        ("play", 7, None, "motion 7 of the board has no program; upload it first"),
    ],
)
def test_what_is_wrong_is_one_sentence(emulate, tmp_path, task, number, text, sentence):
    bus = emulate("rcb4")
    files = [] if text is None else [written(tmp_path, text)]
    done = hardware(task, "rcb4", bus.link, number, *files, "--yes")
    assert done.returncode == 1 and sentence in done.said, done.stderr


def test_a_servo_that_is_not_plugged_in_is_named(emulate, tmp_path):
    bus = emulate("rcb4", "--ids", "0-3")
    path = written(tmp_path, "positions: [{time: 0.5, degrees: {0: 10, 9: 10}}]")
    assert hardware("upload", "rcb4", bus.link, 1, path, "--yes").returncode == 0
    done = hardware("play", "rcb4", bus.link, 1, "--yes")
    assert done.returncode == 1 and "servo 9 of the motion does not answer the board; check its cable and its id" in done.said
    assert abs(degrees(bus, 0)) < ONE_COUNT, "nothing has moved"

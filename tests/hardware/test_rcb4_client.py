"""An emulated RCB-4, driven by the Python package rcb4 as it comes from the registry."""

import math
import time

import pytest
from support import parity

# Clients give up after some 50 ms: nothing else runs beside them.
pytestmark = pytest.mark.bus

SLOW, FAST = 115_200, 1_250_000
CENTRE, COUNTS_PER_DEGREE = 7500, 4000 / 135
SERVOS = list(range(17))
FRAME = 0.015
MOTIONS = 0x0B80
# A step of the client's angles, in degrees.
ONE_COUNT = 1.5 / COUNTS_PER_DEGREE


@pytest.fixture
def bus(emulate, monkeypatch):
    """A board without a project, 17 servos plugged in."""
    parity.leave_out(monkeypatch)
    return emulate("rcb4")


@pytest.fixture
def board(bus, client):
    """The client, connected, all servos found and free."""
    board = client("rcb4.rcb4interface").RCB4Interface()
    assert board.open(port=str(bus.link), baudrate=SLOW)
    yield board
    board.close()


def wait(condition, what, timeout=5.0):
    end = time.monotonic() + timeout
    while not condition():
        assert time.monotonic() < end, f"no {what} within {timeout} s"


def assert_took(expected, start):
    """Never less than so many seconds; a machine that has other things to do may notice the end late."""
    took = time.monotonic() - start
    assert expected - 2 * FRAME < took < expected + 0.5, f"{took} s, not {expected} s"


def degrees(bus, servo):
    """Where a shaft truly is."""
    return math.degrees(bus.servo(servo)["position_rad"])


def test_hello_switches_the_baud_rate_and_finds_the_servos(board, bus):
    assert board.check_ack()
    assert board.serial.baudrate == FAST
    assert list(board.search_servo_ids()) == SERVOS
    assert board.frame_time() == FRAME
    assert list(board.reference_angle_vector()) == [32768] * len(SERVOS)
    assert not any(bus.servo(servo)["torque_on"] for servo in SERVOS)


def test_another_baud_rate_is_not_answered(bus, client):
    board = client("rcb4.rcb4interface").RCB4Interface()
    for baud in (FAST, 625_000):
        with pytest.raises(client("serial").SerialException, match="[Tt]imeout"):
            board.open(port=str(bus.link), baudrate=baud)
    assert board.open(port=str(bus.link), baudrate=SLOW)
    board.close()


def test_only_servos_that_hold_are_moved(board, bus):
    assert board.angle_vector([20] * len(SERVOS)) == [], "the client knows that all are free"
    assert board.hold() == SERVOS
    wait(lambda: all(bus.servo(servo)["torque_on"] for servo in SERVOS), "torque")
    assert board.free([3]) == [3]
    wait(lambda: not bus.servo(3)["torque_on"], "limp servo")
    assert bus.servo(4)["torque_on"]


def test_a_move_takes_the_time_that_was_asked_for(board, bus):
    board.hold()
    for goal in (20, -10):
        start = time.monotonic()
        assert board.angle_vector([goal] * len(SERVOS), time=0.6) == SERVOS
        assert board.wait_interpolation(timeout=5)
        assert_took(0.6, start)
        arrived = pytest.approx([goal] * len(SERVOS), abs=ONE_COUNT)
        wait(lambda arrived=arrived: board.angle_vector() == arrived, f"arrival at {goal}")
        assert degrees(bus, 16) == pytest.approx(goal, abs=ONE_COUNT)


def test_servos_may_have_their_own_times(board):
    board.hold()
    frames = [20 + 5 * servo for servo in SERVOS]
    board.angle_vector([15] * len(SERVOS), velocity=frames)
    moving = []
    while found := board.interpolating_servo_ids():
        moving.append(found)
    assert moving[0] == SERVOS
    assert all(found == SERVOS[-len(found) :] for found in moving), "those with less time arrive first"
    wait(lambda: board.angle_vector() == pytest.approx([15] * len(SERVOS), abs=ONE_COUNT), "arrival")


def test_stretch_is_acknowledged(board):
    assert board.send_stretch(60)
    assert board.send_stretch([10, 20], servo_ids=[0, 2])


def test_trims_move_a_servo_and_are_flattened(board, bus):
    record = board.ics_record_address(6)
    board.write_move_com_to_ram_command(record + 2, [100, 0])
    board.hold()
    board.angle_vector([10] * len(SERVOS), velocity=1)
    trimmed = pytest.approx(10 + 100 / COUNTS_PER_DEGREE, abs=ONE_COUNT)
    wait(lambda: degrees(bus, 6) == trimmed, "servo moved by its trim")
    assert board.flatten_board()["trim"] == {6: 100}


def test_the_rom_is_written_and_read_back(board):
    data = bytes(range(1, 251))
    assert board.write_rom(0x1_0050, data) == len(data)
    assert board.read_rom(0x1_0050, len(data)) == data
    assert board.write_rom(0x1_0050, data) == 0, "nothing differs"


def test_the_start_up_program_is_the_one_that_the_client_knows(board):
    changed = board.flatten_rom_startup()
    assert changed["config"] == (0x4011, 0xC011)
    assert changed["servo_bytes"] == 70, "the references of 35 records"


def block(asm, servos, angles, frames):
    """A position block, by the client's own functions."""
    counts = [round(CENTRE + angle * COUNTS_PER_DEGREE) for angle in angles]
    body = [0x10, *asm.encode_servo_ids_to_5bytes_bin(servos), frames]
    body += [int(byte) for byte in asm.encode_servo_positions_to_bytes(counts)]
    return framed(asm, body)


def framed(asm, body):
    frame = [len(body) + 2, *body]
    return bytes([*frame, asm.rcb4_checksum(frame)])


def test_a_motion_in_the_rom_is_played(board, bus, client):
    asm = client("rcb4.asm")
    back = framed(asm, [0x0D])
    third = MOTIONS + 2 * board.MotionSingleDataCount
    call = framed(asm, [0x0C, *third.to_bytes(3, "little"), 0x00])
    board.write_rom(MOTIONS, block(asm, [0, 2], [20, -20], 30) + call + block(asm, [0, 2], [0, 0], 30) + back)
    board.write_rom(third, block(asm, [1], [15], 30) + back)
    board.hold()
    wait(lambda: bus.servo(0)["torque_on"], "torque")
    assert board.get_motion_play_number() == 0
    start = time.monotonic()
    assert board.play_motion(1)
    assert board.get_motion_play_number() == 1
    wait(lambda: board.get_motion_play_number() == 3, "call of the third motion")
    assert [degrees(bus, servo) for servo in (0, 2)] == pytest.approx([20, -20], abs=2)
    wait(lambda: board.get_motion_play_number() == 0, "end")
    assert_took(3 * 30 * FRAME, start)
    wait(lambda: abs(degrees(bus, 0)) < ONE_COUNT, "arrival")
    assert [degrees(bus, servo) for servo in (1, 2)] == pytest.approx([15, 0], abs=2 * ONE_COUNT)


def test_a_servo_that_is_gone_is_not_found(board, bus):
    bus.fault("servo-gone=3")
    board.close()
    board.servo_sorted_ids = None
    assert board.open(port=str(bus.link), baudrate=FAST)
    assert list(board.search_servo_ids()) == [servo for servo in SERVOS if servo != 3]

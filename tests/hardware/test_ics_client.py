"""An emulated ICS servo, driven by the servo tool of the Python package rcb4 as it comes from the registry."""

import math
import time

import pytest
from support import parity

# Clients give up after some 50 ms: nothing else runs beside them.
pytestmark = pytest.mark.bus

BAUD = 1_250_000
CENTRE, COUNTS_PER_DEGREE = 7500, 4000 / 135


@pytest.fixture
def bus(emulate):
    """One servo with id 5."""
    return emulate("ics", "--ids", "5", "--baud", str(BAUD))


@pytest.fixture
def tool(bus, client, monkeypatch):
    """The tool on the port. It looks for an adapter by its USB number, so the port is put in its place."""
    parity.leave_out(monkeypatch)
    tool = client("rcb4.ics").ICSServoController()
    tool.ics = client("serial").Serial(str(bus.link), BAUD, timeout=0.5)
    yield tool
    tool.close_connection()


def arrives(tool, counts, timeout=5.0):
    end = time.monotonic() + timeout
    while abs(tool.read_angle() - counts) > 1:
        assert time.monotonic() < end, f"at {tool.read_angle()}, not at {counts} within {timeout} s"


def test_an_id_is_read_and_written(tool, bus):
    assert tool.get_servo_id() == 5
    assert tool.set_servo_id(9) == 9
    assert tool.get_servo_id() == 9
    assert tool.read_param()[1]["servo-id"] == 9
    assert bus.servo(9)["torque_on"] is False


def test_a_goal_is_reached(tool, bus):
    assert tool.set_angle(8000) == CENTRE, "the answer is where the servo was"
    arrives(tool, 8000)
    degrees = math.degrees(bus.servo(5)["position_rad"])
    assert degrees == pytest.approx(500 / COUNTS_PER_DEGREE, abs=1.5 / COUNTS_PER_DEGREE)


def test_a_free_servo_is_limp_and_still_says_where_it_is(tool, bus):
    tool.set_angle(8000)
    arrives(tool, 8000)
    assert tool.set_free(True) == pytest.approx(8000, abs=1)
    assert bus.servo(5)["torque_on"] is False
    assert tool.read_angle() == pytest.approx(8000, abs=1)


def test_parameters_are_kept(tool):
    assert tool.set_speed(100) == 100
    assert tool.get_speed() == 100
    tool.set_stretch(30)
    assert tool.get_stretch() == 30


def test_current_and_temperature_are_those_of_the_servo(tool, bus, client):
    assert abs(tool.get_current()) <= 0.1
    # The byte falls as the servo gets hotter; its end is 26.7 °C.
    assert tool.get_temperature(interpolate=False) == 127
    bus.fault("hot=5")
    byte = tool.get_temperature(interpolate=False)
    table = client("rcb4.temperature").setting_value_to_temperature
    assert table[byte] == pytest.approx(bus.servo(5)["temperature_c"], abs=1.5)


def test_the_eeprom_is_read_as_the_tool_understands_it(tool):
    bytes_, fields = tool.read_param()
    assert len(bytes_) == 64
    assert (fields["pulse-max-limit"], fields["pulse-min-limit"]) == (11500, 3500)
    assert (fields["baud"], fields["servo-id"], fields["serial"]) == (BAUD, 5, True)
    assert fields["stretch-gain"] == 2 * tool.get_stretch()


def test_a_flag_is_written_to_the_eeprom(tool, bus):
    start = time.monotonic()
    tool.set_reverse(True)
    assert time.monotonic() - start > 0.35, "an EEPROM takes its time"
    assert tool.read_reverse() is True
    tool.set_angle(8000)
    arrives(tool, 8000)
    assert bus.servo(5)["position_rad"] < 0


def test_a_wheel_turns(tool, bus):
    tool.set_rotation(True)
    assert tool.read_rotation() is True
    tool.set_angle(CENTRE + 400)
    end = time.monotonic() + 5
    while bus.servo(5)["velocity_rad_per_s"] < 0.5:
        assert time.monotonic() < end


def test_another_baud_rate_is_taken_at_once(tool):
    assert tool.baud(115_200) == 115_200
    assert tool.ics.baudrate == 115_200
    assert tool.get_servo_id() == 5


def test_a_servo_that_is_gone_is_reported(tool, bus):
    bus.fault("servo-gone=5")
    with pytest.raises(OSError, match="timeout"):
        tool.get_servo_id()
    bus.clear("servo-gone")
    assert tool.get_servo_id() == 5

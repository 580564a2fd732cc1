"""An emulated 2F-85, driven by two libraries as they come from the registry."""

import time

import pytest

# Clients give up after some 50 ms: nothing else runs beside them.
pytestmark = pytest.mark.bus

SLAVE = 9
# Of the side channel: the angle of the fingers when they meet [rad], and how far apart they are at 0 rad [mm].
CLOSED_RAD, STROKE_MM = 0.8, 85.0


def width_mm(emulator):
    """How far apart the fingers truly are."""
    return STROKE_MM * (1 - emulator.servo(SLAVE)["position_rad"] / CLOSED_RAD)


@pytest.fixture
def gripper(emulate):
    return emulate("robotiq")


@pytest.fixture
def robotiq2f(gripper, client, monkeypatch):
    """robotiq2f 0.2.0, which looks for USB adapters by their serial numbers: that search finds the emulator."""
    module = client("robotiq2f.robotiq2f")
    monkeypatch.setattr(module.LinuxFindTTYWithSerialNumber, "find", lambda *_: str(gripper.link))
    with module.Robotiq2F85("any", async_control=False) as connection:
        # Answers of a machine that has other things to do are late, not lost.
        connection.client.serial.timeout = 1.0
        yield connection


@pytest.fixture
def rq(gripper, client):
    """pyrobotiqgripper 3.3.14, active."""
    connection = client("pyrobotiqgripper").RobotiqGripper(com_port=str(gripper.link))
    connection.activate()
    yield connection
    connection.disconnect()


def test_robotiq2f_activates_and_moves(gripper, robotiq2f):
    assert robotiq2f.is_reset
    started = time.monotonic()
    robotiq2f.reset()
    assert robotiq2f.is_activated and 2.0 < time.monotonic() - started < 6.0
    for opening in (20.0, 70.0, 0.0):
        robotiq2f.go_to(opening=opening, speed=150, force=235)
        assert robotiq2f.opening == pytest.approx(opening, abs=0.8)
        assert width_mm(gripper) == pytest.approx(opening, abs=0.8)
    assert not robotiq2f.object_detected and not robotiq2f.in_fault


def test_robotiq2f_feels_an_object(gripper, robotiq2f):
    robotiq2f.activate()
    gripper.stops(SLAVE, 0.0, CLOSED_RAD * (1 - 40.0 / STROKE_MM))
    robotiq2f.go_to(opening=0, speed=150, force=20)
    assert robotiq2f.object_detected
    assert robotiq2f.opening == pytest.approx(40.0, abs=0.8)


def test_robotiq2f_sees_faults(gripper, robotiq2f):
    robotiq2f.activate()
    gripper.fault("hot")
    wait(lambda: robotiq2f.read_status_sync().fault.overheating, "heat")
    gripper.clear("hot")
    wait(lambda: not robotiq2f.in_fault, "end of the heat")
    gripper.fault("voltage-v=20")
    wait(lambda: robotiq2f.read_status_sync().fault.undervoltage, "low voltage")


def test_pyrobotiqgripper_moves(gripper, rq):
    assert rq.isActivated() and rq.isStarted()
    for position in (200, 40, 120):
        rq.move(position, speed=200, force=50)
        assert rq.position() == pytest.approx(position, abs=1)
        assert width_mm(gripper) == pytest.approx((230 - position) * 0.39, abs=0.4)
    rq.close()
    assert rq.position() == 230 and rq.objectDetection() == 3
    rq.open()
    assert rq.position() == 12


def test_pyrobotiqgripper_writes_and_reads_at_once(gripper, rq):
    """Function 23."""
    rq.move(100, speed=None, force=None)
    assert rq.position() == pytest.approx(100, abs=1)
    rq.move(180, speed=255, force=255, start=True)
    assert rq.position() == pytest.approx(180, abs=1)


def test_pyrobotiqgripper_calibrates(rq):
    rq.calibrate_bit()
    rq.calibrate_mm(closemm=0, openmm=STROKE_MM)
    rq.move_mm(50)
    assert rq.position_mm() == pytest.approx(50, abs=0.8)


def test_pyrobotiqgripper_feels_an_object(gripper, rq):
    gripper.stops(SLAVE, 0.0, 0.4)
    rq.close(speed=255, force=0)
    assert rq.objectDetection() == 2
    assert rq.position() == pytest.approx(121, abs=2)


def wait(condition, what, timeout=5.0):
    """Waits until a condition holds."""
    end = time.monotonic() + timeout
    while not condition():
        assert time.monotonic() < end, f"no {what} within {timeout} s"
        time.sleep(0.01)

"""Emulated Feetech servos, driven by the maker's library, feetech-cli, rustypot and LeRobot, all as they come from the registry."""

import math
import sys
import time
from unittest.mock import MagicMock

import pytest

# Clients give up after some 50 ms: nothing else runs beside them.
pytestmark = pytest.mark.bus

BAUD = 1_000_000
STEP = math.tau / 4096
# Registers, by address.
BAUD_RATE, DELAY, P_GAIN, OFFSET, MODE = 6, 7, 21, 31, 33
TORQUE, GOAL, GOAL_SPEED, LOCK = 40, 42, 46, 55
POSITION, SPEED, VOLTAGE, TEMPERATURE = 56, 58, 62, 63
# From the position to the current, read at once.
STATE = 15
OVERLOAD = 0x20
# Sign of a speed.
BACKWARDS = 1 << 15
# Byte orders of the library.
STS, SCS = 0, 1


class Sdk:
    """The maker's library on a port: calls that must be answered, their alarms as numbers."""

    def __init__(self, sdk, link, order=STS, baud=BAUD):
        # Answers of a machine that has other things to do are late, not lost.
        sdk.port_handler.LATENCY_TIMER = 200
        self.sdk, self.port, self.packets = sdk, sdk.PortHandler(str(link)), sdk.PacketHandler(order)
        assert self.port.openPort() and self.port.setBaudRate(baud)

    def done(self, outcome):
        """Value and alarms of a call that was answered."""
        *value, result, alarms = outcome
        assert result == self.sdk.COMM_SUCCESS, self.packets.getTxRxResult(result)
        return (value[0], alarms) if value else alarms

    def call(self, name, *arguments):
        return self.done(getattr(self.packets, name)(self.port, *arguments))

    def read(self, servo, address, size=2):
        value, alarms = self.call(f"read{size}ByteTxRx", servo, address)
        assert alarms == 0, self.packets.getRxPacketError(alarms)
        return value

    def write(self, servo, address, value, size=2):
        """Writes, and returns the alarms."""
        return self.call(f"write{size}ByteTxRx", servo, address, value)

    def write_kept(self, servo, address, value, size=1):
        assert self.write(servo, LOCK, 0, 1) == 0
        assert self.write(servo, address, value, size) == 0
        assert self.write(servo, LOCK, 1, 1) == 0

    def answers(self, servo):
        return self.packets.ping(self.port, servo)[1] == self.sdk.COMM_SUCCESS

    def arrives(self, servo, goal):
        wait(lambda: abs(self.read(servo, POSITION) - goal) <= 1, f"servo {servo} at {goal}")

    def close(self):
        self.port.closePort()


def wait(condition, what, timeout=5.0):
    """Waits until a condition holds."""
    end = time.monotonic() + timeout
    while not condition():
        assert time.monotonic() < end, f"no {what} within {timeout} s"


def word(value):
    return list(value.to_bytes(2, "little"))


@pytest.fixture
def bus(emulate):
    """Three servos, as they leave the factory but for their ids."""
    return emulate("feetech", "--ids", "1-3")


@pytest.fixture
def sdk(bus, client):
    connection = Sdk(client("scservo_sdk"), bus.link)
    yield connection
    connection.close()


def test_servos_say_what_they_are(sdk):
    assert [sdk.call("ping", servo) for servo in (1, 2, 3)] == [(777, 0)] * 3
    assert not sdk.answers(4)


def test_a_goal_switches_torque_on_and_is_reached(sdk, bus):
    assert sdk.read(1, TORQUE, 1) == 0
    assert sdk.write(1, GOAL, 3000) == 0
    assert sdk.read(1, TORQUE, 1) == 1
    sdk.arrives(1, 3000)
    assert bus.servo(1)["position_rad"] == pytest.approx((3000 - 2048) * STEP, abs=2 * STEP)


def test_several_servos_are_written_and_read_at_once(sdk):
    goals = {1: 1000, 2: 2000, 3: 3000}
    write = sdk.sdk.GroupSyncWrite(sdk.port, sdk.packets, GOAL, 6)
    read = sdk.sdk.GroupSyncRead(sdk.port, sdk.packets, POSITION, STATE)
    for servo, goal in goals.items():
        sdk.write_kept(servo, DELAY, 0)
        assert write.addParam(servo, [*word(goal), 0, 0, 0, 0]) and read.addParam(servo)
    assert write.txPacket() == sdk.sdk.COMM_SUCCESS
    for servo, goal in goals.items():
        sdk.arrives(servo, goal)
    assert read.txRxPacket() == sdk.sdk.COMM_SUCCESS
    for servo, goal in goals.items():
        assert read.getData(servo, POSITION, 2) == pytest.approx(goal, abs=1)
        assert read.getData(servo, VOLTAGE, 1) == 120
        assert 20 <= read.getData(servo, TEMPERATURE, 1) <= 40


def test_a_write_waits_for_its_action(sdk):
    assert sdk.call("regWriteTxRx", 1, GOAL, 2, word(1500)) == 0
    assert sdk.read(1, GOAL) == 2048
    assert sdk.packets.action(sdk.port, sdk.sdk.BROADCAST_ID) == sdk.sdk.COMM_SUCCESS
    sdk.arrives(1, 1500)


def test_a_locked_register_loses_what_is_written(sdk):
    assert sdk.write(1, P_GAIN, 16, 1) == 0
    assert sdk.read(1, P_GAIN, 1) == 32
    sdk.write_kept(1, P_GAIN, 16)
    assert sdk.read(1, P_GAIN, 1) == 16


def test_this_place_becomes_the_middle(sdk, bus):
    assert sdk.write(1, GOAL, 2700) == 0
    sdk.arrives(1, 2700)
    # The last count may still settle: what is measured then is not what was taken for the middle.
    wait(lambda: abs(bus.servo(1)["velocity_rad_per_s"]) < 1e-4, "rest")
    before = bus.servo(1)["position_rad"]
    assert sdk.write(1, TORQUE, 0x80, 1) == 0
    assert sdk.read(1, POSITION) == 2048
    assert sdk.read(1, OFFSET) == pytest.approx(2700 - 2048, abs=1)
    assert bus.servo(1)["position_rad"] == pytest.approx(before, abs=STEP)


def test_a_wheel_turns_backwards(sdk):
    sdk.write_kept(1, MODE, 1)
    assert sdk.write(1, TORQUE, 1, 1) == 0
    assert sdk.write(1, GOAL_SPEED, 100 | BACKWARDS) == 0
    wait(lambda: sdk.read(1, SPEED) ^ BACKWARDS == pytest.approx(100, abs=2), "speed")


def test_an_overload_is_in_every_answer_and_data_follow(sdk, bus):
    bus.fault("overload=1")
    assert sdk.write(1, TORQUE, 0, 1) == OVERLOAD
    assert sdk.call("read2ByteTxRx", 1, POSITION) == (2048, OVERLOAD)
    assert sdk.call("ping", 2) == (777, 0)
    bus.clear("overload")
    assert sdk.write(1, TORQUE, 1, 1) == 0


def test_servos_of_one_id_cannot_be_read(emulate, client):
    bus = emulate("feetech", "--ids", "1,1,2")
    sdk = Sdk(client("scservo_sdk"), bus.link)
    assert not sdk.answers(1) and sdk.answers(2)
    sdk.close()


def test_a_new_baud_rate_is_that_of_the_next_request(sdk):
    assert sdk.write(1, LOCK, 0, 1) == 0
    assert sdk.write(1, BAUD_RATE, 4, 1) == 0
    assert not sdk.answers(1) and sdk.answers(2)
    sdk.port.setBaudRate(115_200)
    assert sdk.answers(1) and not sdk.answers(2)


def test_an_scs_puts_the_high_byte_first(emulate, client):
    bus = emulate("feetech", "--ids", "1", "--model", "scs0009")
    sdk = Sdk(client("scservo_sdk"), bus.link, SCS)
    assert sdk.call("ping", 1) == (1284, 0)
    assert sdk.write(1, GOAL, 700) == 0
    sdk.arrives(1, 700)
    turned = (700 - 512) * math.radians(300) / 1024
    assert bus.servo(1)["position_rad"] == pytest.approx(turned, abs=0.01)
    sdk.close()


@pytest.fixture
def cli(client, capsys):
    """Runs feetech-cli, and gives what it prints."""

    def run(bus, *arguments):
        # Options come before the command. A late answer is not lost.
        options = ["-p", str(bus.link), "-b", str(BAUD), "--timeout", "0.3", "--max-id", "9"]
        status = client("feetech_cli.cli").main([*options, *arguments])
        said = capsys.readouterr()
        assert not status, said.out + said.err
        return said.out

    return run


def test_the_cli_finds_servos_and_numbers_them(cli, bus):
    assert "Found 3 servo(s)" in cli(bus, "scan")
    info = cli(bus, "info", "1")
    assert "(position)" in info and "777" in info and "(locked)" in info
    assert "Servo 3 is now id 9" in cli(bus, "set-id", "3", "9", "-y")
    assert [servo["id"] for servo in bus.state()["servos"]] == [1, 2, 9]


@pytest.mark.parametrize("faults", [[], ["--fault", "echo"]], ids=["quiet", "echo"])
def test_the_cli_moves_a_servo_five_times(cli, emulate, faults):
    bus = emulate("feetech", "--ids", "1,2", *faults)
    assert "PASS: 5 of 5" in cli(bus, "selftest", "1")


def test_rustypot_moves_servos(client, bus):
    controller = client("rustypot").Sts3215PyController(str(bus.link), BAUD, 1.0)
    assert controller.ping(1) and controller.read_model(1) == [777]
    goals = [0.5, -0.5, 1.0]
    controller.sync_write_goal_position([1, 2, 3], goals)
    # It has 4095 steps to a turn.
    near = pytest.approx(goals, abs=3 * STEP)
    wait(lambda: [bus.servo(servo)["position_rad"] for servo in (1, 2, 3)] == near, "arrival")
    assert controller.sync_read_present_position([1, 2, 3]) == near
    assert controller.read_torque_enable(1) == [True]
    assert controller.read_present_voltage(1) == [120]
    controller.close()


def test_rustypot_moves_an_scs(client, emulate):
    bus = emulate("feetech", "--ids", "1", "--model", "scs0009")
    controller = client("rustypot").Scs0009PyController(str(bus.link), BAUD, 1.0)
    controller.write_goal_position(1, 0.4)
    # Its middle is step 511.
    near = pytest.approx(0.4, abs=0.01)
    wait(lambda: bus.servo(1)["position_rad"] == near, "arrival")
    assert controller.read_present_position(1) == [near]
    controller.close()


@pytest.fixture
def lerobot(client, monkeypatch):
    """LeRobot's bus of motors. What it imports for learning is not there, and not used by it."""
    for name in ("torch", "accelerate", "datasets", "datasets.utils", "datasets.utils.logging"):
        if name not in sys.modules:
            monkeypatch.setitem(sys.modules, name, MagicMock())
    # What its bus imports by itself.
    client("scservo_sdk")
    motors = client("lerobot.motors")
    feetech = client("lerobot.motors.feetech")

    def connect(bus, ids, handshake=True):
        degrees = motors.MotorNormMode.DEGREES
        arm = {f"joint_{servo}": motors.Motor(servo, "sts3215", degrees) for servo in ids}
        connection = feetech.FeetechMotorsBus(str(bus.link), arm)
        # It waits 50 ms for an answer and gives up: on a machine that has other things to do, once more.
        for attempt in reversed(range(3)):
            try:
                connection.connect(handshake)
                return connection
            except (RuntimeError, ConnectionError):
                connection.port_handler.closePort()
                if attempt == 0:
                    raise
        return connection

    return connect


def test_lerobot_configures_and_moves_servos(lerobot, bus):
    arm = lerobot(bus, (1, 2, 3))
    arm.configure_motors()
    arm.enable_torque(num_retry=3)
    goals = {"joint_1": 1000, "joint_2": 2000, "joint_3": 3000}
    arm.sync_write("Goal_Position", goals, normalize=False)

    def there():
        places = arm.sync_read("Present_Position", normalize=False, num_retry=3)
        return places == {name: pytest.approx(goal, abs=1) for name, goal in goals.items()}

    wait(there, "arrival")
    arm.disconnect()
    assert not any(bus.servo(servo)["torque_on"] for servo in (1, 2, 3))


def test_lerobot_sets_up_a_new_servo(lerobot, emulate):
    bus = emulate("feetech", "--ids", "1")
    arm = lerobot(bus, (6,), handshake=False)
    arm.setup_motor("joint_6")
    assert arm.ping(6, num_retry=3) == 777
    arm.disconnect()


def test_lerobot_cannot_let_go_after_an_overload(lerobot, bus):
    """The client raises at the alarm of the answer, though the servo did as it was asked."""
    arm = lerobot(bus, (1, 2, 3))
    arm.enable_torque(num_retry=3)
    bus.fault("overload=1")
    with pytest.raises(RuntimeError, match="Overload"):
        arm.disable_torque()
    wait(lambda: not bus.servo(1)["torque_on"], "limp servo")
    assert bus.servo(2)["torque_on"], "it stopped at the first"
    bus.clear("overload")
    arm.disconnect()

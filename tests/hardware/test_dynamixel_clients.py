"""Emulated Dynamixel servos, driven by the maker's library and by rustypot, both as they come from the registry."""

import math
import time

import pytest

# Clients give up after some 50 ms: nothing else runs beside them.
pytestmark = pytest.mark.bus

# Two servos whose tables differ: id 1 is an XL330-M288, id 2 an XM430-W350.
MODELS = ("XL330-M288", "XM430-W350")
# Registers, by address.
ID, BAUD_RATE, OPERATING_MODE, HOMING_OFFSET, TORQUE_ENABLE, LED = 7, 8, 11, 20, 64, 65
REGISTERED, HARDWARE_ERROR, WATCHDOG = 69, 70, 98
PROFILE_ACCELERATION, PROFILE_VELOCITY, GOAL_POSITION = 108, 112, 116
PRESENT_POSITION, PRESENT_VOLTAGE, PRESENT_TEMPERATURE = 132, 144, 146
INDIRECT_ADDRESS, INDIRECT_DATA = 168, {1: 208, 2: 224}
# Errors of an answer.
RANGE, LENGTH, LIMIT, ACCESS, ALERT = 4, 5, 6, 7, 0x80
BAUD = 1_000_000


class Sdk:
    """The maker's library on a port: calls that must be answered, their errors as numbers."""

    def __init__(self, sdk, link, baud=BAUD):
        # Answers of a machine that has other things to do are late, not lost.
        sdk.port_handler.LATENCY_TIMER = 200
        self.sdk, self.port, self.packets = sdk, sdk.PortHandler(str(link)), sdk.PacketHandler(2.0)
        assert self.port.openPort() and self.port.setBaudRate(baud)

    def done(self, outcome):
        """Value and error of a call that was answered."""
        *value, result, error = outcome
        assert result == self.sdk.COMM_SUCCESS, self.packets.getTxRxResult(result)
        return (value[0], error) if value else error

    def read(self, servo, address, size=4):
        value, error = self.done(getattr(self.packets, f"read{size}ByteTxRx")(self.port, servo, address))
        assert error == 0, self.packets.getRxPacketError(error)
        return value

    def write(self, servo, address, value, size=4):
        """Writes, and returns the error."""
        return self.done(getattr(self.packets, f"write{size}ByteTxRx")(self.port, servo, address, value))

    def position(self, servo):
        return signed(self.read(servo, PRESENT_POSITION))

    def arrives(self, servo, goal):
        wait(lambda: abs(self.position(servo) - goal) <= 1, f"servo {servo} at {goal}")

    def call(self, name, *arguments):
        return self.done(getattr(self.packets, name)(self.port, *arguments))

    def answers(self, servo):
        return self.packets.ping(self.port, servo)[1] == self.sdk.COMM_SUCCESS

    def comes_back(self, servo):
        wait(lambda: self.answers(servo), f"servo {servo} after its start")

    def close(self):
        self.port.closePort()


def signed(value):
    return value - (1 << 32) if value >= 1 << 31 else value


def wait(condition, what, timeout=5.0):
    """Waits until a condition holds."""
    end = time.monotonic() + timeout
    while not condition():
        assert time.monotonic() < end, f"no {what} within {timeout} s"


def little(value, size=4):
    return list(value.to_bytes(size, "little"))


@pytest.fixture
def bus(emulate):
    """Both servos, as they leave the factory but for their baud rate."""
    return emulate("dynamixel", "--baud", str(BAUD), *servos())


def servos():
    return [argument for n, model in enumerate(MODELS, 1) for argument in ("--servo", f"{n}={model}")]


@pytest.fixture
def sdk(bus, client):
    connection = Sdk(client("dynamixel_sdk"), bus.link)
    yield connection
    connection.close()


def test_servos_say_what_they_are(sdk):
    assert sdk.call("ping", 1) == (1200, 0)
    assert sdk.call("ping", 2) == (1020, 0)
    assert not sdk.answers(3)
    found, result = sdk.packets.broadcastPing(sdk.port)
    assert (found, result) == ({1: [1200, 52], 2: [1020, 46]}, sdk.sdk.COMM_SUCCESS)


def test_a_goal_is_reached(sdk, bus):
    assert sdk.write(1, TORQUE_ENABLE, 1, 1) == 0
    assert sdk.write(1, PROFILE_VELOCITY, 300) == 0
    assert sdk.write(1, PROFILE_ACCELERATION, 100) == 0
    assert sdk.write(1, GOAL_POSITION, 3072) == 0
    sdk.arrives(1, 3072)
    truth = bus.servo(1)["position_rad"]
    assert truth == pytest.approx(math.pi / 2, abs=2 * math.tau / 4096)


def test_refusals_have_their_numbers(sdk):
    assert sdk.write(1, TORQUE_ENABLE, 1, 1) == 0
    assert sdk.write(1, OPERATING_MODE, 4, 1) == ACCESS
    assert sdk.write(1, PRESENT_POSITION, 0) == ACCESS
    assert sdk.write(1, GOAL_POSITION, 4096) == LIMIT
    assert sdk.write(1, LED, 2, 1) == RANGE
    assert sdk.write(1, GOAL_POSITION, 2048, 2) == LENGTH
    assert sdk.call("clearMultiTurn", 1) == 0


def test_a_write_waits_for_its_action(sdk):
    assert sdk.call("regWriteTxRx", 1, GOAL_POSITION, 4, little(1000)) == 0
    assert (sdk.read(1, REGISTERED, 1), sdk.read(1, GOAL_POSITION)) == (1, 2048)
    # To all: the library does not wait for the answer of one, and would take it for that of the next request.
    assert sdk.packets.action(sdk.port, sdk.sdk.BROADCAST_ID) == sdk.sdk.COMM_SUCCESS
    wait(lambda: sdk.read(1, GOAL_POSITION) == 1000, "goal after the action")
    assert sdk.read(1, REGISTERED, 1) == 0


def test_several_servos_are_written_and_read_at_once(sdk):
    goals = {1: 1000, 2: 3000}
    torque = sdk.sdk.GroupSyncWrite(sdk.port, sdk.packets, TORQUE_ENABLE, 1)
    write = sdk.sdk.GroupSyncWrite(sdk.port, sdk.packets, GOAL_POSITION, 4)
    for servo, goal in goals.items():
        assert torque.addParam(servo, [1]) and write.addParam(servo, little(goal))
    assert torque.txPacket() == write.txPacket() == sdk.sdk.COMM_SUCCESS
    for servo, goal in goals.items():
        sdk.arrives(servo, goal)
    for read in ("txRxPacket", "fastSyncRead"):
        group = sdk.sdk.GroupSyncRead(sdk.port, sdk.packets, PRESENT_POSITION, 4)
        for servo in goals:
            assert group.addParam(servo)
        assert getattr(group, read)() == sdk.sdk.COMM_SUCCESS, read
        places = [group.getData(servo, PRESENT_POSITION, 4) for servo in goals]
        assert places == pytest.approx([1000, 3000], abs=1), read


def test_each_servo_is_written_and_read_by_its_own_list(sdk):
    write = sdk.sdk.GroupBulkWrite(sdk.port, sdk.packets)
    assert write.addParam(1, GOAL_POSITION, 4, little(1234)) and write.addParam(2, LED, 1, [1])
    assert write.txPacket() == sdk.sdk.COMM_SUCCESS
    wait(lambda: (sdk.read(1, GOAL_POSITION), sdk.read(2, LED, 1)) == (1234, 1), "values of the bulk write")
    for read in ("txRxPacket", "fastBulkRead"):
        group = sdk.sdk.GroupBulkRead(sdk.port, sdk.packets)
        assert group.addParam(1, PRESENT_POSITION, 4) and group.addParam(2, PRESENT_VOLTAGE, 2)
        assert getattr(group, read)() == sdk.sdk.COMM_SUCCESS, read
        assert group.getData(1, PRESENT_POSITION, 4) == 2048, read
        assert group.getData(2, PRESENT_VOLTAGE, 2) == 120, read


@pytest.mark.parametrize("servo", INDIRECT_DATA)
def test_a_state_is_read_by_indirect_addresses(sdk, servo):
    addresses = [*range(126, 136), PRESENT_TEMPERATURE]
    for n, address in enumerate(addresses):
        assert sdk.write(servo, INDIRECT_ADDRESS + 2 * n, address, 2) == 0
    group = sdk.sdk.GroupSyncRead(sdk.port, sdk.packets, INDIRECT_DATA[servo], len(addresses))
    assert group.addParam(servo)
    for read in ("txRxPacket", "fastSyncRead"):
        assert getattr(group, read)() == sdk.sdk.COMM_SUCCESS, read
        assert group.getData(servo, INDIRECT_DATA[servo] + 6, 4) == 2048, read
        assert 20 <= group.getData(servo, INDIRECT_DATA[servo] + 10, 1) <= 30, read


def test_a_value_that_looks_like_a_header_is_read(sdk):
    """The library does not stuff what it writes, but takes the stuffing out of what it reads."""
    data = INDIRECT_DATA[2]
    for n, byte in enumerate((0xFF, 0xFF, 0xFD, 0x00)):
        assert sdk.write(2, data + n, byte, 1) == 0
    assert sdk.read(2, data) == 0x00FDFFFF


def test_an_unstuffed_write_is_obeyed(sdk):
    assert sdk.write(2, INDIRECT_DATA[2], 0, 1) == 0
    assert sdk.call("writeTxRx", 2, INDIRECT_DATA[2], 4, little(0x00FDFFFF)) == 0
    assert sdk.read(2, INDIRECT_DATA[2]) == 0x00FDFFFF


def test_a_strict_servo_is_silent_to_an_unstuffed_write(emulate, client):
    bus = emulate("dynamixel", "--baud", str(BAUD), "--strict", *servos())
    sdk = Sdk(client("dynamixel_sdk"), bus.link)
    *_, result, _ = sdk.packets.writeTxRx(sdk.port, 2, INDIRECT_DATA[2], 4, little(0x00FDFFFF))
    assert result == sdk.sdk.COMM_RX_TIMEOUT
    assert sdk.answers(2), "the next frame is heard"
    sdk.close()


def test_silence_trips_the_watchdog(sdk):
    assert sdk.write(1, TORQUE_ENABLE, 1, 1) == 0
    assert sdk.write(1, WATCHDOG, 5, 1) == 0
    wait(lambda: (time.sleep(0.15), sdk.read(1, WATCHDOG, 1) == 255)[1], "tripped watchdog")
    assert sdk.write(1, GOAL_POSITION, 2100) == RANGE
    assert sdk.write(1, WATCHDOG, 0, 1) == 0
    assert sdk.write(1, GOAL_POSITION, 2100) == 0
    sdk.arrives(1, 2100)


def test_an_overload_shuts_a_servo_down_until_its_reboot(sdk, bus):
    assert sdk.write(1, TORQUE_ENABLE, 1, 1) == 0
    bus.fault("overload=1")
    wait(lambda: sdk.packets.ping(sdk.port, 1)[2] == ALERT, "alert")
    bus.clear("overload")
    value, error = sdk.call("read1ByteTxRx", 1, HARDWARE_ERROR)
    assert (value, error) == (0x20, ALERT), "data follow the alert"
    assert sdk.write(1, TORQUE_ENABLE, 1, 1) == ALERT
    assert sdk.call("read1ByteTxRx", 1, TORQUE_ENABLE) == (0, ALERT)
    assert sdk.call("reboot", 1) == ALERT
    sdk.comes_back(1)
    assert sdk.write(1, TORQUE_ENABLE, 1, 1) == 0
    assert sdk.read(1, TORQUE_ENABLE, 1) == 1


def test_a_factory_reset_keeps_id_and_baud_if_asked_to(sdk):
    assert sdk.write(2, ID, 9, 1) == 0
    assert sdk.write(9, HOMING_OFFSET, 50) == 0
    assert sdk.call("factoryReset", 9, 0x02) == 0
    sdk.comes_back(9)
    assert sdk.read(9, HOMING_OFFSET) == 0


def test_a_new_baud_rate_is_that_of_the_next_request(sdk):
    assert sdk.write(1, BAUD_RATE, 6, 1) == 0
    assert not sdk.answers(1) and sdk.answers(2)
    sdk.port.setBaudRate(4_000_000)
    assert sdk.answers(1) and not sdk.answers(2)


@pytest.fixture
def rustypot(bus, client):
    controller = client("rustypot").Xl330PyController(str(bus.link), BAUD, 1.0)
    yield controller
    controller.close()


def test_rustypot_finds_servos(rustypot):
    assert rustypot.ping(1) and rustypot.ping(2)
    assert rustypot.broadcast_scan() == {1: 1200, 2: 1020}
    assert rustypot.read_firmware_version(1) == [52]


def test_rustypot_moves_servos(rustypot, bus):
    goals = [math.pi / 4, -math.pi / 3]
    rustypot.sync_write_torque_enable([1, 2], [True, True])
    assert rustypot.sync_read_torque_enable([1, 2]) == [True, True]
    rustypot.sync_write_goal_position([1, 2], goals)
    one = math.tau / 4096

    def there():
        return rustypot.sync_read_present_position([1, 2]) == pytest.approx(goals, abs=2 * one)

    wait(there, "arrival")
    assert [bus.servo(servo)["position_rad"] for servo in (1, 2)] == pytest.approx(goals, abs=2 * one)


def test_rustypot_stuffs_what_looks_like_a_header(emulate, client):
    bus = emulate("dynamixel", "--baud", str(BAUD), "--strict", *servos())
    controller = client("rustypot").Xl330PyController(str(bus.link), BAUD, 1.0)
    bytes_ = [0xFF, 0xFF, 0xFD, 0x00, 0xFF, 0xFF, 0xFD, 0xFD]
    controller.write_raw_data(2, INDIRECT_DATA[2], bytes_)
    assert list(controller.read_raw_data(2, INDIRECT_DATA[2], 8)) == bytes_
    controller.close()

"""`karakuri hardware` on emulated buses: what it says, what it asks, and that nothing else happens."""

import contextlib
import os
import re
import signal
import subprocess
import threading
import time
from pathlib import Path

import pytest
from support.process import ROOT, executable

pytestmark = pytest.mark.bus

# Options of an emulator, ids to scan, and what is said of the first device.
BUSES = {
    "feetech": (["--ids", "1,3"], "0-4", "servo 1 at 1000000 baud: sts3215"),
    "dynamixel": (["--servo", "2=XM430-W350"], "0-3", "servo 2 at 57600 baud: XM430-W350, firmware 46"),
    "ics": (["--ids", "5"], "4-6", "servo 5 at 115200 baud: ICS servo"),
    "rcb1": ([], "0-2", "board 0 at 115200 baud: RCB-1"),
    "rcb4": ([], "0", "board 0 at 115200 baud: RCB-4 V1.0 090715"),
    "robotiq": ([], "8-10", "gripper 9 at 115200 baud: two-finger gripper, not active"),
}


def hardware(task, *words, answer=None, timeout=60):
    """Runs a task to its end, on an answer to all questions."""
    command = [executable("karakuri"), "hardware", task, *words]
    done = subprocess.run(
        [str(word) for word in command], input=answer or "", capture_output=True, text=True, timeout=timeout
    )
    # The sentence as it is, wherever the terminal would break it.
    done.said = " ".join(done.stderr.split())
    return done


class Talk:
    """A task in a dialogue."""

    def __init__(self, task, *words):
        command = [str(word) for word in (executable("karakuri"), "hardware", task, *words)]
        self.process = subprocess.Popen(command, stdin=-1, stdout=-1, stderr=subprocess.STDOUT)
        self.text, self._read = "", 0
        self._reader = threading.Thread(target=self._listen, daemon=True)
        self._reader.start()

    def _listen(self):
        while piece := os.read(self.process.stdout.fileno(), 4096):
            self.text += piece.decode()

    def hears(self, pattern, timeout=20.0):
        """Waits for what is said after what was waited for last."""
        end = time.monotonic() + timeout
        while not (found := re.compile(pattern).search(self.text, self._read)):
            ended = self.process.poll() is not None and not self._reader.is_alive()
            assert not ended and time.monotonic() < end, f"no `{pattern}` in:\n{self.text}"
            time.sleep(0.005)
        self._read = found.end()

    def says(self, line):
        self.process.stdin.write(f"{line}\n".encode())
        self.process.stdin.flush()

    def ends(self, number=None, timeout=10.0):
        """The exit code, after a signal if there is one."""
        if number:
            self.process.send_signal(number)
        code = self.process.wait(timeout)
        self._reader.join(timeout)
        return code


@pytest.fixture
def talk():
    """Starts dialogues; none outlives its test."""
    with contextlib.ExitStack() as all_of_them:

        def start(*words):
            talk = Talk(*words)
            all_of_them.callback(talk.process.kill)
            return talk

        yield start


@pytest.mark.parametrize("bus", BUSES)
def test_a_scan_finds_devices_at_their_baud_rate(emulate, bus):
    options, ids, line = BUSES[bus]
    done = hardware("scan", bus, emulate(bus, *options).link, "--ids", ids, "--patience", "40")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[0] == line


def test_a_scan_tells_how_others_find_what_is_at_another_baud_rate(emulate):
    dynamixel = emulate("dynamixel", "--baud", "57600").link
    done = hardware("scan", "dynamixel", dynamixel, "--ids", "1", "--patience", "40")
    assert "1 found; other commands find these with `--baud 57600`" in done.stderr
    done = hardware("scan", "feetech", emulate("feetech", "--ids", "1").link, "--ids", "1", "--patience", "40")
    assert done.stderr.strip().endswith("1 found"), done.stderr


def test_a_board_without_a_project_has_no_servos(emulate):
    board = emulate("rcb4", "--baud", "115200").link
    for command in (["watch", "rcb4", board], ["jog", "rcb4", board, "1", "--yes"]):
        done = hardware(*command, "--baud", "115200")
        assert done.returncode == 1 and "a board knows the servos alone that its project assigns" in done.said


def test_a_scan_hears_two_servos_of_one_id(emulate):
    done = hardware("scan", "feetech", emulate("feetech", "--ids", "1,1").link, "--ids", "1", "--baud", "1000000")
    assert done.returncode == 0 and "answers, but not in whole frames; two of one id" in done.stdout


def test_a_scan_of_nothing_says_what_to_check(emulate):
    bus = emulate("feetech", "--ids", "1")
    done = hardware("scan", "dynamixel", bus.link, "--ids", "1-2", "--baud", "57600")
    assert done.returncode == 1 and "whether it is a dynamixel bus" in done.said


def test_a_scan_ends_at_once(emulate, talk):
    scan = talk("scan", "feetech", emulate("feetech", "--ids", "1,9").link)
    scan.hears("servo 9 at 1000000 baud")
    begin = time.monotonic()
    assert scan.ends(signal.SIGINT) == 3 and time.monotonic() - begin < 1.0
    assert "interrupted; 2 found until then" in scan.text


@pytest.mark.parametrize(
    "bus, options, words, lines",
    [
        ("feetech", ["--ids", "1"], ["1"], [r"present_voltage\s+120  12.0000 V", r"p_gain\s+32$"]),
        (
            "dynamixel",
            ["--servo", "2=XL330-M288"],
            ["2", "--baud", "57600"],
            [r"temperature_limit\s+70  70.0000 °C", r"max_position_limit\s+4095  3.1401 rad"],
        ),
        ("ics", ["--ids", "5", "--baud", "1250000"], ["5"], [r"greatest position\s+11500  2.3562 rad", r"^id\s+5$"]),
        ("rcb1", [], ["1"], [r"home of channel 2\s+115  2.0071 rad", r"trim of channel 12\s+0  0.0000 rad"]),
        ("rcb4", ["--project", "--baud", "1250000"], ["0"], [r"position of servo 16\s+7500  0.0000 rad"]),
        ("robotiq", [], ["9"], [r"gPO, position: 0 open, 255 shut\s+\d+$"]),
    ],
)
def test_info_names_every_register(emulate, bus, options, words, lines):
    done = hardware("info", bus, emulate(bus, *options).link, *words)
    assert done.returncode == 0, done.stderr
    for line in lines:
        assert re.search(line, done.stdout, re.MULTILINE), f"no `{line}` in:\n{done.stdout}"


@pytest.mark.parametrize(
    "bus, options, words",
    [
        ("feetech", ["--ids", "1"], ["1", "6"]),
        ("feetech", ["--ids", "1", "--model", "scs0009"], ["1", "6"]),
        ("dynamixel", ["--servo", "1=XL330-M288"], ["1", "6", "--baud", "57600"]),
        ("ics", ["--ids", "1", "--baud", "1250000"], ["1", "6"]),
    ],
)
def test_an_id_is_changed_after_a_yes(emulate, bus, options, words):
    emulator = emulate(bus, *options)
    for answer in ("n\n", ""):
        done = hardware("set-id", bus, emulator.link, *words, answer=answer)
        assert done.returncode == 1 and "nothing was done, as the answer was no yes" in done.said
    assert [servo["id"] for servo in emulator.state()["servos"]] == [1]
    done = hardware("set-id", bus, emulator.link, *words, answer="y\n")
    assert done.returncode == 0 and "servo 1 is 6 now" in done.stderr, done.stderr
    assert [servo["id"] for servo in emulator.state()["servos"]] == [6]
    # It is locked again, and so keeps its next id only by the same command.
    words[:2] = ["6", "2"]
    assert hardware("set-id", bus, emulator.link, *words, "--yes").returncode == 0
    assert emulator.servo(2)["torque_on"] is False


@pytest.mark.parametrize(
    "bus, options, words, sentence",
    [
        ("feetech", ["--ids", "1,2"], ["1", "2"], "the id 2 is taken already; write another"),
        ("feetech", ["--ids", "1"], ["4", "2"], "servo 4 does not answer on"),
        ("feetech", ["--ids", "1"], ["1", "254"], "254 is no id of a servo; write one from 0 to 253"),
        ("feetech", ["--ids", "1"], ["1", "1"], "the new id is the old one"),
        ("ics", ["--ids", "1,2", "--baud", "1250000"], ["1", "3"], "servo 2 is there, too; leave only the one"),
        ("rcb1", [], ["0", "3"], "board 1 is there, too; leave only the one that is to change"),
        ("rcb4", [], ["0", "1", "--baud", "115200"], "put the servo on an ICS adapter, then `karakuri"),
        ("robotiq", [], ["9", "10"], "a gripper's address is not changed on its bus"),
    ],
)
def test_an_id_that_cannot_be_is_refused(emulate, bus, options, words, sentence):
    emulator = emulate(bus, *options)
    before = [servo["id"] for servo in emulator.state()["servos"]]
    done = hardware("set-id", bus, emulator.link, *words, "--yes")
    assert done.returncode == 1 and sentence in done.said, done.stderr
    assert [servo["id"] for servo in emulator.state()["servos"]] == before


JOGGED = [
    ("feetech", ["--ids", "1"], ["1"], 1),
    ("dynamixel", ["--servo", "1=XL330-M288"], ["1", "--baud", "57600"], 1),
    ("ics", ["--ids", "1", "--baud", "1250000"], ["1"], 1),
    ("rcb1", [], ["3"], 3),
    ("rcb4", ["--project", "--baud", "1250000"], ["4"], 4),
]


@pytest.mark.parametrize("bus, options, words, servo", JOGGED)
def test_a_servo_is_jogged_and_limp_in_the_end(emulate, bus, options, words, servo):
    emulator = emulate(bus, *options)
    # An RCB-4 with a project switches its servos on with its first frame.
    while emulator.state()["time_s"] < 0.05:
        pass
    before = emulator.servo(servo)
    done = hardware("jog", bus, emulator.link, *words, "--by", "0.2", answer="n\n")
    assert done.returncode == 1 and "nothing was done" in done.said, done.stderr
    assert emulator.servo(servo)["torque_on"] == before["torque_on"]
    assert emulator.servo(servo)["position_rad"] == pytest.approx(before["position_rad"], abs=1e-6)
    done = hardware("jog", bus, emulator.link, *words, "--by", "0.2", answer="y\n")
    assert done.returncode == 0 and f"servo {servo} is without torque" in done.stderr, done.stderr
    # A board lets go with its next frame.
    end = time.monotonic() + 1.0
    while (after := emulator.servo(servo))["torque_on"]:
        assert time.monotonic() < end, "the torque stays on"
    assert abs(after["position_rad"] - before["position_rad"]) == pytest.approx(0.2, abs=0.02)


def test_jogging_starts_where_the_servo_is_and_goes_slowly(emulate, talk):
    emulator = emulate("feetech", "--ids", "1")
    emulator.turn(1, 0.8)
    jog = talk("jog", "feetech", emulator.link, "1")
    jog.hears(r"servo 1 is at 2570 counts, 0.801 rad, torque off, 12.0 V, 25.0 °C")
    jog.hears("Is its path free")
    assert emulator.servo(1)["torque_on"] is False
    # By hand, while the question stands: it is held where it is then.
    emulator.turn(1, 0.5)
    jog.says("y")
    jog.hears("> ")
    assert emulator.servo(1)["torque_on"] is True
    assert emulator.servo(1)["position_rad"] == pytest.approx(0.5, abs=0.003)
    begin = time.monotonic()
    jog.says("0.3")
    jog.hears("servo 1 is at .* counts, 0.(79|80)")
    assert time.monotonic() - begin > 0.5, "0.3 rad at 0.5 rad/s"
    jog.says("much")
    jog.hears("write an angle from -0.35 to 0.35 rad")
    jog.says("-")
    jog.hears("servo 1 is at .* counts, 0.7(4|5)")
    assert jog.ends(signal.SIGINT) == 3 and "servo 1 is without torque" in jog.text
    assert emulator.servo(1)["torque_on"] is False


def test_a_servo_that_was_let_go_and_turned_makes_no_leap_at_the_next_step(emulate, talk):
    emulator = emulate("feetech", "--ids", "1")
    jog = talk("jog", "feetech", emulator.link, "1", "--yes")
    jog.hears("> ")
    jog.says("0.1")
    jog.hears("servo 1 is at .* counts, 0.(09|10)")
    emulator.fault("torque-lost=1")
    while emulator.servo(1)["torque_on"]:
        pass
    emulator.clear("torque-lost")
    emulator.turn(1, 0.7)
    jog.says("0.1")
    jog.hears("servo 1 is not where it was sent; it goes on from where it is")
    jog.hears("servo 1 is at .* counts, 0.(79|80)")
    # 0.5 rad/s for 40 ms, and a count.
    assert emulator.servo(1)["largest_goal_step_rad"] < 0.022
    assert jog.ends(signal.SIGINT) == 3


def test_a_servo_in_trouble_is_not_jogged(emulate):
    emulator = emulate("feetech", "--ids", "1", "--fault", "overload=1")
    done = hardware("jog", "feetech", emulator.link, "1", "--yes")
    assert done.returncode == 1 and "has a trouble, overload; remove its cause first" in done.said
    assert emulator.servo(1)["torque_on"] is False


def test_a_gripper_that_is_not_active_is_not_jogged(emulate):
    emulator = emulate("robotiq")
    done = hardware("jog", "robotiq", emulator.link, "9", "--by", "0.1", "--yes")
    assert done.returncode == 1 and "an activation opens and shuts it once" in done.said, done.stderr


def test_watching_shows_what_a_hand_turns(emulate, talk):
    emulator = emulate("feetech", "--ids", "1,4")
    watch = talk("watch", "feetech", emulator.link)
    watch.hears(r"\n +1 +2048 +0.000 +0.000 +0.0 +0.000 +12.0 +25  off")
    watch.hears(r"\n +4 +2048")
    emulator.turn(4, -0.3)
    watch.hears(r"\n +4 +1852 +-0.301")
    emulator.fault("servo-gone=1")
    watch.hears(r"\n +1 does not answer")
    assert watch.ends(signal.SIGINT) == 0


@pytest.mark.parametrize("bus, options, words, _servo", JOGGED)
def test_every_bus_is_watched(emulate, bus, options, words, _servo):
    servo, *baud = words
    done = hardware("watch", bus, emulate(bus, *options).link, "--count", "1", "--ids", servo, *baud)
    assert done.returncode == 0, done.stderr
    assert re.search(rf"^ +{servo} +\d+ +-?\d", done.stdout, re.MULTILINE), done.stdout


JOINTS = ["shoulder_pan", "shoulder_lift", "elbow_flex", "wrist_flex", "wrist_roll", "gripper"]


@pytest.fixture
def so101(tmp_path):
    """A hardware file of one's own, and the words that name it and the robot."""
    text = (ROOT / "config/hardware/so101.yaml").read_text()
    (tmp_path / "arm.yaml").write_text(text + "\ncalibration: mine.yaml\n")
    return [tmp_path / "arm.yaml", ROOT / "urdf/so101/so101.urdf", "--config", ROOT / "config/so101.yaml"]


def test_an_arm_is_calibrated_by_hand(emulate, talk, so101):
    emulator = emulate("feetech", "--ids", "1-6")
    calibrate = talk("calibrate", *so101, "--posture", "home", "--device", emulator.link)
    calibrate.hears(r"All 6 servos of so101 answer. Their torque goes off: hold the robot. Go on\? \[y/N\]")
    calibrate.says("y")
    calibrate.hears(r"shoulder_pan +0.000 rad")
    calibrate.hears(r"gripper +0.300 rad")
    # Horns sit a little off, and that of the elbow the other side round.
    off = {1: 0.1, 2: -0.2, 3: 0.05, 4: 0.0, 5: 0.3, 6: -0.5}
    sense = {3: -1}
    for servo, angle in off.items():
        emulator.turn(servo, angle + sense.get(servo, 1) * (0.3 if servo == 6 else 0.0))
    calibrate.hears("Press Enter when all are there.")
    calibrate.says("")
    ends = [(-1.9, 1.9), (-1.7, 1.7), (-1.6, 1.6), (-1.6, 1.6), (-2.7, 2.7), (-0.17, 1.7)]
    for servo, (joint, path) in enumerate(zip(JOINTS, ends), 1):
        for which, angle in zip(("lower", "upper"), path):
            calibrate.hears(rf"{joint} \(servo {servo}\): to its {which} end")
            for share in (0.0, 0.5, 1.0):
                # As far as a hand comes between two looks.
                emulator.turn(servo, off[servo] + sense.get(servo, 1) * share * angle)
                time.sleep(0.12)
            calibrate.says("")
    calibrate.hears("elbow_flex: zero 2081, reversed")
    calibrate.hears(r"Write .*mine.yaml\? \[y/N\]")
    written = Path(so101[0]).with_name("mine.yaml")
    assert not written.exists()
    calibrate.says("y")
    calibrate.hears("wrote .*mine.yaml")
    assert calibrate.ends() == 0, calibrate.text
    lines = written.read_text().splitlines()
    assert lines[1] == "servos:" and len(lines) == 8
    pattern = r"  (\w+): \{zero: (\d+), trim: 0, reversed: (\w+), limits: \[(\S+), (\S+)\]\}"
    for servo, (line, (lower, upper)) in enumerate(zip(lines[2:], ends), 1):
        joint, zero, reverse, least, most = re.fullmatch(pattern, line).groups()
        assert joint == JOINTS[servo - 1] and reverse == ("true" if servo == 3 else "false")
        assert int(zero) == pytest.approx(2048 + off[servo] * 651.9, abs=1.1)
        assert float(least) == pytest.approx(lower + 0.02, abs=0.004)
        assert float(most) == pytest.approx(upper - 0.02, abs=0.004)
    assert all(servo["torque_on"] is False for servo in emulator.state()["servos"])


@pytest.mark.parametrize(
    "path, sentence",
    [
        ([0.0, 0.0], "`shoulder_pan` went 0.000 rad between its ends, of 3.840 rad; calibrate again"),
        ([3.0, -3.0], "`shoulder_pan` passes the end of the counts of servo 1"),
        (None, "the input ended before all joints were shown; nothing was written"),
    ],
)
def test_a_wrong_calibration_is_not_written(emulate, talk, so101, path, sentence):
    emulator = emulate("feetech", "--ids", "1-6")
    calibrate = talk("calibrate", *so101, "--device", emulator.link, "--yes")
    calibrate.hears("Press Enter")
    if path:
        calibrate.says("")
        for angle in path:
            calibrate.hears("end, near")
            emulator.turn(1, angle)
            calibrate.says("")
    else:
        calibrate.process.stdin.close()
    assert calibrate.ends() == 1 and sentence in " ".join(calibrate.text.split()), calibrate.text
    assert not Path(so101[0]).with_name("mine.yaml").exists()


def test_a_calibration_needs_all_servos(emulate, so101):
    emulator = emulate("feetech", "--ids", "1-5")
    done = hardware("calibrate", *so101, "--device", emulator.link, "--yes")
    assert done.returncode == 1 and "servo 6 of joint `gripper` does not answer on" in done.said


@pytest.mark.parametrize(
    "words, code, sentence",
    [
        (["scan", "i2c", "/dev/null"], 2, "there is no bus `i2c`; write one of feetech, dynamixel"),
        (["scan", "feetech", "/no/port"], 1, "there is no port /no/port; "),
        (["scan", "feetech", "/no/port", "--baud", "9600"], 1, "--baud 9600: feetech has 1000000, 500000"),
        (["info", "ics", "/no/port"], 2, "required arguments were not provided"),
        (["jog", "feetech", "/no/port", "1", "--by", "2"], 2, "write an angle from -0.35 to 0.35 rad"),
        (["watch", "feetech", "/no/port", "--ids", "6-1"], 2, "`6-1` is empty; write 1-6"),
    ],
)
def test_what_is_wrong_is_one_sentence(words, code, sentence):
    done = hardware(*words)
    assert done.returncode == code and sentence in done.said, done.stderr


def test_a_port_in_use_is_named_with_its_owner(emulate, talk):
    bus = emulate("feetech", "--ids", "1")
    watch = talk("watch", "feetech", bus.link)
    watch.hears("servo")
    done = hardware("scan", "feetech", bus.link, "--ids", "1")
    assert done.returncode == 1 and "is in use by `karakuri`" in done.said, done.stderr
    assert watch.ends(signal.SIGINT) == 0

"""`karakuri emulate` as a program: what it prints, how it ends, what it refuses."""

import os
import signal
import subprocess

import pytest
from support.process import ROOT, executable

# Clients give up after some 50 ms: nothing else runs beside them.
pytestmark = pytest.mark.bus

BUSES = {
    "rcb1": "115200",
    "rcb4": "115200",
    "ics": "115200",
    "feetech": "1000000",
    "dynamixel": "57600",
    "robotiq": "115200",
}


@pytest.mark.parametrize("bus", BUSES)
def test_it_says_where_the_port_is_and_ends_cleanly(emulate, bus):
    emulator = emulate(bus)
    terminal = os.readlink(emulator.link)
    assert terminal.startswith("/dev/pts/")
    assert emulator.lines[0] == f"ready: {emulator.link} -> {terminal}, {BUSES[bus]} baud"
    state = emulator.state()
    assert str(state["baud"]) == BUSES[bus] and state["servos"] and state["faults"] == []
    with open(emulator.link, "r+b", buffering=0):
        emulator.wait_for("a program opened the port")
    emulator.wait_for("a program closed the port")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_at_once(emulate, number):
    emulator = emulate("robotiq")
    assert emulator.stop(number, timeout=1.0) == 0


def test_faults_are_switched_from_the_start_and_later(emulate):
    emulator = emulate("feetech", "--ids", "1,2", "--fault", "servo-gone=2", "--fault", "drop=0.5")
    assert emulator.state()["faults"] == ["servo-gone=2", "drop=0.5"]
    emulator.clear("drop")
    assert emulator.fault("hot=1")["faults"] == ["servo-gone=2", "hot=1"]
    for line in ("fault on: servo-gone=2", "fault off: drop=0.5", "fault on: hot=1", "servo 1: alarm heat"):
        emulator.wait_for(line)
    with pytest.raises(ValueError, match="there is no servo 7; servos are"):
        emulator.turn(7, 0.0)


def test_a_second_one_takes_the_link_and_the_first_leaves_it(emulate, tmp_path):
    first = emulate("robotiq")
    command = [executable("karakuri"), "emulate", "robotiq", "--pty", first.link]
    second = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert second.stdout.readline().startswith("ready: ")
    terminal = os.readlink(first.link)
    assert first.stop() == 0
    assert os.readlink(first.link) == terminal, "the link is the second's"
    second.send_signal(signal.SIGINT)
    assert second.wait(10.0) == 0


@pytest.mark.parametrize("robot, baud", [("so101", 1000000), ("khr1_rcb4", 1250000)])
def test_the_servos_of_a_robot_need_its_hardware_file_only(tmp_path, robot, baud):
    command = [executable("karakuri"), "emulate", "--robot", ROOT / f"config/hardware/{robot}.yaml", "--pty", tmp_path / "bus"]
    emulator = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert emulator.stdout.readline().endswith(f", {baud} baud\n")
    emulator.send_signal(signal.SIGINT)
    assert emulator.wait(10.0) == 0
    (tmp_path / "robot.yaml").write_text("")
    done = subprocess.run([*command[:3], tmp_path / "robot.yaml", *command[4:]], capture_output=True, text=True, timeout=20)
    said = " ".join(done.stderr.split())
    assert done.returncode == 1 and "add `--urdf URDF --config YAML`, or `--scene SCENE`" in said, said


@pytest.mark.parametrize(
    "options, sentence",
    [
        (["feetech", "--ids", "1-x"], "`1-x` is no id; write numbers and ranges, as 1-6,9"),
        (["ics", "--ids", "40"], "--ids: 40 is no ICS id; they go up to 31"),
        (["ics", "--baud", "9600"], "--baud 9600: write one of 115200, 625000, 1250000"),
        (["dynamixel", "--servo", "1=AX-12"], "there is no type `AX-12`; write one of XL330-M077"),
        (["robotiq", "--fault", "dorp"], "there is no fault `dorp`; write one of drop, delay-ms"),
        (["robotiq", "--fault", "drop=2"], "`2` cannot be its value; write the share of answers it strikes"),
        (["robotiq", "--slave", "0"], "0 is not in 1..=247"),
        (["rcb1", "--clock-skew", "2"], "--clock-skew 2: write a share from -0.5 to 0.5, as 0.01"),
        (["i2c"], "unrecognized subcommand 'i2c'"),
    ],
)
def test_what_is_wrong_is_one_sentence(options, sentence, tmp_path):
    command = [executable("karakuri"), "emulate", options[0], "--pty", tmp_path / "bus", *options[1:]]
    done = subprocess.run(command, capture_output=True, text=True, timeout=20)
    assert done.returncode in (1, 2) and sentence in done.stderr.replace("\n", " "), done.stderr
    assert not (tmp_path / "bus").is_symlink()


def test_places_that_cannot_be_are_refused(emulate, tmp_path):
    (tmp_path / "file").write_text("precious")
    running = emulate("robotiq")
    for options, sentence in (
        (["--pty", tmp_path / "file"], "exists and is no link; name another place for the link"),
        (["--pty", tmp_path / "no/bus"], "name one in a folder that exists and that you may write to"),
        (["--pty", tmp_path / "bus", "--side", running.socket], "another emulator may: name another socket"),
    ):
        command = [executable("karakuri"), "emulate", "robotiq", *options]
        done = subprocess.run(command, capture_output=True, text=True, timeout=20)
        assert done.returncode == 1 and sentence in done.stderr, done.stderr
    assert (tmp_path / "file").read_text() == "precious"
    assert running.state()["servos"], "the first one goes on"

"""A launch file with hardware that is set up wrongly: one sentence says what is wrong, where, and what to do."""

import fcntl
import os
import re
import signal
import subprocess
import termios
import threading
from contextlib import contextmanager

import pytest
from support.emulator import Emulator
from support.leftovers import wait_gone
from support.process import ROOT, executable

pytestmark = pytest.mark.realtime

SO101 = ROOT / "config/hardware/so101.yaml"


class Launched:
    """so101's launch file, and what it prints."""

    def __init__(self, environment, *arguments):
        command = [executable("karakuri"), "launch", ROOT / "launch/so101.launch.xml", "gripper:=false", *arguments]
        self._environment = environment
        self.lines, self._changed = [], threading.Condition()
        self.process = subprocess.Popen(
            [str(word) for word in command], env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self):
        for line in self.process.stdout:
            with self._changed:
                self.lines.append(re.sub("\x1b\\[[0-9;]*m", "", line.rstrip("\n")))
                self._changed.notify()

    def wait_for(self, sentence, timeout=20.0):
        with self._changed:
            found = self._changed.wait_for(lambda: any(sentence in line for line in self.lines), timeout)
        assert found, f"{sentence}\n" + "\n".join(self.lines)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGINT)
        self.process.wait(60.0)
        self._reader.join(10.0)
        print("\n".join(self.lines))
        wait_gone(self._environment)


@contextmanager
def no_port(folder):
    yield ["hardware:=so101", f"device:={folder}/nowhere"], f"there is no port {folder}/nowhere; "


@contextmanager
def another_robots_hardware(folder):
    yield ["hardware:=khr1", f"device:={folder}/nowhere"], "robot `so101` has no joint `l_shoulder_pitch`; write one of shoulder_pan, shoulder_lift,"


@contextmanager
def another_baud_rate(folder):
    file = folder / "slow.yaml"
    file.write_text(SO101.read_text().replace("baud: 1000000", "baud: 500000"))
    with Emulator("feetech", "--ids", "1-6") as bus:
        sentence = f"no feetech servo answers on {bus.link} at 500000 baud; check power and cable, and find the servos' baud rate by `karakuri hardware scan`"
        yield [f"hardware:={file}", f"device:={bus.link}"], sentence


@contextmanager
def a_port_in_use(folder):
    with Emulator("feetech", "--ids", "1-6") as bus:
        port = os.open(bus.link, os.O_RDWR | os.O_NOCTTY)
        try:
            # Both, as programs do: the first does not keep root out.
            fcntl.ioctl(port, termios.TIOCEXCL)
            fcntl.flock(port, fcntl.LOCK_EX)
            yield ["hardware:=so101", f"device:={bus.link}"], f"port {bus.link} is in use by `"
        finally:
            os.close(port)


@contextmanager
def a_servo_that_is_missing(folder):
    with Emulator("feetech", "--ids", "1-4,6") as bus:
        sentence = "servo 5 (joint `wrist_roll`) does not answer; check cable, supply and id, or write `missing: ignore`"
        yield ["hardware:=so101", f"device:={bus.link}"], sentence


# What is wrong, and whether the launch ends by itself: a file that does not fit never will, what is not plugged in may come.
WRONG = [
    (no_port, False),
    (another_robots_hardware, True),
    (another_baud_rate, False),
    (a_port_in_use, False),
    (a_servo_that_is_missing, False),
]


@pytest.mark.parametrize("wrong, ends", WRONG, ids=lambda value: getattr(value, "__name__", ""))
def test_one_sentence_says_what_is_wrong(environment, tmp_path, wrong, ends):
    with wrong(tmp_path) as (arguments, sentence):
        with Launched(environment, *arguments) as launched:
            launched.wait_for(sentence)
            if ends:
                assert launched.process.wait(20.0) != 0
            else:
                # It looks again each second, and says it once.
                with pytest.raises(subprocess.TimeoutExpired):
                    launched.process.wait(3.0)
        said = [line for line in launched.lines if sentence in line]
        assert len(said) == 1 and "; " in said[0].split(sentence[:20], 1)[1], said

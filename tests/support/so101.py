"""so101 on emulated servos: emulator, driver and controller, each of which a test may end and start again."""

import json
import shutil
import signal
import socket
import tempfile
import time
from contextlib import ExitStack
from threading import Event, Thread

from support.emulator import Emulator
from support.process import ROOT, NodeProcess

NAMESPACE = "/so101"
URDF, CONFIG = ROOT / "urdf/so101/so101.urdf", ROOT / "config/so101.yaml"
ARM = ["shoulder_pan", "shoulder_lift", "elbow_flex", "wrist_flex", "wrist_roll"]
HOME = [0.0] * 5
PERIOD = 0.010
START_TOLERANCE = 0.087
# A count of a servo. [rad]
COUNT = 6.2832 / 4096


class So101:
    """The processes, in namespace /so101."""

    def __init__(self, domain, names=("emulator", "driver", "feedforward_controller"), **driver):
        self._domain, self._names, self.running = domain, names, {}
        # Short, as names of sockets have to be.
        self.folder = tempfile.mkdtemp(prefix="karakuri-")
        robot = {"urdf": URDF, "config": CONFIG}
        self.parameters = {
            "driver": {
                **robot,
                "hardware": "so101",
                "hardware_folder": ROOT / "config/hardware",
                "device": f"{self.folder}/bus",
                "command_timeout": 0.2,
                **driver,
            },
            "feedforward_controller": {**robot, "period": PERIOD},
            "gripper": {**robot, "period": PERIOD, "contact_force": 2.0, "closing_speed": 0.05},
        }

    def start(self, name):
        """Starts a process (again)."""
        if name == "emulator":
            process = Emulator("feetech", "--ids", "1-6", folder=self.folder)
            self.running[name] = process.__enter__()
        else:
            self.running[name] = NodeProcess(self._domain, name, namespace=NAMESPACE, parameters=self.parameters[name])
        return self.running[name]

    def end(self, name, number=signal.SIGKILL):
        """Ends a process by a signal."""
        process = self.running.pop(name)
        if name == "emulator":
            process.kill()
            process.__exit__(None, None, None)
        elif number == signal.SIGKILL:
            process.kill()
        else:
            code, _ = process.stop(number)
            assert code == 0, process.output()

    @property
    def emulator(self):
        return self.running["emulator"]

    @property
    def driver(self):
        return self.running["driver"]

    def truth(self):
        """True angles of the arm's servos."""
        return [servo["position_rad"] for servo in self.emulator.state()["servos"]][:5]

    def __enter__(self):
        for name in self._names:
            self.start(name)
        return self

    def __exit__(self, *reason):
        # Shown where a test fails.
        for process in self.running.values():
            print(process.output())
        try:
            with ExitStack() as stack:
                # The emulator ends last.
                for name in sorted(self.running, key=lambda name: name != "emulator"):
                    stack.push(self.running[name])
                stack.__exit__(*reason)
        finally:
            shutil.rmtree(self.folder, ignore_errors=True)


class Witness:
    """Looks at the servos all the time, from a thread of its own: how far their goals are from where they are."""

    def __init__(self, robot):
        self._robot, self._over = robot, Event()
        self.largest_step, self.n_looks = 0.0, 0
        # What the test does now, and what went on at the largest step.
        self.now, self.largest = "", ""
        # Looks at an emulator that was behind the clock: its servos were slower than they are, and their lag is no step.
        self.n_slow, self._times = 0, []
        self._thread = Thread(target=self._look, daemon=True)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._over.set()
        self._thread.join(10.0)

    def _look(self):
        while not self._over.wait(0.02):
            try:
                with socket.socket(socket.AF_UNIX) as side:
                    side.settimeout(2.0)
                    side.connect(f"{self._robot.folder}/side")
                    answers = side.makefile("r")
                    while not self._over.wait(0.01):
                        side.sendall(b'"state"\n')
                        self._take(json.loads(answers.readline()))
            except (OSError, ValueError):
                continue  # the emulator is away

    def _take(self, state):
        self.n_looks += 1
        if self._is_slow(state["time_s"]):
            self.n_slow += 1
            return
        for servo in state["servos"]:
            step = abs(servo["goal_rad"] - servo["position_rad"]) if servo["torque_on"] else 0.0
            if step > self.largest_step:
                self.largest_step = step
                self.largest = f"{self.now}, servo {servo['id']} at {servo['velocity_rad_per_s']:.2f} rad/s, {state['time_s']:.2f} s after power-up"

    def _is_slow(self, emulated):
        """Whether the emulator's time went on by less than the clock's, by a tenth, in the last 0.3 s; so it does after its start."""
        now = time.monotonic()
        if self._times and emulated < self._times[-1][1]:
            self._times = []
        self._times = [(t, e) for t, e in self._times if now - t < 0.3] + [(now, emulated)]
        began, then = self._times[0]
        return emulated - then < 0.9 * (now - began)

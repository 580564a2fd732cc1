"""The nodes of a demonstration, under `karakuri launch`."""

import os
import signal
import subprocess

import rclpy
from common import interrupt
from common.program import find_program
from common.report import Failed, say


class System:
    """The nodes, under `karakuri launch`."""

    def __init__(self, log, launch_file, arguments):
        self.log = log
        self.process = None
        self.command = [find_program(), "launch", str(launch_file), *(f"{name}:={value}" for name, value in arguments.items())]

    def start(self):
        say(f"Starting the nodes (their output: {self.log})")
        with interrupt.wait(), open(self.log, "w") as log:
            self.process = subprocess.Popen(self.command, stdout=log, stderr=subprocess.STDOUT, start_new_session=True)
        if not rclpy.ok():
            rclpy.init(signal_handler_options=rclpy.signals.SignalHandlerOptions.NO)
        System.running = self

    def check(self):
        code = self.process.poll()
        if code is not None:
            tail = "\n".join(self.log.read_text().splitlines()[-8:])
            raise Failed(f"the nodes ended with {code}; the last they said:\n{tail}")

    def warnings(self):
        """What the nodes warned of last."""
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        return [line for line in lines if "[WARN]" in line or "[ERROR]" in line][-5:]

    def stop(self):
        if self.process is None or self.process.poll() is not None:
            return
        self.process.send_signal(signal.SIGINT)
        try:
            self.process.wait(timeout=15)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()

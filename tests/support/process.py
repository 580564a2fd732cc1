"""Node processes: started under the test's domain, watched, and gone when the test is over."""

import os
import signal
import subprocess
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release"
#: Lines of a program that are shown where a test failed.
LAST_LINES = 200
CLOCK_TICKS = os.sysconf("SC_CLK_TCK")


def executable(name):
    """The program of this name that `./dev build` made; an example of a crate is built when it is missing."""
    for path in (TARGET / name, TARGET / "examples" / name):
        if path.exists():
            return path
    examples = [*ROOT.glob(f"packages/*/*/examples/{name}.rs"), *ROOT.glob(f"packages/*/*/examples/{name}")]
    if not examples:
        raise FileNotFoundError(f"{TARGET / name} does not exist: run `./dev build` first")
    build = ["cargo", "build", "--quiet", "--release", "-p", examples[0].parents[1].name, "--example", name]
    subprocess.run(build, cwd=ROOT, check=True)
    return TARGET / "examples" / name


def ros_arguments(name=None, namespace=None, parameters=None, remaps=None, files=(), extra=()):
    """The command line's ROS part."""
    arguments = ["--ros-args"]
    if name:
        arguments += ["-r", f"__node:={name}"]
    if namespace:
        arguments += ["-r", f"__ns:={namespace}"]
    for source, target in (remaps or {}).items():
        arguments += ["-r", f"{source}:={target}"]
    # Later ones win.
    for file in files:
        arguments += ["--params-file", str(file)]
    for key, value in (parameters or {}).items():
        text = str(value).lower() if isinstance(value, bool) else str(value)
        arguments += ["-p", f"{key}:={text}"]
    return arguments + list(extra)


class NodeProcess:
    """A running node. Leaving the `with` block stops it and checks that it stopped cleanly, unless it ended before."""

    def __init__(self, domain, program, *arguments, environment=None, **ros):
        """`environment` are variables beside those of the domain."""
        path = executable(program)
        command = [str(path), *arguments, *ros_arguments(**ros)]
        self.lines = []
        variables = {**domain.environment(), **(environment or {})}
        self.process = subprocess.Popen(
            command, env=variables, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self):
        for line in self.process.stdout:
            self.lines.append(line.rstrip("\n"))

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if self.process.poll() is None:
            code, _ = self.stop()
            if kind is None:
                assert code == 0, f"stopped with {code}:\n" + self.output()
        # pytest shows it where a test failed; a fixture does not see that.
        print("\n".join(self.lines[-LAST_LINES:]))

    def output(self):
        """All that it printed."""
        return "\n".join(self.lines)

    def wait(self, timeout=60.0):
        """Waits for the end by itself; the exit code."""
        code = self.process.wait(timeout)
        self._reader.join(timeout)
        return code

    def stop(self, number=signal.SIGINT, timeout=30.0):
        """Sends a signal; the exit code and how long the end took in seconds."""
        # Until a program has said something it may not catch signals yet, and die of them: loading its libraries takes a while on a
        # busy machine.
        loaded = time.monotonic() + 2.0
        while not self.lines and self.process.poll() is None and time.monotonic() < loaded:
            time.sleep(0.01)
        started = time.monotonic()
        self.process.send_signal(number)
        try:
            code = self.wait(timeout)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.wait()
            raise AssertionError(f"still running {timeout} s after signal {number}:\n{self.output()}") from None
        return code, time.monotonic() - started

    def kill(self):
        """Ends it as a crash would."""
        self.process.kill()
        self.wait()

    def memory_mb(self):
        """Resident memory in MB."""
        for line in Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) / 1024
        raise RuntimeError("no VmRSS")

    def cpu_seconds(self):
        """Processor time used so far, user and system, in seconds."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / CLOCK_TICKS

    def cpu_share(self):
        """Share of one core used during the next second."""
        started, used = time.monotonic(), self.cpu_seconds()
        time.sleep(1.0)
        return (self.cpu_seconds() - used) / (time.monotonic() - started)

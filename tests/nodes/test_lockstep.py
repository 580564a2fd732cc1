"""The protocol of docs/lockstep.md, by its example: a node of another language closes a loop with the simulation, and repeats."""

import subprocess
import sys
import time
from contextlib import contextmanager

from sensor_msgs.msg import JointState
from simulation_interfaces.msg import SimulationState
from simulation_interfaces.srv import ResetSimulation, SetSimulationState
from support.arm import Arm, nanoseconds
from support.process import ROOT, ros_arguments

EXAMPLE = ROOT / "docs/lockstep/yielding_joint.py"
SAMPLES = 1500


@contextmanager
def example(domain, trace, samples=0):
    """The example beside `sim`."""
    parameters = {"joint": "elbow_pitch", "sensor": "wrist", "samples": samples, "trace": trace}
    command = [sys.executable, str(EXAMPLE), *ros_arguments(namespace="/arm", parameters=parameters)]
    process = subprocess.Popen(command, env=domain.environment(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        yield process
    finally:
        if process.poll() is None:
            process.terminate()
        text, _ = process.communicate(timeout=30)
        assert process.returncode in (0, -15), text


def rows(trace):
    """Stamp [ns], target, measured position [rad] and force [N] of each complete line."""
    lines = trace.read_text().split("\n")[:-1] if trace.exists() else []
    return [(int(stamp), *map(float.fromhex, numbers)) for stamp, *numbers in map(str.split, lines)]


def wait_for(condition, what):
    deadline = time.monotonic() + 60.0
    while not condition():
        assert time.monotonic() < deadline, what
        time.sleep(0.02)


def test_two_runs_of_the_example_are_equal_bit_by_bit(domain, tmp_path):
    traces = [tmp_path / name for name in ("first", "second")]
    for trace, factor in zip(traces, (0.0, 2.0)):
        with Arm(domain, nodes=("sim",), lockstep=True, real_time_factor=factor), example(domain, trace, SAMPLES) as process:
            assert process.wait(timeout=120) == 0
    first = rows(traces[0])
    assert len(first) == SAMPLES
    period = first[1][0] - first[0][0]
    assert [row[0] for row in first] == [period * (i + 1) for i in range(SAMPLES)], "each sample is answered, once"
    # The loop is closed: the joint goes where it is sent, and the force matters.
    assert max(abs(target - measured) for _, target, measured, _ in first) < 0.02
    assert max(row[2] for row in first) - min(row[2] for row in first) > 0.15
    assert min(row[3] for row in first[10:]) > 1.0
    assert traces[0].read_bytes() == traces[1].read_bytes()


def test_a_sample_that_is_repeated_gets_the_same_answer_and_a_reset_begins_again(domain, ros, tmp_path):
    trace = tmp_path / "trace"
    with Arm(domain, nodes=("sim",), lockstep=True, real_time_factor=0.0), example(domain, trace):
        wait_for(lambda: len(rows(trace)) > 300, "no answers")
        state = SimulationState(state=SimulationState.STATE_PAUSED)
        assert ros.call(SetSimulationState, "/arm/sim/set_simulation_state", state=state).result.result == 1
        topic = ros.subscribe(JointState, "/arm/joint_command")
        ros.wait_for(lambda: len(topic.messages) >= 5, what="answers while time stands still")
        answers = {(nanoseconds(a.header.stamp), *a.position, *a.velocity) for a in topic.messages[-4:]}
        topic.close()
        assert len(answers) == 1
        assert max(answers)[0] == rows(trace)[-1][0], "nothing is computed again"
        n_first = len(rows(trace))
        assert ros.call(ResetSimulation, "/arm/sim/reset_simulation").result.result == 1
        state = SimulationState(state=SimulationState.STATE_PLAYING)
        assert ros.call(SetSimulationState, "/arm/sim/set_simulation_state", state=state).result.result == 1
        wait_for(lambda: len(rows(trace)) > n_first + 200, "no answers after the reset")
        everything = rows(trace)
        again = everything[n_first : n_first + 200]
        assert again == everything[:200]

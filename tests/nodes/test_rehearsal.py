"""What `karakuri rehearse` predicts is what the nodes then do in lockstep: each command, to the bit, whatever else the machine has to do."""

import csv
import os
import struct
import subprocess

import pytest
from action_msgs.msg import GoalStatus
from karakuri_msgs.action import PickAndPlace
from karakuri_msgs.srv import RestoreSnapshot, SaveSnapshot
from sensor_msgs.msg import JointState
from simulation_interfaces.msg import SimulationState
from simulation_interfaces.srv import SetSimulationState
from support.arm import PLACE, SCENE, Arm, accepted, nanoseconds, pick
from support.load import load
from support.process import executable
from trajectory_msgs.msg import JointTrajectory

pytestmark = [pytest.mark.quick, pytest.mark.apart]

NODES = ("sim", "state_publisher", "feedforward_controller", "gripper")
# Period of the robot, and stamp of the first sample. [ns]
PERIOD = 2_000_000


@pytest.fixture
def arm(domain):
    with Arm(domain, nodes=NODES, lockstep=True, real_time_factor=0.0, start_paused=True) as arm:
        yield arm


@pytest.fixture(scope="module")
def predicted(tmp_path_factory):
    """Commands of a rehearsal, by the stamps [ns] of the samples that they answer: of `sim` the first one is not 0, but a period."""
    file = tmp_path_factory.mktemp("rehearsal") / "commands.csv"
    place = ",".join(map(str, PLACE))
    options = ["--pick", "cube", "--place", place, "--settle", "0", "--copies", "1", "--commands", file]
    done = subprocess.run([executable("karakuri"), "rehearse", SCENE, *options], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    with open(file) as rows:
        return {PERIOD + round(1e9 * float(row.pop("time [s]"))): bits(row) for row in csv.DictReader(rows)}


def bits(targets):
    """Targets by `joint.quantity`, as bits: equal floats are not enough."""
    return {name.split(" ")[0]: struct.pack("d", float(value)) for name, value in targets.items()}


def command(message):
    fields = {"position": message.position, "velocity": message.velocity, "effort": message.effort}
    names = message.name
    return bits({f"{name}.{quantity}": values[i] for quantity, values in fields.items() for i, name in enumerate(names)})


def carry_out(arm, ros):
    """Has the nodes pick and place from where time stands still; status and result."""
    goal = pick()
    goal.max_grip_force = goal.approach_height = 0.0
    client = ros.action(PickAndPlace, "/arm/pick_and_place")
    handle = accepted(ros, client, goal)
    set_state(ros, SimulationState.STATE_PLAYING)
    status, result = ros.result(handle, timeout=240.0)
    client.destroy()
    assert status == GoalStatus.STATUS_SUCCEEDED, result.message


def set_state(ros, state):
    assert ros.call(SetSimulationState, "/arm/sim/set_simulation_state", state=SimulationState(state=state)).result.result == 1


def compare(commands, predicted, run):
    """The commands are those that were predicted, to the bit."""
    last = max(predicted)
    commands.wait(lambda m: nanoseconds(m.header.stamp) >= last)
    sent = {nanoseconds(m.header.stamp): command(m) for m in commands.messages}
    assert min(predicted) == PERIOD and len(predicted) > 3000
    for stamp, known in sorted(predicted.items()):
        assert sent[stamp] == known, f"the command at {1e-9 * stamp:.3f} s of run {run}"


def wait_until_waited_for(arm, ros, *topics):
    """While time stands still, each node has spoken once: from now on it waits for all."""
    for topic in topics:
        topic.wait(lambda m: nanoseconds(m.header.stamp) == PERIOD)
    waits = "`hand/joint_trajectory` is waited for from now on"
    ros.wait_for(lambda: waits in arm.nodes["feedforward_controller"].output(), what=waits)


@pytest.mark.parametrize("run", range(5))
def test_the_nodes_command_what_was_rehearsed(arm, ros, predicted, run):
    commands = ros.subscribe(JointState, "/arm/joint_command", 10_000)
    hand = ros.subscribe(JointTrajectory, "/arm/hand/joint_trajectory", 10_000)
    wait_until_waited_for(arm, ros, commands, hand)
    with load(2 * (os.cpu_count() or 1)):
        carry_out(arm, ros)
    compare(commands, predicted, run)
    for topic in (commands, hand):
        topic.close()


def test_from_a_saved_state_the_nodes_command_it_again(arm, ros, predicted):
    commands = ros.subscribe(JointState, "/arm/joint_command", 20_000)
    hand = ros.subscribe(JointTrajectory, "/arm/hand/joint_trajectory", 20_000)
    wait_until_waited_for(arm, ros, commands, hand)
    saved = ros.call(SaveSnapshot, "/arm/sim/save_snapshot", name="before")
    assert saved.success, saved.message
    carry_out(arm, ros)
    compare(commands, predicted, "that was saved before")
    set_state(ros, SimulationState.STATE_PAUSED)
    for topic in (commands, hand):
        topic.clear()
    restored = ros.call(RestoreSnapshot, "/arm/sim/restore_snapshot", name="before")
    assert restored.success, restored.message
    for topic in (commands, hand):
        topic.wait(lambda m: nanoseconds(m.header.stamp) == PERIOD)
    # What was on its way when it was paused is no answer to the restored state.
    while nanoseconds(commands.messages[0].header.stamp) != PERIOD:
        commands.messages.pop(0)
    carry_out(arm, ros)
    compare(commands, predicted, "that was restored")
    for topic in (commands, hand):
        topic.close()

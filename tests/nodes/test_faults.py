"""A node that dies while the arm moves leaves the arm at rest or its motion under way, and is taken back when it returns.

A killed process stays in its peers' graph until its lease ends (20 s), and a client cannot tell it from its
successor: a request sent before the successor is discovered gets no answer. So clients here ask again, for the
acceptance and for the result, as a person at a terminal would.
"""

import signal
import time

import pytest
from action_msgs.msg import GoalStatus
from control_msgs.action import FollowJointTrajectory, GripperCommand
from control_msgs.msg import JointTolerance
from diagnostic_msgs.msg import DiagnosticArray
from karakuri_msgs.action import PickAndPlace
from karakuri_msgs.msg import GripState, ObjectStates
from support.arm import START, Arm, at, carry_out, distance, goal, joint_states, moving, pick, seconds, settle_in, turned
from support.domain import Domain
from support.each_test import ros  # noqa: F401
from tf2_msgs.msg import TFMessage

NODES = ("sim", "state_publisher", "feedforward_controller", "gripper")
COMMAND_TIMEOUT = 0.1
FAR = turned(0.8)


def set_off(ros, states):
    """Starts the arm on a long motion; returns when it moves."""
    settle_in(ros)
    states.clear()
    client = ros.action(FollowJointTrajectory, "/arm/follow_joint_trajectory")
    ros.wait_for(lambda: ros.send_goal(client, goal(FAR, 1.0)).accepted, what="acceptance")
    states.wait(lambda m: moving(m) > 0.5 and distance(at(m), START) > 0.1)
    return client


@pytest.fixture
def domain():
    """Without shared memory: a process that is stopped or killed within a mutex of it stalls the others, too."""
    with Domain(shared_memory=False) as domain:
        yield domain


@pytest.fixture
def arm(domain, request):
    # At half the speed beside other tests: a machine that has more to do than it can would interrupt the motions by itself.
    factor = 1.0 if request.node.get_closest_marker("realtime") else 0.5
    with Arm(domain, nodes=NODES, real_time_factor=factor) as arm:
        yield arm


def test_without_its_controller_the_arm_stops_and_says_so(arm, ros):
    states = joint_states(ros)
    diagnostics = ros.subscribe(DiagnosticArray, "/diagnostics")
    client = set_off(ros, states)
    states.clear()
    arm.nodes["feedforward_controller"].kill()
    killed = states.wait()
    rest = states.wait(lambda m: moving(m) < 0.02)
    assert seconds(rest.header.stamp) - seconds(killed.header.stamp) < COMMAND_TIMEOUT + 0.5, "timeout and braking"
    held = at(rest)
    assert distance(held, START) > 0.02 and distance(held, FAR) > 0.02, "between start and end"
    states.clear()
    ros.spin_for(0.5)
    assert max(distance(at(m), held) for m in states.messages) < 0.005, "it stays there"
    diagnostics.wait(lambda m: any("no joint_command" in s.message for s in m.status))
    arm.start("feedforward_controller")
    states.clear()
    carry_out(ros, turned(0.3))
    jump = max(distance(at(a), at(b)) for a, b in zip(states.messages, states.messages[1:]))
    assert jump < 0.05, "taken over without a jump"
    assert distance(at(states.wait(lambda m: moving(m) < 0.02)), FAR) > 0.1
    client.destroy()
    states.close()


# At full speed and alone: a busy machine stops for 40 ms now and then by itself, which is as far as the tolerance goes.
@pytest.mark.realtime
@pytest.mark.parametrize("node", ["feedforward_controller", "sim"])
def test_a_goal_survives_a_stall(arm, ros, node):
    """Stands still for as long as the middleware does when it takes a process that joins for dead: a third of a second."""
    states = joint_states(ros)
    settle_in(ros)
    client = ros.action(FollowJointTrajectory, "/arm/follow_joint_trajectory")
    motion = goal(FAR, 1.0)
    motion.path_tolerance = [JointTolerance(name=name, position=0.04) for name in motion.trajectory.joint_names]
    states.clear()
    handle = ros.send_goal(client, motion)
    assert handle.accepted
    states.wait(lambda m: moving(m) > 0.3)
    process = arm.nodes[node].process
    # Nodes that join may have stopped the controller before, and `sim` has said so: only what this stall brings counts.
    before = len(arm.nodes["sim"].lines)
    process.send_signal(signal.SIGSTOP)
    time.sleep(0.34)
    process.send_signal(signal.SIGCONT)
    status, result = ros.result(handle)
    assert status == GoalStatus.STATUS_SUCCEEDED, result.error_string
    reported = any("it holds its place" in line for line in arm.nodes["sim"].lines[before:])
    assert reported == (node == "feedforward_controller"), arm.nodes["sim"].output()
    client.destroy()
    states.close()


@pytest.mark.realtime
def test_a_hand_that_was_not_heard_yet_is_not_stalled(arm, ros):
    """Joins that follow each other stop the controller for longer than `stall_timeout`, while the hand is sent its first goal."""
    joint_states(ros).close()
    client = ros.action(GripperCommand, "/arm/gripper_cmd")
    controller = arm.nodes["feedforward_controller"].process
    ros.wait_for(lambda: ros.node.count_subscribers("/arm/hand/joint_trajectory"), what="the controller")
    command = GripperCommand.Goal()
    command.command.position = 0.03

    def sent():
        controller.send_signal(signal.SIGSTOP)
        handle = ros.send_goal(client, command)
        time.sleep(0.8 if handle.accepted else 0.0)
        controller.send_signal(signal.SIGCONT)
        return handle.accepted and handle

    status, result = ros.result(ros.wait_for(sent, what="acceptance"))
    assert status == GoalStatus.STATUS_SUCCEEDED and result.reached_goal and not result.stalled, result
    client.destroy()


@pytest.mark.parametrize(("pause", "is_taken"), [(0.7, True), (2.0, False)])
def test_a_goal_waits_a_second_for_readings_that_come_late(arm, ros, pause, is_taken):
    joint_states(ros).close()
    client = ros.action(GripperCommand, "/arm/gripper_cmd")
    command = GripperCommand.Goal()
    command.command.position = 0.05
    ros.wait_for(lambda: ros.send_goal(client, command).accepted, what="acceptance")
    process = arm.nodes["sim"].process
    process.send_signal(signal.SIGSTOP)
    time.sleep(0.4)
    # By now the readings are older than `sensor_timeout`.
    sent = client.send_goal_async(command)
    time.sleep(pause - 0.4)
    assert not sent.done()
    ros.spin_for(1.0 if not is_taken else 0.0)
    process.send_signal(signal.SIGCONT)
    handle = ros.finish(sent, what="the goal's answer")
    assert handle.accepted == is_taken
    assert ("joint_states do not come any more" in arm.nodes["gripper"].output()) != is_taken
    if is_taken:
        status, result = ros.result(handle)
        assert status == GoalStatus.STATUS_SUCCEEDED and result.reached_goal, result
    client.destroy()


def test_a_goal_waits_for_a_controller_that_is_on_its_way(domain, ros):
    """As where a tool was changed: the gripper starts again, too, and may find the controller some seconds later."""
    with Arm(domain, nodes=("sim", "state_publisher", "gripper"), real_time_factor=0.5) as arm:
        joint_states(ros).close()
        client = ros.action(PickAndPlace, "/arm/pick_and_place")
        sent = client.send_goal_async(pick())
        ros.spin_for(3.0)
        assert not sent.done()
        arm.start("feedforward_controller")
        assert ros.finish(sent, what="the goal's answer").accepted
        client.destroy()


@pytest.mark.realtime
def test_a_pick_survives_stalls_of_every_node(arm, ros):
    """One after the other, while it lifts, moves and lowers the cube."""
    states = joint_states(ros)
    feedback = ros.subscribe(PickAndPlace.Impl.FeedbackMessage, "/arm/pick_and_place/_action/feedback")
    client = ros.action(PickAndPlace, "/arm/pick_and_place")
    handle = ros.wait_for(lambda: (h := ros.send_goal(client, pick())).accepted and h, what="acceptance")
    for state, node in (("LIFT", "feedforward_controller"), ("MOVE", "gripper"), ("LOWER", "sim")):
        feedback.wait(lambda m, state=state: m.feedback.state == state)
        process = arm.nodes[node].process
        process.send_signal(signal.SIGSTOP)
        time.sleep(0.34)
        process.send_signal(signal.SIGCONT)
    status, result = ros.result(handle)
    assert status == GoalStatus.STATUS_SUCCEEDED, result.message
    client.destroy()
    feedback.close()
    states.close()


@pytest.mark.parametrize("bystander", ["gripper", "state_publisher"])
def test_a_motion_goes_on_without(arm, ros, bystander):
    states = joint_states(ros)
    client = set_off(ros, states)
    arm.nodes[bystander].kill()
    states.wait(lambda m: distance(at(m), FAR) < 0.005 and moving(m) < 0.02)
    arm.start(bystander)
    if bystander == "state_publisher":
        tf = ros.subscribe(TFMessage, "/tf", 100)
        tf.wait()
        tf.close()
    carry_out(ros, turned(0.3))
    client.destroy()
    states.close()


def test_a_simulation_that_returns_is_taken_up_where_it_starts(arm, ros):
    states = joint_states(ros)
    # By now time goes back when it returns. One whose first sample is heard at the very time at which the last one fell silent is
    # but a short gap in its samples, and its motion goes on.
    states.wait(lambda m: seconds(m.header.stamp) > 5.0)
    client = set_off(ros, states)
    arm.nodes["sim"].kill()
    # what it said last may still come, until nothing more does
    heard = None
    while heard != len(states.messages):
        heard = len(states.messages)
        ros.spin_for(0.3)
    states.clear()
    arm.start("sim")
    states.wait()
    ros.spin_for(1.0)
    assert max(distance(at(m), START) for m in states.messages) < 0.05, "no command of the old motion reaches it"
    carry_out(ros, turned(0.3))
    client.destroy()
    states.close()


@pytest.mark.parametrize("node", ["gripper", "feedforward_controller"])
def test_what_is_held_stays_held_when_a_node_dies_and_returns(arm, ros, node):
    """Killed while the cube is carried, then again while it is held: nothing tells the new process what the old one did."""
    states = joint_states(ros)
    settle_in(ros)
    objects = ros.subscribe(ObjectStates, "/objects", 1)
    height = lambda m: next(o.pose.position.z for o in m.objects if o.name == "cube")  # noqa: E731
    client = ros.action(PickAndPlace, "/arm/pick_and_place")
    handle = ros.wait_for(lambda: (h := ros.send_goal(client, pick())).accepted and h, what="acceptance")
    objects.wait(lambda m: height(m) > 0.85)
    grip = ros.subscribe(GripState, "/arm/grip_state")
    for _ in range(2):
        arm.nodes[node].kill()
        ros.spin_for(0.5)
        arm.start(node)
        objects.clear()
        grip.clear()
        # the fingers press; what the hand commands is heard and carried out again
        grip.wait(lambda m: m.holding and m.force_left > 7.0)
        carry_out(ros, at(states.last), 0.2)
        ros.spin_for(1.0)
        assert min(map(height, objects.messages)) > 0.84, "it was dropped"
        assert objects.messages and grip.last.force_left == pytest.approx(10.0, abs=2.0)
    del handle
    client.destroy()
    grip.close()
    objects.close()
    states.close()


def test_lockstep_goes_on_without_the_controller(domain, ros):
    with Arm(domain, nodes=NODES, lockstep=True) as arm:
        states = joint_states(ros)
        carry_out(ros, turned(0.2))
        arm.nodes["feedforward_controller"].kill()
        now = seconds(states.last.header.stamp)
        states.wait(lambda m: seconds(m.header.stamp) > now + 0.2)
        assert distance(at(states.last), turned(0.2)) < 0.005
        arm.start("feedforward_controller")
        carry_out(ros, turned(-0.2))
        states.close()

"""The node `driver` over emulated servos: motions arrive, and whatever ends in motion leaves no jump, no torque and a free port."""

import os
import random
import signal
import time

import pytest
from control_msgs.action import FollowJointTrajectory, ParallelGripperCommand
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger
from support.arm import at, distance, goal, trajectory
from support.each_test import domain, ros  # noqa: F401
from support.process import ROOT, NodeProcess
from support.ros import latched
from support.so101 import ARM, CONFIG, COUNT, HOME, NAMESPACE, START_TOLERANCE, URDF, So101, Witness
from tf2_msgs.msg import TFMessage
from trajectory_msgs.msg import JointTrajectory

pytestmark = pytest.mark.realtime

FAR = [1.0, -0.6, 0.5, 0.7, -0.9]
# From the loss of the bus to the result of a goal, with a machine that is busy. [s]
LONGEST_SILENCE = 4.0


@pytest.fixture
def robot(domain):
    with So101(domain) as robot:
        yield robot


def joint_states(ros):
    topic = ros.subscribe(JointState, f"{NAMESPACE}/joint_states", 100)
    topic.wait()
    return topic


class Diagnostics:
    """What the driver says of its parts."""

    def __init__(self, ros):
        self._ros, self._topic = ros, ros.subscribe(DiagnosticArray, "/diagnostics")

    def forget(self):
        """Looks at nothing that was said before."""
        self._topic.clear()

    def fault(self):
        """What keeps the robot from being commanded, by the newest message."""
        name = f"{NAMESPACE.strip('/')}/driver: robot"
        found = [s for message in self._topic.messages[-5:] for s in message.status if s.name == name]
        return found[-1].message if found and found[-1].level == DiagnosticStatus.ERROR else ""

    def wait(self, level, words, part="robot"):
        """Waits for a status that is said from now on."""
        self._topic.clear()
        name = f"{NAMESPACE.strip('/')}/driver: {part}"

        def is_it(message):
            return any(s.name == name and s.level == level and words in s.message for s in message.status)

        message = self._topic.wait(is_it)
        return next(s for s in message.status if s.name == name)


def send(ros, positions, duration):
    """Sends a motion; the handle of the accepted goal."""
    client = ros.action(FollowJointTrajectory, f"{NAMESPACE}/follow_joint_trajectory")
    motion = goal(positions, duration, ARM)
    return ros.wait_for(lambda: (h := ros.send_goal(client, motion)).accepted and h, what="acceptance")


def carry_out(ros, positions, duration=1.5):
    status, result = ros.result(send(ros, positions, duration))
    assert result.error_code == result.SUCCESSFUL, (status, result.error_string)


def set_off(ros, robot, states):
    """Starts the arm on a long way; returns when it is on it."""
    handle = send(ros, FAR, 2.0)
    states.clear()
    states.wait(lambda m: 0.2 < at(m, ARM)[0] < 0.8)
    return handle


def resume(ros):
    return ros.call(Trigger, f"{NAMESPACE}/driver/resume")


def until_at(ros, robot, positions, tolerance):
    ros.wait_for(
        lambda: distance(robot.truth(), positions) <= tolerance,
        what=lambda: f"{positions}, the servos are at {robot.truth()}",
    )


def lead(ros, robot, positions, what="", attend=lambda: None):
    """Sends a motion until it is carried out: a controller that has just started may not hear the first."""
    command = ros.publisher(JointTrajectory, f"{NAMESPACE}/joint_trajectory")

    def arrives():
        attend()
        command.publish(trajectory(positions, 1.0, ARM))
        ros.spin_for(1.3)
        return distance(robot.truth(), positions) <= 1.5 * COUNT

    ros.wait_for(arrives, 60.0, lambda: f"{what} {positions}, the servos are at {robot.truth()}")
    ros.node.destroy_publisher(command)


def until_still(ros, robot, timeout=2.0):
    """Waits until nothing moves; where that is."""
    places = [robot.truth()]

    def still():
        places.append(robot.truth())
        ros.spin_for(0.1)
        return distance(places[-1], robot.truth()) < COUNT

    ros.wait_for(still, timeout, "rest")
    return robot.truth()


def test_motions_arrive_within_the_resolution(robot, ros):
    states = joint_states(ros)
    diagnostics = Diagnostics(ros)
    base = ros.subscribe(TFMessage, "/tf_static", latched()).wait().transforms[0]
    assert (base.header.frame_id, base.child_frame_id, base.transform.translation.z) == ("world", "base_link", 0.75)
    for target in (FAR, HOME):
        carry_out(ros, target)
        until_at(ros, robot, target, 1.5 * COUNT)
        states.clear()
        assert distance(at(states.wait(), ARM), target) <= 2.5 * COUNT
    # The controller presses on with what the hand's drive gave when it took over: the current of the servo's electronics is 4 mrad.
    assert states.last.name == [*ARM, "gripper"] and abs(at(states.last, ["gripper"])[0] - 0.785) < 0.006
    status = diagnostics.wait(DiagnosticStatus.OK, "well", "feetech")
    values = {pair.key: pair.value for pair in status.values}
    assert float(values["cycle_time_s"]) < float(values["period_s"]) == 0.01, values
    status = diagnostics.wait(DiagnosticStatus.OK, "well", "elbow_flex")
    values = {pair.key: float(pair.value) for pair in status.values if pair.key != "errors"}
    assert values["voltage_v"] == pytest.approx(12.0, abs=0.2) and 20.0 < values["temperature_celsius"] < 60.0, values


def test_without_its_controller_the_arm_holds(robot, ros):
    states, diagnostics = joint_states(ros), Diagnostics(ros)
    set_off(ros, robot, states)
    before = robot.truth()
    robot.end("feedforward_controller")
    held = until_still(ros, robot)
    # 0.5 rad/s on the way to FAR, for the timeout and a moment.
    assert distance(held, before) < 0.5 * (0.2 + 0.3), (before, held)
    assert distance(held, FAR) > 0.1, "it does not go on"
    assert all(servo["torque_on"] for servo in robot.emulator.state()["servos"])
    diagnostics.wait(DiagnosticStatus.WARN, "no joint_command")
    ros.spin_for(0.5)
    assert distance(robot.truth(), held) <= COUNT, "it stays there"
    with Witness(robot) as witness:
        robot.start("feedforward_controller")
        lead(ros, robot, HOME)
    assert witness.largest_step < START_TOLERANCE, "taken over without a jump"


def test_a_bus_that_goes_and_comes_back_is_resumed_by_a_person(robot, ros):
    states, diagnostics = joint_states(ros), Diagnostics(ros)
    handle = set_off(ros, robot, states)
    robot.end("emulator")
    _, result = ros.result(handle, timeout=LONGEST_SILENCE)
    assert result.error_code != result.SUCCESSFUL
    assert "joint states did not come for too long; see in the diagnostics" in result.error_string, result
    diagnostics.wait(DiagnosticStatus.ERROR, str(robot.folder))
    states.clear()
    ros.spin_for(0.6)
    assert not states.messages, "nothing is measured, nothing is published"
    answer = resume(ros)
    assert not answer.success and robot.folder in answer.message, answer
    robot.start("emulator")
    diagnostics.wait(DiagnosticStatus.ERROR, "is back, and its servos hold where they are; the robot holds until it is resumed")
    states.wait()
    held = robot.truth()
    ros.spin_for(0.5)
    assert distance(robot.truth(), held) <= COUNT, "the goal that was aborted is not carried on"
    send(ros, FAR, 0.5)
    ros.spin_for(0.8)
    assert distance(robot.truth(), held) <= COUNT, "commands are not followed"
    with Witness(robot) as witness:
        assert resume(ros).success
        diagnostics.wait(DiagnosticStatus.OK, "running")
        carry_out(ros, HOME)
        carry_out(ros, FAR)
        until_at(ros, robot, FAR, 1.5 * COUNT)
    assert witness.largest_step < START_TOLERANCE, "resumed without a jump"


def test_a_jaw_on_its_way_ends_with_the_bus_too(domain, ros):
    with So101(domain, names=("emulator", "driver", "feedforward_controller", "gripper")) as robot:
        client = ros.action(ParallelGripperCommand, f"{NAMESPACE}/parallel_gripper_cmd")
        goal = ParallelGripperCommand.Goal()
        goal.command.position, goal.command.velocity = [0.0], [0.005]
        handle = ros.wait_for(lambda: (h := ros.send_goal(client, goal)).accepted and h, what="acceptance")
        ros.spin_for(1.0)
        robot.end("emulator")
        _, result = ros.result(handle, timeout=LONGEST_SILENCE)
        assert not result.reached_goal and not result.stalled and result.state.position[0] > 0.02, result
        assert "gripper command aborted: joint states did not come for too long" in robot.running["gripper"].output()
        assert not ros.send_goal(client, goal).accepted, "none is taken as long as it is away"
        # what it prints comes by another way than its answer
        ros.wait_for(lambda: "joint_states do not come any more" in robot.running["gripper"].output(), what="the reason")


@pytest.mark.parametrize("number, has_torque", [(signal.SIGINT, False), (signal.SIGKILL, True)])
def test_a_driver_that_ends_leaves_a_free_port_and_no_jump(robot, ros, number, has_torque):
    states, diagnostics = joint_states(ros), Diagnostics(ros)
    set_off(ros, robot, states)
    robot.end("driver", number)
    held = until_still(ros, robot)
    assert all(servo["torque_on"] == has_torque for servo in robot.emulator.state()["servos"]), "as `at_exit` says, or as it was"
    with Witness(robot) as witness:
        states.clear()
        driver = robot.start("driver")
        assert distance(at(states.wait(), ARM), held) < 0.03, "it starts where it is"
        diagnostics.wait(DiagnosticStatus.OK, "running")
        assert "in use" not in driver.output(), driver.output()
        lead(ros, robot, HOME)
    assert witness.largest_step < START_TOLERANCE


def test_a_robot_that_is_plugged_in_later_is_taken(domain, ros):
    with So101(domain, names=("driver", "feedforward_controller")) as robot:
        diagnostics = Diagnostics(ros)
        diagnostics.wait(DiagnosticStatus.ERROR, f"there is no port {robot.folder}/bus")
        diagnostics.wait(DiagnosticStatus.ERROR, "does not answer", "elbow_flex")
        robot.start("emulator")
        diagnostics.wait(DiagnosticStatus.OK, "running")
        carry_out(ros, FAR)
        until_at(ros, robot, FAR, 1.5 * COUNT)


def test_the_port_is_one_drivers(robot, domain, ros):
    joint_states(ros)
    with NodeProcess(domain, "driver", name="second", namespace="/second", parameters=robot.parameters["driver"]):
        message = ros.subscribe(DiagnosticArray, "/diagnostics").wait(
            lambda m: any(s.name == "second/second: robot" and "is in use by" in s.message for s in m.status)
        )
        assert message
    carry_out(ros, FAR)


WRONG = [
    ({"hardware": "''"}, "parameter `hardware`: no hardware is named; write one of khr1, khr1_rcb4, so101, feetech, dynamixel, rcb1, rcb4, ics, robotiq, or the path of a hardware file"),
    ({"hardware": "so100"}, "there is no hardware `so100`; write one of khr1, khr1_rcb4, so101, feetech"),
    ({"hardware": "sim"}, "there is no hardware `sim`; write one of khr1, khr1_rcb4"),
    ({"hardware": "/no/arm.yaml"}, "/no/arm.yaml: error: cannot be read: No such file"),
    ({"hardware": "feetech", "device": "''"}, "the port of `feetech` is not given; write `device:=/dev/serial/by-id/...`"),
    ({"hardware": "robotiq"}, "servos: 6 are more than a robotiq line can have; leave 1 at most"),
    ({"device": "ttyUSB0"}, "`ttyUSB0` is no path of a port; write an absolute path"),
    ({"hardware": "khr1"}, "robot `so101` has no joint `l_shoulder_pitch`; write one of shoulder_pan,"),
    ({"urdf": "''"}, "parameter `urdf` is empty; give the path of the robot's URDF"),
    ({"urdf": "/no/so101.urdf"}, "cannot read /no/so101.urdf"),
    ({"config": "/no/so101.yaml"}, "/no/so101.yaml"),
    ({"command_timeout": -1.0}, "command_timeout"),
]  # fmt: skip


@pytest.mark.parametrize("change, sentence", WRONG)
def test_what_is_wrong_is_one_sentence(domain, change, sentence):
    parameters = {
        "urdf": URDF,
        "config": CONFIG,
        "hardware": "so101",
        "hardware_folder": ROOT / "config/hardware",
        "device": "/no/port",
    }
    with NodeProcess(domain, "driver", namespace=NAMESPACE, parameters=parameters | change) as driver:
        assert driver.wait(20.0) != 0
    assert sentence in driver.output(), driver.output()


def test_ends_at_random_moments_leave_no_jump(robot, ros, capsys):
    """KARAKURI_RESTARTS sets how many. A step is the distance of a servo's goal from where it is, with its lag behind a goal that moves."""
    n = int(os.environ.get("KARAKURI_RESTARTS", "6"))
    chance = random.Random(16)
    states, diagnostics = joint_states(ros), Diagnostics(ros)
    losses = []

    def attend():
        """Resumes a robot that was lost by itself, as on a machine with too much to do."""
        if (what := diagnostics.fault()) and resume(ros).success:
            losses.append(what)
            diagnostics.forget()

    command = ros.publisher(JointTrajectory, f"{NAMESPACE}/joint_trajectory")
    ends, began = {}, time.monotonic()
    with Witness(robot) as witness:
        for turn in range(n):
            target = FAR if turn % 2 == 0 else HOME
            command.publish(trajectory(target, 1.5, ARM))
            ros.spin_for(1.2 * chance.random())
            victim = chance.choice(["driver", "emulator", "feedforward_controller"])
            number = signal.SIGKILL if victim == "emulator" else chance.choice([signal.SIGKILL, signal.SIGINT])
            ends[victim, number.name] = ends.get((victim, number.name), 0) + 1
            witness.now = f"turn {turn}, {victim} away by {number.name}"
            robot.end(victim, number)
            ros.spin_for(0.5 * chance.random())
            witness.now = f"turn {turn}, {victim} back after {number.name}"
            robot.start(victim)
            if victim == "emulator":
                diagnostics.wait(DiagnosticStatus.ERROR, "is back")
                states.clear()
                states.wait()
                assert resume(ros).success
                diagnostics.forget()
            lead(ros, robot, target, attend=attend, what=f"turn {turn}, {victim}, {number.name}:")
            witness.now = f"turn {turn + 1}, motion"
    took = time.monotonic() - began
    with capsys.disabled():
        print(f"\n{n} ends {ends} in {took:.0f} s, largest step {witness.largest_step:.3f} rad in {witness.n_looks} looks, {witness.n_slow} of them at a slow emulator: {witness.largest}")
        print(f"{len(losses)} losses by themselves: {losses}")
    assert witness.largest_step < START_TOLERANCE, "never a jump"

"""follow_joint_trajectory and joint_trajectory, with the simulation behind them; also over the mock hardware."""

import math
import time
from xml.etree import ElementTree

import pytest
from action_msgs.msg import GoalStatus
from builtin_interfaces.msg import Duration
from control_msgs.action import FollowJointTrajectory
from control_msgs.msg import JointTolerance, JointTrajectoryControllerState
from control_msgs.srv import QueryTrajectoryState
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import WrenchStamped
from sensor_msgs.msg import JointState
from support.arm import ARM, START, URDF, Arm, at, carry_out, distance, goal, joint_states, moving, seconds, trajectory, turned
from support.domain import Domain
from support.ros import Ros
from trajectory_msgs.msg import JointTrajectory

pytestmark = pytest.mark.quick

Result = FollowJointTrajectory.Result
ACTION = "/arm/follow_joint_trajectory"
CONTROLLER = "/arm/feedforward_controller"


@pytest.fixture(scope="module")
def arm(domain):
    arm = Arm(domain)
    arm.parameters["feedforward_controller"]["wrench_links"] = "[tool, left_pad]"
    with arm:
        yield arm


@pytest.fixture
def follow(arm, ros):
    # until a motion was carried out goals may be refused; before 1 s a stamp of "1 ns" is not in the past
    carry_out(ros, START, 0.1)
    state = ros.subscribe(JointTrajectoryControllerState, "/arm/controller_state")
    state.wait(lambda m: seconds(m.header.stamp) > 1.0)
    state.close()
    client = ros.action(FollowJointTrajectory, ACTION)
    yield client
    client.destroy()


def test_reaches_a_goal(ros, follow):
    states = joint_states(ros)
    feedback = []
    handle = ros.send_goal(follow, goal(turned(0.2)), feedback)
    assert handle.accepted
    status, result = ros.result(handle)
    assert (status, result.error_code) == (GoalStatus.STATUS_SUCCEEDED, Result.SUCCESSFUL), result.error_string
    assert distance(at(states.fresh()), turned(0.2)) < 0.005
    assert feedback and feedback[0].joint_names == ARM
    assert max(map(abs, feedback[-1].error.positions)) < 0.01


def bad_goals():
    """Each one is wrong in one way: (goal, what the log says about it)."""
    cases = {}

    def case(name, words, *arguments, **fields):
        cases[name] = goal(*arguments, **fields), words
        return cases[name][0].trajectory

    case("nan", "point 0, joint `shoulder_yaw`: NaN among the positions; numbers must be finite", turned(math.nan))
    case("infinite", "point 0, joint `shoulder_yaw`: inf among the positions; numbers must be finite", turned(math.inf))
    case("unknown", "joint `no_such_joint` is not in this group; it has: shoulder_yaw,", turned(0.1), names=["no_such_joint", *ARM[1:]])
    case("twice", "joint `shoulder_pitch` is named twice", turned(0.1), names=[ARM[1], *ARM[1:]])
    case("short", "point 0: 5 positions for 6 joints", turned(0.1)[:-1])
    case("long", "point 0: 7 positions for 6 joints", [*turned(0.1), 0.0])
    case("no names", "joint `shoulder_yaw` is missing; name all joints, or set allow_partial_joints_goal", turned(0.1), names=[])
    case("velocities", "point 0: 1 velocities for 6 joints", turned(0.1)).points[0].velocities = [0.0]
    accelerations = case("accelerations", "point 0: 5 accelerations for 6 joints", turned(0.1)).points[0]
    accelerations.velocities, accelerations.accelerations = [0.0] * 6, [0.0] * 5
    for name, time in (("decreasing", 0.25), ("equal", 0.5)):
        words = f"point 1: time_from_start {time} s is not after the point before (0.5 s)"
        case(name, words, turned(0.1)).points += trajectory(turned(0.2), time).points
    case("negative", "point 0: time_from_start -1 s is not after", turned(0.1)).points[0].time_from_start = Duration(sec=-1)
    case("beyond", "joint `shoulder_yaw`: position 100 is outside its limits -3.05 to 3.05", turned(100.0))
    fast = case("fast", "point 0, joint `shoulder_yaw`: velocity 50 is above its limit", turned(0.1))
    fast.points += trajectory(turned(0.1), 1.0).points
    fast.points[0].velocities, fast.points[1].velocities = [50.0, *[0.0] * 5], [0.0] * 6
    wide = case("leaves", "joint `shoulder_yaw`: between points 0 and 1, ", turned(3.0), 5.0)
    wide.points += trajectory(turned(3.0), 7.0).points
    wide.points[0].velocities, wide.points[1].velocities = [2.0, *[0.0] * 5], [0.0] * 6
    case("past", "s ago; stamp it later, or 0 to start at once", turned(0.1)).header.stamp.nanosec = 1
    return cases


@pytest.mark.parametrize("name", bad_goals())
def test_rejects_a_bad_goal(arm, ros, follow, name):
    bad, words = bad_goals()[name]
    handle = ros.send_goal(follow, bad)
    assert not handle.accepted
    node = arm.nodes["feedforward_controller"]
    said = lambda: any("[WARN]" in line and "goal rejected: " in line and words in line for line in node.lines)  # noqa: E731
    ros.wait_for(said, what=f"the reason: {words}")
    assert node.process.poll() is None


def test_a_measurement_that_cannot_be_moves_nothing(arm, ros, follow):
    """Somebody else publishes joint_states: what is beyond all bounds is ignored, and both are reported."""
    states = joint_states(ros)
    diagnostics = ros.subscribe(DiagnosticArray, "/diagnostics")
    foreign = ros.publisher(JointState, "/arm/joint_states")
    held = at(states.last)
    stamp = states.last.header.stamp
    node = arm.nodes["feedforward_controller"]
    warned = lambda words: any("[WARN]" in line and words in line for line in node.lines)  # noqa: E731

    def publish():
        for position in (1e300, -1e300, math.inf, 1000.0):
            message = JointState(name=ARM, position=turned(position), velocity=[0.0] * 6)
            message.header.stamp = stamp
            foreign.publish(message)
            ros.spin_for(0.1)
        return warned("of joint `shoulder_yaw` cannot be; the message is ignored")

    # the subscriber that is there at first may be this test's own: the controller may be found later
    ros.wait_for(publish, what="the reason")
    ros.wait_for(lambda: warned("`/arm/joint_states` has 2 publishers"), what="a word about the second")
    diagnostics.wait(lambda m: any("has 2 publishers" in s.message and s.level == s.WARN for s in m.status))
    own = [m for m in states.messages if max(map(abs, at(m))) < 100.0]
    assert max(distance(at(m), held) for m in own) < 0.005
    ros.node.destroy_publisher(foreign)
    status, result = ros.result(ros.send_goal(follow, goal(turned(0.1))))
    assert status == GoalStatus.STATUS_SUCCEEDED, result.error_string
    diagnostics.clear()
    diagnostics.wait(lambda m: any("feedforward_controller: control" in s.name and s.level == s.OK for s in m.status))
    assert sum("publishers" in line for line in node.lines) == 1
    diagnostics.close()
    states.close()


def test_the_period_is_for_the_start(ros, follow):
    successful, reason = ros.set_parameter(CONTROLLER, "period", 1.0)
    assert not successful and "period" in reason


def test_a_new_goal_takes_over(ros, follow):
    first = ros.send_goal(follow, goal(turned(0.8), 5.0))
    second = ros.send_goal(follow, goal(turned(0.1)))
    assert first.accepted and second.accepted
    status, result = ros.result(first)
    assert (status, result.error_code) == (GoalStatus.STATUS_ABORTED, Result.INVALID_GOAL), result.error_string
    status, result = ros.result(second)
    assert status == GoalStatus.STATUS_SUCCEEDED, result.error_string


def test_a_trajectory_on_the_topic_takes_over(ros, follow):
    """The goal that it replaces is aborted at once, also where the trajectory begins much later."""
    topic = ros.publisher(JointTrajectory, "/arm/joint_trajectory")
    states = joint_states(ros)
    for late in (0, 2_000_000_000):
        handle = ros.send_goal(follow, goal(turned(0.6), 30.0))
        assert handle.accepted
        message = trajectory(turned(-0.2))
        message.header.stamp.sec = late
        topic.publish(message)
        status, result = ros.result(handle, timeout=20.0)
        assert (status, result.error_code) == (GoalStatus.STATUS_ABORTED, Result.INVALID_GOAL)
        assert "preempted by a trajectory on the topic" in result.error_string
    topic.publish(trajectory(turned(-0.2)))
    states.wait(lambda m: distance(at(m), turned(-0.2)) < 0.005)
    states.close()


def test_tells_the_desired_state_at_an_instant(ros, follow):
    """The service `query_state`, as joint_trajectory_controller has it."""
    name = "/arm/feedforward_controller/query_state"
    states = joint_states(ros)
    handle = ros.send_goal(follow, goal(turned(0.3), 1.0))
    assert handle.accepted
    states.clear()
    # The arm may move a little faster than desired, not by half.
    stamp = states.wait(lambda m: moving(m) > 0.1).header.stamp
    now = ros.call(QueryTrajectoryState, name, time=stamp)
    assert now.success and list(now.name) == ARM, now.message
    assert max(abs(v) for v in now.velocity) > 0.05
    stamp.sec += 100
    late = ros.call(QueryTrajectoryState, name, time=stamp)
    assert (late.success, late.message) == (False, "the trajectory ends earlier than that")
    hand = ros.call(QueryTrajectoryState, "/arm/feedforward_controller/hand/query_state")
    assert (hand.success, hand.message) == (False, "no trajectory is followed")
    ros.result(handle)
    states.close()


def test_canceled_it_holds(ros, follow):
    states = joint_states(ros)
    handle = ros.send_goal(follow, goal(turned(-0.6), 1.0))
    states.wait(lambda m: moving(m) > 0.2)
    ros.finish(handle.cancel_goal_async())
    status, _ = ros.result(handle)
    assert status == GoalStatus.STATUS_CANCELED
    states.clear()
    held = at(states.wait(lambda m: moving(m) < 1e-3))
    assert distance(held, turned(-0.6)) > 0.05, "it went on to the end"
    ros.spin_for(0.2)
    assert distance(at(states.last), held) < 0.002


def test_outside_the_path_tolerance_it_aborts(ros, follow):
    request = goal(turned(0.6), 0.5)
    request.path_tolerance = [JointTolerance(name=ARM[0], position=1e-6)]
    handle = ros.send_goal(follow, request)
    status, result = ros.result(handle)
    assert (status, result.error_code) == (GoalStatus.STATUS_ABORTED, Result.PATH_TOLERANCE_VIOLATED)
    assert ARM[0] in result.error_string


def arm_efforts(command):
    """Feed-forward of the arm's joints in a JointState."""
    return [command.effort[command.name.index(name)] for name in ARM]


def shifted(efforts, by, scale):
    return all(math.isclose(a, scale * b, abs_tol=1e-6) for a, b in zip(efforts, by, strict=True))


def push(force, frame="world"):
    message = WrenchStamped()
    message.header.frame_id = frame
    message.wrench.force.z = float(force)
    return message


def test_a_payload_and_a_force_are_fed_forward(arm, ros, follow):
    # Carrying 1 kg takes what pulling with 9.81 N does, at every joint.
    status, result = ros.result(ros.send_goal(follow, goal(turned(0.0), 1.0)))
    assert status == GoalStatus.STATUS_SUCCEEDED, result.error_string
    commands = ros.subscribe(JointState, "/arm/joint_command")
    empty = arm_efforts(commands.wait(lambda m: max(map(abs, m.velocity)) < 1e-9))

    def shift(message):
        return [a - b for a, b in zip(arm_efforts(message), empty, strict=True)]

    publisher = ros.publisher(WrenchStamped, "/arm/target_wrench/tool")
    felt = lambda: next((m for m in commands.messages if max(map(abs, shift(m))) > 1.0), None)  # noqa: E731
    # again and again: a push fades, and a busy machine may look too late
    pulled = shift(ros.wait_for(lambda: publisher.publish(push(10.0)) or felt(), what="a command with the push"))
    assert abs(pulled[0]) < 1e-6 and 2.0 < abs(pulled[1]) < 10.0, "shoulder_pitch is 0.2 to 1 m away"
    commands.clear()
    commands.wait(lambda m: shifted(shift(m), pulled, 0.0))

    publisher.publish(push(1e3, frame="moon"))
    publisher.publish(push(math.nan))
    node = arm.nodes["feedforward_controller"]
    ros.wait_for(lambda: "target_wrench/tool: dropped: frame `moon`; stamp it `tool` or `world`" in node.output())

    assert ros.set_parameter(CONTROLLER, "payload.mass", 1.0) == (True, "")
    commands.clear()
    commands.wait(lambda m: shifted(shift(m), pulled, 0.981))
    assert ros.set_parameter(CONTROLLER, "payload.mass", 0.0) == (True, "")
    commands.clear()
    commands.wait(lambda m: shifted(shift(m), pulled, 0.0))


def test_feeds_a_force_back(arm, ros, follow):
    # The pad touches nothing: what its sensor lacks is added once more at a gain of 1.
    commands = ros.subscribe(JointState, "/arm/joint_command")
    empty = arm_efforts(commands.wait(lambda m: max(map(abs, m.velocity)) < 1e-9))
    publisher = ros.publisher(WrenchStamped, "/arm/target_wrench/left_pad")

    def settled():
        """Largest shift while a push lasts for half a second of the samples' time; on a busy machine it ends now and then."""
        start = seconds(commands.last.header.stamp)
        commands.clear()
        while commands.last is None or seconds(commands.last.header.stamp) < start + 0.5:
            publisher.publish(push(2.0))
            ros.spin_for(0.05)
        shifts = (zip(arm_efforts(message), empty, strict=True) for message in commands.messages)
        return max(abs(a - b) for shift in shifts for a, b in shift)

    without = settled()
    assert ros.set_parameter(CONTROLLER, "force_feedback.gain", 1.0) == (True, "")
    fed_back = settled()
    assert ros.set_parameter(CONTROLLER, "force_feedback.gain", 0.0) == (True, "")
    assert without > 0.2 and 1.9 * without < fed_back < 2.1 * without, (without, fed_back)


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("payload.link", "nothing", "`nothing` is no link that moves; there are: shoulder_link,"),
        ("payload.mass", -1.0, "-1.0 is outside its range 0.0 to 1000.0"),
        ("payload.com", [1.0, 2.0], "got [1.0, 2.0], want three finite numbers"),
        ("payload.com", [0.0, math.nan, 0.0], "want three finite numbers: x, y, z in metres"),
        ("gains.elbow_pitch.i", -1.0, "-1.0 is outside its range 0.0 to 1000000.0"),
        ("force_feedback.gain", math.inf, "is outside its range 0.0 to 100.0"),
        ("friction_speed", 0.0, "is outside its range"),
    ],
)
def test_refuses_a_bad_parameter(arm, ros, name, value, words):
    successful, reason = ros.set_parameter(CONTROLLER, name, value)
    assert not successful and words in reason, reason


def test_tells_how_long_its_answers_take(arm, ros):
    diagnostics = ros.subscribe(DiagnosticArray, "/diagnostics")

    def timing(message):
        ours = (s for s in message.status if s.name.endswith("feedforward_controller: control"))
        return next(({v.key: v.value for v in s.values} for s in ours), {})

    # The samples come every 2 ms; the machine may have other things to do.
    seen = timing(diagnostics.wait(lambda m: int(timing(m).get("n_answers", 0)) > 100))
    assert 0 < int(seen["latency_mean_us"]) <= int(seen["latency_longest_us"])
    for name in ["latency", "interval"]:
        figures = [int(seen[f"{name}_{figure}_us"]) for figure in ["shortest", "p50", "p99", "longest"]]
        assert figures == sorted(figures), f"{name}: {figures}"
    assert int(seen["interval_shortest_us"]) < 2500 and int(seen["interval_longest_us"]) >= 1500


def test_follows_the_topic(arm, ros):
    states = joint_states(ros)
    publisher = ros.publisher(JointTrajectory, "/arm/joint_trajectory")
    publisher.publish(trajectory(turned(-0.1)))
    states.wait(lambda m: distance(at(m), turned(-0.1)) < 0.005 and moving(m) < 0.01)
    publisher.publish(trajectory(turned(math.nan)))
    ros.wait_for(lambda: "joint_trajectory: dropped" in arm.nodes["feedforward_controller"].output())


def test_moves_the_mock_hardware_too(arm, ros, domain):
    for node in arm.nodes.values():
        node.stop()
    with Arm(domain, hardware="mock"):
        states = joint_states(ros)
        follow = ros.action(FollowJointTrajectory, ACTION)
        target = turned(at(states.last)[0] + 0.2)
        handle = ros.wait_for(lambda: (h := ros.send_goal(follow, goal(target, 1.0))).accepted and h)
        status, result = ros.result(handle)
        assert status == GoalStatus.STATUS_SUCCEEDED, result.error_string
        assert distance(at(states.fresh()), target) < 0.01
        follow.destroy()


def test_lockstep_keeps_real_time(domain, ros):
    # Each sample is answered in time, so the wait for the next one must not be longer than its period.
    with Arm(domain, lockstep=True):
        states = joint_states(ros)

        def pace():
            """Simulated time by real time over half a second."""
            begun, start = seconds(states.last.header.stamp), time.monotonic()
            ros.spin_for(0.5)
            return (seconds(states.last.header.stamp) - begun) / (time.monotonic() - start)

        ros.wait_for(lambda: pace() > 0.5, what="half the pace of real time")


def test_refuses_goals_while_nobody_takes_its_commands():
    # In a domain of its own: in the others this file listens to the commands.
    with Domain() as domain, Ros(domain) as ros, Arm(domain, nodes=("feedforward_controller",)) as arm:
        joints = ElementTree.parse(URDF).getroot().findall("joint")
        names = [joint.get("name") for joint in joints if joint.get("type") == "revolute"]
        states = ros.publisher(JointState, "/arm/joint_states")
        position = [dict(zip(ARM, START, strict=True)).get(name, 0.0) for name in names]
        here = JointState(name=names, position=position, velocity=[0.0] * len(names))
        follow = ros.action(FollowJointTrajectory, ACTION)

        def measure():
            here.header.stamp.nanosec += 2_000_000
            states.publish(here)

        def accepted():
            measure()
            return ros.send_goal(follow, goal(turned(0.2))).accepted

        node = arm.nodes["feedforward_controller"]
        taken = []
        said = lambda: taken.append(accepted()) or "nobody takes `joint_command`" in node.output()  # noqa: E731
        ros.wait_for(said, what="the reason")
        assert not any(taken)
        # A goal that is there before the subscription, as at start-up, waits for it.
        measure()
        sent = follow.send_goal_async(goal(turned(0.2)))
        ros.spin_for(0.1)
        commands = ros.subscribe(JointState, "/arm/joint_command")
        assert ros.finish(sent, what="the goal's answer").accepted, node.output()
        # It learns of the subscription before the subscription of it, and the first commands may be lost.
        ros.wait_for(lambda: accepted() and commands.last, what="a command")
        follow.destroy()

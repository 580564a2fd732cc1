"""khr1 walks in the simulation: the action `walk`, cmd_vel, bad goals; in lockstep as fast as it goes."""

import json
import math
from contextlib import ExitStack

import pytest
from action_msgs.msg import GoalStatus
from geometry_msgs.msg import PointStamped, PolygonStamped, Twist
from karakuri_msgs.action import Walk
from karakuri_msgs.msg import Footstep
from nav_msgs.msg import Odometry
from sensor_msgs.msg import JointState
from simulation_interfaces.srv import ResetSimulation
from support.process import ROOT, NodeProcess
from visualization_msgs.msg import MarkerArray

ROBOT = {"urdf": ROOT / "urdf/khr1/khr1.urdf", "config": ROOT / "config/khr1.yaml"}
GAIT = ROOT / "config/gaits/khr1_walk.yaml"
Result = Walk.Result


@pytest.fixture(scope="module")
def walker(domain):
    lockstep = {"lockstep": True}
    nodes = {
        "sim": {"scene": ROOT / "config/scenes/walk.yaml", "real_time_factor": 0.0, **lockstep},
        "feedforward_controller": {**ROBOT, "feedforward_scale": 0.0, "lockstep_sources": "[joint_trajectory]", **lockstep},
        "gait_planner": {"gait": GAIT, **lockstep},
    }
    with ExitStack() as stack:
        yield {
            name: stack.enter_context(NodeProcess(domain, name, namespace="/khr1", parameters=parameters))
            for name, parameters in nodes.items()
        }


@pytest.fixture
def standing(walker, ros):
    """As at the start, and taken over by the planner."""
    ros.subscribe(JointState, "/khr1/joint_states").wait()
    assert ros.call(ResetSimulation, "/khr1/sim/reset_simulation").result.result == 1
    return walker


@pytest.fixture
def walk(standing, ros):
    client = ros.action(Walk, "/khr1/walk")
    yield client
    client.destroy()


def accepted(ros, client, goal, feedback=None):
    """The goal's handle; refused until the robot is taken over."""
    handles = []

    def attempt():
        handles.append(ros.send_goal(client, goal, feedback=feedback))
        return handles[-1].accepted

    ros.wait_for(attempt, what="acceptance")
    return handles[-1]


def carry_out(ros, client, goal, feedback=None):
    return ros.result(accepted(ros, client, goal, feedback), timeout=240.0)


def upright(ros):
    """Position of the root link, which stands."""
    pose = ros.subscribe(Odometry, "/khr1/odom").wait().pose.pose
    assert abs(pose.orientation.x) + abs(pose.orientation.y) < 0.1 and pose.position.z > 0.17
    return pose.position


def heading(ros):
    q = ros.subscribe(Odometry, "/khr1/odom").wait().pose.pose.orientation
    return 2.0 * math.atan2(q.z, q.w)


def twist(forward=0.0, left=0.0, turn=0.0):
    message = Twist()
    message.linear.x, message.linear.y, message.angular.z = forward, left, turn
    return message


def test_walks_a_distance_and_stands(walk, ros):
    feedback, before = [], upright(ros)
    points = {name: ros.subscribe(PointStamped, f"/khr1/{name}") for name in ("com", "zmp", "dcm")}
    footsteps = ros.subscribe(MarkerArray, "/khr1/footsteps")
    polygons = ros.subscribe(PolygonStamped, "/khr1/support_polygon")
    status, result = carry_out(ros, walk, Walk.Goal(distance=0.3), feedback)
    assert (status, result.error_code) == (GoalStatus.STATUS_SUCCEEDED, Result.NONE), result.message
    assert result.success and abs(result.distance - 0.3) < 1e-3 and result.steps >= 8
    after = upright(ros)
    assert abs(after.x - before.x - 0.3) < 0.03 and abs(after.y - before.y) < 0.02
    # another topic than the result's: it may come after that
    ros.wait_for(lambda: max((f.step for f in feedback), default=0) >= result.steps, what="the last feedback")
    assert max(f.step for f in feedback) == result.steps
    # in single support the ZMP is inside the sole
    assert min(f.margin for f in feedback) > 0.0
    assert all(topic.messages for topic in points.values()) and len(footsteps.messages[0].markers) == 2
    # one sole of 100 x 44.5 mm in single support; both and what is between them in double support
    areas = [area([(p.x, p.y) for p in message.polygon.points]) for message in polygons.messages]
    assert min(areas) == pytest.approx(0.1 * 0.0445, rel=1e-3) and max(areas) > 2 * min(areas)


def area(corners):
    return 0.5 * sum(a[0] * b[1] - a[1] * b[0] for a, b in zip(corners, corners[1:] + corners[:1]))


def test_walks_in_steps_at_a_speed(walk, ros):
    status, result = carry_out(ros, walk, Walk.Goal(distance=0.1, steps=5, speed=0.05))
    assert status == GoalStatus.STATUS_SUCCEEDED, result.message
    # the sixth closes the feet; no step is faster than the speed
    assert result.steps == 6 and abs(result.distance - 0.1) < 1e-6 and not result.clipped
    assert result.elapsed > 0.1 / 0.05


def test_turns_to_a_heading(walk, ros):
    feedback, before = [], heading(ros)
    status, result = carry_out(ros, walk, Walk.Goal(turn=0.5), feedback)
    assert (status, result.error_code) == (GoalStatus.STATUS_SUCCEEDED, Result.NONE), result.message
    turned = heading(ros) - before
    assert abs(turned - 0.5) < 0.06 and abs(result.heading - turned) < 0.01
    assert max(f.heading for f in feedback) == pytest.approx(turned, abs=0.05)
    assert abs(result.distance) < 0.02
    upright(ros)


def test_a_cancel_ends_within_two_steps_upright(walk, ros):
    feedback = []
    handle = accepted(ros, walk, Walk.Goal(velocity=twist(0.05)), feedback)
    ros.wait_for(lambda: feedback and feedback[-1].step >= 3, what="three steps")
    ros.finish(handle.cancel_goal_async())
    steps = feedback[-1].step
    status, result = ros.result(handle, timeout=120.0)
    assert (status, result.error_code) == (GoalStatus.STATUS_CANCELED, Result.CANCELED)
    # the one under way, the committed one, and the one that closes the feet
    assert result.steps <= steps + 4
    upright(ros)


def test_footsteps(walk, ros):
    def step(side, x, y):
        message = Footstep(side=side)
        message.position.x, message.position.y = x, y
        return message

    steps = [step(Footstep.LEFT, 0.03, 0.023), step(Footstep.RIGHT, 0.03, -0.023)]
    status, result = carry_out(ros, walk, Walk.Goal(footsteps=steps))
    assert status == GoalStatus.STATUS_SUCCEEDED, result.message
    assert result.steps == 2 and abs(result.distance - 0.03) < 1e-6


def test_gains_change_while_it_walks(walk, ros):
    gains = {"stabilizer.dcm": 1.2, "stabilizer.ankle": 0.9, "stabilizer.landing.tilt": 0.0, "stabilizer.landing.seek": 0.0}
    handle = accepted(ros, walk, Walk.Goal(distance=0.1))
    for name, value in gains.items():
        assert ros.set_parameter("/khr1/gait_planner", name, value) == (True, "")
        successful, reason = ros.set_parameter("/khr1/gait_planner", name, 100.0)
        assert not successful and reason
    assert ros.get_parameters("/khr1/gait_planner", *gains) == list(gains.values())
    status, result = ros.result(handle, timeout=240.0)
    assert status == GoalStatus.STATUS_SUCCEEDED, result.message
    upright(ros)
    for name in gains:
        assert ros.set_parameter("/khr1/gait_planner", name, -1.0)[0]


SLOPE, CREASE = math.radians(5.0), 0.2
"""Rise of the floor ahead [rad], and where it begins [m]."""


@pytest.fixture
def before_a_slope(domain, tmp_path):
    """The man-sized walker, as its gait begins, before a slope."""
    sin, cos = math.sin(SLOPE), math.cos(SLOPE)
    legs = {"hip_pitch": -0.400693, "knee_pitch": 0.864708, "ankle_pitch": -0.464015}
    robot = {"urdf": ROOT / "urdf/anthropomorphic/anthropomorphic.urdf", "config": ROOT / "config/anthropomorphic.yaml"}
    scene = {
        "ground": {"friction": 0.8},
        "bodies": [
            {
                "name": "slope",
                "fixed": True,
                "friction": 0.8,
                "shape": {"box": [10.0, 4.0, 1.0]},
                "pose": {"xyz": [CREASE + 5.0 * cos + 0.5 * sin, 0.0, 5.0 * sin - 0.5 * cos], "rpy": [0.0, -SLOPE, 0.0]},
            }
        ],
        "robots": [
            {
                "name": "walker",
                **{key: str(path) for key, path in robot.items()},
                "base": "floating",
                "pose": {"xyz": [0.002457, 0.0, 0.88039]},
                "joints": {f"{side}_{joint}": angle for side in ("left", "right") for joint, angle in legs.items()},
            }
        ],
    }
    path = tmp_path / "slope.yaml"
    path.write_text(json.dumps(scene))
    lockstep = {"lockstep": True}
    nodes = {
        "sim": {"scene": path, "real_time_factor": 0.0, **lockstep},
        "feedforward_controller": {**robot, "feedforward_scale": 0.0, "lockstep_sources": "[joint_trajectory]", **lockstep},
        "gait_planner": {"gait": ROOT / "config/gaits/anthropomorphic_walk.yaml", **lockstep},
    }
    with ExitStack() as stack:
        for name, parameters in nodes.items():
            stack.enter_context(NodeProcess(domain, name, namespace="/slope", parameters=parameters))
        yield


def test_footsteps_lead_onto_a_slope(before_a_slope, ros):
    def step(side, along):
        """A foot so far up the slope."""
        message = Footstep(side=side, pitch=-SLOPE)
        message.position.x, message.position.z = CREASE + along * math.cos(SLOPE), along * math.sin(SLOPE)
        message.position.y = 0.085 if side == Footstep.LEFT else -0.085
        return message

    client = ros.action(Walk, "/slope/walk")
    before = ros.subscribe(Odometry, "/slope/odom").wait().pose.pose.position
    steps = [step(side, along) for along in (0.1, 0.35) for side in (Footstep.LEFT, Footstep.RIGHT)]
    status, result = carry_out(ros, client, Walk.Goal(footsteps=steps))
    client.destroy()
    assert (status, result.error_code) == (GoalStatus.STATUS_SUCCEEDED, Result.NONE), result.message
    assert result.steps == 4 and not result.clipped
    after = ros.subscribe(Odometry, "/slope/odom").wait().pose.pose
    assert after.position.z - before.z == pytest.approx(0.35 * math.sin(SLOPE), abs=0.006)
    assert after.position.x - before.x == pytest.approx(CREASE + 0.35, abs=0.02)
    assert abs(after.orientation.x) + abs(after.orientation.y) < 0.05


def test_what_it_cannot_do_is_cut_and_told(walk, ros):
    status, result = carry_out(ros, walk, Walk.Goal(velocity=twist(0.5), duration=1.0))
    assert status == GoalStatus.STATUS_SUCCEEDED, result.message
    assert any("step length" in clip for clip in result.clipped), result.clipped


def test_cmd_vel_walks_and_its_silence_stops(walk, ros):
    before = upright(ros)
    publisher = ros.publisher(Twist, "/khr1/cmd_vel")
    odometry = ros.subscribe(Odometry, "/khr1/odom")

    def far():
        publisher.publish(twist(0.06))
        return odometry.messages and odometry.last.pose.pose.position.x > before.x + 0.1

    ros.wait_for(far, timeout=240.0, what="10 cm of way")
    ros.wait_for(lambda: abs(odometry.last.twist.twist.linear.x) < 1e-3, timeout=120.0, what="rest")
    upright(ros)


@pytest.mark.parametrize(
    "goal, words",
    [
        ({}, "distance is 0 m"),
        ({"distance": float("nan")}, "distance is NaN m"),
        ({"distance": 1e6}, "from -1000 to 1000"),
        ({"turn": float("inf")}, "turn is inf rad"),
        ({"distance": 1.0, "turn": 0.5}, "both distance and turn are given"),
        ({"velocity": twist(0.05), "duration": -1.0}, "duration is -1 s"),
        ({"velocity": twist(float("inf"))}, "velocity is not finite"),
        ({"footsteps": [Footstep(side=7)]}, "footsteps[0].side is 7"),
        ({"footsteps": [Footstep(), Footstep(side=1, yaw=float("nan"))]}, "footsteps[1] is not finite"),
        ({"turn": 0.5, "steps": 3}, "both steps and turn are given"),
        ({"turn": 0.5, "speed": 0.05}, "speed is given without distance or steps"),
        ({"distance": 0.1, "speed": -1.0}, "speed is -1 m/s"),
        ({"steps": 20_000}, "steps is 20000; it must be at most 10000"),
        ({"footsteps": [Footstep(pitch=0.8)]}, "footsteps[0] stands on a slope of roll 0 and pitch 0.8 rad"),
    ],
)
def test_refuses_a_bad_goal(walk, ros, goal, words):
    status, result = carry_out(ros, walk, Walk.Goal(**goal))
    assert (status, result.error_code) == (GoalStatus.STATUS_ABORTED, Result.INVALID_GOAL)
    assert words in result.message, result.message


@pytest.mark.parametrize(
    "parameters, words",
    [
        ({}, "parameter `gait` is empty"),
        ({"gait": "/none.yaml"}, "/none.yaml"),
        ({"gait": ROOT / "config/khr1.yaml"}, "khr1.yaml"),
    ],
)
def test_without_a_gait_it_says_so(domain, parameters, words):
    with NodeProcess(domain, "gait_planner", parameters=parameters) as node:
        assert node.wait() == 1
    assert words in node.output()

"""khr1 walks in the simulation: the action `walk`, cmd_vel, bad goals; in lockstep as fast as it goes. The walker of human size climbs."""

import json
import math
import re
import signal
from contextlib import ExitStack, contextmanager

import pytest
from action_msgs.msg import GoalStatus
from control_msgs.msg import JointTrajectoryControllerState
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import Point, PointStamped, PolygonStamped, Twist, Vector3, Wrench
from karakuri_msgs.action import Walk
from karakuri_msgs.msg import Footstep
from karakuri_msgs.srv import Push
from nav_msgs.msg import Odometry
from sensor_msgs.msg import JointState
from simulation_interfaces.msg import SimulationState
from simulation_interfaces.srv import ResetSimulation, SetSimulationState
from support.domain import Domain
from support.process import ROOT, NodeProcess
from support.ros import Ros
from visualization_msgs.msg import Marker, MarkerArray

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


def heading_of(odometry):
    q = odometry.pose.pose.orientation
    return 2.0 * math.atan2(q.z, q.w)


def heading(ros):
    return heading_of(ros.subscribe(Odometry, "/khr1/odom").wait())


def seconds(stamp):
    return stamp.sec + 1e-9 * stamp.nanosec


def play(ros, state):
    message = SimulationState(state=state)
    assert ros.call(SetSimulationState, "/khr1/sim/set_simulation_state", state=message).result.result == 1


def pause(ros):
    """Lets time stand still; when. [s]"""
    play(ros, SimulationState.STATE_PAUSED)
    samples = ros.subscribe(JointState, "/khr1/joint_states")

    def still():
        stamps = [seconds(m.header.stamp) for m in samples.messages[-3:]]
        return len(stamps) == 3 and stamps[0] == stamps[-1]

    ros.wait_for(still, what="time that stands still")
    samples.close()
    return seconds(samples.last.header.stamp)


def rest(odometry, ros):
    """Waits until the root link has stood still for a tenth of a second."""

    def still():
        last = [m.twist.twist for m in odometry.messages[-50:]]
        return len(last) == 50 and all(abs(v.linear.x) + abs(v.linear.y) + abs(v.angular.z) < 2e-3 for v in last)

    ros.wait_for(still, timeout=120.0, what="rest")


def twist(forward=0.0, left=0.0, turn=0.0):
    message = Twist()
    message.linear.x, message.linear.y, message.angular.z = forward, left, turn
    return message


@pytest.mark.quick
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
    # in single support the ZMP is inside the sole; who walks as planned can always come to rest
    assert min(f.margin for f in feedback) > 0.0
    assert min(f.capture_margin for f in feedback) > 0.0 and min(f.capture_steps for f in feedback) == 0
    assert max(f.capture_steps for f in feedback) in (1, 2)
    assert max(f.dcm.x for f in feedback) == pytest.approx(before.x + 0.3, abs=0.05)
    assert all(topic.messages for topic in points.values())
    ros.wait_for(lambda: not ahead(footsteps.last), what="no footstep left")
    shown = [ahead(message) for message in footsteps.messages]
    feet = [[m for m in message.markers if m.ns == "feet"] for message in footsteps.messages]
    assert all(message.markers[0].action == Marker.DELETEALL for message in footsteps.messages)
    assert {len(f) for f in feet} == {1, 2} and len(feet[-1]) == 2
    # all that are planned, the next one first, left and right in turn; what is made goes
    all_of_them = max(shown, key=len)
    assert len(all_of_them) == result.steps
    assert all(a.color.a > b.color.a > 0.05 for a, b in zip(all_of_them, all_of_them[1:]))
    assert all(a.color.b != b.color.b for a, b in zip(all_of_them, all_of_them[1:]))
    assert all_of_them[-1].pose.position.x - all_of_them[0].pose.position.x > 0.2
    counts = [len(s) for s in shown[shown.index(all_of_them) :]]
    assert counts == sorted(counts, reverse=True) and len(set(counts)) > result.steps // 2
    # one sole of 100 x 44.5 mm in single support; both and what is between them in double support
    areas = [area([(p.x, p.y) for p in message.polygon.points]) for message in polygons.messages]
    assert min(areas) == pytest.approx(0.1 * 0.0445, rel=1e-3) and max(areas) > 2 * min(areas)


def ahead(message):
    """Footsteps to come."""
    return [marker for marker in message.markers if marker.ns == "footsteps"]


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


@pytest.mark.parametrize("further", [0, 37])
def test_a_cancel_ends_within_two_steps_upright(walk, ros, further):
    """Two after the one under way, in whatever phase of it."""
    feedback = []
    ros.subscribe(PointStamped, "/khr1/com").wait()
    begin = pause(ros)
    handle = accepted(ros, walk, Walk.Goal(velocity=twist(0.05)), feedback)
    play(ros, SimulationState.STATE_PLAYING)
    ros.wait_for(lambda: feedback and feedback[-1].step >= 3, what="three steps")
    seen = len(feedback)
    ros.wait_for(lambda: len(feedback) >= seen + further // 10, what="a part of a step")
    now = pause(ros)
    # feedback comes every 10 samples, and when a step begins: the last before the pause knows them all
    ros.wait_for(lambda: feedback[-1].elapsed >= now - begin - 0.021, what="the last feedback")
    steps = feedback[-1].step
    ros.finish(handle.cancel_goal_async())
    play(ros, SimulationState.STATE_PLAYING)
    status, result = ros.result(handle, timeout=240.0)
    assert (status, result.error_code) == (GoalStatus.STATUS_CANCELED, Result.CANCELED)
    assert steps <= result.steps <= steps + 2
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


GAINS = {
    "stabilizer.dcm": 1.2,
    "stabilizer.rate": 0.0,
    "stabilizer.ankle": 0.9,
    "stabilizer.rim": 0.006,
    "stabilizer.filter": 0.012,
    "stabilizer.steps.on": 1,
    "stabilizer.steps.reach": [0.05, 0.045, 0.044, 0.072],
    "stabilizer.steps.hurry": 1.4,
    "stabilizer.steps.least": 0.021,
    "stabilizer.landing.tilt": 0.0,
    "stabilizer.landing.seek": 0.0,
    "stabilizer.landing.settling": 0.9,
    "stabilizer.landing.time": 0.4,
}


@pytest.fixture
def own_gains(ros):
    """Takes the gait file's gains back."""
    yield
    for name, value in GAINS.items():
        default = [-1.0] * 4 if isinstance(value, list) else type(value)(-1)
        assert ros.set_parameter("/khr1/gait_planner", name, default)[0], name


def test_gains_change_while_it_walks(walk, ros, own_gains):
    handle = accepted(ros, walk, Walk.Goal(distance=0.1))
    for name, value in GAINS.items():
        assert ros.set_parameter("/khr1/gait_planner", name, value) == (True, ""), name
        worse = [1e6] if isinstance(value, list) else type(value)(1e6)
        successful, reason = ros.set_parameter("/khr1/gait_planner", name, worse)
        assert not successful and reason, name
    assert [v if isinstance(v, (int, float)) else list(v) for v in ros.get_parameters("/khr1/gait_planner", *GAINS)] == list(GAINS.values())
    status, result = ros.result(handle, timeout=240.0)
    assert status == GoalStatus.STATUS_SUCCEEDED, result.message
    upright(ros)


@pytest.mark.parametrize(
    "name, value, words",
    [
        ("rim", 0.03, "leave nothing of a sole that is 0.0445 m wide; give less than 0.0222 m"),
        ("landing.time", 0.0, "a foot would jump back to its place"),
        ("steps.hurry", 0.5, "would have feet swing slower than planned"),
        ("steps.reach", [0.05, 0.05, 0.03, 0.07], "nearer than 0.044 m (`limits.width` of the gait) the feet touch"),
        ("steps.reach", [-1.0, -1.0, 0.08, -1.0], "0.08 to 0.075 m across"),
        ("steps.reach", [-2.0, 0.05, 0.05, 0.07], "-2.0 is outside its range"),
        ("steps.reach", [0.05], "1 numbers; give forward, backward"),
    ],
)
def test_gains_that_no_walk_can_have_are_refused(walker, ros, name, value, words):
    successful, reason = ros.set_parameter("/khr1/gait_planner", f"stabilizer.{name}", value)
    assert not successful and words in reason


def push(ros, left, after, feedback):
    """Pushes the root link to the left when so many steps have begun. [N s]"""
    ros.wait_for(lambda: feedback and feedback[-1].step >= after, what=f"{after} steps")
    force = Wrench(force=Vector3(y=100.0 * left))
    answer = ros.call(Push, "/khr1/sim/push", body="khr1/base_link", point=Point(), wrench=force, duration=0.01)
    assert answer.success, answer.message


def test_a_fall_is_reported_with_its_time_and_cause(walk, ros):
    feedback = []
    handle = accepted(ros, walk, Walk.Goal(distance=1.0), feedback)
    diagnostics = ros.subscribe(DiagnosticArray, "/diagnostics")

    def planner(message):
        return [s for s in message.status if s.name.endswith("gait_planner: walk")]

    push(ros, 1.0, 3, feedback)
    status, result = ros.result(handle, timeout=240.0)
    assert (status, result.error_code) == (GoalStatus.STATUS_ABORTED, Result.FELL), result.message
    match = re.match(
        r"fell (\d+\.\d\d) s after the walk began, leaning (-?\d\.\d\d) rad left and (-?\d\.\d\d) rad forward; "
        r"it was lost at (\d+\.\d\d) s: in step (\d+), its capture point went (?:\d+ mm (?:before|behind) and )?(\d+) mm left, "
        r"beyond all that steps can capture; joint `\w+` was -?\d+\.\d{3} off its target\. Set it up",
        result.message,
    )
    assert match, result.message
    fell, left, forward, lost, step, beyond = (float(word) for word in match.groups())
    assert fell == pytest.approx(result.elapsed, abs=0.006) and 0.05 < fell - lost < 2.0
    assert math.hypot(left, forward) > 0.79 and left > 0.5 and 3 <= step <= result.steps and beyond >= 5
    # what the feedback said before it lay
    ros.wait_for(lambda: feedback[-1].capture_steps == -1, what="the verdict")
    falling = [f for f in feedback if f.capture_steps == -1]
    assert all(f.capture_margin < 0.0 for f in falling)
    # A busy machine loses some of the feedback; what came is on the right side of the moment in which it was lost.
    assert all((f.capture_steps == -1) == (f.elapsed > lost) for f in feedback if abs(f.elapsed - lost) > 0.03)
    assert all(f.capture_margin > 0.0 for f in feedback if f.elapsed < lost - 0.03)
    # the diagnostics remember it
    lying = diagnostics.wait(lambda m: any(v.key == "last_fall" for s in planner(m) for v in s.values))
    assert any(v.value == result.message for s in planner(lying) for v in s.values)
    # set up again it stands, and can
    assert ros.call(ResetSimulation, "/khr1/sim/reset_simulation").result.result == 1
    standing = diagnostics.wait(lambda m: any(s.message == "standing" for s in planner(m)))
    values = {v.key: v.value for s in planner(standing) for v in s.values}
    assert values["capture"] == "stands" and float(values["capture_margin_m"]) > 0.01


SLOPE, CREASE = math.radians(5.0), 0.2
"""Rise of the floor ahead [rad], and where it begins [m]."""


@contextmanager
def man_sized(domain, folder, namespace, gait, height, legs, bodies):
    """The walker of human size as a gait begins, its root link so high [m], on a floor with bodies."""
    robot = {"urdf": ROOT / "urdf/anthropomorphic/anthropomorphic.urdf", "config": ROOT / "config/anthropomorphic.yaml"}
    scene = {
        "ground": {"friction": 0.8},
        "bodies": [{"fixed": True, "friction": 0.8, **body} for body in bodies],
        "robots": [
            {
                "name": "walker",
                **{key: str(path) for key, path in robot.items()},
                "base": "floating",
                "pose": {"xyz": height},
                "joints": {f"{side}_{joint}": angle for side in ("left", "right") for joint, angle in legs.items()},
            }
        ],
    }
    path = folder / "scene.yaml"
    path.write_text(json.dumps(scene))
    lockstep = {"lockstep": True}
    nodes = {
        "sim": {"scene": path, "real_time_factor": 0.0, **lockstep},
        "feedforward_controller": {**robot, "feedforward_scale": 0.0, "lockstep_sources": "[joint_trajectory]", **lockstep},
        "gait_planner": {"gait": ROOT / "config/gaits" / gait, **lockstep},
    }
    with ExitStack() as stack:
        for name, parameters in nodes.items():
            stack.enter_context(NodeProcess(domain, name, namespace=namespace, parameters=parameters))
        yield


@pytest.fixture
def before_a_slope(domain, tmp_path):
    """The man-sized walker, as its gait begins, before a slope."""
    sin, cos = math.sin(SLOPE), math.cos(SLOPE)
    legs = {"hip_pitch": -0.400693, "knee_pitch": 0.864708, "ankle_pitch": -0.464015}
    slope = {
        "name": "slope",
        "shape": {"box": [10.0, 4.0, 1.0]},
        "pose": {"xyz": [CREASE + 5.0 * cos + 0.5 * sin, 0.0, 5.0 * sin - 0.5 * cos], "rpy": [0.0, -SLOPE, 0.0]},
    }
    with man_sized(domain, tmp_path, "/slope", "anthropomorphic_walk.yaml", [0.002457, 0.0, 0.88039], legs, [slope]):
        yield


STAIR, TREAD, EDGE, HEEL = 0.1, 0.36, 0.23, 0.1
"""A stair's height and depth, where it begins, and how far the heel is behind the origin of the sole [m]."""


@pytest.fixture
def before_a_stair(domain, tmp_path):
    """The man-sized walker, as its gait for stairs begins, before a stair."""
    legs = {"hip_pitch": -0.584212, "knee_pitch": 1.224145, "ankle_pitch": -0.639933}
    stair = {
        "name": "stair",
        "shape": {"box": [TREAD, 2.0, STAIR]},
        "pose": {"xyz": [EDGE + 0.5 * TREAD, 0.0, 0.5 * STAIR]},
    }
    with man_sized(domain, tmp_path, "/stair", "anthropomorphic_stairs.yaml", [-0.010158, 0.0, 0.807767], legs, [stair]):
        yield


def test_climbs_a_stair_and_descends(before_a_stair, ros):
    def step(side, stair):
        """A foot on a tread, the floor behind it being the second one, its heel 30 mm from the edge."""
        message = Footstep(side=side)
        message.position.x, message.position.z = EDGE + (stair - 1) * TREAD + 0.03 + HEEL, STAIR * (stair == 1)
        message.position.y = 0.085 if side == Footstep.LEFT else -0.085
        return message

    client = ros.action(Walk, "/stair/walk")
    odometry = ros.subscribe(Odometry, "/stair/odom")
    before = odometry.wait().pose.pose.position
    steps = [step(side, stair) for stair in (1, 2) for side in (Footstep.LEFT, Footstep.RIGHT)]
    status, result = carry_out(ros, client, Walk.Goal(footsteps=steps))
    client.destroy()
    assert (status, result.error_code) == (GoalStatus.STATUS_SUCCEEDED, Result.NONE), result.message
    assert result.steps == 4 and not result.clipped
    after = ros.subscribe(Odometry, "/stair/odom").wait().pose.pose
    assert max(m.pose.pose.position.z for m in odometry.messages) - before.z > 0.9 * STAIR
    assert after.position.z == pytest.approx(before.z, abs=0.006)
    assert after.position.x - before.x == pytest.approx(steps[-1].position.x, abs=0.03)
    assert abs(after.position.y - before.y) < 0.02 and abs(after.orientation.x) + abs(after.orientation.y) < 0.05


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


def test_what_it_cannot_do_is_cut_and_reported(walk, ros):
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

    ros.wait_for(far, timeout=240.0, what="10 cm of walk")
    ros.wait_for(lambda: abs(odometry.last.twist.twist.linear.x) < 1e-3, timeout=120.0, what="rest")
    upright(ros)


def test_a_fall_without_a_goal_is_reported_and_lets_go(standing, ros):
    publisher = ros.publisher(Twist, "/khr1/cmd_vel")
    odometry = ros.subscribe(Odometry, "/khr1/odom")
    diagnostics = ros.subscribe(DiagnosticArray, "/diagnostics")

    def walks():
        publisher.publish(twist(0.06))
        return odometry.messages and odometry.last.pose.pose.position.x > 0.05

    ros.wait_for(walks, what="5 cm of walk")
    force = Wrench(force=Vector3(x=-150.0))
    assert ros.call(Push, "/khr1/sim/push", body="khr1/base_link", point=Point(), wrench=force, duration=0.01).success
    diagnostics.wait(lambda m: any(v.key == "last_fall" and "behind" in v.value for s in m.status for v in s.values))
    # nothing is commanded until it is set up again
    client = ros.action(Walk, "/khr1/walk")
    assert not ros.send_goal(client, Walk.Goal(distance=0.1)).accepted
    client.destroy()


def test_walks_backward(walk, ros):
    before = upright(ros)
    status, result = carry_out(ros, walk, Walk.Goal(distance=-0.12))
    assert (status, result.error_code) == (GoalStatus.STATUS_SUCCEEDED, Result.NONE), result.message
    after = upright(ros)
    assert abs(result.distance + 0.12) < 1e-3 and not result.clipped
    assert after.x - before.x == pytest.approx(-0.12, abs=0.012) and abs(after.y - before.y) < 0.01


@pytest.mark.parametrize("left", [0.02, -0.02])
def test_steps_aside(walk, ros, left):
    before, turned = upright(ros), heading(ros)
    status, result = carry_out(ros, walk, Walk.Goal(velocity=twist(left=left), duration=3.0))
    assert (status, result.error_code) == (GoalStatus.STATUS_SUCCEEDED, Result.NONE), result.message
    after = upright(ros)
    assert not result.clipped and result.lateral * left > 0.0 and abs(result.lateral) > 0.04
    assert after.y - before.y == pytest.approx(result.lateral, rel=0.1)
    assert abs(after.x - before.x) < 0.01 and abs(heading(ros) - turned) < 0.05


def test_cmd_vel_turns(standing, ros):
    publisher = ros.publisher(Twist, "/khr1/cmd_vel")
    odometry = ros.subscribe(Odometry, "/khr1/odom")
    before = odometry.wait()

    def turned():
        return heading_of(odometry.last) - heading_of(before)

    def has_turned():
        publisher.publish(twist(turn=-0.1))
        return turned() < -0.3

    ros.wait_for(has_turned, timeout=240.0, what="a turn to the right")
    rest(odometry, ros)
    upright(ros)
    # How far it turns hangs on when this program sees it; not how fast.
    lasted = seconds(odometry.last.header.stamp) - seconds(before.header.stamp)
    position = odometry.last.pose.pose.position
    assert -0.1 * lasted < turned() < -0.25 and math.hypot(position.x, position.y) < 0.05


def test_turns_at_the_end_of_a_line(walk, ros):
    before = heading(ros)
    status, result = carry_out(ros, walk, Walk.Goal(distance=0.1, heading=0.3, turn=-0.5))
    assert status == GoalStatus.STATUS_SUCCEEDED, result.message
    assert abs(result.heading + 0.2) < 0.06 and abs(heading(ros) - before + 0.2) < 0.06, result
    assert result.distance > 0.05


@pytest.mark.parametrize(
    "goal, words",
    [
        ({}, "distance is 0 m"),
        ({"distance": float("nan")}, "distance is NaN m"),
        ({"distance": 1e6}, "from -1000 to 1000"),
        ({"turn": float("inf")}, "turn is inf rad"),
        ({"distance": 1.0, "velocity": twist(0.05)}, "both distance and velocity are given"),
        ({"distance": 1.0, "turn": 200.0}, "turn is 200 rad"),
        ({"velocity": twist(0.05), "duration": -1.0}, "duration is -1 s"),
        ({"velocity": twist(float("inf"))}, "velocity is not finite"),
        ({"footsteps": [Footstep(side=7)]}, "footsteps[0].side is 7"),
        ({"footsteps": [Footstep(), Footstep(side=1, yaw=float("nan"))]}, "footsteps[1] is not finite"),
        ({"turn": 0.5, "velocity": twist(0.05)}, "both turn and velocity are given"),
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


@pytest.fixture
def real_time():
    """khr1 in real time, in a domain of its own: a process that was killed or stopped is in it."""
    with Domain(shared_memory=False) as domain, Ros(domain) as ros, ExitStack() as stack:
        parameters = {
            "sim": {"scene": ROOT / "config/scenes/walk.yaml"},
            "feedforward_controller": {**ROBOT, "feedforward_scale": 0.0},
            "gait_planner": {"gait": GAIT},
        }
        nodes = {
            name: stack.enter_context(NodeProcess(domain, name, namespace="/khr1", parameters=own))
            for name, own in parameters.items()
        }
        # A subscription may find its publisher seconds after it was found itself: the planner's references bring efforts.
        references = ros.subscribe(JointTrajectoryControllerState, "/khr1/controller_state")
        references.wait(lambda m: any(m.reference.effort))
        yield ros, nodes


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGSTOP])
def test_a_walk_that_nobody_carries_out_fails(real_time, end):
    """The plan goes on without the controller; the joint states tell."""
    ros, nodes = real_time
    client = ros.action(Walk, "/khr1/walk")
    handle = accepted(ros, client, Walk.Goal(distance=0.6))
    odometry = ros.subscribe(Odometry, "/khr1/odom")
    odometry.wait(lambda m: m.pose.pose.position.x > 0.05)
    process = nodes["feedforward_controller"].process
    process.send_signal(end)
    try:
        status, result = ros.result(handle)
    finally:
        process.send_signal(signal.SIGCONT if end == signal.SIGSTOP else end)
    assert (status, result.error_code) == (GoalStatus.STATUS_ABORTED, Result.ROBOT_LOST), result.message
    assert "does not follow; is the controller running" in result.message
    assert odometry.messages[-1].pose.pose.position.x < 0.4
    client.destroy()


def test_a_walk_that_nobody_would_carry_out_is_refused():
    with Domain() as domain, Ros(domain) as ros:
        sim = NodeProcess(domain, "sim", namespace="/khr1", parameters={"scene": ROOT / "config/scenes/walk.yaml"})
        planner = NodeProcess(domain, "gait_planner", namespace="/khr1", parameters={"gait": GAIT})
        with sim, planner:
            client = ros.action(Walk, "/khr1/walk")

            def refused_for_it():
                assert not ros.send_goal(client, Walk.Goal(distance=0.1)).accepted
                return any("nobody takes `joint_trajectory` yet; is the controller (feedforward_controller) running?" in line for line in planner.lines)

            ros.wait_for(refused_for_it, what="the reason")
            client.destroy()

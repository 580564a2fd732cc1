"""gripper_cmd, parallel_gripper_cmd and pick_and_place, in lockstep as fast as it goes."""

import math
import signal
import statistics
import subprocess
from xml.etree import ElementTree

import pytest
import yaml
from action_msgs.msg import GoalStatus
from control_msgs.action import FollowJointTrajectory, GripperCommand, ParallelGripperCommand
from geometry_msgs.msg import Point
from karakuri_msgs.action import MoveTool, PickAndPlace
from karakuri_msgs.msg import Grasp, GripState
from simulation_interfaces.srv import GetEntityState, SetEntityState
from support.arm import CONFIG, PICK, PLACE, START, URDF, Arm, accepted, at, distance, goal, joint_states, moving, pick, pose, put_back
from support.domain import Domain
from support.process import TARGET
from support.ros import Ros

pytestmark = pytest.mark.quick

NODES = ("sim", "state_publisher", "feedforward_controller", "gripper")
# The tool looks down, above the cube and round it (`karakuri ik`).
ABOVE_CUBE = [-0.5862, 0.2972, 1.7563, -0.4827, 0.0, -0.5862]
ROUND_CUBE = [-0.5862, 0.4942, 1.9018, -0.8252, 0.0, -0.5862]
HAND = "left_crank_joint"
Result = PickAndPlace.Result
FeedbackMessage = PickAndPlace.Impl.FeedbackMessage


@pytest.fixture(scope="module")
def arm(domain):
    with Arm(domain, nodes=NODES, lockstep=True, real_time_factor=0.0) as arm:
        yield arm


@pytest.fixture
def fresh(arm, ros):
    """Everything as at the start."""
    put_back(ros)
    return arm


@pytest.fixture
def around_the_cube(fresh, ros):
    """The open fingers are round the cube on the table."""
    client = ros.action(FollowJointTrajectory, "/arm/follow_joint_trajectory")
    try:
        for place in (ABOVE_CUBE, ROUND_CUBE):
            status, result = ros.result(accepted(ros, client, goal(place, 2.0)), timeout=120.0)
            assert status == GoalStatus.STATUS_SUCCEEDED, result.error_string
    finally:
        client.destroy()
    return fresh


@pytest.fixture
def action(arm, ros):
    clients = []

    def make(kind, name):
        clients.append(ros.action(kind, f"/arm/{name}"))
        return clients[-1]

    yield make
    for client in clients:
        client.destroy()


def command(position, effort=0.0):
    goal = GripperCommand.Goal()
    goal.command.position, goal.command.max_effort = float(position), float(effort)
    return goal


def parallel(*position):
    goal = ParallelGripperCommand.Goal()
    goal.command.position = [float(p) for p in position]
    return goal


def cube(ros):
    return ros.call(GetEntityState, "/arm/sim/get_entity_state", entity="cube").state


def move_cube(ros, xyz):
    state = cube(ros)
    p = state.pose.position
    p.x, p.y, p.z = map(float, xyz)
    assert ros.call(SetEntityState, "/arm/sim/set_entity_state", entity="cube", state=state).result.result == 1


def test_opens_and_closes_on_nothing(fresh, ros, action):
    client = action(GripperCommand, "gripper_cmd")
    for opening in (0.08, 0.01, 0.05):
        status, result = ros.result(accepted(ros, client, command(opening)))
        assert status == GoalStatus.STATUS_SUCCEEDED
        assert result.reached_goal and not result.stalled and result.position == pytest.approx(opening, abs=2e-3)


@pytest.mark.parametrize("speed", [0.02, 0.1])
def test_closes_as_fast_as_was_set(fresh, ros, action, speed):
    client = action(GripperCommand, "gripper_cmd")
    ros.result(accepted(ros, client, command(0.08)))
    grip = ros.subscribe(GripState, "/arm/grip_state")
    grip.wait()
    assert ros.set_parameter("/arm/gripper", "closing_speed", speed) == (True, "")
    try:
        ros.result(accepted(ros, client, command(0.03)))
    finally:
        assert ros.set_parameter("/arm/gripper", "closing_speed", 0.1) == (True, "")
    speeds = [-state.speed for state in grip.messages if state.speed < -0.25 * speed]
    grip.close()
    assert statistics.median(speeds) == pytest.approx(speed, rel=0.1)


def test_contact_begins_at_the_force_that_was_set(around_the_cube, ros, action):
    """Below it no finger touches, and what is no contact is pressed on."""
    client = action(GripperCommand, "gripper_cmd")
    assert ros.set_parameter("/arm/gripper", "contact_force", 3.0) == (True, "")
    grip = ros.subscribe(GripState, "/arm/grip_state")
    try:
        ros.result(accepted(ros, client, command(0.0, 6.0)))
        grip.wait(lambda m: m.holding)
    finally:
        assert ros.set_parameter("/arm/gripper", "contact_force", 0.4) == (True, "")
    states = [(force, touches) for m in grip.messages for force, touches in ((m.force_left, m.contact_left), (m.force_right, m.contact_right))]
    grip.close()
    assert all(touches == (force > 3.0) for force, touches in states)
    assert {touches for _, touches in states} == {False, True} and any(0.4 < force <= 3.0 for force, _ in states)


@pytest.mark.parametrize(("name", "value"), [("closing_speed", -0.1), ("contact_force", 0.0)])
def test_refuses_settings_out_of_range(arm, ros, name, value):
    succeeded, reason = ros.set_parameter("/arm/gripper", name, value)
    assert not succeeded and "outside its range" in reason


def test_parallel_command(fresh, ros, action):
    client = action(ParallelGripperCommand, "parallel_gripper_cmd")
    for opening in (0.02, 0.07):
        status, result = ros.result(accepted(ros, client, parallel(opening)))
        assert status == GoalStatus.STATUS_SUCCEEDED and result.reached_goal
        assert result.state.position[0] == pytest.approx(opening, abs=2e-3) and result.state.name


def of_joint(position, effort=None):
    goal = parallel(position)
    goal.command.name = [HAND]
    goal.command.effort = [] if effort is None else [effort]
    return goal


def test_parallel_command_of_the_driven_joint(fresh, ros, action):
    """As MoveIt sends it: its crank of 50 mm opens by 2 (21.25 mm + 50 mm sin angle)."""
    client = action(ParallelGripperCommand, "parallel_gripper_cmd")
    states = joint_states(ros)
    for angle in (-0.2, 0.3):
        status, result = ros.result(accepted(ros, client, of_joint(angle)))
        assert status == GoalStatus.STATUS_SUCCEEDED and result.reached_goal
        assert list(result.state.name) == [HAND] and result.state.position[0] == pytest.approx(angle, abs=0.02)
        states.wait(lambda m: m.position[list(m.name).index(HAND)] == pytest.approx(angle, abs=0.02))
    refused = of_joint(2.0)
    assert not ros.send_goal(client, refused).accepted
    refused = of_joint(0.1)
    refused.command.name = ["elbow_pitch"]
    assert not ros.send_goal(client, refused).accepted
    for reason in ("position 2 of the driven joint is outside", f"names `elbow_pitch`; name `{HAND}`"):
        ros.wait_for(lambda reason=reason: reason in fresh.nodes["gripper"].output(), what=reason)


def test_a_grip_of_the_driven_joint_tells_its_effort(around_the_cube, ros, action):
    """MoveIt succeeds only if an object that stops the fingers is a success: `allow_stalling`."""
    status, result = ros.result(accepted(ros, action(ParallelGripperCommand, "parallel_gripper_cmd"), of_joint(-0.4, 0.8)))
    assert status == GoalStatus.STATUS_SUCCEEDED and result.stalled and not result.reached_goal
    # 50 mm between the pads
    assert result.state.position[0] == pytest.approx(0.075, abs=0.03) and result.state.effort[0] == pytest.approx(-0.8, abs=0.12)


def test_moveit_moves_arm_and_hand_by_the_files_written_for_it(fresh, ros, tmp_path):
    """A stand-in for `moveit_simple_controller_manager`: actions by the names of its file; positions of joints, no tolerances, stamp zero."""
    program = [TARGET / "karakuri", "moveit", URDF, "--config", CONFIG, "--namespace", "arm", "--samples", "100", "--output", tmp_path]
    subprocess.run(program, check=True, capture_output=True)
    manager = yaml.safe_load((tmp_path / "moveit_controllers.yaml").read_text())["moveit_simple_controller_manager"]
    kinds = {"FollowJointTrajectory": FollowJointTrajectory, "ParallelGripperCommand": ParallelGripperCommand}
    states = ElementTree.parse(tmp_path / "arm6.srdf").getroot().findall("group_state")

    def state(name, group, joints):
        found = next(one for one in states if (one.get("name"), one.get("group")) == (name, group))
        positions = {joint.get("name"): float(joint.get("value")) for joint in found}
        return [positions[joint] for joint in joints]

    done = {}
    for name in manager["controller_names"]:
        controller = manager[name]
        client = ros.action(kinds[controller["type"]], name + ("/" + controller["action_ns"] if controller["action_ns"] else ""))
        joints = controller["joints"]
        if controller["type"] == "FollowJointTrajectory":
            goals = [goal(state(one, "arm", joints), 1.5, names=joints) for one in ("ready", "home")]
        else:
            goals = []
            for one in ("closed", "open"):
                goals.append(ParallelGripperCommand.Goal())
                goals[-1].command.name, goals[-1].command.position = joints, state(one, "hand", joints)
        for one in goals:
            status, result = ros.result(accepted(ros, client, one), timeout=120.0)
            assert status == GoalStatus.STATUS_SUCCEEDED, result
        client.destroy()
        done[controller["type"]] = len(goals)
    assert done == {"FollowJointTrajectory": 2, "ParallelGripperCommand": 2}


def test_gripper_cmd_takes_positions_of_the_joint_where_that_is_configured(fresh, ros, action):
    assert ros.set_parameter("/arm/gripper", "joint_positions", True) == (True, "")
    try:
        status, result = ros.result(accepted(ros, action(GripperCommand, "gripper_cmd"), command(-0.1)))
    finally:
        assert ros.set_parameter("/arm/gripper", "joint_positions", False) == (True, "")
    assert status == GoalStatus.STATUS_SUCCEEDED and result.position == pytest.approx(-0.1, abs=0.02)


def test_stalls_on_the_cube_and_holds_it(around_the_cube, ros, action):
    """An object between the fingers stops them: stalled, not reached, a success by default; the force stays."""
    client = action(GripperCommand, "gripper_cmd")
    feedback = []
    status, result = ros.result(accepted(ros, client, command(0.0, 8.0), feedback=feedback))
    assert status == GoalStatus.STATUS_SUCCEEDED and result.stalled and not result.reached_goal
    assert result.position == pytest.approx(0.05, abs=2e-3) and result.effort == pytest.approx(8.0, abs=1.0)
    assert feedback and feedback[-1].position < feedback[0].position
    grip = ros.subscribe(GripState, "/arm/grip_state")
    state = grip.wait(lambda m: m.holding)
    assert state.force_left == pytest.approx(8.0, abs=1.5) and state.force_right == pytest.approx(8.0, abs=1.5)
    assert state.contact_left and state.contact_right and state.target_force == pytest.approx(8.0)


def test_parallel_command_stalls_on_the_cube(around_the_cube, ros, action):
    goal = parallel(0.01)
    goal.command.effort, goal.command.velocity = [6.0], [0.03]
    status, result = ros.result(accepted(ros, action(ParallelGripperCommand, "parallel_gripper_cmd"), goal))
    assert status == GoalStatus.STATUS_SUCCEEDED and result.stalled and not result.reached_goal
    assert result.state.position[0] == pytest.approx(0.05, abs=2e-3)
    assert result.state.effort[0] == pytest.approx(6.0, abs=1.0)


def test_stalled_is_a_failure_where_that_is_configured(around_the_cube, ros, action):
    assert ros.set_parameter("/arm/gripper", "allow_stalling", False) == (True, "")
    try:
        status, result = ros.result(accepted(ros, action(GripperCommand, "gripper_cmd"), command(0.02, 5.0)))
    finally:
        assert ros.set_parameter("/arm/gripper", "allow_stalling", True) == (True, "")
    assert status == GoalStatus.STATUS_ABORTED and result.stalled and not result.reached_goal


@pytest.mark.parametrize("second", ["gripper_cmd", "parallel_gripper_cmd", "pick_and_place"])
def test_a_new_goal_takes_the_hand_over(fresh, ros, action, second):
    client = action(GripperCommand, "gripper_cmd")
    slow = action(ParallelGripperCommand, "parallel_gripper_cmd")
    goal = parallel(0.0)
    goal.command.velocity = [0.005]
    first = accepted(ros, slow, goal)
    if second == "gripper_cmd":
        status, result = ros.result(ros.send_goal(client, command(0.08)))
        assert status == GoalStatus.STATUS_SUCCEEDED and result.reached_goal
    elif second == "parallel_gripper_cmd":
        status, result = ros.result(ros.send_goal(slow, parallel(0.08)))
        assert status == GoalStatus.STATUS_SUCCEEDED and result.reached_goal
    else:
        handle = ros.send_goal(action(PickAndPlace, "pick_and_place"), pick())
        assert handle.accepted
        ros.finish(handle.cancel_goal_async())
        ros.result(handle)
    status, result = ros.result(first)
    assert status == GoalStatus.STATUS_CANCELED and not result.reached_goal
    assert 0.0 < result.state.position[0] < 0.08


def test_canceled_the_fingers_stay(fresh, ros, action):
    goal = parallel(0.0)
    goal.command.velocity = [0.005]
    handle = accepted(ros, action(ParallelGripperCommand, "parallel_gripper_cmd"), goal)
    ros.finish(handle.cancel_goal_async())
    status, result = ros.result(handle)
    assert status == GoalStatus.STATUS_CANCELED and not result.reached_goal and not result.stalled
    grip = ros.subscribe(GripState, "/arm/grip_state")
    width = grip.wait(lambda m: abs(m.speed) < 1e-4).width
    grip.clear()
    ros.spin_for(0.3)
    assert grip.wait().width == pytest.approx(width, abs=2e-4) and width > 0.01


def test_a_hand_that_picks_takes_no_commands_and_no_second_pick(fresh, ros, action):
    client = action(PickAndPlace, "pick_and_place")
    handle = accepted(ros, client, pick())
    assert not ros.send_goal(client, pick()).accepted
    assert not ros.send_goal(action(GripperCommand, "gripper_cmd"), command(0.02)).accepted
    assert not ros.send_goal(action(ParallelGripperCommand, "parallel_gripper_cmd"), parallel(0.02)).accepted
    status, result = ros.result(handle, timeout=240.0)
    assert status == GoalStatus.STATUS_SUCCEEDED and result.success, result.message
    p = cube(ros).pose.position
    assert math.dist((p.x, p.y, p.z), PLACE) < 0.005


@pytest.mark.parametrize("position, effort", [(math.nan, 0), (math.inf, 0), (-0.1, 0), (0.2, 0), (0.05, math.nan), (0.05, -1)])
def test_rejects_bad_commands(fresh, ros, action, position, effort):
    accepted(ros, action(GripperCommand, "gripper_cmd"), command(0.05))
    assert not ros.send_goal(action(GripperCommand, "gripper_cmd"), command(position, effort)).accepted
    assert not ros.send_goal(action(ParallelGripperCommand, "parallel_gripper_cmd"), parallel(position, effort)).accepted


def test_picks_and_places(fresh, ros, action):
    feedback = []
    client = action(PickAndPlace, "pick_and_place")
    status, result = ros.result(accepted(ros, client, pick(), feedback=feedback), timeout=240.0)
    assert status == GoalStatus.STATUS_SUCCEEDED and result.success, result.message
    p = cube(ros).pose.position
    assert math.dist((p.x, p.y, p.z), PLACE) < 0.005
    assert 0 < result.force_left < 15 and 0 < result.force_right < 15
    assert result.width == pytest.approx(0.05, abs=2e-3)
    stages = list(dict.fromkeys(f.state for f in feedback))
    assert "CLOSE" in stages and stages.index("LIFT") < stages.index("LOWER")


def test_a_pick_and_later_a_place(fresh, ros, action):
    """Between the two the cube is held, a wish to pick again is refused, and the place may be one that is thought of only then."""
    client = action(PickAndPlace, "pick_and_place")
    states = ros.subscribe(GripState, "/arm/grip_state", 1000)
    first = pick()
    first.part, first.place_pose = PickAndPlace.Goal.PICK, PickAndPlace.Goal().place_pose
    status, result = ros.result(accepted(ros, client, first), timeout=240.0)
    assert status == GoalStatus.STATUS_SUCCEEDED and result.success and "in the hand" in result.message
    assert cube(ros).pose.position.z > 0.85
    states.clear()
    states.wait(lambda m: m.holding and m.margin > 0)
    status, result = ros.result(accepted(ros, client, pick()))
    assert (status, result.error_code) == (GoalStatus.STATUS_ABORTED, Result.INVALID_GOAL)
    assert "the hand holds an object; place it, or open the hand first" in result.message
    second = PickAndPlace.Goal(part=PickAndPlace.Goal.PLACE, place_pose=pose(PLACE))
    status, result = ros.result(accepted(ros, client, second), timeout=240.0)
    assert status == GoalStatus.STATUS_SUCCEEDED and result.success, result.message
    p = cube(ros).pose.position
    assert math.dist((p.x, p.y, p.z), PLACE) < 0.005
    states.clear()
    states.wait(lambda m: not m.holding)
    status, result = ros.result(accepted(ros, client, second))
    assert (status, result.error_code) == (GoalStatus.STATUS_ABORTED, Result.INVALID_GOAL)
    assert "pick an object first" in result.message
    states.close()


def test_a_pick_leaves_the_arm_to_a_client_that_takes_it_over(fresh, ros, action):
    """The other client's motion goes on, and what is in the hand stays there."""
    feedback = []
    handle = accepted(ros, action(PickAndPlace, "pick_and_place"), pick(), feedback=feedback)
    ros.wait_for(lambda: feedback and feedback[-1].state == "MOVE", timeout=120.0, what="the stage MOVE")
    other = accepted(ros, action(FollowJointTrajectory, "follow_joint_trajectory"), goal(START, 2.0))
    status, result = ros.result(handle)
    assert (status, result.error_code) == (GoalStatus.STATUS_ABORTED, Result.PREEMPTED), result.message
    assert "another client moves the arm" in result.message and "still held" in result.message and result.state == "MOVE"
    status, result = ros.result(other)
    assert status == GoalStatus.STATUS_SUCCEEDED, result.error_string
    assert cube(ros).pose.position.z > 0.85


def test_picks_what_lies_on_its_side(fresh, ros, action):
    """The same cube, its z horizontal in both poses; at its place it is turned by a quarter about the vertical."""
    goal = pick()
    root = math.sqrt(0.5)
    lying, turned = goal.object_pose.pose.orientation, goal.place_pose.pose.orientation
    lying.x, lying.w = root, root
    turned.x, turned.y, turned.z, turned.w = 0.5, 0.5, 0.5, 0.5
    status, result = ros.result(accepted(ros, action(PickAndPlace, "pick_and_place"), goal), timeout=240.0)
    assert status == GoalStatus.STATUS_SUCCEEDED and result.success, result.message
    p, q = cube(ros).pose.position, cube(ros).pose.orientation
    assert math.dist((p.x, p.y, p.z), PLACE) < 0.005
    # What stood upright is turned by a quarter, and stands.
    assert abs(q.z) == pytest.approx(root, abs=0.01) and abs(q.w) == pytest.approx(root, abs=0.01)


def test_picks_a_mesh_by_the_grasp_that_fits(fresh, ros, action):
    """The cube as its eight corners; the first grasp, of higher score, says that it is wider than it is."""
    goal = pick()
    goal.shape = "mesh"
    goal.object_size.x = goal.object_size.y = goal.object_size.z = 0.0
    ends = (-0.025, 0.025)
    goal.mesh.vertices = [Point(x=x, y=y, z=z) for x in ends for y in ends for z in ends]
    for width, score in ((0.08, 2.0), (0.05, 1.0)):
        grasp = Grasp(width=width, score=score)
        # A quarter of a turn about y: the tool's x looks down.
        grasp.pose.orientation.y = grasp.pose.orientation.w = math.sqrt(0.5)
        goal.grasps.append(grasp)
    status, result = ros.result(accepted(ros, action(PickAndPlace, "pick_and_place"), goal), timeout=240.0)
    assert status == GoalStatus.STATUS_SUCCEEDED and result.success, result.message
    p = cube(ros).pose.position
    assert math.dist((p.x, p.y, p.z), PLACE) < 0.005


def bad_goals():
    """(goal, words its refusal has, parted by bars: the field with its value, and the remedy), each wrong in one way."""
    cases = {}

    def case(words, name, change):
        goal = pick()
        change(goal)
        cases[name] = (goal, words)

    def size(goal, value):
        goal.object_size.y = value

    def lean(goal):
        goal.object_pose.pose.orientation.x = 0.5

    def turn_over(goal):
        goal.place_pose.pose.orientation.x, goal.place_pose.pose.orientation.w = 1.0, 0.0

    def zero_quaternion(goal):
        goal.place_pose.pose.orientation.w = 0.0

    case("at 100 % of the move|move the target", "too far", lambda g: setattr(g, "object_pose", pose([3.0, 0.0, 0.8])))
    case("at 100 % of the move|move the target", "place too far", lambda g: setattr(g, "place_pose", pose([0.5, 0.2, 3.0])))
    case("mass [kg] is 0|above 0", "no mass", lambda g: setattr(g, "mass", 0.0))
    case("mass [kg] is NaN|above 0", "mass NaN", lambda g: setattr(g, "mass", math.nan))
    case("holding 50 kg needs|raise max_grip_force or take less", "too heavy", lambda g: setattr(g, "mass", 50.0))
    case("object_size.y [m] is 0|above 0", "zero size", lambda g: size(g, 0.0))
    case("object_size is not finite|give three numbers", "size NaN", lambda g: size(g, math.nan))
    case("object_pose is not finite|give", "pose NaN", lambda g: setattr(g, "object_pose", pose([math.nan, 0, 0])))
    case("place_pose|quaternion is zero|give", "zero quaternion", zero_quaternion)
    case("object_pose is in frame `moon`|use a frame that it does", "unknown frame", lambda g: setattr(g, "object_pose", pose(PICK, "moon")))
    case("object_pose leans|only upright objects", "leaning", lean)
    case("shape is `bowl`|box, cylinder, capsule or ball", "unknown shape", lambda g: setattr(g, "shape", "bowl"))
    case("mesh: the convex hull of 0 points|give at least four", "mesh without vertices", lambda g: setattr(g, "shape", "mesh"))
    case("grasps[0]: |90.0 degrees off the downward vertical", "level grasp", lambda g: g.grasps.append(Grasp()))
    case("place_pose turns the object over|about the vertical", "turned over", turn_over)
    case("speed_scale is 2|above 0 and at most 1", "too fast", lambda g: setattr(g, "speed_scale", 2.0))
    case("width_tolerance is -1|must be positive", "negative tolerance", lambda g: setattr(g, "width_tolerance", -1.0))
    case("part is 7|WHOLE, PICK or PLACE", "unknown part", lambda g: setattr(g, "part", 7))
    case("friction [-] is -0.5|above 0", "negative friction", lambda g: setattr(g, "friction", -0.5))
    case("approach_height [m] is -0.1|above 0", "negative approach", lambda g: setattr(g, "approach_height", -0.1))
    case("max_grip_force|is -5|above 0", "negative force", lambda g: setattr(g, "max_grip_force", -5.0))
    return cases


@pytest.mark.parametrize("name", bad_goals())
def test_refuses_a_bad_goal(fresh, ros, action, name):
    goal, words = bad_goals()[name]
    status, result = ros.result(accepted(ros, action(PickAndPlace, "pick_and_place"), goal))
    assert status == GoalStatus.STATUS_ABORTED and not result.success
    assert result.error_code in (Result.INVALID_GOAL, Result.UNREACHABLE, Result.TOO_HEAVY)
    assert result.state == "IDLE"
    for part in words.split("|"):
        assert part in result.message, f"`{part}` is not in: {result.message}"


def test_says_when_there_is_no_object(fresh, ros, action):
    move_cube(ros, [0.3, 0.3, 0.775])
    status, result = ros.result(accepted(ros, action(PickAndPlace, "pick_and_place"), pick()), timeout=240.0)
    assert (status, result.error_code) == (GoalStatus.STATUS_ABORTED, Result.NO_OBJECT), result.message


def test_finds_a_cube_that_was_moved(fresh, ros, action):
    """Given the wrong place, it looks at /objects and picks the cube from where it is; the retry is counted."""
    move_cube(ros, [0.45, -0.25, 0.775])
    feedback = []
    handle = accepted(ros, action(PickAndPlace, "pick_and_place"), pick(), feedback=feedback)
    status, result = ros.result(handle, timeout=240.0)
    assert status == GoalStatus.STATUS_SUCCEEDED and result.retries == 1, result.message
    assert "LOOK" in [f.state for f in feedback] and feedback[-1].retries == 1
    p = cube(ros).pose.position
    assert math.dist((p.x, p.y, p.z), PLACE) < 0.005


def test_says_when_the_object_has_another_size(fresh, ros, action):
    goal = pick()
    goal.object_size.x = goal.object_size.y = goal.object_size.z = 0.042
    goal.object_pose.pose.position.z = 0.771
    status, result = ros.result(accepted(ros, action(PickAndPlace, "pick_and_place"), goal), timeout=240.0)
    assert (status, result.error_code) == (GoalStatus.STATUS_ABORTED, Result.WRONG_SIZE), result.message
    assert result.width == pytest.approx(0.05, abs=2e-3) and "42.0 mm" in result.message and result.state == "CLOSE"


def test_says_when_it_slips(fresh, ros, action):
    """Given that the cube weighs next to nothing and may be held with 1.2 N a finger only."""
    goal = pick()
    goal.mass, goal.max_grip_force = 0.05, 1.2
    status, result = ros.result(accepted(ros, action(PickAndPlace, "pick_and_place"), goal), timeout=240.0)
    assert status == GoalStatus.STATUS_ABORTED and result.error_code in (Result.SLIPPED, Result.TOO_HEAVY), result.message
    assert "1.2 N" in result.message and result.force_left < 5.0  # the strike, with targets that may come late
    p = cube(ros).pose.position
    assert math.dist((p.x, p.y, p.z), PICK) < 0.02


def test_refuses_a_place_that_is_taken(fresh, ros, action):
    """Something known stands in the way: nothing moves, and the message names it."""
    goal = pick()
    goal.place_pose = pose([0.5, 0.2, 0.82])  # inside the shelf
    status, result = ros.result(accepted(ros, action(PickAndPlace, "pick_and_place"), goal))
    assert (status, result.error_code) == (GoalStatus.STATUS_ABORTED, Result.UNREACHABLE), result.message
    assert "would hit `shelf`" in result.message and "clear the way" in result.message and result.state == "IDLE"


def test_canceled_the_arm_is_held(fresh, ros, action):
    states = joint_states(ros)
    handle = accepted(ros, action(PickAndPlace, "pick_and_place"), pick())
    states.wait(lambda m: moving(m) > 0.3)
    ros.finish(handle.cancel_goal_async())
    status, result = ros.result(handle)
    assert (status, result.error_code) == (GoalStatus.STATUS_CANCELED, Result.CANCELED), result.message
    states.clear()
    held = at(states.wait(lambda m: moving(m) < 1e-3))
    ros.spin_for(0.3)
    assert distance(at(states.last), held) < 0.002


def move(xyz=None, posture="", frame="world"):
    """A goal of move_tool: a tool that looks down, or a posture."""
    goal = MoveTool.Goal(posture=posture)
    if xyz:
        goal.pose = pose(xyz, frame)
        goal.pose.pose.orientation.x, goal.pose.pose.orientation.w = 1.0, 0.0
    return goal


def test_the_tool_moves_to_a_pose_and_to_a_posture(fresh, ros, action):
    states = joint_states(ros)
    client, seen = action(MoveTool, "move_tool"), []
    handle = accepted(ros, client, move([0.45, -0.1, 0.95]), feedback=seen)
    status, result = ros.result(handle, timeout=120.0)
    assert status == GoalStatus.STATUS_SUCCEEDED and result.success, result.message
    assert [m.progress for m in seen] == sorted(m.progress for m in seen) and {m.state for m in seen} == {"MOVE"}
    there = at(states.fresh())
    status, result = ros.result(ros.send_goal(client, move(posture="home")), timeout=120.0)
    assert status == GoalStatus.STATUS_SUCCEEDED, result.message
    assert at(states.fresh())[0] == pytest.approx(0.0, abs=0.01) and distance(there, at(states.last)) > 0.1
    # The same place, as the robot sees it: its base stands on the table.
    status, result = ros.result(ros.send_goal(client, move([0.45, -0.1, 0.2], frame="base_link")), timeout=120.0)
    assert status == GoalStatus.STATUS_SUCCEEDED and distance(at(states.fresh()), there) < 0.01, result.message


@pytest.mark.parametrize(
    "goal, code, said",
    [
        (move([1.6, 0.0, 1.0]), MoveTool.Result.UNREACHABLE, "MOVE"),
        (move([0.5, 0.0, 1.0], frame="moon"), MoveTool.Result.INVALID_GOAL, "frame `moon`"),
        (move(posture="handstand"), MoveTool.Result.INVALID_GOAL, "handstand"),
        (MoveTool.Goal(posture="home", speed=-1.0), MoveTool.Result.INVALID_GOAL, "speed"),
    ],
)
def test_a_move_that_cannot_be_says_why(fresh, ros, action, goal, code, said):
    status, result = ros.result(accepted(ros, action(MoveTool, "move_tool"), goal))
    assert (status, result.error_code) == (GoalStatus.STATUS_ABORTED, code), result.message
    assert said in result.message, result.message


def test_a_move_is_cancelled_and_takes_turns_with_picks(fresh, ros, action):
    states = joint_states(ros)
    client = action(MoveTool, "move_tool")
    handle = accepted(ros, client, move([0.3, 0.3, 1.1]))
    assert not ros.send_goal(action(PickAndPlace, "pick_and_place"), pick()).accepted
    states.wait(lambda m: moving(m) > 0.2)
    ros.finish(handle.cancel_goal_async())
    status, result = ros.result(handle)
    assert (status, result.error_code) == (GoalStatus.STATUS_CANCELED, MoveTool.Result.CANCELED), result.message
    states.clear()
    held = at(states.wait(lambda m: moving(m) < 1e-3))
    assert distance(held, START) > 0.01


def test_a_pick_right_after_the_start():
    """Taken as soon as the gripper hears the robot, which may be before the controller does."""
    with Domain() as domain, Ros(domain) as ros, Arm(domain, nodes=NODES) as arm:
        client = ros.action(PickAndPlace, "/arm/pick_and_place")
        handle = accepted(ros, client, pick())
        feedback = ros.subscribe(FeedbackMessage, "/arm/pick_and_place/_action/feedback")
        feedback.wait(lambda m: m.feedback.state == "DESCEND")
        assert not any("rejected" in line for line in arm.nodes["feedforward_controller"].lines)
        asked = handle.get_result_async()
        ros.spin_for(0.3)
        arm.nodes["gripper"].process.send_signal(signal.SIGINT)
        response = ros.finish(asked, what="the goal's result")
        status, result = response.status, response.result
        assert (status, result.error_code) == (GoalStatus.STATUS_ABORTED, Result.ROBOT_LOST)
        assert "the gripper was stopped before the object was placed" in result.message
        client.destroy()

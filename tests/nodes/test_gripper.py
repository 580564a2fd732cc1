"""gripper_cmd, parallel_gripper_cmd and pick_and_place, in lockstep as fast as it goes."""

import math

import pytest
from action_msgs.msg import GoalStatus
from control_msgs.action import GripperCommand, ParallelGripperCommand
from geometry_msgs.msg import PoseStamped
from karakuri_msgs.action import PickAndPlace
from simulation_interfaces.srv import GetEntityState, ResetSimulation, SetEntityState
from support.arm import Arm, at, distance, joint_states, moving

NODES = ("sim", "state_publisher", "feedforward_controller", "gripper")
PICK, PLACE = [0.5, -0.2, 0.775], [0.5, 0.2, 0.875]
Result = PickAndPlace.Result


@pytest.fixture(scope="module")
def arm(domain):
    with Arm(domain, nodes=NODES, lockstep=True, real_time_factor=0.0, command_timeout=2.0) as arm:
        yield arm


@pytest.fixture
def fresh(arm, ros):
    """Everything as at the start."""
    joint_states(ros).close()
    assert ros.call(ResetSimulation, "/arm/sim/reset_simulation").result.result == 1
    return arm


@pytest.fixture
def action(arm, ros):
    clients = []

    def make(kind, name):
        clients.append(ros.action(kind, f"/arm/{name}"))
        return clients[-1]

    yield make
    for client in clients:
        client.destroy()


def accepted(ros, client, goal, **fields):
    """The handle of a goal that is taken, at the latest when the gripper has heard its sensors after a reset."""
    return ros.wait_for(lambda: (h := ros.send_goal(client, goal, **fields)).accepted and h, what="acceptance")


def command(position, effort=0.0):
    goal = GripperCommand.Goal()
    goal.command.position, goal.command.max_effort = float(position), float(effort)
    return goal


def parallel(*position):
    goal = ParallelGripperCommand.Goal()
    goal.command.position = [float(p) for p in position]
    return goal


def pose(xyz, frame="world"):
    message = PoseStamped()
    message.header.frame_id = frame
    p = message.pose.position
    p.x, p.y, p.z = map(float, xyz)
    message.pose.orientation.w = 1.0
    return message


def pick():
    """The goal of the demonstration."""
    goal = PickAndPlace.Goal(object_pose=pose(PICK), place_pose=pose(PLACE), mass=0.2, friction=0.6)
    goal.object_size.x = goal.object_size.y = goal.object_size.z = 0.05
    goal.max_grip_force, goal.approach_height = 10.0, 0.12
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


def test_parallel_command(fresh, ros, action):
    client = action(ParallelGripperCommand, "parallel_gripper_cmd")
    for opening in (0.02, 0.07):
        status, result = ros.result(accepted(ros, client, parallel(opening)))
        assert status == GoalStatus.STATUS_SUCCEEDED and result.reached_goal
        assert result.state.position[0] == pytest.approx(opening, abs=2e-3) and result.state.name


@pytest.mark.parametrize("position, effort", [(math.nan, 0), (math.inf, 0), (-0.1, 0), (0.2, 0), (0.05, math.nan), (0.05, -1)])
def test_rejects_bad_commands(fresh, ros, action, position, effort):
    accepted(ros, action(GripperCommand, "gripper_cmd"), command(0.05))
    assert not ros.send_goal(action(GripperCommand, "gripper_cmd"), command(position, effort)).accepted
    assert not ros.send_goal(action(ParallelGripperCommand, "parallel_gripper_cmd"), parallel(position, effort)).accepted


def test_picks_and_places(fresh, ros, action):
    feedback = []
    client = action(PickAndPlace, "pick_and_place")
    status, result = ros.result(accepted(ros, client, pick(), feedback=feedback), timeout=60.0)
    assert status == GoalStatus.STATUS_SUCCEEDED and result.success, result.message
    p = cube(ros).pose.position
    assert math.dist((p.x, p.y, p.z), PLACE) < 0.005
    assert 0 < result.force_left < 15 and 0 < result.force_right < 15
    assert result.width == pytest.approx(0.05, abs=2e-3)
    stages = list(dict.fromkeys(f.state for f in feedback))
    assert "CLOSE" in stages and stages.index("LIFT") < stages.index("LOWER")


def bad_goals():
    """(goal, words its refusal has), each wrong in one way."""
    cases = {}

    def case(words, name, change):
        goal = pick()
        change(goal)
        cases[name] = (goal, words)

    def size(goal, value):
        goal.object_size.y = value

    def lean(goal):
        goal.object_pose.pose.orientation.x = 0.5

    def zero_quaternion(goal):
        goal.place_pose.pose.orientation.w = 0.0

    case("m", "too far", lambda g: setattr(g, "object_pose", pose([3.0, 0.0, 0.8])))
    case("m", "place too far", lambda g: setattr(g, "place_pose", pose([0.5, 0.2, 3.0])))
    case("mass", "no mass", lambda g: setattr(g, "mass", 0.0))
    case("mass", "mass NaN", lambda g: setattr(g, "mass", math.nan))
    case("N", "too heavy", lambda g: setattr(g, "mass", 50.0))
    case("size", "zero size", lambda g: size(g, 0.0))
    case("object_size", "size NaN", lambda g: size(g, math.nan))
    case("object_pose", "pose NaN", lambda g: setattr(g, "object_pose", pose([math.nan, 0, 0])))
    case("place_pose", "zero quaternion", zero_quaternion)
    case("object_pose is in frame `moon`", "unknown frame", lambda g: setattr(g, "object_pose", pose(PICK, "moon")))
    case("object_pose leans", "leaning", lean)
    case("speed_scale is 2", "too fast", lambda g: setattr(g, "speed_scale", 2.0))
    case("width_tolerance", "negative tolerance", lambda g: setattr(g, "width_tolerance", -1.0))
    case("friction", "negative friction", lambda g: setattr(g, "friction", -0.5))
    case("approach height", "negative approach", lambda g: setattr(g, "approach_height", -0.1))
    case("force", "negative force", lambda g: setattr(g, "max_grip_force", -5.0))
    return cases


@pytest.mark.parametrize("name", bad_goals())
def test_refuses_a_bad_goal(arm, ros, action, name):
    goal, words = bad_goals()[name]
    status, result = ros.result(accepted(ros, action(PickAndPlace, "pick_and_place"), goal))
    assert status == GoalStatus.STATUS_ABORTED and not result.success
    assert result.error_code in (Result.INVALID_GOAL, Result.UNREACHABLE, Result.TOO_HEAVY)
    assert words in result.message and result.state == "IDLE"


def test_says_when_there_is_no_object(fresh, ros, action):
    move_cube(ros, [0.3, 0.3, 0.775])
    status, result = ros.result(accepted(ros, action(PickAndPlace, "pick_and_place"), pick()), timeout=60.0)
    assert (status, result.error_code) == (GoalStatus.STATUS_ABORTED, Result.NO_OBJECT), result.message


def test_canceled_the_arm_is_held(fresh, ros, action):
    states = joint_states(ros)
    handle = accepted(ros, action(PickAndPlace, "pick_and_place"), pick())
    states.wait(lambda m: moving(m) > 0.3)
    ros.finish(handle.cancel_goal_async())
    status, result = ros.result(handle)
    assert (status, result.error_code) == (GoalStatus.STATUS_CANCELED, Result.CANCELED), result.message
    states.messages.clear()
    held = at(states.wait(lambda m: moving(m) < 1e-3))
    ros.spin_for(0.3)
    assert distance(at(states.last), held) < 0.002

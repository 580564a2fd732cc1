"""The gripper with three fingers: pick_and_place and gripper commands, in lockstep as fast as it goes."""

import math

import pytest
from action_msgs.msg import GoalStatus
from control_msgs.action import GripperCommand, ParallelGripperCommand
from karakuri_msgs.action import PickAndPlace
from karakuri_msgs.msg import GripState, ObjectStates
from sensor_msgs.msg import JointState
from support.arm import SCENE, Arm, joint_states, pose, put_back, result_of

pytestmark = pytest.mark.quick

NODES = ("sim", "state_publisher", "feedforward_controller", "gripper")
HEIGHT = 0.128
PICK, PLACE = [0.5, -0.2, 0.75 + HEIGHT / 2], [0.5, 0.2, 0.85 + HEIGHT / 2]
FINGERS = ("thumb_joint", "left_digit_joint", "right_digit_joint")
Result = PickAndPlace.Result


@pytest.fixture(scope="module")
def arm(domain):
    scene = SCENE.with_stem("pick_and_place_three_fingers")
    with Arm(domain, nodes=NODES, lockstep=True, real_time_factor=0.0, robot="arm6_three_fingers", scene=scene) as arm:
        yield arm


@pytest.fixture
def fresh(arm, ros):
    """Everything as at the start."""
    put_back(ros)
    return arm


def cone():
    """The goal of the scene's cone: from the table to the shelf."""
    goal = PickAndPlace.Goal(object_pose=pose(PICK), place_pose=pose(PLACE), mass=0.3, friction=0.6, approach_height=0.12)
    goal.object_size.x, goal.object_size.y, goal.object_size.z = 0.08, 0.08, HEIGHT
    goal.shape = "cone"
    return goal


def test_a_cone_is_placed(fresh, ros):
    states = ros.subscribe(GripState, "/arm/grip_state", 1000)
    objects = ros.subscribe(ObjectStates, "/objects")
    status, result = result_of(ros, PickAndPlace, "pick_and_place", cone())
    assert status == GoalStatus.STATUS_SUCCEEDED and result.success, result.message
    objects.clear()
    seen = objects.wait(lambda m: True).objects
    there = next(o for o in seen if o.name == "cone").pose
    p, q = there.position, there.orientation
    # What is seen is the middle of its box, as the goal says it.
    assert math.dist((p.x, p.y, p.z), PLACE) < 0.005
    assert 1 - 2 * (q.x**2 + q.y**2) > math.cos(math.radians(3)), "upright"
    held = [m for m in states.messages if m.holding]
    assert held and all(m.kind == "three_fingers" and m.channels == ["opening", "thumb", "left", "right"] for m in held)
    # Spread evenly each finger presses as the thumb does.
    firm = [m.values[1:] for m in held if m.force_left > 9]
    assert firm and all(max(forces) < 1.2 * min(forces) for forces in firm)
    states.close()
    objects.close()


@pytest.mark.parametrize(
    ("change", "code", "why"),
    [
        ({"friction": 0.3}, Result.INVALID_GOAL, "faces up by 17.4 degrees"),
        ({"mass": 3.0}, Result.TOO_HEAVY, "N a finger"),
        ({"shape": "pyramid"}, Result.INVALID_GOAL, "cone, box, cylinder, capsule or ball"),
    ],
)
def test_what_three_fingers_do_not_hold_is_refused(fresh, ros, change, code, why):
    goal = cone()
    for name, value in change.items():
        setattr(goal, name, value)
    status, result = result_of(ros, PickAndPlace, "pick_and_place", goal)
    assert (status, result.error_code) == (GoalStatus.STATUS_ABORTED, code), result.message
    assert why in result.message and result.elapsed == 0


def test_gripper_cmd_moves_all_fingers(fresh, ros):
    goal = GripperCommand.Goal()
    goal.command.position = 0.04
    status, result = result_of(ros, GripperCommand, "gripper_cmd", goal)
    assert status == GoalStatus.STATUS_SUCCEEDED and result.reached_goal
    states = joint_states(ros)
    message = states.wait(lambda m: True)
    at = dict(zip(message.name, message.position))
    known = math.asin((0.02 + 0.008 - 0.024) / 0.090)
    assert all(at[name] == pytest.approx(known, abs=0.006) for name in FINGERS)
    assert at["left_spread_joint"] == pytest.approx(math.pi / 3, abs=0.01), "it stays as it was"
    states.close()


def test_parallel_gripper_cmd_takes_the_angle_of_a_finger(fresh, ros):
    """As MoveIt sends it: the first joint of the hand, by its name."""
    goal = ParallelGripperCommand.Goal(command=JointState(name=["thumb_joint"], position=[0.4]))
    status, _ = result_of(ros, ParallelGripperCommand, "parallel_gripper_cmd", goal)
    assert status == GoalStatus.STATUS_SUCCEEDED
    states = joint_states(ros)
    message = states.wait(lambda m: True)
    at = dict(zip(message.name, message.position))
    assert all(at[name] == pytest.approx(0.4, abs=0.006) for name in FINGERS)
    states.close()

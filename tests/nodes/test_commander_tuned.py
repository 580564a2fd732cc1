"""A commander of nodes with other parameters than the usual ones: what it rehearses is still what they then do."""

import json

import pytest
from action_msgs.msg import GoalStatus
from support.arm import SCENE, Arm
from support.commander import Commander

pytestmark = pytest.mark.apart

NODES = ("sim", "state_publisher", "feedforward_controller", "gripper")
CONTROLLER, HAND = "/arm/feedforward_controller", "/arm/gripper"


def slow_arm(domain, **parameters):
    """An arm whose tool is slow, whose grip is gentle, and whose elbow is fed back."""
    arm = Arm(domain, nodes=NODES, **parameters)
    arm.parameters["gripper"] |= {"speed": 0.12, "grip_force": 8.0, "closing_speed": 0.05}
    arm.parameters["feedforward_controller"] |= {"gains.elbow_pitch.p": 50.0, "gains.elbow_pitch.d": 1.0}
    return arm


@pytest.fixture
def commander(domain, ros, tmp_path):
    arm = slow_arm(domain, lockstep=True, real_time_factor=0.0, start_paused=True)
    with Commander(domain, ros, tmp_path, arm, "table", scene=SCENE) as commander:
        yield commander


def put(ros, node, **values):
    """Sets parameters of a node, as `ros2 param set` does."""
    assert all(result.successful for result in ros.set_parameters(node, **values))


def test_acts_have_the_settings_that_the_nodes_have(commander, ros):
    assert commander.do("pick", object="cube")["holds"]
    slow = commander.rehearse("place", on="shelf")
    put(ros, HAND, speed=0.6, acceleration=2.0)
    put(ros, CONTROLLER, gains__elbow_pitch__p=0.0, gains__shoulder_pitch__p=80.0, constraints__following=0.3, payload__mass=0.2)
    # What was rehearsed with other settings is rehearsed again, and then carried out.
    status, done = commander.act(slow)
    assert status == GoalStatus.STATUS_SUCCEEDED and done["outcome"] == "DONE", done
    assert done["commands"] != slow["commands"]
    assert done["duration_s"] < 0.9 * slow["duration_s"], (done, slow)
    put(ros, CONTROLLER, payload__mass=0.0, method="recursive", friction_compensation=False)
    commander.do("move", x_m=0.45, y_m=-0.1, high=True)
    put(ros, HAND, closing_speed=0.1, grip_force=12.0)
    commander.do("set_gripper", width_m=0.03)
    commander.do("home")


def test_a_parameter_that_is_set_during_an_act_is_reported(commander, ros):
    handle = commander.begin("set", 0.1, "move", x_m=0.45, y_m=0.2, high=True, speed_scale=0.1)
    put(ros, CONTROLLER, gains__elbow_pitch__p=500.0)
    status, result = ros.result(handle, timeout=120.0)
    refusal = json.loads(result.answer)
    assert (status, refusal["code"]) == (GoalStatus.STATUS_ABORTED, "DIVERGED"), refusal
    assert "of `feedforward_controller` `gains.elbow_pitch.p` is 500.0 in place of 50.0" in json.dumps(refusal), refusal


def test_positions_of_joints_are_no_openings(commander, ros):
    put(ros, HAND, joint_positions=True)
    status, refusal = commander.order("set_gripper", width_m=0.03)
    assert (status, refusal["code"]) == (GoalStatus.STATUS_ABORTED, "INVALID_GOAL"), refusal
    assert "`joint_positions`" in refusal["hint"]
    put(ros, HAND, joint_positions=False)
    commander.do("set_gripper", width_m=0.03)


def test_nodes_without_lockstep_stay_in_the_band_of_their_settings(domain, ros, tmp_path):
    with Commander(domain, ros, tmp_path, slow_arm(domain), "table", scene=SCENE, lockstep=False) as commander:
        slow = commander.rehearse("move", x_m=0.45, y_m=0.2, high=True)
        status, done = commander.act(slow)
        assert status == GoalStatus.STATUS_SUCCEEDED, json.dumps(done)
        commander.act(commander.rehearse("home"))
        put(ros, HAND, speed=0.6)
        quick = commander.rehearse("move", x_m=0.45, y_m=0.2, high=True)
        assert quick["duration_s"] < 0.9 * slow["duration_s"], (quick, slow)
        status, done = commander.act(quick)
        assert status == GoalStatus.STATUS_SUCCEEDED, json.dumps(done)

"""A commander of nodes that do not answer in lockstep, as those of a real robot: acts stay in the band of their rehearsal."""

import json

import pytest
from action_msgs.msg import GoalStatus
from geometry_msgs.msg import Point, Vector3, Wrench
from karakuri_msgs.srv import Push
from simulation_interfaces.srv import GetEntityState, SetEntityState
from support.arm import SCENE, Arm
from support.commander import Commander

NODES = ("sim", "state_publisher", "feedforward_controller", "gripper")

# Nodes that come late on a machine that does other things, too, leave the band, as they should.
pytestmark = pytest.mark.realtime


@pytest.fixture
def commander(domain, ros, tmp_path):
    arm = Arm(domain, nodes=NODES)
    with Commander(domain, ros, tmp_path, arm, "table", scene=SCENE, lockstep=False) as commander:
        yield commander


def do(commander, verb, **arguments):
    """Rehearses and acts; nobody knows the commands to the bit. Where the arm had to hold its place meanwhile, for want of commands on
    a busy machine, it is rehearsed again, as the refusal says."""
    for _ in range(3):
        status, done = commander.act(commander.rehearse(verb, **arguments))
        if done.get("code") != "STALE_TICKET":
            break
        assert "no joint_command for " in commander.robot.nodes["sim"].output(), f"nothing moved the arm: {done}"
    assert status == GoalStatus.STATUS_SUCCEEDED, json.dumps(done)
    assert done["commands"] == ""
    return done


def cube(commander):
    _, seen = commander.ask("look", objects=["cube"])
    return seen["objects"][0]


def test_a_cube_is_put_on_the_shelf_and_taken_from_where_somebody_puts_it(commander, ros):
    assert do(commander, "pick", object="cube")["holds"] and cube(commander)["held"]
    answer = commander.rehearse("place", on="shelf")
    commander.act(answer)
    x, y, z = cube(commander)["xyz_m"]
    assert max(abs(x - answer["end_xyz_m"][0]), abs(y - answer["end_xyz_m"][1]), abs(z - 0.875)) < 0.004
    do(commander, "home")
    # Somebody moves it: the next rehearsal begins where it is.
    state = ros.call(GetEntityState, "/arm/sim/get_entity_state", entity="cube").state
    state.pose.position.x, state.pose.position.y, state.pose.position.z = 0.45, -0.15, 0.776
    assert ros.call(SetEntityState, "/arm/sim/set_entity_state", entity="cube", state=state).result.result == 1
    ros.wait_for(lambda: abs(cube(commander)["xyz_m"][0] - 0.45) < 0.002, what="the cube where it was put")
    assert do(commander, "pick", object="cube")["holds"]


def test_an_arm_that_is_pushed_off_its_way_brakes(commander, ros):
    handle = commander.begin("held", 0.1, "move", x_m=0.45, y_m=0.2, high=True, speed_scale=0.1)
    fields = {"body": "arm/upper_arm_link", "point": Point(z=0.3), "wrench": Wrench(force=Vector3(y=-1500.0)), "duration": 0.5}
    assert ros.call(Push, "/arm/sim/push", **fields).success
    status, result = ros.result(handle, timeout=120.0)
    # The controller gives the path up at about the distance at which the band is left.
    assert status == GoalStatus.STATUS_ABORTED and json.loads(result.answer)["code"] in ("DIVERGED", "COLLISION"), result.answer
    answered, status = commander.ask("status")
    assert answered and not status["busy"]


def test_a_force_that_no_copy_has_felt_brakes(commander, ros):
    assert do(commander, "pick", object="cube")["holds"]
    handle = commander.begin("pressed", 0.1, "move", x_m=0.45, y_m=0.2, high=True, speed_scale=0.1)
    # Somebody presses the cube against a finger, which moves the arm by less than the band is wide.
    fields = {"body": "cube", "wrench": Wrench(force=Vector3(y=-25.0)), "duration": 0.5}
    assert ros.call(Push, "/arm/sim/push", **fields).success
    status, result = ros.result(handle, timeout=120.0)
    refusal = json.loads(result.answer)
    assert status == GoalStatus.STATUS_ABORTED and refusal["code"] == "DIVERGED" and "a finger feels" in json.dumps(refusal), refusal


def test_hardware_moves_as_rehearsed_until_it_finds_nothing_between_its_fingers(domain, ros, tmp_path):
    # The mock goes where it is commanded, and feels nothing; objects are where the scene has them.
    arm = Arm(domain, nodes=NODES, hardware="mock")
    with Commander(domain, ros, tmp_path, arm, "table", scene=SCENE, lockstep=False) as commander:
        do(commander, "move", x_m=0.45, y_m=-0.1, high=True)
        _, seen = commander.ask("look")
        assert max(abs(a - b) for a, b in zip(seen["tool"]["xyz_m"][:2], (0.45, -0.1))) < 2e-3
        do(commander, "home")
        status, refusal = commander.act(commander.rehearse("pick", object="cube"))
        # The fingers close further than on the cube of all copies.
        assert status == GoalStatus.STATUS_ABORTED and refusal["code"] == "DIVERGED", refusal
        assert "joint `left_crank_joint` is at" in json.dumps(refusal), refusal
        assert cube(commander)["held"] is False

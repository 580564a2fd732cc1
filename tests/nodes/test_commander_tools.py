"""A commander of an arm that changes its tools: nodes that start again with each, as a real arm's do."""

import json

import pytest
from action_msgs.msg import GoalStatus
from support.arm import Arm
from support.commander import Commander
from support.process import ROOT, NodeProcess

NODES = ("sim", "state_publisher", "feedforward_controller", "gripper", "tool_changer")
SCENE = ROOT / "config/scenes/pick_and_place_tools.yaml"
TOOLS = ROOT / "config/tools/arm6.yaml"

# Nodes that come late on a machine that does other things, too, leave the band, as they should.
pytestmark = pytest.mark.realtime


@pytest.fixture
def commander(domain, ros, tmp_path):
    arm = Arm(domain, nodes=NODES)
    arm.parameters["tool_changer"] = {}
    arm.parameters["sim"]["scene"] = SCENE
    for name in NODES:
        arm.parameters[name]["tools"] = TOOLS
    with Commander(domain, ros, tmp_path, arm, "tools", scene=SCENE, tools=TOOLS, lockstep=False) as commander:
        yield commander


def do(commander, verb, **arguments):
    """Rehearses and acts; nobody knows the commands to the bit."""
    answer = commander.rehearse(verb, **arguments)
    status, done = commander.act(answer)
    assert status == GoalStatus.STATUS_SUCCEEDED, json.dumps(done)
    return answer


def place_of(commander, name):
    _, seen = commander.ask("look", objects=[name])
    return seen["objects"][0]


def test_each_tool_takes_what_is_its_own(commander, ros):
    usual = do(commander, "change_tool", tool="cup")
    assert commander.ask("look")[1]["flange"] == "cup"
    do(commander, "pick", object="plate")
    assert place_of(commander, "plate")["held"]
    # What is held is not left in the dock.
    status, refusal = commander.order("change_tool", tool="jaws")
    assert status == GoalStatus.STATUS_ABORTED and "the hand holds an object" in refusal["value"], refusal
    answer = do(commander, "place", x_m=0.5, y_m=0.2)
    at = place_of(commander, "plate")["xyz_m"]
    assert max(abs(a - b) for a, b in zip(at, answer["end_xyz_m"], strict=True)) < 0.005
    # What is set between acts is rehearsed.
    assert all(result.successful for result in ros.set_parameters("/arm/tool_changer", speed=0.2, acceleration=0.7))
    slow = do(commander, "change_tool", tool="jaws")
    assert slow["duration_s"] > 1.2 * usual["duration_s"], (slow, usual)
    do(commander, "pick", object="cube")
    assert place_of(commander, "cube")["held"] and commander.ask("look")[1]["flange"] == "jaws"


def test_a_change_that_is_stopped_leaves_what_is_on_the_flange(commander, ros):
    answer = commander.rehearse("change_tool", tool="cup")
    commander.approve(answer["rehearsal"])
    seen = []
    handle = commander.send("act", seen, ticket=answer["ticket"], request_id="stopped")
    ros.wait_for(lambda: seen and seen[-1].stage == "TO_NEXT", 60.0, "the bare flange on its way")
    assert commander.ask("stop") == (True, {"stopped": True})
    status, result = ros.result(handle, timeout=60.0)
    assert status == GoalStatus.STATUS_ABORTED and json.loads(result.answer)["code"] == "CANCELED", result.answer
    assert commander.ask("look")[1]["flange"] == "none"
    # A bare flange takes nothing; the next change begins with it.
    status, refusal = commander.order("pick", object="cube")
    assert status == GoalStatus.STATUS_ABORTED and refusal["code"] == "WRONG_TOOL", refusal
    do(commander, "change_tool", tool="jaws")


def test_in_lockstep_no_tools_are_changed(domain, tmp_path):
    envelope = tmp_path / "envelope.yaml"
    envelope.write_text((ROOT / "config/envelopes/tools.yaml").read_text())
    envelope.chmod(0o444)
    node = NodeProcess(domain, "commander", parameters={"scene": SCENE, "tools": TOOLS, "envelope": envelope, "audit": tmp_path / "audit"})
    assert node.wait() == 1
    assert "set `lockstep` to false" in node.output()

"""`sim` with tools: what it refuses, what `tool` says, and what comes back with a reset."""

import pytest
from karakuri_msgs.srv import SetTool
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from support.domain import Domain
from support.process import ROOT, NodeProcess
from support.ros import Ros, latched

SCENES = ROOT / "config/scenes"
TOOLS = ROOT / "config/tools/arm6.yaml"


def sim(domain, **parameters):
    parameters = {"scene": SCENES / "pick_and_place_tools.yaml", "tools": TOOLS, **parameters}
    return NodeProcess(domain, "sim", namespace="/arm", parameters=parameters)


@pytest.fixture(scope="module")
def ros():
    with Domain() as domain, Ros(domain) as ros, sim(domain):
        # Nobody commands the arm: it sags until its servos hold it.
        states = ros.subscribe(JointState, "/arm/joint_states")
        states.wait(lambda m: m.header.stamp.sec >= 1 and max(map(abs, m.velocity)) < 1e-3)
        states.close()
        yield ros


@pytest.mark.parametrize(
    "tool, words",
    [
        ("drill", "no tool `drill`; there are: none, jaws, cup"),
        ("cup", "`jaws` is on the flange; let it go first, at its place in the dock"),
        ("none", "from the place of `jaws`; it must be within 2 mm and 1°"),
    ],
)
def test_what_cannot_be_coupled_is_refused(ros, tool, words):
    answer = ros.call(SetTool, "/arm/sim/set_tool", tool=tool)
    assert not answer.success and answer.message.endswith(words), answer.message


def test_what_is_on_the_flange_is_said_to_those_who_come_later(ros):
    assert ros.call(SetTool, "/arm/sim/set_tool", tool="jaws").success
    tool = ros.subscribe(String, "/arm/tool", latched())
    tool.wait(lambda m: m.data == "jaws")
    tool.close()
    states = ros.subscribe(JointState, "/arm/joint_states")
    states.wait(lambda m: "left_crank_joint" in m.name)
    states.close()


@pytest.mark.parametrize(
    "parameters, words",
    [
        ({"tools": "/none.yaml"}, "cannot read /none.yaml"),
        ({"scene": SCENES / "walk.yaml"}, "name the URDF of one in `tools`"),
        ({"hardware": "mock"}, "`hardware: mock` changes no tools; leave `tools` empty"),
    ],
)
def test_tools_that_do_not_fit_end_it_with_their_reason(parameters, words):
    with Domain() as domain, sim(domain, **parameters) as node:
        assert node.wait() == 1
    assert words in node.output()

"""What rviz/walk.rviz asks for is there while khr1 stands: each display's topic arrives with the display's type and QoS.

rviz itself does not run here.
"""

from contextlib import ExitStack

import pytest
from support.process import ROOT, NodeProcess
from support.rviz import first_message, frames, shown, view

VIEW = view("walk.rviz")
ROBOT = {"urdf": ROOT / "urdf/khr1/khr1.urdf", "config": ROOT / "config/khr1.yaml"}
NODES = {
    "sim": {"scene": ROOT / "config/scenes/walk.yaml"},
    "feedforward_controller": {**ROBOT, "feedforward_scale": 0.0},
    "gait_planner": {"gait": ROOT / "config/gaits/khr1_walk.yaml"},
    "state_publisher": {"urdf": ROBOT["urdf"]},
}


@pytest.fixture(scope="module")
def walker(domain):
    with ExitStack() as stack:
        for name, parameters in NODES.items():
            stack.enter_context(NodeProcess(domain, name, namespace="/khr1", parameters=parameters))
        yield


@pytest.mark.parametrize("display", shown(VIEW), ids=lambda d: d["Name"])
def test_display(ros, walker, display):
    fixed = VIEW["Global Options"]["Fixed Frame"]
    assert frames(first_message(ros, display, "/khr1")) <= {fixed}


def test_every_output_of_the_planner_is_shown():
    topics = {(display.get("Topic") or display["Description Topic"])["Value"] for display in shown(VIEW)}
    assert {"com", "zmp", "dcm", "support_polygon", "footsteps"} <= topics

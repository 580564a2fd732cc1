"""What rviz/karakuri.rviz asks for is there: each display's topic arrives with the display's QoS, in frames that tf knows.

rviz itself does not run here.
"""

import pytest
from support.arm import Arm
from support.ros import latched
from support.rviz import displays, first_message, frames, shown, view
from tf2_msgs.msg import TFMessage

VIEW = view("karakuri.rviz")


@pytest.fixture(scope="module")
def running(domain):
    with Arm(domain, nodes=("sim", "feedforward_controller", "gripper", "state_publisher")):
        yield


@pytest.fixture(scope="module")
def known(ros, running):
    """Frames that are connected with the fixed frame."""
    static, moving = ros.subscribe(TFMessage, "/tf_static", latched(10)), ros.subscribe(TFMessage, "/tf", 100)

    def edges():
        return [edge for topic in (static, moving) for message in topic.messages for edge in message.transforms]

    def reached():
        found = {VIEW["Global Options"]["Fixed Frame"]}
        while more := {edge.child_frame_id for edge in edges() if edge.header.frame_id in found} - found:
            found |= more
        return found

    def is_whole():
        return moving.messages and {edge.header.frame_id for edge in edges()} <= reached()

    ros.wait_for(is_whole, what="a tree of frames below the fixed frame")
    return reached()


@pytest.mark.parametrize("display", shown(VIEW), ids=lambda d: d["Name"])
def test_display(ros, running, known, display):
    assert frames(first_message(ros, display)) <= known


def test_frames_of_the_view_are_known(known):
    named = [d["Reference Frame"] for d in displays(VIEW) if "Reference Frame" in d]
    assert {*named, VIEW["Views"]["Current"]["Target Frame"]} <= known

"""What rviz/karakuri.rviz asks for is there: each display's topic arrives with the display's QoS, in frames that tf knows.

rviz itself does not run here.
"""

import pytest
import yaml
from geometry_msgs.msg import WrenchStamped
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from std_msgs.msg import String
from support.arm import Arm
from support.process import ROOT
from support.ros import latched
from tf2_msgs.msg import TFMessage
from visualization_msgs.msg import MarkerArray

TYPES = {"RobotModel": String, "MarkerArray": MarkerArray, "Wrench": WrenchStamped}
RELIABILITY = {"Best Effort": ReliabilityPolicy.BEST_EFFORT, "Reliable": ReliabilityPolicy.RELIABLE}
DURABILITY = {"Volatile": DurabilityPolicy.VOLATILE, "Transient Local": DurabilityPolicy.TRANSIENT_LOCAL}
VIEW = yaml.safe_load((ROOT / "rviz/karakuri.rviz").read_text())["Visualization Manager"]


def displays(group):
    """All displays of a group, and of the groups in it."""
    for display in group.get("Displays", []):
        yield display
        yield from displays(display)


def topic_of(display):
    """Its topic with its QoS, if it has one."""
    return display.get("Topic") or display.get("Description Topic")


def frames(message):
    """The frames that a message speaks of."""
    if isinstance(message, MarkerArray):
        return {marker.header.frame_id for marker in message.markers}
    return {message.header.frame_id} if isinstance(message, WrenchStamped) else set()


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


@pytest.mark.parametrize("display", [d for d in displays(VIEW) if topic_of(d)], ids=lambda d: d["Name"])
def test_display(ros, running, known, display):
    kind = display["Class"].removeprefix("rviz_default_plugins/")
    topic = topic_of(display)
    qos = QoSProfile(
        depth=topic["Depth"],
        reliability=RELIABILITY[topic["Reliability Policy"]],
        durability=DURABILITY[topic["Durability Policy"]],
    )
    subscription = ros.subscribe(TYPES[kind], topic["Value"], qos)
    message = subscription.wait()
    subscription.close()
    assert frames(message) <= known


def test_frames_of_the_view_are_known(known):
    named = [d["Reference Frame"] for d in displays(VIEW) if "Reference Frame" in d]
    assert {*named, VIEW["Views"]["Current"]["Target Frame"]} <= known

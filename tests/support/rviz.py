"""What an rviz configuration asks of the running nodes."""

import yaml
from geometry_msgs.msg import PointStamped, PolygonStamped, WrenchStamped
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from std_msgs.msg import String
from visualization_msgs.msg import MarkerArray

from support.process import ROOT

# what rviz_default_plugins subscribes to
TYPES = {
    "RobotModel": String,
    "MarkerArray": MarkerArray,
    "Wrench": WrenchStamped,
    "PointStamped": PointStamped,
    "Polygon": PolygonStamped,
}
RELIABILITY = {"Best Effort": ReliabilityPolicy.BEST_EFFORT, "Reliable": ReliabilityPolicy.RELIABLE}
DURABILITY = {"Volatile": DurabilityPolicy.VOLATILE, "Transient Local": DurabilityPolicy.TRANSIENT_LOCAL}


def view(name):
    return yaml.safe_load((ROOT / "rviz" / name).read_text())["Visualization Manager"]


def displays(group):
    """All displays of a group, and of the groups in it."""
    for display in group.get("Displays", []):
        yield display
        yield from displays(display)


def topic_of(display):
    """Its topic with its QoS, if it has one."""
    return display.get("Topic") or display.get("Description Topic")


def shown(group):
    """The displays that have a topic."""
    return [display for display in displays(group) if topic_of(display)]


def frames(message):
    """The frames that a message speaks of."""
    if isinstance(message, MarkerArray):
        return {marker.header.frame_id for marker in message.markers}
    return set() if isinstance(message, String) else {message.header.frame_id}


def first_message(ros, display, namespace):
    """The first message on the topic of a display of an rviz2 in `namespace`, of the type and with the QoS that it takes."""
    topic = topic_of(display)
    qos = QoSProfile(
        depth=topic["Depth"],
        reliability=RELIABILITY[topic["Reliability Policy"]],
        durability=DURABILITY[topic["Durability Policy"]],
    )
    kind = TYPES[display["Class"].removeprefix("rviz_default_plugins/")]
    name = topic["Value"]
    subscription = ros.subscribe(kind, name if name.startswith("/") else f"{namespace}/{name}", qos)
    message = subscription.wait()
    subscription.close()
    return message

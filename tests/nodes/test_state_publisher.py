"""state_publisher behaves as robot_state_publisher does."""

import itertools
import math

import pytest
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from support.process import ROOT, NodeProcess
from support.ros import latched
from tf2_msgs.msg import TFMessage

pytestmark = pytest.mark.quick

INERTIA = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'


def joint(kind, name, parent, child, inner=""):
    return (
        f'<joint name="{name}" type="{kind}"><origin xyz="0 0 1"/><parent link="{parent}"/><child link="{child}"/>'
        f'<axis xyz="0 0 1"/><limit lower="-3" upper="3" effort="9" velocity="9"/>{inner}</joint>'
    )


def urdf(name="toy"):
    links = "".join(f'<link name="{link}">{INERTIA}</link>' for link in ("base", "arm", "tip", "slave"))
    mimic = '<mimic joint="lead" multiplier="-2" offset="0.5"/>'
    joints = joint("revolute", "lead", "base", "arm") + joint("fixed", "end", "arm", "tip")
    return f'<robot name="{name}">{links}{joints}{joint("revolute", "follow", "base", "slave", mimic)}</robot>'


@pytest.fixture
def toy(tmp_path):
    path = tmp_path / "toy.urdf"
    path.write_text(urdf())
    return path


def states(stamp, **positions):
    message = JointState(name=list(positions), position=[float(p) for p in positions.values()])
    message.header.stamp.sec, message.header.stamp.nanosec = int(stamp), round(stamp % 1 * 1e9)
    return message


def angles(message):
    """Angle about z by child frame."""
    rotation = {t.child_frame_id: t.transform.rotation for t in message.transforms}
    return {name: 2 * math.atan2(r.z, r.w) for name, r in rotation.items()}


def test_transforms(domain, ros, toy):
    with NodeProcess(domain, "state_publisher", parameters={"urdf": toy}):
        description = ros.subscribe(String, "robot_description", latched()).wait()
        assert description.data == urdf()
        [parameter] = ros.get_parameters("/state_publisher", "robot_description")
        assert parameter == urdf(), "the parameter says it, too"
        static = ros.subscribe(TFMessage, "/tf_static", latched()).wait()
        assert [(t.header.frame_id, t.child_frame_id) for t in static.transforms] == [("arm", "tip")]
        assert static.transforms[0].transform.translation.z == 1.0

        tf = ros.subscribe(TFMessage, "/tf")
        ros.wait_for(lambda: ros.node.count_publishers("/tf") == 1)
        source = ros.publisher(JointState, "joint_states")
        ros.wait_for(lambda: tf.messages or source.publish(states(100.0, lead=0.25, other=1.0)))
        first = tf.messages[0]
        assert {t.header.frame_id for t in first.transforms} == {"base"}
        assert (first.transforms[0].header.stamp.sec, first.transforms[0].header.stamp.nanosec) == (100, 0)
        assert angles(first) == pytest.approx({"arm": 0.25, "slave": 0.0}, abs=1e-12)

        # 20 Hz by the stamps: the one in between is passed over
        tf.clear()
        for stamp in (100.02, 100.04, 100.05):
            source.publish(states(stamp, lead=stamp - 100))
        message = tf.wait()
        assert angles(message)["arm"] == pytest.approx(0.05, abs=1e-9) and len(tf.messages) == 1

        # arrays that do not fit are ignored
        bad = states(200.0, lead=1.0)
        bad.position = []
        source.publish(bad)
        source.publish(states(201.0, lead=0.75, follow=1.5))
        assert angles(tf.wait(lambda m: m.transforms[0].header.stamp.sec > 150)) == pytest.approx(
            {"arm": 0.75, "slave": 1.5}
        )


def test_prefix_timestamps_and_live_description(domain, ros, toy):
    parameters = {"urdf": toy, "frame_prefix": "left/", "ignore_timestamp": True}
    with NodeProcess(domain, "state_publisher", name="publisher", parameters=parameters):
        static = ros.subscribe(TFMessage, "/tf_static", latched())
        assert static.wait().transforms[0].child_frame_id == "left/tip"
        tf = ros.subscribe(TFMessage, "/tf")
        source = ros.publisher(JointState, "joint_states")
        ros.wait_for(lambda: tf.messages or source.publish(states(100.0, lead=0.1)))
        tf.clear()
        source.publish(states(100.0, lead=0.2))
        source.publish(states(99.0, lead=0.3))
        ros.wait_for(lambda: any(abs(angles(m)["left/arm"] - 0.3) < 1e-9 for m in tf.messages))

        description = ros.subscribe(String, "robot_description", latched())
        description.wait()
        successful, reason = ros.set_parameter("/publisher", "robot_description", "<robot>")
        assert not successful and "robot_description" in reason
        assert ros.set_parameter("/publisher", "robot_description", urdf("second")) == (True, "")
        description.wait(lambda m: 'name="second"' in m.data)


def test_time_that_jumps_back_is_followed(domain, ros, toy):
    from rosgraph_msgs.msg import Clock

    parameters = {"urdf": toy, "use_sim_time": True}
    with NodeProcess(domain, "state_publisher", parameters=parameters):
        clock = ros.publisher(Clock, "/clock")
        tf = ros.subscribe(TFMessage, "/tf")
        source = ros.publisher(JointState, "joint_states")
        count = itertools.count()

        def publish(start, angle):
            stamp = start + 0.1 * next(count)  # a stamp is published once, and whoever was not there yet misses it
            message = Clock()
            message.clock = states(stamp).header.stamp
            clock.publish(message)
            source.publish(states(stamp, lead=angle))

        for stamp, angle in ((100, 0.1), (5, 0.2)):
            ros.wait_for(
                lambda: any(abs(angles(m)["arm"] - angle) < 1e-9 for m in tf.messages) or publish(stamp, angle),
                what=f"transforms at {stamp} s",
            )


@pytest.mark.parametrize(
    "parameters, words",
    [
        ({}, "no robot: set the parameter `robot_description`"),
        ({"urdf": "/none.urdf"}, "/none.urdf"),
        ({"robot_description": "<robot"}, "robot_description"),
    ],
)
def test_without_a_robot_it_says_so(domain, parameters, words):
    with NodeProcess(domain, "state_publisher", parameters=parameters) as node:
        assert node.wait() == 1
    assert words in node.output()


def test_arm6(domain, ros):
    path = ROOT / "urdf/arm6/arm6.urdf"
    with NodeProcess(domain, "state_publisher", parameters={"urdf": path}) as node:
        ros.subscribe(TFMessage, "/tf_static", latched()).wait(lambda m: len(m.transforms) > 1)
        ros.wait_for(lambda: node.cpu_share() < 0.02, what="an idle second, under 2 % of a core")

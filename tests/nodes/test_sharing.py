"""Several robots in one scene, and several systems on one graph."""

from contextlib import ExitStack

import pytest
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from geometry_msgs.msg import WrenchStamped
from karakuri_msgs.msg import Contacts, ObjectStates
from nav_msgs.msg import Odometry
from rosgraph_msgs.msg import Clock
from support.arm import CONFIG, SCENE, URDF
from support.each_test import domain, ros  # noqa: F401
from support.process import NodeProcess
from support.ros import latched
from tf2_msgs.msg import TFMessage

LINK = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
BALL = f'<robot name="ball"><link name="base_link">{LINK}</link></robot>'


@pytest.fixture
def two_arms(tmp_path):
    """A scene with two equal arms and a robot that floats."""
    (tmp_path / "ball.urdf").write_text(BALL)
    arms = "".join(
        f"  - {{name: {name}, urdf: {URDF}, config: {CONFIG}, base: fixed, pose: {{xyz: [0, {y}, 1]}}}}\n"
        for name, y in (("left", 1), ("right", -1))
    )
    scene = tmp_path / "two.yaml"
    scene.write_text(f"gravity: [0, 0, 0]\ndt: 0.001\nrobots:\n{arms}  - {{name: ball, urdf: ball.urdf, base: floating}}\n")
    return scene


def poses(message):
    """Height and side of each frame by (parent, child)."""
    return {(t.header.frame_id, t.child_frame_id): t.transform.translation.y for t in message.transforms}


@pytest.mark.parametrize("prefix", ["", "site/"])
def test_each_robot_of_a_scene_has_frames_of_its_own(domain, ros, two_arms, prefix):
    given = {"frame_prefix": prefix} if prefix else {}
    with NodeProcess(domain, "sim", namespace="/cell", parameters={"scene": two_arms, **given}):
        static = poses(ros.subscribe(TFMessage, "/tf_static", latched()).wait())
        assert static == {
            ("world", f"{prefix}left/base_link"): 1.0,
            ("world", f"{prefix}right/base_link"): -1.0,
            ("world", f"{prefix}ball/odom"): 0.0,
        }
        moving = ros.subscribe(TFMessage, "/tf").wait()
        assert list(poses(moving)) == [(f"{prefix}ball/odom", f"{prefix}ball/base_link")]
        odometry = ros.subscribe(Odometry, "/cell/ball/odom").wait()
        assert (odometry.header.frame_id, odometry.child_frame_id) == (f"{prefix}ball/odom", f"{prefix}ball/base_link")
        wrench = ros.subscribe(WrenchStamped, "/cell/right/wrench/wrist").wait()
        assert wrench.header.frame_id.startswith(f"{prefix}right/")


def status_of(array, node):
    """What `sim` of this name says of its robots."""
    return next((s for s in array.status if s.name == f"{node}: robots"), None)


def test_a_second_simulation_is_reported_once_with_the_cause(domain, ros):
    diagnostics = ros.subscribe(DiagnosticArray, "/diagnostics")
    with NodeProcess(domain, "sim", namespace="/arm", parameters={"scene": SCENE}) as first:
        diagnostics.wait(lambda m: (s := status_of(m, "arm/sim")) and s.level == DiagnosticStatus.OK)
        with NodeProcess(domain, "sim", namespace="/arm", parameters={"scene": SCENE}):
            found = diagnostics.wait(lambda m: (s := status_of(m, "arm/sim")) and s.level == DiagnosticStatus.WARN)
            said = status_of(found, "arm/sim").message
            assert "`/arm/joint_states` has 2 publishers (/arm/sim, /arm/sim)" in said, said
            ros.spin_for(3.0)
        warnings = [line for line in first.output().splitlines() if "publishers" in line]
        assert len(warnings) == 1, warnings


def test_another_clock_is_reported_and_a_world_of_its_own_avoids_it(domain, ros):
    diagnostics = ros.subscribe(DiagnosticArray, "/diagnostics")
    with NodeProcess(domain, "sim", namespace="/left", parameters={"scene": SCENE}):
        with NodeProcess(domain, "sim", namespace="/right", parameters={"scene": SCENE}):
            found = diagnostics.wait(lambda m: (s := status_of(m, "right/sim")) and s.level == DiagnosticStatus.WARN)
            assert "`/clock` has 2 publishers (/left/sim, /right/sim)" in status_of(found, "right/sim").message.replace(
                "/right/sim, /left/sim", "/left/sim, /right/sim"
            )
        ros.wait_for(lambda: ros.node.count_publishers("/clock") == 1)
        own = {"scene": SCENE, "world_namespace": "/right"}
        with NodeProcess(domain, "sim", namespace="/right", parameters=own):
            for kind, topic in ((Clock, "clock"), (ObjectStates, "objects"), (Contacts, "contacts")):
                ros.subscribe(kind, f"/right/{topic}").wait()
            assert [ros.node.count_publishers(f"/{topic}") for topic in ("clock", "objects", "contacts")] == [1, 1, 1]


def test_two_controllers_of_one_robot_are_reported(domain, ros):
    diagnostics = ros.subscribe(DiagnosticArray, "/diagnostics")
    robot = {"urdf": URDF, "config": CONFIG}
    with ExitStack() as stack:
        stack.enter_context(NodeProcess(domain, "sim", namespace="/arm", parameters={"scene": SCENE}))
        first, second = (
            stack.enter_context(NodeProcess(domain, "feedforward_controller", name=name, namespace="/arm", parameters=robot))
            for name in ("first", "second")
        )
        said = diagnostics.wait(lambda m: (s := status_of(m, "arm/sim")) and s.level == DiagnosticStatus.WARN and "joint_command" in s.message)
        message = status_of(said, "arm/sim").message
        assert "`/arm/joint_command` has 2 publishers" in message and "/arm/first" in message and "/arm/second" in message, message
        for controller in (first, second):
            ros.wait_for(lambda c=controller: any("`/arm/joint_command` has 2 publishers" in line for line in c.lines), what="a warning")

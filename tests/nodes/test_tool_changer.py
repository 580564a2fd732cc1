"""change_tool, with stand-ins of the robot, its controller and the coupling."""

import math
import time
from xml.etree import ElementTree

import pytest
from action_msgs.msg import GoalStatus
from control_msgs.action import FollowJointTrajectory
from geometry_msgs.msg import WrenchStamped
from karakuri_msgs.action import ChangeTool
from karakuri_msgs.msg import GripState
from karakuri_msgs.srv import SetTool
from rclpy.action import ActionServer, CancelResponse
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from support.arm import ARM
from support.process import ROOT, NodeProcess
from support.ros import latched

TOOLS = ROOT / "config/tools/arm6.yaml"
# The flange looks down (posture `ready` of config/arm6_bare.yaml).
READY = [0.0, 0.1, 1.7, -0.2292, 0.0, 0.0]
# Of wrist_3_link and of the tools beyond it, by the URDFs. [kg]
WRIST = 0.35
MASSES = {"none": 0.0, "jaws": 0.62 + 2 * (0.04 + 0.025 + 0.08 + 0.006), "cup": 0.34 + 0.0136}
PERIOD = 0.01
Result = ChangeTool.Result


def product(a, b):
    return [[sum(a[i][k] * b[k][j] for k in range(3)) for j in range(3)] for i in range(3)]


def turn(axis, angle):
    c, s = math.cos(angle), math.sin(angle)
    return {"x": [[1, 0, 0], [0, c, -s], [0, s, c]], "y": [[c, 0, s], [0, 1, 0], [-s, 0, c]], "z": [[c, -s, 0], [s, c, 0], [0, 0, 1]]}[axis]


class Cell:
    """A robot whose controller carries out trajectories at once, with a coupling that asks whether the flange is at a dock."""

    def __init__(self, ros, joints):
        self.ros, self.joints = ros, joints
        self.states = ros.node.create_publisher(JointState, "/arm/joint_states", 10)
        self.wrench = ros.node.create_publisher(WrenchStamped, "/arm/wrench/wrist", 10)
        self.tool_topic = ros.node.create_publisher(String, "/arm/tool", latched())
        self.grip = ros.node.create_publisher(GripState, "/arm/grip_state", 10)
        self.timer = ros.node.create_timer(PERIOD, self.publish)
        self.controller = self.changer = None
        self.reset("jaws")

    def reset(self, tool):
        self.tool, self.hangs, self.positions, self.log = tool, MASSES[tool], list(READY), []
        self.couples, self.refuses, self.holds_back = True, "", False
        self.serve(controller=True, changer=True)
        self.tool_topic.publish(String(data=tool))

    def serve(self, controller, changer):
        """Offers the controller and the coupling, or not."""
        if controller and not self.controller:
            self.controller = ActionServer(
                self.ros.node, FollowJointTrajectory, "/arm/follow_joint_trajectory", self.follow, cancel_callback=lambda _: CancelResponse.ACCEPT
            )
        elif self.controller and not controller:
            self.controller.destroy()
            self.controller = None
        if changer and not self.changer:
            self.changer = self.ros.node.create_service(SetTool, "/arm/sim/set_tool", self.set_tool)
        elif self.changer and not changer:
            self.ros.node.destroy_service(self.changer)
            self.changer = None

    def close(self):
        self.serve(controller=False, changer=False)
        self.ros.node.destroy_timer(self.timer)
        for publisher in (self.states, self.wrench, self.tool_topic, self.grip):
            self.ros.node.destroy_publisher(publisher)

    def publish(self):
        stamp = self.ros.node.get_clock().now().to_msg()
        hand = self.joints.get(self.tool, [])
        states = JointState(name=ARM + hand, position=self.positions + [0.0] * len(hand), velocity=[0.0] * (6 + len(hand)))
        states.header.stamp = stamp
        self.states.publish(states)
        wrench = WrenchStamped()
        wrench.header.stamp = stamp
        # The arm bears the weight: upwards, in the axes of the wrist's link.
        rotation = turn("z", 0.0)
        for axis, angle in zip("zyyyzx", self.positions, strict=True):
            rotation = product(rotation, turn(axis, angle))
        force = (WRIST + self.hangs) * 9.81
        wrench.wrench.force.x, wrench.wrench.force.y, wrench.wrench.force.z = (force * c for c in rotation[2])
        self.wrench.publish(wrench)

    async def follow(self, handle):
        trajectory = handle.request.trajectory
        assert trajectory.joint_names == ARM and len(handle.request.path_tolerance) == 6
        begins = max(abs(a - b) for a, b in zip(trajectory.points[0].positions, self.positions, strict=True))
        self.log.append(("follow", len(trajectory.points), begins))
        while self.holds_back and not handle.is_cancel_requested:
            await self.pause()
        if handle.is_cancel_requested:
            self.log.append(("stop",))
            handle.canceled()
            return FollowJointTrajectory.Result()
        self.positions = list(trajectory.points[-1].positions)
        handle.succeed()
        return FollowJointTrajectory.Result()

    async def pause(self):
        future = self.ros.executor.create_task(lambda: time.sleep(PERIOD))
        await future

    def set_tool(self, request, response):
        # It went straight down before: over a place it is by one segment of the joints.
        ways = [entry[1] for entry in self.log if entry[0] == "follow"]
        at_dock = len(ways) >= 2 and ways[-2] == 2 and ways[-1] > 2
        self.log.append(("set_tool", request.tool))
        response.success = at_dock and not self.refuses
        response.message = self.refuses or ("" if at_dock else "the flange is not at a dock")
        if response.success:
            self.tool = request.tool
            self.hangs = MASSES[self.tool] if self.couples else 0.0
            self.tool_topic.publish(String(data=self.tool))
        return response


def movable_joints(urdf):
    """Names of the hand's joints, as joint states have them."""
    root = ElementTree.parse(ROOT / urdf).getroot()
    names = [joint.get("name") for joint in root.iter("joint") if joint.get("type") not in (None, "fixed")]
    return [name for name in names if name not in ARM]


@pytest.fixture(scope="module")
def robot(ros):
    cell = Cell(ros, {"jaws": movable_joints("urdf/arm6/arm6.urdf"), "cup": movable_joints("urdf/arm6/arm6_suction.urdf")})
    yield cell
    cell.close()


@pytest.fixture(scope="module")
def node(domain, robot):
    with NodeProcess(domain, "tool_changer", namespace="/arm", parameters={"tools": TOOLS}) as node:
        yield node


@pytest.fixture(scope="module")
def client(node, ros):
    client = ros.action(ChangeTool, "/arm/change_tool")
    yield client
    client.destroy()


@pytest.fixture
def cell(robot, node, ros, client):
    """The robot with its jaws, heard by the node."""
    robot.reset("jaws")
    ros.wait_for(lambda: robot.states.get_subscription_count() and robot.wrench.get_subscription_count(), what="the node")
    ros.spin_for(0.5)
    return robot


def change(ros, client, tool, feedback=None):
    """(status, result) of a goal."""
    handle = ros.send_goal(client, ChangeTool.Goal(tool=tool), feedback)
    assert handle.accepted
    return ros.result(handle, timeout=90.0)


def test_the_jaws_are_exchanged_for_the_cup(cell, ros, client):
    feedback = []
    status, result = change(ros, client, "cup", feedback)
    assert (status, result.success, result.error_code) == (GoalStatus.STATUS_SUCCEEDED, True, Result.NONE), result.message
    assert (result.tool, cell.tool) == ("cup", "cup")
    assert result.mass == pytest.approx(MASSES["cup"], abs=1e-6)
    assert result.elapsed > 0.0
    kinds = [entry[0] if entry[0] == "follow" else entry for entry in cell.log]
    assert kinds == ["follow"] * 2 + [("set_tool", "none")] + ["follow"] * 3 + [("set_tool", "cup")] + ["follow"] * 2
    # Each motion begins where the last one ended.
    assert max(entry[2] for entry in cell.log if entry[0] == "follow") < 1e-6
    assert cell.positions == pytest.approx(READY, abs=1e-9)
    states = [f.state for f in feedback]
    order = list(dict.fromkeys(states))
    assert order == ["TO_DOCK", "LET_GO", "WEIGH", "TO_NEXT", "COUPLE", "RETREAT"], states
    assert states.index("COUPLE") < len(states) - 1 - states[::-1].index("WEIGH"), "the cup is weighed, too"
    assert list(dict.fromkeys(f.tool for f in feedback)) == ["jaws", "none", "cup"]


def test_what_is_on_the_flange_is_only_weighed(cell, ros, client):
    status, result = change(ros, client, "jaws")
    assert (status, result.success, cell.log) == (GoalStatus.STATUS_SUCCEEDED, True, [])
    assert result.mass == pytest.approx(MASSES["jaws"], abs=1e-6)


def test_a_tool_that_is_not_felt_is_lost(cell, ros, client):
    cell.reset("none")
    ros.spin_for(0.5)
    cell.couples = False
    status, result = change(ros, client, "cup")
    assert (status, result.error_code) == (GoalStatus.STATUS_ABORTED, Result.TOOL_LOST)
    assert "where `cup` has 0.354 kg" in result.message
    assert abs(result.mass) < 1e-6


def test_a_coupling_that_refuses_is_left_upwards(cell, ros, client):
    cell.refuses = "the flange stands 3 mm beside the dock"
    status, result = change(ros, client, "cup")
    assert (status, result.error_code, result.tool) == (GoalStatus.STATUS_ABORTED, Result.REFUSED, "jaws")
    assert "3 mm beside the dock" in result.message
    assert [entry[0] for entry in cell.log] == ["follow", "follow", "set_tool", "follow"]


def test_an_unknown_tool_is_refused_with_the_names(cell, ros, client):
    status, result = change(ros, client, "fork")
    assert (status, result.error_code, cell.log) == (GoalStatus.STATUS_ABORTED, Result.UNKNOWN_TOOL, [])
    assert "none, jaws, cup" in result.message


def test_a_hand_that_holds_something_keeps_its_place(cell, ros, client):
    cell.grip.publish(GripState(holding=True, margin=math.nan))
    ros.spin_for(0.3)
    status, result = change(ros, client, "cup")
    assert (status, result.error_code, cell.log) == (GoalStatus.STATUS_ABORTED, Result.OBJECT_HELD, [])
    cell.grip.publish(GripState(holding=False, margin=math.nan))
    ros.spin_for(0.3)
    assert change(ros, client, "jaws")[1].success


def test_a_cancel_stops_the_arm_and_a_second_goal_is_rejected(cell, ros, client):
    cell.holds_back = True
    handle = ros.send_goal(client, ChangeTool.Goal(tool="cup"))
    ros.wait_for(lambda: cell.log, what="the first motion")
    assert not ros.send_goal(client, ChangeTool.Goal(tool="none")).accepted
    ros.finish(handle.cancel_goal_async(), what="the cancel's answer")
    status, result = ros.result(handle)
    assert (status, result.error_code, result.tool) == (GoalStatus.STATUS_CANCELED, Result.CANCELED, "jaws")
    assert "on the flange: `jaws`" in result.message
    ros.wait_for(lambda: cell.log[-1] == ("stop",), what="the stop")


def test_a_cancel_after_letting_go_waits_until_the_flange_is_up(cell, ros, client):
    handle = ros.send_goal(client, ChangeTool.Goal(tool="cup"))
    ros.wait_for(lambda: ("set_tool", "none") in cell.log, what="letting go")
    ros.finish(handle.cancel_goal_async(), what="the cancel's answer")
    status, result = ros.result(handle)
    assert (status, result.error_code, result.tool) == (GoalStatus.STATUS_CANCELED, Result.CANCELED, "none")
    assert [entry[0] for entry in cell.log] == ["follow", "follow", "set_tool", "follow"], "and up"


@pytest.mark.parametrize("missing", ["controller", "changer"])
def test_a_robot_without_controller_or_coupling_is_lost(cell, ros, client, missing):
    cell.serve(controller=missing != "controller", changer=missing != "changer")
    ros.spin_for(1.0)
    status, result = change(ros, client, "cup")
    assert (status, result.error_code, result.tool) == (GoalStatus.STATUS_ABORTED, Result.ROBOT_LOST, "jaws"), result.message


def test_joint_states_that_stop_are_noticed(cell, ros, client):
    cell.holds_back = True
    handle = ros.send_goal(client, ChangeTool.Goal(tool="cup"))
    ros.wait_for(lambda: cell.log, what="the first motion")
    cell.timer.cancel()
    try:
        status, result = ros.result(handle)
        assert (status, result.error_code) == (GoalStatus.STATUS_ABORTED, Result.ROBOT_LOST)
        assert "joint states do not come any more" in result.message
    finally:
        cell.holds_back = False
        cell.timer.reset()


def test_starts_with_a_tools_file_only(domain):
    with NodeProcess(domain, "tool_changer", namespace="/bare") as node:
        assert node.wait() == 1
        assert "parameter `tools` is empty" in node.output()

"""Nodes follow the tool on the flange: each starts again in its process with the robot that the topic `tool` names."""

import os
import shutil
import signal
import time
from xml.etree import ElementTree

import pytest
from action_msgs.msg import GoalStatus
from control_msgs.action import GripperCommand, ParallelGripperCommand
from karakuri_msgs.action import PickAndPlace
from rcl_interfaces.srv import GetParameters
from rclpy.parameter import parameter_value_to_python
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from support.arm import ARM, CONFIG, START, URDF, Arm, carry_out, pick, result_of
from support.domain import Domain
from support.process import ROOT, NodeProcess, executable
from support.ros import Ros, latched
from tf2_msgs.msg import TFMessage

TOOLS = ROOT / "config/tools/arm6.yaml"
#: Robot of each tool.
ROBOTS = {"none": "arm6_bare", "jaws": "arm6", "cup": "arm6_suction"}
NODES = ("feedforward_controller", "gripper", "state_publisher")


@pytest.fixture(scope="module")
def flange(ros):
    """Publisher of the name of what is on the flange."""
    return ros.node.create_publisher(String, "/arm/tool", latched())


def robot_of(ros, node):
    """The URDF that a node has loaded, while it answers."""
    try:
        found = ros.call(GetParameters, f"/arm/{node}/get_parameters", timeout=2.0, names=["urdf"])
    except AssertionError:
        return None  # it is between two starts
    return parameter_value_to_python(found.values[0])


def put_on(ros, flange, tool, nodes=NODES):
    """Puts a tool on the flange, and waits until the nodes have its robot."""
    flange.publish(String(data=tool))
    urdf = str(URDF.with_stem(ROBOTS[tool]))
    for node in nodes:
        ros.wait_for(lambda node=node: robot_of(ros, node) == urdf, what=f"{node} to have {urdf}")


@pytest.fixture(scope="module")
def nodes(domain, ros, flange):
    """The nodes of a robot whose tools change, in lockstep; only the gripper is given the robot that it has at first."""
    lockstep = {"lockstep": True, "tools": TOOLS}
    parameters = {
        "feedforward_controller": {**lockstep, "lockstep_sources": "[hand/joint_trajectory]"},
        "gripper": {**lockstep, "urdf": URDF, "config": CONFIG},
        "state_publisher": {"tools": TOOLS},
    }
    running = {name: NodeProcess(domain, name, namespace="/arm", parameters=parameters[name]) for name in NODES}
    try:
        # Those that were given no robot have the first one of the file, and name none.
        put_on(ros, flange, "jaws")
        yield running
    finally:
        for node in running.values():
            node.__exit__(None, None, None)


def open_files(node):
    return len(os.listdir(f"/proc/{node.process.pid}/fd"))


def arguments(node):
    with open(f"/proc/{node.process.pid}/cmdline", encoding="utf-8") as line:
        return line.read().split("\0")


def fixed_links(urdf):
    joints = ElementTree.parse(urdf).getroot().iter("joint")
    return {joint.find("child").get("link") for joint in joints if joint.get("type") == "fixed"}


def test_the_robot_is_that_of_the_tool(nodes, ros, flange):
    descriptions = ros.subscribe(String, "/arm/robot_description", latched())
    static = ros.subscribe(TFMessage, "/tf_static", latched(10))
    for tool, robot in (("jaws", "arm6"), ("none", "arm6_bare"), ("cup", "arm6_suction")):
        put_on(ros, flange, tool)
        urdf = URDF.with_stem(robot)
        descriptions.wait(lambda message, urdf=urdf: message.data == urdf.read_text())
        links = fixed_links(urdf)
        static.wait(lambda message, links=links: {t.child_frame_id for t in message.transforms} == links)
        assert all(node.process.poll() is None for node in nodes.values()), "each is one process throughout"
    assert "hand of `arm6_suction`: suction" in nodes["gripper"].output()
    descriptions.close()
    static.close()


def test_nothing_is_left_over_of_a_start(nodes, ros, flange):
    put_on(ros, flange, "jaws")
    put_on(ros, flange, "none")
    before = {name: (open_files(node), arguments(node)) for name, node in nodes.items()}
    for tool in ("cup", "jaws", "none"):
        put_on(ros, flange, tool)
    for name, node in nodes.items():
        files, words = before[name]
        assert arguments(node) == words, "the command line does not grow"
        ros.wait_for(lambda node=node, files=files: open_files(node) <= files, what=f"{name} to have {files} open files again")


def test_a_flange_without_a_hand_refuses_goals(nodes, ros, flange):
    put_on(ros, flange, "none")
    status, result = result_of(ros, PickAndPlace, "pick_and_place", pick())
    assert (status, result.error_code) == (GoalStatus.STATUS_ABORTED, PickAndPlace.Result.WRONG_TOOL)
    assert result.message == "`none` is on the flange, which is no hand; `change_tool` brings one"
    for kind, name in ((GripperCommand, "gripper_cmd"), (ParallelGripperCommand, "parallel_gripper_cmd")):
        client = ros.action(kind, f"/arm/{name}")
        assert not ros.send_goal(client, kind.Goal()).accepted
        rejected = f"action `{name}`: goal rejected: {result.message}"
        ros.wait_for(lambda rejected=rejected: rejected in nodes["gripper"].output(), what=f"the log to say: {rejected}")
        client.destroy()


def test_in_lockstep_nobody_waits_for_a_flange_without_a_hand(nodes, ros, flange):
    """The controller names the hand among its sources; where there is none, it answers by itself."""
    put_on(ros, flange, "none")
    commands = ros.subscribe(JointState, "/arm/joint_command")
    samples = ros.publisher(JointState, "/arm/joint_states")
    for second in range(1, 4):
        sample = JointState(name=ARM, position=START, velocity=[0.0] * 6, effort=[0.0] * 6)
        sample.header.stamp.sec = second
        samples.publish(sample)
        commands.wait(lambda message, second=second: message.header.stamp.sec == second, timeout=8.0)
    commands.close()


def test_samples_of_another_robot_end_no_node(nodes, ros, flange):
    """Between two tools a sample may be of the robot with the other one."""
    put_on(ros, flange, "jaws")
    samples = ros.publisher(JointState, "/arm/joint_states", subscribers=2)
    samples.publish(JointState(name=ARM, position=START, velocity=[0.0] * 6, effort=[0.0] * 6))
    controller = nodes["feedforward_controller"]
    ros.wait_for(lambda: "joint_states lack " in controller.output(), what="a warning of the missing joints")
    assert all(node.process.poll() is None for node in nodes.values())


def test_an_unknown_name_is_a_warning(nodes, ros, flange):
    put_on(ros, flange, "none")
    n_starts = {name: node.output().count("starting again") for name, node in nodes.items()}
    for _ in range(3):
        flange.publish(String(data="spoon"))
    warning = "no tool `spoon`; there are: none, jaws, cup"
    for name, node in nodes.items():
        ros.wait_for(lambda node=node: warning in node.output(), what=f"{name} to warn")
    ros.spin_for(1.0)
    for name, node in nodes.items():
        assert node.output().count("starting again") == n_starts[name]
        assert node.output().count(warning) == 1, "one warning, not one a message"
        assert robot_of(ros, name) == str(URDF.with_stem("arm6_bare"))


@pytest.mark.parametrize("delay", [0.0, 0.05, 0.3, 0.6])
def test_a_signal_ends_a_node_that_starts_again(domain, ros, delay):
    flange = ros.node.create_publisher(String, "/other/tool", latched())
    flange.publish(String(data="cup"))
    node = NodeProcess(domain, "state_publisher", namespace="/other", parameters={"tools": TOOLS, "urdf": URDF})
    ros.wait_for(lambda: "starting again" in node.output(), what="the start with the cup")
    time.sleep(delay)  # not for something to happen: for the signal to come at some other moment of the start
    node.process.send_signal(signal.SIGTERM)
    assert node.wait() in (0, -signal.SIGTERM), node.output()
    ros.node.destroy_publisher(flange)


def test_a_program_that_is_gone_says_so(domain, ros, tmp_path):
    flange = ros.node.create_publisher(String, "/other/tool", latched())
    program = shutil.copy(executable("state_publisher"), tmp_path)
    with NodeProcess(domain, program, namespace="/other", parameters={"tools": TOOLS}) as node:
        ros.wait_for(lambda: "publishing" in node.output(), what="the start")
        os.unlink(program)
        flange.publish(String(data="cup"))
        assert node.wait() == 1
        assert "failed to start again: No such file" in node.output()
    ros.node.destroy_publisher(flange)


def test_without_tools_a_gripper_needs_a_hand(domain):
    bare = {"urdf": URDF.with_stem("arm6_bare"), "config": CONFIG.with_stem("arm6_bare")}
    with NodeProcess(domain, "gripper", name="other", parameters=bare) as node:
        assert node.wait() == 1
        assert "end_effector" in node.output()


def test_a_goal_under_way_ends_with_a_reason():
    """The tool is gone while the arm carries out a pick and place."""
    with Domain() as domain, Ros(domain) as ros:
        lose_the_tool(domain, ros)


def lose_the_tool(domain, ros):
    flange = ros.node.create_publisher(String, "/arm/tool", latched())
    arm = Arm(domain, nodes=("sim", "feedforward_controller", "gripper"))
    arm.parameters["gripper"]["tools"] = TOOLS
    flange.publish(String(data="jaws"))
    with arm:
        carry_out(ros, START)
        client = ros.action(PickAndPlace, "/arm/pick_and_place")
        feedback = []
        goal = ros.wait_for(lambda: (h := ros.send_goal(client, pick(), feedback)).accepted and h, what="acceptance")
        ros.wait_for(lambda: feedback, what="feedback")
        future = goal.get_result_async()
        flange.publish(String(data="none"))
        response = ros.finish(future, what="the goal's result")
        assert response.status == GoalStatus.STATUS_ABORTED
        assert response.result.error_code in (PickAndPlace.Result.ROBOT_LOST, PickAndPlace.Result.WRONG_TOOL)
        assert response.result.message
        client.destroy()

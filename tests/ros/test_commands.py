"""`karakuri goal`, `echo`, `param`, `topics`, `nodes` and `actions` against a node of karakuri_ros and rclpy."""

import math
import signal
import subprocess

import pytest
import yaml
from control_msgs.action import GripperCommand
from rclpy.action import ActionServer
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from support.process import NodeProcess, executable
from support.ros import latched

COUNT = "/fixture/count"
TYPE = "control_msgs/action/GripperCommand"
SUCCEED, ABORT, REFUSE = 0.0, 1.0, 3.0


@pytest.fixture(scope="module")
def node(domain):
    with NodeProcess(domain, "ros_fixture", parameters={"frame": "base"}) as node:
        yield node


@pytest.fixture
def karakuri(domain, node):
    """Runs the program; its exit code, stdout and stderr."""

    def run(*arguments, timeout=60):
        command = [str(executable("karakuri")), *arguments]
        done = subprocess.run(command, env=domain.environment(), capture_output=True, text=True, timeout=timeout)
        return done.returncode, done.stdout, done.stderr

    return run


def start(domain, *arguments):
    command = [str(executable("karakuri")), *arguments]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen(command, env=domain.environment(), **pipes)


def spun(ros, process, timeout=60):
    """Waits for the end of a program whose partner is this test's node."""
    ros.wait_for(lambda: process.poll() is not None, timeout, "the end of the program")
    return process.returncode, *process.communicate()


def goal(position, ending=SUCCEED):
    return f"{{command: {{position: {position}, max_effort: {ending}}}}}"


def test_a_goal_is_sent_followed_and_shown_as_ros2_does(karakuri):
    code, out, err = karakuri("goal", "-f", COUNT, TYPE, goal(3))
    assert (code, err) == (0, ""), out
    lines = out.splitlines()
    assert lines[:4] == ["Waiting for an action server to become available...", "Sending goal:", "    command:", "      position: 3"]
    assert any(line.startswith("Goal accepted with ID: ") for line in lines)
    assert lines.count("Feedback:") >= 2
    result = yaml.safe_load(out.split("Result:\n")[1].split("\n\n")[0])
    assert list(result) == ["position", "effort", "stalled", "reached_goal"] and result["position"] == 3.0
    assert lines[-1] == "Goal finished with status: SUCCEEDED"


def test_the_type_may_be_left_out_and_json_is_yaml(karakuri):
    code, out, _ = karakuri("goal", "fixture/count", '{"command": {"position": 1}}')
    assert code == 0 and "Feedback" not in out and out.endswith("status: SUCCEEDED\n"), out


def test_a_goal_that_fails_ends_with_3(karakuri):
    code, out, err = karakuri("goal", COUNT, goal(1, ABORT))
    assert (code, out.splitlines()[-1], err) == (3, "Goal finished with status: ABORTED", "error: the goal was aborted\n")
    code, _, err = karakuri("goal", COUNT, goal(-1, REFUSE))
    assert (code, err) == (3, "error: Goal was rejected; the log of the server says why\n")


@pytest.mark.parametrize(
    "arguments, expected",
    [
        (["/fixture/cont", "{}", "--wait", "1"], f"no action server /fixture/cont; there are {COUNT} ({TYPE}), "),
        ([COUNT, "karakuri_msgs/action/Walk", "{}"], f"{COUNT} takes a {TYPE}, not a karakuri_msgs/action/Walk"),
        ([COUNT, "{comand: {}}"], f"{TYPE}_Goal has no field `comand`; its fields are command"),
        ([COUNT, "{command: {force: 1}}"], "command: control_msgs/msg/GripperCommand has no field `force`; its fields are position, max_effort"),
        ([COUNT, "{command: {position: far}}"], "command.position is of type float64, got `far`"),
        ([COUNT, "{command: {position: .nan}}"], "command.position is of type float64 (a finite number), got"),
        ([COUNT, "{command: "], "the goal is no YAML: "),
    ],
)
def test_a_goal_that_cannot_be_is_refused_with_what_can(karakuri, arguments, expected):
    code, _, err = karakuri("goal", *arguments)
    assert code == 1 and err.startswith("error: ") and expected in err, err
    assert len(err.splitlines()) == 1, err


def test_control_c_cancels_the_goal(domain, node, ros):
    process = start(domain, "goal", "-f", COUNT, TYPE, goal(1e9))
    for line in process.stdout:
        if line.startswith("Feedback:"):
            break
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 130, out + err
    assert "Canceling goal...\n" in out and out.endswith("Goal finished with status: CANCELED\n"), out


def test_a_server_that_dies_ends_the_goal(domain):
    with NodeProcess(domain, "ros_fixture", name="other") as other:
        process = start(domain, "goal", "-f", "/other/count", goal(1e9))
        for line in process.stdout:
            if line.startswith("Feedback:"):
                break
        other.stop()
        out, err = process.communicate(timeout=60)
    # it says goodbye to its goals, or is simply gone
    assert process.returncode == 3 and ("aborted" in err or "went away" in err or "forgot" in err), out + err


def test_a_server_that_is_started_again_ends_the_goal(domain):
    """Killed, it is on the network until its lease is over, beside its successor."""
    with NodeProcess(domain, "ros_fixture", name="again") as first:
        process = start(domain, "goal", "-f", "/again/count", goal(1e9))
        for line in process.stdout:
            if line.startswith("Feedback:"):
                break
        first.kill()
        with NodeProcess(domain, "ros_fixture", name="again"):
            out, err = process.communicate(timeout=30)
    assert process.returncode == 3 and err == "error: the server of /again/count went away\n", out + err


def test_echo_shows_every_number_as_it_is_in_the_order_of_the_definition(domain, ros):
    publisher = ros.node.create_publisher(JointState, "/echoed", 10)
    message = JointState(name=["a", "b"], position=[0.1, math.nan], effort=[-math.inf, 1e10])
    message.header.frame_id = "base"
    process = start(domain, "echo", "--once", "/echoed")
    while process.poll() is None:
        publisher.publish(message)
        ros.spin_for(0.1)
    out, err = process.communicate()
    assert (process.returncode, err) == (0, "")
    text, end = out.split("---\n")
    shown = yaml.safe_load(text)
    assert end == "" and list(shown) == ["header", "name", "position", "velocity", "effort"]
    assert shown["header"] == {"stamp": {"sec": 0, "nanosec": 0}, "frame_id": "base"}
    assert shown["name"] == ["a", "b"] and shown["velocity"] == [] and shown["effort"] == [-math.inf, 1e10]
    assert shown["position"][0] == 0.1 and math.isnan(shown["position"][1])
    process = start(domain, "echo", "--once", "/echoed", "sensor_msgs/msg/JointState", "--field", "position[0]")
    while process.poll() is None:
        publisher.publish(message)
        ros.spin_for(0.1)
    assert process.communicate() == ("0.1\n---\n", "")
    ros.node.destroy_publisher(publisher)


def test_echo_hears_what_was_published_before(domain, ros):
    publisher = ros.node.create_publisher(String, "/latched", latched())
    publisher.publish(String(data="once"))
    process = start(domain, "echo", "--once", "/latched")
    assert spun(ros, process) == (0, "data: once\n---\n", "")
    process = start(domain, "echo", "/latched", "--field", "dat")
    code, _, err = spun(ros, process)
    assert (code, err) == (1, "error: the message has no field `dat`; its fields are data\n")
    process = start(domain, "echo", "/latched", "std_msgs/msg/Bool")
    code, _, err = spun(ros, process)
    assert (code, err) == (1, "error: /latched is a std_msgs/msg/String, not a std_msgs/msg/Bool\n")
    ros.node.destroy_publisher(publisher)


def test_echo_of_a_topic_that_is_not_there_or_silent(karakuri, ros):
    code, _, err = karakuri("echo", "/nothing", "--wait", "1")
    assert code == 1 and err.startswith("error: nobody publishes or listens to /nothing; there are "), err
    assert "/fixture/count/_action" not in err and "/rosout" in err
    code, _, err = karakuri("echo", "/nothing", "std_msgs/msg/String", "--timeout", "0.5", "--wait", "1")
    assert (code, err) == (3, "error: /nothing: no message came for 0.5 s\n")
    code, _, err = karakuri("echo", "/nothing", "no_msgs/msg/String")
    assert code == 1 and "the type `no_msgs/msg/String` is not installed" in err


def test_parameters_are_read_and_set(karakuri):
    assert karakuri("param", "get", "/fixture", "frame") == (0, "String value is: base\n", "")
    assert karakuri("param", "set", "/fixture", "rate", "40") == (0, "Set parameter successful\n", "")
    assert karakuri("param", "get", "fixture", "rate") == (0, "Double value is: 40.0\n", "")
    assert karakuri("param", "set", "/fixture", "gains", "[3, 4.5]")[0] == 0
    assert karakuri("param", "get", "/fixture", "gains", "--hide-type") == (0, "[3.0, 4.5]\n", "")
    code, out, _ = karakuri("param", "list", "/fixture")
    names = ["count", "flag", "frame", "gains", "mode", "names", "rate", "start_type_description_service", "use_sim_time"]
    assert (code, out.split()) == (0, names)
    code, out, _ = karakuri("param", "dump", "/fixture")
    dumped = yaml.safe_load(out)["/fixture"]["ros__parameters"]
    assert code == 0 and list(dumped) == names and dumped["rate"] == 40.0 and dumped["gains"] == [3.0, 4.5]


@pytest.mark.parametrize(
    "arguments, expected",
    [
        (["get", "/fixture", "rat"], "/fixture has no parameter `rat`; alike are rate; `karakuri param list /fixture` lists them"),
        (["get", "/fixure", "rate", "--wait", "1"], "there is no node /fixure; there are "),
        (["set", "/fixture", "rate", "0.5"], "/fixture refuses: parameter `rate`: 0.5 is outside its range 1.0 to 1000.0"),
        (["set", "/fixture", "rate", "fast"], "/fixture refuses: parameter `rate`: got a string, want a double"),
        (["set", "/fixture", "none", "1"], "/fixture refuses: parameter `none` is not declared"),
    ],
)
def test_parameters_that_cannot_be_are_refused(karakuri, arguments, expected):
    code, out, err = karakuri("param", *arguments)
    assert (code, out) == (1, "") and expected in err, err


def test_who_is_there(karakuri, ros):
    server = ActionServer(ros.node, GripperCommand, "/python/grip", lambda goal: None)
    try:
        assert karakuri("nodes") == (0, "/fixture\n/test_client\n", "")
        code, out, _ = karakuri("actions", "-t")
        assert (code, out) == (0, f"{COUNT} [{TYPE}]\n/fixture/exclusive [control_msgs/action/FollowJointTrajectory]\n/python/grip [{TYPE}]\n")
        code, out, _ = karakuri("topics", "--show-types")
        assert code == 0 and "/rosout [rcl_interfaces/msg/Log]\n" in out and "_action" not in out
    finally:
        server.destroy()


def test_help_is_that_of_the_command(karakuri):
    code, out, _ = karakuri("goal", "--help")
    text = " ".join(out.split())  # wrapped at the width of whoever looks
    assert code == 0 and "ros2 action send_goal" in text and "Usage: karakuri goal" in text
    code, _, err = karakuri("goal")
    assert code == 2 and "Usage: karakuri goal" in err

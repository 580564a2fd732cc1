"""A node's life, topics, time, logs and diagnostics, seen by rclpy."""

import signal
import subprocess
import time
from contextlib import ExitStack

import pytest
from diagnostic_msgs.msg import DiagnosticArray
from rcl_interfaces.msg import Log
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import Int64, String
from std_srvs.srv import Trigger
from support.process import NodeProcess, executable
from support.ros import latched
from type_description_interfaces.srv import GetTypeDescription


@pytest.fixture(scope="module")
def node(domain):
    with NodeProcess(domain, "ros_fixture") as node:
        yield node


def is_up(ros, name="/fixture"):
    ros.client(Trigger, f"{name}/values")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_cleanly_and_fast(domain, ros, number):
    with NodeProcess(domain, "ros_fixture", name="brief") as node:
        is_up(ros, "/brief")
        code, seconds = node.stop(number)
    assert code == 0
    assert seconds < 0.5, f"took {seconds:.3f} s"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_echo_of_the_signal_changes_nothing(domain, ros, number):
    """`timeout` signals a process and its group: the same wish, twice within milliseconds."""
    with NodeProcess(domain, "ros_fixture", name="echoed") as node:
        is_up(ros, "/echoed")
        node.process.send_signal(number)
        time.sleep(0.002)
        code, _ = node.stop(number)
    assert code == 0


@pytest.mark.parametrize(
    "arguments, words",
    [
        (["--ros-args", "-r"], "ROS argument `-r` needs a value"),
        (["--ros-args", "--frob"], "unknown ROS argument `--frob`"),
        (["--ros-args", "-r", "x=y"], "`-r x=y`: expected `[node:]from:=to`"),
        (["--ros-args", "-p", "rate"], "`-p rate`: expected `[node:]name:=value`"),
        (["--ros-args", "-p", "gains:=[1, 2.5]"], "a list of integers holds doubles too"),
        (["--ros-args", "--params-file", "/none.yaml"], "parameter file `/none.yaml`"),
        (["--ros-args", "--log-level", "loud"], "`--log-level loud`: expected one of"),
        (["--ros-args", "-r", "__node:=a/b"], "__node:=a/b"),
        ([b"\xff"], "is not valid UTF-8"),
        (["stray"], "unexpected argument `stray`"),
    ],
)
def test_a_bad_command_line_is_one_line_and_status_2(domain, arguments, words):
    command = [executable("ros_fixture"), *arguments]
    done = subprocess.run(command, env=domain.environment(), capture_output=True, timeout=60)
    text = done.stderr.decode()
    lines = [line for line in text.splitlines() if line.strip()]
    assert done.returncode == 2, text
    assert len(lines) == 1 and words in lines[0], text


@pytest.mark.parametrize(
    "value, words",
    [
        ("rate:=fast", "failed to start: set parameter `rate`: got the string fast, want a double"),
        ("rate:=2000.0", "failed to start: set parameter `rate`: 2000.0 is outside its range 1.0 to 1000.0"),
        ("count:=1.5", "failed to start: set parameter `count`: got the double 1.5, want an integer"),
        ("mode:=lazy", "failed to start: set parameter `mode`: `lazy` is neither slow nor fast"),
        ("names:=[1, 2]", "failed to start: set parameter `names`: got the list [1, 2], want a string array"),
    ],
)
def test_a_bad_parameter_at_start_is_one_line_and_status_1(domain, value, words):
    command = [executable("ros_fixture"), "--ros-args", "-p", value]
    done = subprocess.run(command, env=domain.environment(), capture_output=True, timeout=60, text=True)
    lines = [line for line in done.stderr.splitlines() if line.strip()]
    assert done.returncode == 1, done.stderr
    assert len(lines) == 1 and words in lines[0], done.stderr


def test_idle_costs_next_to_nothing(ros, node):
    is_up(ros)
    # the fixture ticks 100 times a second; an idle node does nothing
    ros.wait_for(lambda: node.cpu_share() < 0.05, what="an idle second, under 5 % of a core")


def test_messages_come_back_at_once(ros, node):
    pong = ros.subscribe(JointState, "pong")
    ping = ros.publisher(JointState, "ping")
    message = JointState(name=["a", "b"], position=[0.5, -1.0], effort=[float("nan"), 1.0])
    # until the node has found the subscriber of its answer, which is after the test found the node
    ros.wait_for(lambda: pong.messages or ping.publish(message), what="a message on pong")
    got = pong.last
    assert (list(got.name), list(got.position)) == (["a", "b"], [0.5, -1.0])
    assert got.effort[0] != got.effort[0], "NaN passes"


def test_a_burst_arrives_complete_and_in_order(ros, node):
    received = ros.subscribe(String, "/fixture/received", latched())
    burst = ros.publisher(Int64, "burst", 100)
    for number in range(100):
        burst.publish(Int64(data=number))
    received.wait(lambda m: m.data == "100 0")


def test_what_message_types_forbid_does_not_kill(ros, node):
    rosout = ros.subscribe(Log, "/rosout", latched(depth=100))
    response = ros.call(Trigger, "/fixture/misbehave")
    assert not response.success, "the response itself was refused, a default one came"
    text = lambda words: rosout.wait(lambda m: m.name == "fixture" and words in m.msg)  # noqa: E731
    text("topic `imu`: message not sent: an array has another length")
    text("a string holds a NUL character")
    log = text("misbehaved")
    assert (log.level, log.stamp.sec > 1_000_000_000) == (30, True)
    assert log.file.endswith("ros_fixture.rs") and log.line > 0
    # the line on the terminal comes by another way than the one on /rosout
    printed = lambda: any("[WARN]" in line and "[fixture]: misbehaved" in line for line in node.lines)  # noqa: E731
    ros.wait_for(printed, what="the line on the terminal")
    assert ros.call(Trigger, "/fixture/values").success


def test_diagnostics_come_every_second(ros, node):
    diagnostics = ros.subscribe(DiagnosticArray, "/diagnostics")
    status = diagnostics.wait().status[0]
    assert (status.name, status.level, status.message) == ("fixture: counting", b"\x00", "well")
    assert (status.values[0].key, status.values[0].value) == ("n_goals", "0")


def test_service_client_times_out_and_gets_answers(ros, node):
    answers = ros.subscribe(String, "/fixture/answer", latched())
    ros.call(Trigger, "/fixture/ask")
    answers.wait(lambda m: m.data.startswith("service `oracle`: no answer within 3s"))

    def oracle(_, response):
        response.message = "forty-two"
        return response

    service = ros.node.create_service(Trigger, "oracle", oracle)
    ros.call(Trigger, "/fixture/ask")
    answers.wait(lambda m: m.data == "forty-two")
    ros.node.destroy_service(service)


def test_types_are_described(ros, node):
    """The service `get_type_description` of REP 2016, which nodes of rclpy and rclcpp have, too."""
    name = "sensor_msgs/msg/JointState"
    found = ros.call(GetTypeDescription, "/fixture/get_type_description", type_name=name, include_type_sources=True)
    assert found.successful, found.failure_reason
    of = found.type_description
    assert of.type_description.type_name == name
    assert [field.name for field in of.type_description.fields] == ["header", "name", "position", "velocity", "effort"]
    others = [described.type_name for described in of.referenced_type_descriptions]
    assert others == ["builtin_interfaces/msg/Time", "std_msgs/msg/Header"]
    assert [source.type_name for source in found.type_sources] == [name, *others]
    assert found.type_sources[0].encoding == "msg" and "float64[] effort" in found.type_sources[0].raw_file_contents
    [hashed] = {str(info.topic_type_hash) for info in ros.node.get_publishers_info_by_topic("/rosout")}
    log = "rcl_interfaces/msg/Log"
    assert ros.call(GetTypeDescription, "/fixture/get_type_description", type_name=log, type_hash=hashed).successful
    for wrong, words in (({"type_name": "../etc/passwd"}, "is no type"), ({"type_name": log, "type_hash": "RIHS01_0"}, "has the hash RIHS01_")):
        refused = ros.call(GetTypeDescription, "/fixture/get_type_description", **wrong)
        assert not refused.successful and words in refused.failure_reason, refused.failure_reason


def test_a_request_can_be_answered_later(ros, node):
    ping = ros.publisher(JointState, "ping")

    def answered():
        # the node listens twice, and the subscriber that is there may be the other one
        ping.publish(JointState(name=["newest", "one"]))
        return ros.call(Trigger, "/fixture/newest").message == "newest one"

    ros.wait_for(answered, what="the newest name on ping")


def test_entities_can_be_made_while_running(ros, node):
    ros.call(Trigger, "/fixture/grow")
    ros.subscribe(String, "/fixture/grown", latched()).wait(lambda m: m.data == "grown")


def test_a_failure_ends_with_status_1(domain, ros):
    with NodeProcess(domain, "ros_fixture", name="failing") as node:
        ros.client(Trigger, "/failing/fail").call_async(Trigger.Request())
        ros.wait_for(lambda: node.process.poll() is not None, what="the end")
        assert node.wait() == 1
    assert "[ERROR]" in node.output() and "asked to fail" in node.output()


def test_the_last_answer_reaches_its_client(domain, ros):
    """A node that ends by a service: its writer, and the memory that it shares, go only when the answer was taken."""
    with ExitStack() as stack:
        for turn in range(4):
            names = [f"last_{turn}_{i}" for i in range(5)]
            nodes = [stack.enter_context(NodeProcess(domain, "ros_fixture", name=name)) for name in names]
            for name, node in zip(names, nodes, strict=True):
                ros.call(Trigger, f"/{name}/fail", timeout=10.0)
                assert node.wait() == 1


def test_names_are_remapped(domain, ros):
    remaps = {"ping": "other_ping"}
    with NodeProcess(domain, "ros_fixture", name="left", namespace="/arms", remaps=remaps) as node:
        pong = ros.subscribe(JointState, "/arms/pong")
        ping = ros.publisher(JointState, "/arms/other_ping")
        # a message may be sent before the answer's subscription is known
        ros.wait_for(lambda: pong.messages or ping.publish(JointState()), what="a message on /arms/pong")
        ros.call(Trigger, "/arms/left/misbehave")
        ros.wait_for(lambda: "[arms.left]: misbehaved" in node.output(), what="the log's name")


def test_log_level_and_format(domain, ros):
    quiet = NodeProcess(domain, "ros_fixture", name="quiet", extra=["--log-level", "error"])
    with quiet as node:
        is_up(ros, "/quiet")
        ros.call(Trigger, "/quiet/misbehave")
        ros.call(Trigger, "/quiet/values")
    assert "misbehaved" not in node.output()


def ticks_at(ros, clock, ticks, nanoseconds):
    """Publishes a time until the node's count of ticks says that it has it."""
    message = Clock()
    message.clock.sec, message.clock.nanosec = divmod(nanoseconds, 1_000_000_000)
    clock.publish(message)


def test_simulated_time_live_and_backwards(ros, node):
    clock = ros.publisher(Clock, "/clock", subscribers=0)
    ticks = ros.subscribe(Int64, "/fixture/ticks")
    assert ros.set_parameter("/fixture", "use_sim_time", True) == (True, "")
    ros.wait_for(lambda: clock.get_subscription_count() == 1, what="the node on /clock")
    ros.spin_for(0.3)
    n = len(ticks.messages)
    ros.spin_for(0.3)
    assert len(ticks.messages) == n, "time stands still without /clock"

    def at(seconds, n_ticks):
        ticks.clear()

        def arrived():
            ticks_at(ros, clock, ticks, round(seconds * 1e9))
            return len(ticks.messages) >= n_ticks

        ros.wait_for(arrived, what=f"{n_ticks} ticks at {seconds} s")

    at(100.0, 0)
    for step in range(1, 4):
        at(100.0 + 0.1 * step + 0.01, 1)
    jumps = lambda: ros.call(Trigger, "/fixture/values").message.split()[-1]  # noqa: E731
    assert jumps() == "0"
    at(5.0, 0)
    ros.wait_for(lambda: jumps() == "1", what="the jump back")
    at(5.11, 1)
    assert ros.set_parameter("/fixture", "use_sim_time", False) == (True, "")
    ticks.clear()
    ticks.wait()
    ros.node.destroy_publisher(clock)


def test_unknown_parameter_for_this_node_is_named(domain, ros, tmp_path):
    file = tmp_path / "p.yaml"
    file.write_text("wary:\n  ros__parameters: {rates: 3.0}\n/**:\n  ros__parameters: {other: 1}\n")
    with NodeProcess(domain, "ros_fixture", name="wary", files=[file]) as node:
        is_up(ros, "/wary")
    assert "parameter `rates` is given, but this node has no such parameter (did you mean `rate`?)" in node.output()
    assert "`other`" not in node.output()


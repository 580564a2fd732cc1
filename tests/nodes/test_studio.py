"""The node `studio`: what a page asks of it over the WebSocket, the arm in the simulation does."""

import shutil

import pytest
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from support.arm import ARM, CONFIG, START, URDF, Arm, at, carry_out, distance, joint_states, moving, turned
from support.process import NodeProcess
from support.studio import Page, address


@pytest.fixture(scope="module")
def arm(domain, ros):
    with Arm(domain) as arm:
        yield arm


@pytest.fixture
def studio(domain, arm, tmp_path):
    urdf, config = tmp_path / "arm6.urdf", tmp_path / "arm6.yaml"
    shutil.copy(URDF, urdf)
    shutil.copy(CONFIG, config)
    parameters = {"file": urdf, "config": config, "port": 0}
    with NodeProcess(domain, "studio", namespace="/arm", parameters=parameters) as node:
        yield node


@pytest.fixture
def page(studio, ros):
    page = Page(address(studio.output))
    yield page
    page.close()


def named(positions):
    return dict(zip(ARM, positions, strict=True))


@pytest.fixture
def turning(ros, page):
    """The arm at 0.2 rad/s on its way from its start to 1.2 rad, sent by the page; its joint states."""
    carry_out(ros, START)
    states = joint_states(ros)
    page.wait_for_robot()
    page.ask("live.send", joints=named(turned(1.2)), speed=0.2)
    states.wait(lambda m: moving(m) > 0.1)
    yield states
    states.close()


def assert_stands_on_its_way(states):
    states.wait(lambda m: moving(m) < 0.01)
    # Not at the end of its way, 1.2 rad; how far it has come depends on what else the machine does.
    assert at(states.fresh())[0] < 1.15


def test_sends_the_arm_to_a_pose(ros, page):
    carry_out(ros, START)
    states = joint_states(ros)
    page.wait_for_robot()
    assert page.ask("live.send", joints=named(turned(0.4)), speed=0.5)["mode"] == "moving"
    news = page.live("watching", "stopped")
    assert (news["mode"], news["text"]) == ("watching", "")
    assert distance(at(states.fresh()), turned(0.4)) < 0.01
    states.close()


def test_any_page_stops_the_robot(turning, studio):
    other = Page(address(studio.output))
    assert other.ask("live.stop")["mode"] == "stopped"
    other.close()
    assert_stands_on_its_way(turning)


def test_silence_of_the_page_stops_the_robot(turning, page):
    page.hush()
    assert "silent" in page.live("stopped")["text"]
    assert_stands_on_its_way(turning)


def test_says_that_another_client_moves_the_arm(ros, turning, page):
    carry_out(ros, START)
    assert "preempted" in page.live("stopped")["text"]


@pytest.fixture
def diagnostics(ros, page):
    """A publisher that the studio listens to: it is found before the arm moves."""
    publisher = ros.node.create_publisher(DiagnosticArray, "/diagnostics", 10)
    ros.wait_for(publisher.get_subscription_count, what="the studio to listen to /diagnostics")
    yield publisher
    ros.node.destroy_publisher(publisher)


def test_a_fault_of_the_driver_stops_the_motion(diagnostics, turning, page):
    """As the node `driver` of the robot tells of it."""
    why = "servo 1 of joint `a1`: it does not answer any more"

    def tell(level, message):
        status = DiagnosticStatus(level=level, name="arm/driver: robot", message=message)
        diagnostics.publish(DiagnosticArray(status=[status]))

    tell(DiagnosticStatus.ERROR, why)
    live = page.live("stopped")
    assert (live["text"], live["fault"]) == (why, why)
    assert_stands_on_its_way(turning)
    refused = page.ask("live.send", joints=named(turned(0.4)), speed=0.5)
    assert refused["text"] == f"the robot follows no commands: {why}"
    tell(DiagnosticStatus.OK, "running")
    page.event("live", lambda live: not live["fault"])
    assert page.ask("live.send", joints=named(turned(0.4)), speed=0.5)["mode"] == "moving"
    assert page.live("watching", "stopped")["text"] == ""


def test_says_that_there_is_no_controller(ros, arm, page):
    page.wait_for_robot()
    assert arm.nodes["feedforward_controller"].stop()[0] == 0
    try:
        page.ask("live.send", joints=named(turned(0.4)), speed=0.5)
        assert "controller" in page.live("stopped")["text"]
    finally:
        arm.start("feedforward_controller")

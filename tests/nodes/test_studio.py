"""The node `studio`: what a page asks of it over the WebSocket, the arm in the simulation does."""

import json
import re
import shutil
import threading
import time
from contextlib import ExitStack

import pytest
from support import clients
from support.arm import ARM, CONFIG, START, URDF, Arm, at, carry_out, distance, joint_states, moving, turned
from support.process import NodeProcess

PING = 0.2  # s; half a second of silence stops the robot


class Page:
    """A client of the studio's WebSocket that, like the page, pings it all the time."""

    def __init__(self, address):
        host, token = re.fullmatch(r"http://([^/]+)/#token=(\S+)", address).groups()
        connect = clients.load("websockets.sync.client").connect
        self._stack = ExitStack()
        self._socket = self._stack.enter_context(connect(f"ws://{host}/ws", subprotocols=["karakuri.studio.v1"], max_size=None))
        self._last, self._gone = 0, threading.Event()
        self.frames = 0
        self.ask("hello", token=token)
        self._pings = threading.Thread(target=self._ping, daemon=True)
        self._pings.start()

    def _ping(self):
        while not self._gone.wait(PING):
            self._socket.send(json.dumps({"id": 0, "op": "ping", "args": {}}))

    def hush(self):
        """Stop the pings, as a page whose user has gone."""
        self._gone.set()
        self._pings.join()

    def close(self):
        self.hush()
        self._stack.close()

    def _receive(self, timeout=30.0):
        message = self._socket.recv(timeout)
        if isinstance(message, bytes):
            self.frames += 1
            return None
        return json.loads(message)

    def ask(self, operation, **arguments):
        """Request an operation; return its result, or the message of its error."""
        self._last += 1
        self._socket.send(json.dumps({"id": self._last, "op": operation, "args": arguments}))
        while True:
            message = self._receive()
            if message and message.get("id") == self._last:
                return message["error"] if "error" in message else message["result"]

    def live(self, *modes):
        """Wait for the event `live` with one of these modes."""
        while True:
            message = self._receive()
            if message and message.get("ev") == "live" and message["mode"] in modes:
                return message


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


def address(studio):
    """The page's address, which the node prints when it starts."""
    deadline = time.monotonic() + 60.0
    while time.monotonic() < deadline:
        found = re.search(r"http://\S+/#token=\S+", studio.output())
        if found:
            return found.group()
        time.sleep(0.05)
    raise AssertionError(studio.output())


@pytest.fixture
def page(studio, ros):
    page = Page(address(studio))
    yield page
    page.close()


def named(positions):
    return dict(zip(ARM, positions, strict=True))


def wait_for_robot(page):
    """Wait for the first frame with measured joint positions."""
    while page.frames == 0:
        page._receive()


@pytest.fixture
def turning(ros, page):
    """The arm at 0.2 rad/s on its way from its start to 1.2 rad, sent by the page; its joint states."""
    carry_out(ros, START)
    states = joint_states(ros)
    wait_for_robot(page)
    page.ask("live.send", joints=named(turned(1.2)), speed=0.2)
    states.wait(lambda m: moving(m) > 0.1)
    yield states
    states.close()


def assert_stands_on_its_way(states):
    states.wait(lambda m: moving(m) < 0.01)
    assert at(states.fresh())[0] < 1.0


def test_sends_the_arm_to_a_pose(ros, page):
    carry_out(ros, START)
    states = joint_states(ros)
    wait_for_robot(page)
    assert page.ask("live.send", joints=named(turned(0.4)), speed=0.5)["mode"] == "moving"
    news = page.live("watching", "stopped")
    assert (news["mode"], news["text"]) == ("watching", "")
    assert distance(at(states.fresh()), turned(0.4)) < 0.01
    states.close()


def test_any_page_stops_the_robot(turning, studio):
    other = Page(address(studio))
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


def test_says_that_there_is_no_controller(ros, arm, page):
    wait_for_robot(page)
    assert arm.nodes["feedforward_controller"].stop()[0] == 0
    try:
        page.ask("live.send", joints=named(turned(0.4)), speed=0.5)
        assert "controller" in page.live("stopped")["text"]
    finally:
        arm.start("feedforward_controller")

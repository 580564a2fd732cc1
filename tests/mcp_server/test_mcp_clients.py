"""Two clients of others work with a made-up robot: approval, progress, cancellation, a restart."""

import json
import os
import subprocess
import sys
import time

import pytest
from support.clients import folder
from support.driving import CLIENTS, DRIVE, drive
from support.mcp import McpServer
from support.process import executable

pytestmark = [pytest.mark.mcp, pytest.mark.skipif(sys.version_info < (3, 11), reason="the clients need Python 3.11")]


def assert_rises(progress):
    parts = [part for part, _, _ in progress]
    assert len(parts) >= 10 and parts == sorted(set(parts)) and parts[-1] == 1.0, parts
    assert {total for _, total, _ in progress} == {1.0}
    assert [stage for i, (_, _, stage) in enumerate(progress) if i == 0 or progress[i - 1][2] != stage] == ["APPROACH", "GRASP", "LIFT"]


@pytest.fixture
def table():
    with McpServer("mcp_table", "--motion-s", "1.0") as table:
        yield table


@pytest.mark.parametrize("client", CLIENTS)
def test_the_cube_is_picked_with_approval_and_progress(table, client):
    seen = drive(client, table.url, "pick", {"object": "cube"}, "approve")
    assert seen["questions"] == ["Pick up `cube`?"]
    assert seen["result"] == {"outcome": "HOLDING", "held": "cube"} and not seen["is_error"], seen
    assert_rises(seen["progress"])
    assert table.call("look")["structuredContent"]["held"] == "cube"


@pytest.mark.parametrize("client", CLIENTS)
def test_the_cube_is_picked_over_stdio(client):
    seen = drive(client, executable("mcp_table"), "pick", {"object": "cube"}, "approve")
    assert seen["questions"] == ["Pick up `cube`?"]
    assert seen["result"] == {"outcome": "HOLDING", "held": "cube"}, seen
    assert_rises(seen["progress"])


@pytest.mark.parametrize("client", CLIENTS)
def test_a_no_moves_nothing(table, client):
    seen = drive(client, table.url, "pick", {"object": "cube"}, "decline")
    assert seen["is_error"] and seen["result"]["code"] == "DECLINED", seen
    assert seen["progress"] == []
    assert table.call("look")["structuredContent"]["held"] is None


def stopped(table, deadline=2.0):
    """Reasons of the stops of a robot, once there are some."""
    start = time.monotonic()
    while time.monotonic() < start + deadline:
        stops = table.call("look")["structuredContent"]["stops"]
        if stops:
            return stops
        time.sleep(0.01)
    raise AssertionError(f"nothing stopped in {deadline} s:\n{table.output()}")


@pytest.mark.parametrize("client", CLIENTS)
def test_a_client_that_vanishes_stops_the_robot(client):
    with McpServer("mcp_table", "--motion-s", "20") as table:
        assert drive(client, table.url, "pick", {"object": "cube"}, "approve", "vanish") is None
        assert stopped(table) == ["pick: CANCELLED"]
        assert table.call("look")["structuredContent"]["held"] is None


@pytest.mark.parametrize("client", CLIENTS)
def test_a_client_that_cancels_stops_the_robot(client):
    with McpServer("mcp_table", "--motion-s", "20") as table:
        seen = drive(client, table.url, "pick", {"object": "cube"}, "approve", "cancel")
        assert seen["result"]["stops"] == ["pick: CANCELLED"], seen


@pytest.mark.parametrize("client", CLIENTS)
def test_cancellation_over_stdio_stops_the_robot(client):
    seen = drive(client, executable("mcp_table"), "pick", {"object": "cube"}, "approve", "cancel")
    assert seen["result"]["stops"] == ["pick: CANCELLED"], seen


@pytest.mark.parametrize("client", CLIENTS)
def test_a_ticket_does_not_outlive_its_server(client):
    with McpServer("mcp_table", "--motion-s", "0.2") as table:
        first, second = (table.call("place", {"x_m": 0.4, "y_m": 0.0})["structuredContent"]["ticket"] for _ in range(2))
        assert table.call("act", {"ticket": first})["structuredContent"] == {"outcome": "PLACED"}
        assert table.call("act", {"ticket": first})["structuredContent"]["code"] == "TICKET_UNKNOWN"
    with McpServer("mcp_table", "--motion-s", "0.2") as table:
        seen = drive(client, table.url, "act", {"ticket": second})
        assert seen["is_error"] and seen["result"]["code"] == "TICKET_UNKNOWN", seen


def test_stop_needs_nobody(table):
    environment = {**os.environ, "PYTHONPATH": str(folder("mcp"))}
    command = [sys.executable, str(DRIVE), "mcp", table.url, "pick", json.dumps({"object": "cube"}), "approve"]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as motion:
        end = time.monotonic() + 60.0
        while motion.poll() is None and time.monotonic() < end:
            assert table.call("stop", capabilities={})["structuredContent"] == {"outcome": "STOPPED"}
            time.sleep(0.02)
        seen = json.loads(motion.communicate(timeout=10)[0].splitlines()[-1])
    assert seen["is_error"] and seen["result"]["code"] == "STOPPED", seen
    assert table.call("look")["structuredContent"]["stops"] == ["pick: STOPPED"]

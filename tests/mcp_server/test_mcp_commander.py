"""Clients of others command a simulated robot by `karakuri mcp`: what they ask for is rehearsed, approved, carried out, and in the log."""

import base64
import hashlib
import json
import shlex
import sys
import time
from xml.etree import ElementTree

import pytest
from support.driving import CLIENTS, drive
from support.mcp import FORMS, CommanderServer, commander
from support.process import executable

pytestmark = [pytest.mark.mcp, pytest.mark.skipif(sys.version_info < (3, 11), reason="the clients need Python 3.11")]

#: Where the cube stands before.
CUBE = [0.5, -0.2, 0.775]
YES = {"approve": {"action": "accept", "content": {"approve": True}}}


def cube(server):
    """Where the cube is, and whether it is held."""
    (found,) = server.call("look", {"objects": ["cube"]})["structuredContent"]["objects"]
    return found


def distance(a, b):
    return sum((x - y) ** 2 for x, y in zip(a, b, strict=True)) ** 0.5


def rehearsed(server, tool, arguments):
    """Answer to a verb that is rehearsed."""
    answer = server.call(tool, arguments)
    assert not answer.get("isError"), answer
    return answer["structuredContent"]


def lines(folder):
    """The audit log, whose chain holds."""
    before, found = hashlib.sha256(b"").hexdigest(), []
    for text in (folder / "audit.jsonl").read_text().splitlines():
        line = json.loads(text)
        assert (line["number"], line["before"]) == (len(found) + 1, before)
        before = hashlib.sha256(text.encode()).hexdigest()
        found.append(line)
    return found


@pytest.mark.parametrize(("client", "copies"), zip(CLIENTS, (16, 2), strict=True))
def test_the_cube_is_picked_with_approval_and_progress(client, copies, tmp_path):
    with CommanderServer(tmp_path, copies=copies) as server:
        seen = drive(client, server.url, "pick", {"object": "cube"}, "approve", "act")
        assert not seen["is_error"] and seen["result"]["outcome"] == "DONE" and seen["result"]["holds"], seen
        (question,) = seen["questions"]
        assert question.startswith(f"Carry out `pick` `cube`? All of {copies} copies succeed"), question
        parts = [part for part, _, _ in seen["progress"]]
        assert len(parts) >= 10 and parts == sorted(set(parts)), parts
        assert {"APPROACH", "CLOSE", "LIFT"} <= {stage for _, _, stage in seen["progress"]}
        assert cube(server)["held"] and cube(server)["xyz_m"][2] > 0.85
    pick, begins, act = lines(tmp_path)
    assert [line["verb"] for line in (pick, begins, act)] == ["pick", "act", "act"]
    assert begins["approval"] == "client" and act["command_hash"] == pick["prediction"]["commands"]


@pytest.mark.parametrize("client", CLIENTS)
def test_the_cube_is_picked_over_stdio(client, tmp_path):
    program = shlex.join(map(str, [executable("karakuri"), *commander(tmp_path), "--real-time-factor", "0"]))
    seen = drive(client, program, "pick", {"object": "cube"}, "approve", "act")
    assert seen["result"]["outcome"] == "DONE" and seen["result"]["holds"], seen


@pytest.mark.parametrize("client", CLIENTS)
def test_a_no_moves_nothing(client, tmp_path):
    with CommanderServer(tmp_path) as server:
        seen = drive(client, server.url, "pick", {"object": "cube"}, "decline", "act")
        assert seen["is_error"] and seen["result"]["code"] == "DECLINED" and seen["progress"] == [], seen
        assert not cube(server)["held"] and distance(cube(server)["xyz_m"], CUBE) < 1e-3


def stopped(server, deadline=5.0):
    """Last line of the log, once it is the end of an act."""
    end = time.monotonic() + deadline
    while True:
        last = server.call("log")["structuredContent"]["lines"][-1]
        if last["verb"] == "act" and "begins" not in last["result"]:
            return last
        assert time.monotonic() < end, f"the act goes on: {last}"
        time.sleep(0.01)


def at_rest(server, deadline=5.0):
    """Status, once the robot takes commands again: a moment after the line that says so."""
    end = time.monotonic() + deadline
    while (status := server.call("status")["structuredContent"])["busy"]:
        assert time.monotonic() < end, status
        time.sleep(0.01)
    return status


@pytest.mark.parametrize("client", CLIENTS)
def test_a_client_that_vanishes_stops_the_robot(client, tmp_path):
    with CommanderServer(tmp_path) as server:
        assert drive(client, server.url, "pick", {"object": "cube"}, "approve", "act", "vanish") is None
        assert stopped(server)["result"]["code"] == "CANCELED"
        assert at_rest(server)["held"] is None


@pytest.mark.parametrize("client", CLIENTS)
def test_cancellation_stops_the_robot(client, tmp_path):
    with CommanderServer(tmp_path) as server:
        seen = drive(client, server.url, "pick", {"object": "cube"}, "approve", "act", "cancel")
        assert seen["result"]["lines"][-1]["result"]["code"] == "CANCELED", seen
        assert not cube(server)["held"]


@pytest.mark.parametrize("client", CLIENTS)
def test_a_ticket_does_not_outlive_its_server(client, tmp_path):
    with CommanderServer(tmp_path) as server:
        ticket = rehearsed(server, "home", {})["ticket"]
    with CommanderServer(tmp_path) as server:
        seen = drive(client, server.url, "act", {"ticket": ticket, "request_id": "r"})
        assert seen["is_error"] and seen["result"]["code"] == "TICKET_UNKNOWN", seen
    assert [line["verb"] for line in lines(tmp_path)] == ["home", "act"]


def act(server, ticket, request="r"):
    """Acts, and says yes where it is asked."""
    arguments = {"ticket": ticket, "request_id": request}
    answer = server.call("act", arguments)
    if answer.get("resultType") == "input_required":
        answer = server.call("act", arguments, requestState=answer["requestState"], inputResponses=YES)
    return answer


def test_two_clients_at_once(tmp_path):
    with CommanderServer(tmp_path) as server:
        first, second = (rehearsed(server, "home", {})["ticket"] for _ in range(2))
        connection = server.start("act", {"ticket": first, "request_id": "a"})
        until(server, lambda status: status["busy"])
        busy = [act(server, second, "b"), server.call("pick", {"object": "cube"})]
        assert [answer["structuredContent"]["code"] for answer in busy] == ["BUSY", "BUSY"]
        connection.getresponse().read()
        connection.close()
        until(server, lambda status: not status["busy"])


def until(server, is_so, deadline=20.0):
    """Waits until the status is so."""
    end = time.monotonic() + deadline
    while not is_so(server.call("status")["structuredContent"]):
        assert time.monotonic() < end, server.output()
        time.sleep(0.01)


def test_stop_needs_nobody(tmp_path):
    with CommanderServer(tmp_path) as server:
        ticket = rehearsed(server, "home", {})["ticket"]
        connection = server.start("act", {"ticket": ticket, "request_id": "r"})
        until(server, lambda status: status["busy"])
        assert server.call("stop", capabilities={})["structuredContent"] == {"stopped": True}
        assert stopped(server)["result"]["code"] == "CANCELED"
        connection.close()


def test_resources_show_the_scene_and_the_prediction(tmp_path):
    with CommanderServer(tmp_path) as server:
        number = rehearsed(server, "pick", {"object": "cube"})["rehearsal"]
        uris = [resource["uri"] for resource in server.ask("resources/list")[1]["result"]["resources"]]
        assert uris == [f"karakuri://{name}" for name in ("scene.json", "scene.png", "robot.urdf", "envelope.json", f"rehearsal/{number}/worst.png")]
        read = [server.ask("resources/read", {"uri": uri})[1]["result"]["contents"][0] for uri in uris]
        assert json.loads(read[0]["text"]) == server.call("look")["structuredContent"]
        assert read[2]["mimeType"] == "application/xml" and ElementTree.fromstring(read[2]["text"]).get("name") == "arm6"
        assert json.loads(read[3]["text"])["limits"]["mass_kg"] == 0.5
        for picture in (read[1], read[4]):
            assert base64.b64decode(picture["blob"]).startswith(b"\x89PNG")
        for uri in ("karakuri://rehearsal/2/worst.png", "karakuri://rehearsal/../worst.png", "karakuri://envelope.yaml", "file:///etc/passwd"):
            assert "error" in server.ask("resources/read", {"uri": uri})[1], uri


def test_a_principal_sees_its_verbs_alone(tmp_path):
    token = "0123456789abcdef0123456789abcdef"
    with CommanderServer(tmp_path, "--token", f"guest={token}") as server:
        headers = {"Authorization": f"Bearer {token}"}
        tools = server.ask("tools/list", headers=headers)[1]["result"]["tools"]
        assert [tool["name"] for tool in tools] == ["look", "status", "stop"]
        status, message = server.ask("tools/call", {"name": "pick", "arguments": {"object": "cube"}}, headers=headers)
        assert "error" in message, (status, message)
        assert server.ask("tools/call", {"name": "look", "arguments": {}}, FORMS, headers)[0] == 200

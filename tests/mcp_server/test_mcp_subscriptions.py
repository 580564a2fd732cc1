"""Subscriptions to the scene, its picture, and rehearsals: by a client of others, and by raw HTTP."""

import json
import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from support.clients import folder
from support.mcp import CommanderServer, McpServer, bearer, commander, principals
from support.process import executable

pytestmark = pytest.mark.mcp

SUBSCRIBE = Path(__file__).parent / "subscribe.py"
SCENE, PICTURE, ENVELOPE = (f"karakuri://{name}" for name in ("scene.json", "scene.png", "envelope.json"))
WORST = "karakuri://rehearsal/1/worst.png"
YES = {"approve": {"action": "accept", "content": {"approve": True}}}


def subscribed(server, *uris):
    """Notifications that a client of others got, while it picked the cube."""
    environment = {**os.environ, "PYTHONPATH": str(folder("mcp"))}
    command = [sys.executable, str(SUBSCRIBE), str(server), *uris]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def check(seen):
    assert seen["number"] == 1 and seen["outcome"] == "DONE", seen
    # a rehearsal moves nothing: its picture is new
    assert sorted(seen["of_rehearsal"]) == [WORST, "list"], seen
    notified = [what for _, what in seen["of_act"]]
    assert notified.count("list") == 1 and notified.count(WORST) == 1, "the ticket was used"
    assert notified.count(PICTURE) == 1 and ENVELOPE not in notified, notified
    scenes = [at for at, what in seen["of_act"] if what == SCENE]
    assert 3 <= len(scenes) <= 3 + 4.5 * seen["duration_s"], (scenes, seen["duration_s"])
    assert scenes[-1] > seen["duration_s"] - 0.5, "the end of the act is notified"


@pytest.mark.skipif(sys.version_info < (3, 11), reason="the clients need Python 3.11")
def test_a_client_is_notified_of_changes(tmp_path):
    with CommanderServer(tmp_path, "--real-time-factor", "4") as server:
        check(subscribed(server.url, SCENE, PICTURE, ENVELOPE, WORST))


@pytest.mark.skipif(sys.version_info < (3, 11), reason="the clients need Python 3.11")
def test_a_client_is_notified_of_changes_over_stdio(tmp_path):
    program = shlex.join(map(str, [executable("karakuri"), *commander(tmp_path), "--real-time-factor", "4"]))
    check(subscribed(program, SCENE, PICTURE, ENVELOPE, WORST))


def accepted(messages):
    """What of a subscription was accepted: the first message."""
    first = next(messages)
    assert first["method"] == "notifications/subscriptions/acknowledged", first
    return first["params"]["notifications"]


def test_a_principal_is_notified_only_of_what_it_may_read(tmp_path):
    # `blind` may not look: it has no resources
    principals(tmp_path, anna="[look, status, home]", blind="[status, home]")
    tokens = [option for name in ("anna", "blind") for option in ("--token", f"{name}={bearer(name)[1]}")]
    requested = {"resourcesListChanged": True, "resourceSubscriptions": [SCENE, PICTURE, WORST]}
    with CommanderServer(tmp_path, *tokens, "--real-time-factor", "0") as server:
        anna, blind = ({"Authorization": bearer(name)[0]} for name in ("anna", "blind"))
        with server.listen(anna, **requested) as hers, server.listen(blind, **requested) as theirs:
            accepted(hers), accepted(theirs)
            rehearsed = server.ask("tools/call", {"name": "home", "arguments": {}}, headers=anna)[1]["result"]["structuredContent"]
            arguments = {"ticket": rehearsed["ticket"], "request_id": "r"}
            acted = server.ask("tools/call", {"name": "act", "arguments": arguments}, headers=anna)[1]["result"]
            assert acted["structuredContent"]["outcome"] == "DONE", acted
            seen = set()
            while not {SCENE, PICTURE, WORST, "list"} <= seen:
                note = next(hers)
                seen.add(note["params"].get("uri", "list"))
            # the server's end is their first message
            server.process.send_signal(signal.SIGINT)
            assert "result" in next(theirs)


def test_a_subscription_ends_with_the_server():
    with McpServer("mcp_table") as table, table.listen(resourceSubscriptions=[SCENE]) as seen:
        assert accepted(seen) == {"resourceSubscriptions": [SCENE]}
        table.process.send_signal(signal.SIGINT)
        last = list(seen)[-1]
        assert last["id"] == 5 and last["result"]["resultType"] == "complete", last


def test_what_is_no_resource_is_not_accepted():
    uris = ["file:///etc/passwd", "karakuri://../scene.json", SCENE]
    with McpServer("mcp_table") as table, table.listen(toolsListChanged=True, resourceSubscriptions=uris) as seen:
        assert accepted(seen) == {"resourceSubscriptions": [SCENE]}


def test_a_listener_that_goes_away_stops_nothing():
    with McpServer("mcp_table", "--motion-s", "1.0") as table:
        with table.listen(resourceSubscriptions=[SCENE]) as seen:
            accepted(seen)
            state = table.call("pick", {"object": "cube"})["requestState"]
            connection = table.start("pick", {"object": "cube"}, requestState=state, inputResponses=YES)
            assert next(seen)["params"]["uri"] == SCENE
        assert b"HOLDING" in connection.getresponse().read()
        connection.close()


def test_listeners_that_do_not_read_hold_nobody_up(tmp_path):
    with CommanderServer(tmp_path, "--real-time-factor", "0") as server:
        with server.listen(resourceSubscriptions=[SCENE]), server.listen(resourcesListChanged=True):
            for _ in range(20):
                assert not server.call("home")["isError"]

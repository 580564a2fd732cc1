"""Acts as tasks of the Model Context Protocol, by raw HTTP: the pinned clients of others do not know them yet."""

import json
import signal
import time

import pytest
from support.mcp import TASKS, CommanderServer, McpServer, bearer, principals

pytestmark = pytest.mark.mcp

#: Codes of JSON-RPC, and of the protocol.
INVALID_PARAMS, MISSING_CAPABILITY = -32602, -32021
YES = {"approve": {"action": "accept", "content": {"approve": True}}}
NO = {"approve": {"action": "decline"}}


def asked(server, method, task, headers=None, capabilities=TASKS):
    """Result of a request about a task, or the error of the protocol."""
    _, message = server.ask(method, {"taskId": task, **({"inputResponses": {}} if method == "tasks/update" else {})}, capabilities, headers)
    return message.get("result") or message["error"]


def called(server, tool, arguments, headers=None, **more):
    """Result of a tool of a client that knows tasks."""
    status, message = server.ask("tools/call", {"name": tool, "arguments": arguments, **more}, TASKS, headers)
    assert status == 200 and "result" in message, (status, message)
    return message["result"]


def begun(server, verb="pick", arguments=None, headers=None):
    """A task that carries out what was rehearsed, after somebody was asked."""
    rehearsed = called(server, verb, arguments or {"object": "cube"}, headers)
    assert rehearsed["resultType"] == "complete", "a rehearsal is no task"
    arguments = {"ticket": rehearsed["structuredContent"]["ticket"], "request_id": "r"}
    question = called(server, "act", arguments, headers)
    assert question["resultType"] == "input_required" and "taskId" not in question, question
    task = called(server, "act", arguments, headers, requestState=question["requestState"], inputResponses=YES)
    assert (task["resultType"], task["status"]) == ("task", "working"), task
    return task


def ended(server, task, headers=None, deadline=30.0):
    """The task at its end, and all its messages before."""
    end, messages = time.monotonic() + deadline, []
    while True:
        now = asked(server, "tasks/get", task, headers)
        if now["status"] != "working":
            return now, messages
        if now["statusMessage"] not in messages:
            messages.append(now["statusMessage"])
        assert time.monotonic() < end, now
        time.sleep(0.02)


def last(folder):
    """Result of the last line of the audit log."""
    return json.loads((folder / "audit.jsonl").read_text().splitlines()[-1])["result"]


def test_an_act_is_a_task_with_stages_and_a_result(tmp_path):
    with CommanderServer(tmp_path, "--real-time-factor", "4") as server:
        task = begun(server)
        assert task["ttlMs"] >= 60_000 and task["pollIntervalMs"] <= 1000, task
        assert server.call("status")["structuredContent"]["busy"]
        now, messages = ended(server, task["taskId"])
        assert now["status"] == "completed", now
        result = now["result"]
        assert not result["isError"] and result["structuredContent"]["outcome"] == "DONE", result
        assert json.loads(result["content"][0]["text"]) == result["structuredContent"]
        stages = [message.partition(",")[0] for message in messages]
        parts = [int(message.partition(", ")[2].removesuffix(" %")) for message in messages]
        assert {"APPROACH", "CLOSE", "LIFT"} <= set(stages) and parts == sorted(parts), messages
        # it is there to be asked again
        assert asked(server, "tasks/get", task["taskId"]) == now
        assert asked(server, "tasks/cancel", task["taskId"])["resultType"] == "complete"
        assert asked(server, "tasks/get", task["taskId"])["status"] == "completed"
    assert last(tmp_path)["outcome"] == "DONE"


def test_a_cancelled_task_brakes_the_robot(tmp_path):
    with CommanderServer(tmp_path) as server:
        task = begun(server)["taskId"]
        assert asked(server, "tasks/cancel", task)["resultType"] == "complete"
        now, _ = ended(server, task, deadline=5.0)
        assert now["status"] == "cancelled" and now["statusMessage"].startswith("CANCELED: "), now
        status = server.call("status")["structuredContent"]
        assert not status["busy"] and status["held"] is None, status
    assert last(tmp_path)["code"] == "CANCELED"


def test_the_verb_stop_ends_a_task_with_a_refusal(tmp_path):
    with CommanderServer(tmp_path) as server:
        task = begun(server)["taskId"]
        assert server.call("stop", capabilities={})["structuredContent"] == {"stopped": True}
        now, _ = ended(server, task, deadline=5.0)
        assert now["status"] == "completed" and now["result"]["isError"], now
        assert now["result"]["structuredContent"]["code"] == "CANCELED"


def test_the_end_of_the_server_brakes_a_task(tmp_path):
    with CommanderServer(tmp_path) as server:
        begun(server)
        assert last(tmp_path) == {"begins": True}
        server.process.send_signal(signal.SIGINT)
        assert server.process.wait(10.0) == 0
    assert last(tmp_path)["code"] == "CANCELED"


def test_a_task_is_its_principals_alone(tmp_path):
    verbs = "[look, status, pick]"
    principals(tmp_path, anna=verbs, ben=verbs)
    anna, ben = ({"Authorization": bearer(name)[0]} for name in ("anna", "ben"))
    tokens = [option for name in ("anna", "ben") for option in ("--token", f"{name}={bearer(name)[1]}")]
    with CommanderServer(tmp_path, *tokens, "--real-time-factor", "4") as server:
        task = begun(server, headers=anna)["taskId"]
        for method in ("tasks/get", "tasks/update", "tasks/cancel"):
            foreign = asked(server, method, task, ben)
            # no other answer than for one that never was
            assert foreign["code"] == INVALID_PARAMS and foreign == asked(server, method, "none", ben), foreign
        now, _ = ended(server, task, anna)
        assert now["status"] == "completed" and now["result"]["structuredContent"]["outcome"] == "DONE", now
        assert asked(server, "tasks/get", task, ben)["code"] == INVALID_PARAMS


def test_a_no_makes_no_task(tmp_path):
    with CommanderServer(tmp_path) as server:
        ticket = called(server, "pick", {"object": "cube"})["structuredContent"]["ticket"]
        arguments = {"ticket": ticket, "request_id": "r"}
        state = called(server, "act", arguments)["requestState"]
        refused = called(server, "act", arguments, requestState=state, inputResponses=NO)
        assert refused["resultType"] == "complete" and refused["structuredContent"]["code"] == "DECLINED", refused
        unknown = called(server, "act", {"ticket": "0" * 32, "request_id": "s"})
        assert unknown["resultType"] == "complete" and unknown["isError"], "nothing has begun"


def test_who_does_not_know_tasks_waits():
    with McpServer("mcp_table", "--motion-s", "0.3") as table:
        state = table.call("pick", {"object": "cube"})["requestState"]
        picked = table.call("pick", {"object": "cube"}, requestState=state, inputResponses=YES)
        assert (picked["resultType"], picked["structuredContent"]["outcome"]) == ("complete", "HOLDING"), picked
        for method in ("tasks/get", "tasks/update", "tasks/cancel"):
            assert asked(table, method, "none", capabilities={})["code"] == MISSING_CAPABILITY


def test_a_client_that_goes_away_leaves_its_task():
    with McpServer("mcp_table", "--motion-s", "1.0") as table:
        state = called(table, "pick", {"object": "cube"})["requestState"]
        # Each request has a connection of its own, which is closed after it.
        task = called(table, "pick", {"object": "cube"}, requestState=state, inputResponses=YES)
        assert task["resultType"] == "task", task
        now, messages = ended(table, task["taskId"])
        assert now["result"]["structuredContent"] == {"outcome": "HOLDING", "held": "cube"}, now
        assert any(message.startswith("GRASP, ") for message in messages), messages
        assert table.call("look")["structuredContent"]["stops"] == []


def test_a_request_about_a_task_names_it_in_its_header():
    with McpServer("mcp_table") as table:
        for method in ("tasks/get", "tasks/update", "tasks/cancel"):
            status, _ = table.ask(method, {"taskId": "none", "inputResponses": {}}, TASKS, {"Mcp-Name": "other"})
            assert status == 400, method

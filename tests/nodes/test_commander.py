"""The commander of the nodes: what it rehearses is what they then do, to the bit, over DDS; and what keeps it from acting."""

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest
from action_msgs.msg import GoalStatus, GoalStatusArray
from sensor_msgs.msg import JointState
from simulation_interfaces.srv import GetEntityState, ResetSimulation, SetEntityState
from support.arm import SCENE, Arm, moving, nanoseconds
from support.commander import Commander
from support.driving import CLIENTS, drive
from support.load import load
from support.process import ROOT, NodeProcess, executable
from support.ros import latched
from support.stopping import periods_until_braked

NODES = ("sim", "state_publisher", "feedforward_controller", "gripper")
ENVELOPE = ROOT / "config/envelopes/table.yaml"

pytestmark = pytest.mark.apart


class ArmCommander(Commander):
    """The nodes of the arm, with a commander of few copies."""

    def __init__(self, domain, ros, folder, real_time_factor=0.0, envelope="table", scene=SCENE, **parameters):
        self.arm = Arm(domain, nodes=NODES, lockstep=True, real_time_factor=real_time_factor, start_paused=True)
        self.arm.parameters["sim"]["scene"] = scene
        super().__init__(domain, ros, folder, self.arm, envelope, scene=scene, **parameters)

    def cube(self):
        _, seen = self.ask("look", objects=["cube"])
        return seen["objects"][0]


@pytest.fixture
def commander(domain, ros, tmp_path):
    with ArmCommander(domain, ros, tmp_path) as commander:
        yield commander


def test_acts_in_the_middle_of_a_run_are_as_rehearsed(commander):
    with load(2 * (os.cpu_count() or 1)):
        assert commander.do("pick", object="cube")["holds"]
        assert commander.cube()["held"] and commander.cube()["xyz_m"][2] > 0.85
        assert not commander.do("place", on="shelf")["holds"]
        commander.do("move", x_m=0.45, y_m=-0.1, high=True)
        commander.do("set_gripper", width_m=0.03)
        commander.do("home")
    x, y, z = commander.cube()["xyz_m"]
    assert abs(x - 0.5) < 0.002 and abs(y - 0.2) < 0.002 and abs(z - 0.875) < 0.001
    ends = [line for line in commander.lines() if line["verb"] == "act" and line["command_hash"]]
    assert [line["result"]["outcome"] for line in ends] == ["DONE"] * 5


def test_between_acts_time_stands_still_and_nothing_moves(commander, ros):
    commands = ros.subscribe(JointState, "/arm/joint_command", 100)
    commands.wait()
    held = nanoseconds(commands.last.header.stamp)
    answer = commander.rehearse("pick", object="cube")
    for problem, arguments in {
        "TICKET_UNKNOWN": {"ticket": "0" * 32, "request_id": "a"},
        "NEEDS_APPROVAL": {"ticket": answer["ticket"], "request_id": "b"},
        "BAD_ARGUMENT": {"ticket": answer["ticket"]},
    }.items():
        status, refusal = commander.order("act", **arguments)
        assert (status, refusal["code"]) == (GoalStatus.STATUS_ABORTED, problem), refusal
    for problem, verb, arguments in (
        ("BAD_ARGUMENT", "move", {"x_m": 1e9, "y_m": 0, "high": True}),
        ("OUTSIDE_ENVELOPE", "move", {"x_m": 0.699, "y_m": 0.5, "high": True}),
        ("UNKNOWN_OBJECT", "pick", {"object": "cube9"}),
    ):
        status, refusal = commander.order(verb, **arguments)
        assert (status, refusal["code"]) == (GoalStatus.STATUS_ABORTED, problem), refusal
    commander.approve(answer["rehearsal"], approve=False)
    status, refusal = commander.order("act", ticket=answer["ticket"], request_id="c")
    assert refusal["code"] == "DECLINED"
    assert nanoseconds(commands.fresh().header.stamp) == held, "time went on"


def test_an_act_tells_its_progress_and_is_cancelled(commander, ros):
    seen = []
    answer = commander.rehearse("pick", object="cube")
    commander.approve(answer["rehearsal"])
    handle = commander.send("act", seen, ticket=answer["ticket"], request_id="cancelled")
    ros.wait_for(lambda: seen and seen[-1].stage == "DESCEND", what="DESCEND")
    ros.finish(handle.cancel_goal_async(), what="the answer to the cancel")
    status, result = ros.result(handle)
    assert status == GoalStatus.STATUS_CANCELED and json.loads(result.answer)["code"] == "CANCELED", result
    assert [m.progress for m in seen] == sorted(m.progress for m in seen)
    # The hand and the cell heard of it in one sample: they are still the same, and the next act is as rehearsed.
    assert commander.do("pick", object="cube")["holds"]


def test_stop_brakes_within_one_control_period(commander, ros):
    called, answered = periods_until_braked(commander, ros)
    # The next sample is answered by a brake, which the one after it shows.
    assert called >= 0 and answered <= 2, (called, answered)
    assert commander.ask("stop") == (True, {"stopped": False})
    assert commander.do("pick", object="cube")["holds"], "what was stopped is still as rehearsed"


@pytest.mark.parametrize("change", ["robot", "cube"])
def test_who_else_changes_the_world_ends_the_promise_until_a_reset(commander, ros, change):
    answer = commander.rehearse("pick", object="cube")
    commander.approve(answer["rehearsal"])
    if change == "robot":
        assert ros.call(ResetSimulation, "/arm/sim/reset_simulation", scope=2).result.result == 1
    else:
        state = ros.call(GetEntityState, "/arm/sim/get_entity_state", entity="cube").state
        state.pose.position.x += 0.01
        assert ros.call(SetEntityState, "/arm/sim/set_entity_state", entity="cube", state=state).result.result == 1
    states = ros.subscribe(JointState, "/arm/joint_states", 100)
    held = nanoseconds(states.fresh().header.stamp)
    time.sleep(0.2)
    status, refusal = commander.order("act", ticket=answer["ticket"], request_id="elsewhere")
    assert status == GoalStatus.STATUS_ABORTED and refusal["code"] == "ROBOT_LOST", refusal
    assert nanoseconds(states.fresh().header.stamp) == held, "it moved"
    assert ros.call(ResetSimulation, "/arm/sim/reset_simulation").result.result == 1
    answers = []
    ros.wait_for(lambda: answers.append(commander.order("home")) or answers[-1][0] == GoalStatus.STATUS_SUCCEEDED, 20.0, lambda: f"a rehearsal: {answers[-1]}")
    assert commander.do("pick", object="cube")["holds"]


def test_after_a_reset_nothing_is_in_the_hand(commander, ros):
    commander.do("pick", object="cube")
    assert commander.cube()["held"]
    assert ros.call(ResetSimulation, "/arm/sim/reset_simulation").result.result == 1
    ros.wait_for(lambda: not commander.cube()["held"], what="the reset")
    assert commander.cube()["xyz_m"] == pytest.approx([0.5, -0.2, 0.775], abs=1e-3)
    assert commander.do("pick", object="cube")["holds"]


def test_a_commander_that_ends_brakes_the_robot(commander, ros):
    states = ros.subscribe(JointState, "/arm/joint_states", 10_000)
    goals = ros.subscribe(GoalStatusArray, "/arm/pick_and_place/_action/status", latched())
    seen = []
    answer = commander.rehearse("pick", object="cube")
    commander.approve(answer["rehearsal"])
    commander.send("act", seen, ticket=answer["ticket"], request_id="left")
    ros.wait_for(lambda: seen and seen[-1].progress > 0.1, what="the act")
    code, seconds = commander.arm.nodes["commander"].stop()
    assert code == 0 and seconds < 5.0
    goals.wait(lambda m: any(goal.status == GoalStatus.STATUS_CANCELED for goal in m.status_list))
    # Time stands still until the hand waits for the commander no more, for a second; then it goes on, and the arm has braked.
    states.clear()
    states.wait(lambda m: moving(m) < 1e-2)


def test_a_person_commands_from_a_shell(commander, domain, tmp_path):
    def do(*words, code=0):
        command = [executable("karakuri"), "do", *words]
        done = subprocess.run(command, env=domain.environment(), stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120)
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout + done.stderr

    assert [o["name"] for o in json.loads(do("look", 'objects=["cube"]'))["objects"]] == ["cube"]
    # Nobody can be asked: it is rehearsed, and its ticket carries it out once somebody agrees.
    predicted = do("pick", "cube", "--pictures", tmp_path / "pictures").splitlines()
    assert predicted[0].startswith("pick: all of 2 copies succeed in ")
    assert Path(predicted[1]).read_bytes().startswith(b"\x89PNG")
    ticket = re.fullmatch(r"`karakuri (do act [0-9a-f]{32})` carries it out", predicted[2]).group(1).split()[1:]
    assert "agree with --yes" in do(*ticket, code=3)
    assert do(*ticket, "--yes").endswith(", it is in the hand\n")
    assert commander.cube()["held"]
    assert "TICKET_USED" in do(*ticket, "--yes", code=3)
    assert "place: all of 2 copies" in do("place on=shelf", "--yes", "--node", "/arm/commander")
    assert abs(commander.cube()["xyz_m"][2] - 0.875) < 0.001
    assert "UNKNOWN_OBJECT: object cube9" in do("pick", "cube9", code=3)
    assert json.loads(do("stop")) == {"stopped": False}
    assert "write fast as NAME=VALUE" in do("home", "fast", code=1)
    assert "no action server /arm/other/home" in do("home", "--node", "/arm/other", code=1)


@pytest.mark.mcp
@pytest.mark.skipif(sys.version_info < (3, 11), reason="the clients need Python 3.11")
@pytest.mark.parametrize("client", CLIENTS[:1])
def test_clients_of_others_have_the_nodes_pick_and_place(domain, ros, tmp_path, client):
    # In real time: an act is under way when its client goes away.
    with ArmCommander(domain, ros, tmp_path, real_time_factor=1.0, http="127.0.0.1:0") as commander:
        said = "clients of the Model Context Protocol: "
        (url,) = (line.partition(said)[2] for line in commander.arm.nodes["commander"].lines if said in line)
        seen = drive(client, url, "pick", {"object": "cube"}, "approve", "act")
        assert not seen["is_error"] and seen["result"]["outcome"] == "DONE" and seen["result"]["holds"], seen
        assert len(seen["questions"]) == 1 and len(seen["progress"]) >= 10
        # Who goes away stops the arm, which keeps what it holds.
        drive(client, url, "place", {"on": "shelf"}, "approve", "act", "vanish")
        ros.wait_for(lambda: commander.lines()[-1]["result"].get("code") == "CANCELED", what="the end of the act in the log")
        assert commander.cube()["held"]
        seen = drive(client, url, "place", {"on": "shelf"}, "approve", "act")
        assert seen["result"]["outcome"] == "DONE" and not seen["result"]["holds"], seen
        assert abs(commander.cube()["xyz_m"][2] - 0.875) < 0.001


def test_a_bad_envelope_or_scene_is_one_sentence(domain, tmp_path):
    writable = tmp_path / "envelope.yaml"
    writable.write_text(ENVELOPE.read_text())
    for parameters, said in (
        ({}, "parameter `envelope` is empty"),
        ({"envelope": writable}, "could be changed by what it is to limit"),
        ({"envelope": ENVELOPE.with_name("none.yaml")}, "cannot read"),
    ):
        node = NodeProcess(domain, "commander", parameters={"scene": SCENE, **parameters})
        assert node.wait() == 1
        assert said in node.output() and "panicked" not in node.output()


def test_a_published_plan_moves_the_block_into_the_bowl(domain, ros, tmp_path):
    # The other one: tests/launch/test_words.py.
    words = {"scene": ROOT / "config/scenes/words.yaml", "view": ROOT / "config/views/words.yaml"}
    with ArmCommander(domain, ros, tmp_path, envelope="words", **words) as commander:
        for call in json.loads((ROOT / "config/calls/gemini_orchestration.json").read_text()):
            commander.do("function_call", **call)
        _, seen = commander.ask("look", objects=["block"])
    x, y, z = seen["objects"][0]["xyz_m"]
    # The bowl's floor is 0.2 m wide, about this place; the block lies on it.
    assert abs(x - 0.57992) < 0.1 and abs(y - 0.23808) < 0.1 and abs(z - 0.78) < 0.005

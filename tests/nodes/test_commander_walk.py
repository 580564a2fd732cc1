"""A commander of a robot that walks: walks over DDS are those rehearsed, to the bit."""

import json
import math
import os
from contextlib import ExitStack

import pytest
from action_msgs.msg import GoalStatus
from geometry_msgs.msg import Point, Vector3, Wrench
from karakuri_msgs.srv import Push
from simulation_interfaces.srv import ResetSimulation
from support.commander import Commander
from support.load import load
from support.process import ROOT, NodeProcess

pytestmark = pytest.mark.apart

ROBOT = {"urdf": ROOT / "urdf/khr1/khr1.urdf", "config": ROOT / "config/khr1.yaml"}
SCENE, GAIT = ROOT / "config/scenes/walk.yaml", ROOT / "config/gaits/khr1_walk.yaml"


class Walker:
    """khr1 on its floor, as launch/commander_walk.launch.xml starts it."""

    namespace = "/khr1"

    def __init__(self, domain):
        self._domain, self.nodes = domain, {}

    def __enter__(self):
        lockstep = {"lockstep": True}
        parameters = {
            "sim": {"scene": SCENE, "real_time_factor": 0.0, "start_paused": True, **lockstep},
            "feedforward_controller": {**ROBOT, "feedforward_scale": 0.0, "lockstep_sources": "[joint_trajectory]", **lockstep},
            "gait_planner": {"gait": GAIT, "lockstep_sources": "[commander/seen]", **lockstep},
        }
        for name, values in parameters.items():
            self.nodes[name] = NodeProcess(self._domain, name, namespace=self.namespace, parameters=values)
        return self

    def __exit__(self, *reason):
        with ExitStack() as stack:
            for node in self.nodes.values():
                stack.push(node)
            stack.__exit__(*reason)


@pytest.fixture
def commander(domain, ros, tmp_path):
    with Commander(domain, ros, tmp_path, Walker(domain), "floor", scene=SCENE, gait=GAIT) as commander:
        yield commander


def place(commander):
    """Where the robot stands: x, y and its heading. [m, m, rad]"""
    _, seen = commander.ask("look")
    assert seen["robot"]["stands"] and seen["tool"] is None
    x, y, _ = seen["robot"]["xyz_m"]
    return x, y, seen["robot"]["yaw_rad"]


def test_walks_are_as_rehearsed(commander):
    aims = [(0.12, 0.0, None), (0.25, 0.02, 0.2)]
    with load(2 * (os.cpu_count() or 1)):
        for x, y, yaw in aims:
            answer = commander.rehearse("walk_to", x_m=x, y_m=y, **({} if yaw is None else {"yaw_rad": yaw}))
            assert math.hypot(answer["end_xyz_m"][0] - x, answer["end_xyz_m"][1] - y) < 0.04, answer
            status, done = commander.act(answer)
            assert status == GoalStatus.STATUS_SUCCEEDED, done
            assert done["commands"] == answer["commands"], "the stream of commands is not the rehearsed one"
            at = place(commander)
            assert math.hypot(at[0] - x, at[1] - y) < 0.04, at
            assert yaw is None or abs(at[2] - yaw) < 0.1, at


def test_a_walk_has_the_gains_that_the_planner_has(commander, ros):
    usual = commander.rehearse("walk_to", x_m=0.15, y_m=0.0)
    tuned = {"stabilizer__ankle": 0.3, "stabilizer__dcm": 1.5, "following_tolerance": 0.6}
    assert all(result.successful for result in ros.set_parameters("/khr1/gait_planner", **tuned))
    # Rehearsed again with these, and then carried out.
    status, done = commander.act(usual)
    assert status == GoalStatus.STATUS_SUCCEEDED, done
    assert done["commands"] != usual["commands"]
    commander.do("walk_to", x_m=0.25, y_m=0.0)


def begun(commander, ros, answer, progress):
    """Handle of an act that is this far."""
    seen = []
    commander.approve(answer["rehearsal"])
    handle = commander.send("act", seen, ticket=answer["ticket"], request_id=f"request-{answer['rehearsal']}")
    ros.wait_for(lambda: seen and seen[-1].progress > progress, what="the middle of the walk")
    assert seen[-1].stage == "WALK"
    return handle


def ended(ros, handle):
    """Status and refusal of an act that does not reach its end."""
    status, result = ros.result(handle, timeout=240.0)
    return status, json.loads(result.answer)["code"]


def test_a_walk_that_is_stopped_stands_and_the_next_is_as_rehearsed(commander, ros):
    handle = begun(commander, ros, commander.rehearse("walk_to", x_m=0.5, y_m=0.0), 0.5)
    assert commander.ask("stop") == (True, {"stopped": True})
    assert ended(ros, handle) == (GoalStatus.STATUS_ABORTED, "CANCELED")
    x, _, _ = place(commander)
    assert 0.1 < x < 0.45, x
    commander.do("walk_to", x_m=x + 0.1, y_m=0.0)


def test_outside_of_the_envelope_nothing_walks(commander):
    for problem, verb, arguments in (
        ("OUTSIDE_ENVELOPE", "walk_to", {"x_m": 2.0, "y_m": 0.0}),
        ("BAD_ARGUMENT", "walk_to", {"x_m": 0.2}),
        ("INVALID_GOAL", "walk_to", {"x_m": 0.0, "y_m": 0.0}),
    ):
        status, refusal = commander.order(verb, **arguments)
        assert (status, refusal["code"]) == (GoalStatus.STATUS_ABORTED, problem), refusal


def test_a_push_ends_the_promise_until_a_reset(commander, ros):
    handle = begun(commander, ros, commander.rehearse("walk_to", x_m=0.3, y_m=0.0), 0.3)
    wrench = Wrench(force=Vector3(y=2.0))
    assert ros.call(Push, "/khr1/sim/push", body="khr1/base_link", point=Point(), wrench=wrench, duration=0.1).success
    assert ended(ros, handle) == (GoalStatus.STATUS_ABORTED, "DIVERGED")
    status, refusal = commander.order("walk_to", x_m=0.3, y_m=0.0)
    assert refusal["code"] == "ROBOT_LOST", refusal
    assert ros.call(ResetSimulation, "/khr1/sim/reset_simulation").result.result == 1
    commander.do("walk_to", x_m=0.2, y_m=0.0)

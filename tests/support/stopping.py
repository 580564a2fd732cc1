"""How soon a move that a commander has begun brakes when somebody says `stop`."""

import json
from contextlib import nullcontext

from action_msgs.msg import GoalStatus
from sensor_msgs.msg import JointState
from simulation_interfaces.srv import ResetSimulation

from support.arm import ARM, distance, moving, nanoseconds

#: Time between two samples. [ns]
PERIOD = 2_000_000
#: Share of real time at which a move is stopped: a control period then takes 0.5 s, which is long beside the way of a message.
SLOW = 0.004
#: Most samples that a busy machine loses of the beginning of a move.
LOST = 50


def periods_until_braked(commander, ros, meanwhile=nullcontext(), fast=0.0):
    """Samples to the first that is answered otherwise than in the whole move, whatever goes on meanwhile: from the one that the arm was at when `stop` was
    called, and when it had been answered.

    `fast` is the share of real time in force before and after.
    """
    commands, states = (ros.subscribe(JointState, f"/arm/{name}", 10_000) for name in ("joint_command", "joint_states"))
    commands.wait()
    ros.result(_begin(commander, commands, "whole"))
    whole = _velocities(commands.messages)
    assert ros.call(ResetSimulation, "/arm/sim/reset_simulation").result.result == 1
    ros.wait_for(lambda: commander.order("home")[0] == GoalStatus.STATUS_SUCCEEDED, 20.0, what="the reset")
    handle = _begin(commander, commands, "stopped")
    assert ros.set_parameter("/arm/sim", "real_time_factor", SLOW)[0]
    with meanwhile:
        ros.spin_for(1.5)
        called = nanoseconds(states.last.header.stamp)
        assert commander.ask("stop") == (True, {"stopped": True})
        answered = nanoseconds(states.last.header.stamp)
        ros.spin_for(1.5)
    assert ros.set_parameter("/arm/sim", "real_time_factor", fast)[0]
    status, result = ros.result(handle)
    assert status == GoalStatus.STATUS_ABORTED and json.loads(result.answer)["code"] == "CANCELED"
    rest = states.fresh()
    assert moving(rest) < 1e-2
    # The answer to the act may be here before the last commands.
    commands.wait(lambda m: nanoseconds(m.header.stamp) >= nanoseconds(rest.header.stamp))
    stopped = _velocities(commands.messages)
    shift = _shift(stopped, whole)
    brakes = next(at for at, v in sorted(stopped.items()) if at + shift in whole and distance(v, whole[at + shift]) > 1e-3)
    for topic in (commands, states):
        topic.close()
    return (brakes - called) / PERIOD, (brakes - answered) / PERIOD


def _begin(commander, commands, request):
    """Begins a move, and waits until the arm is on its way: slowly, so that it is so still when it is to be stopped."""
    commands.clear()
    return commander.begin(request, 0.2, "move", x_m=0.45, y_m=0.2, high=True, speed_scale=0.25)


def _velocities(messages):
    """Commanded velocities of the arm by stamp, from the first sample on in which it is to move. [ns; rad/s]"""
    commanded = {nanoseconds(m.header.stamp): [m.velocity[m.name.index(name)] for name in ARM] for m in messages}
    begun = min(at for at, v in commanded.items() if max(map(abs, v)) > 1e-6)
    return {at: v for at, v in commanded.items() if at >= begun}


def _shift(stopped, whole):
    """Time from a command of the stopped move to the same one of the whole move, whose beginning is at another time: where most commands
    agree, because some of either beginning may be lost. [ns]"""

    def agreeing(shift):
        return sum(at + shift in whole and distance(v, whole[at + shift]) < 1e-9 for at, v in stopped.items())

    begun = min(whole) - min(stopped)
    return max((begun + samples * PERIOD for samples in range(-LOST, LOST + 1)), key=agreeing)

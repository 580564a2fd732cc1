"""Random goals, cancels and preemptions, one after the other: efforts without steps, memory that stays.

A thousand of them and more, for ten minutes, and the processor time at 1 kHz, with `-m soak`:
./dev shell python3 -m pytest -q -s -m soak tests/nodes/test_soak.py
"""

import random
import time

import pytest
from action_msgs.msg import GoalStatus
from control_msgs.action import FollowJointTrajectory
from diagnostic_msgs.msg import DiagnosticArray
from sensor_msgs.msg import JointState
from support.arm import ARM, START, Arm, goal, moving, seconds, settle_in
from support.process import NodeProcess
from trajectory_msgs.msg import JointTrajectoryPoint

#: Effort limits of the arm's joints, as its URDF has them. [N·m]
LIMITS = [150.0, 150.0, 120.0, 30.0, 30.0, 30.0]
#: Largest step of an effort from one command to the next, over the joint's limit: the parameter `effort_rate` times the period is
#: 0.16. [-]
LARGEST_STEP = 0.2
#: Growth of the controller's memory from a tenth of the time to the end. [MB]
GROWTH = 1.0
ENDS = {GoalStatus.STATUS_SUCCEEDED, GoalStatus.STATUS_CANCELED, GoalStatus.STATUS_ABORTED}


class Steps:
    """Largest steps of the commanded efforts, without keeping the messages."""

    def __init__(self, ros):
        self.last, self.worst, self.n = None, [0.0] * 6, 0
        self._subscription = ros.node.create_subscription(JointState, "/arm/joint_command", self._see, 1000)

    def _see(self, message):
        stamp = seconds(message.header.stamp)
        efforts = [message.effort[message.name.index(name)] for name in ARM]
        # A message that was lost would make one step of two.
        if self.last and stamp - self.last[0] < 0.003:
            steps = (abs(a - b) / limit for a, b, limit in zip(efforts, self.last[1], LIMITS, strict=True))
            self.worst = [max(pair) for pair in zip(self.worst, steps, strict=True)]
            self.n += 1
        self.last = (stamp, efforts)


def random_goal(source):
    """Somewhere near the start, soon; half of the goals also say how they arrive."""
    place = [q + source.uniform(-0.4, 0.4) for q in START]
    request = goal(place, source.uniform(0.4, 1.5))
    if source.random() < 0.5:
        request.trajectory.points[0].velocities = [0.0] * 6
        request.trajectory.points[0].accelerations = [0.0] * 6
    if source.random() < 0.3:
        first = request.trajectory.points[0]
        back = JointTrajectoryPoint(positions=START, velocities=first.velocities, accelerations=first.accelerations)
        back.time_from_start.sec = 3
        request.trajectory.points.append(back)
    return request


class Memory:
    """Resident memory of a node, second by second."""

    def __init__(self, node):
        self.node, self.started, self.record = node, time.monotonic(), []

    def look(self):
        now = time.monotonic() - self.started
        if not self.record or now - self.record[-1][0] >= 1.0:
            self.record.append((now, self.node.memory_mb()))

    def growth(self):
        """From a tenth of the time on, when all that is kept for good has been made, to the end. [MB]"""
        end = time.monotonic() - self.started
        return self.node.memory_mb() - next(mb for at, mb in reversed(self.record) if at <= max(end / 10, self.record[0][0]))

    def __str__(self):
        return ", ".join(f"{at:.0f} s: {mb:.2f}" for at, mb in self.record[:: max(1, len(self.record) // 40)])


def soak(domain, ros, n, duration=0.0):
    source = random.Random(4)
    with Arm(domain, real_time_factor=0.0) as arm:
        settle_in(ros)
        client = ros.action(FollowJointTrajectory, "/arm/follow_joint_trajectory")
        node = arm.nodes["feedforward_controller"]
        n_before = len(node.lines)
        steps, waiting, memory, i = Steps(ros), [], Memory(node), 0
        counts = dict.fromkeys(ENDS, 0)
        while i < n or time.monotonic() - memory.started < duration:
            i += 1
            memory.look()
            handle = ros.send_goal(client, random_goal(source))
            assert handle.accepted, node.output()
            result = handle.get_result_async()
            waiting.append(result)
            ros.spin_for(source.uniform(0.0, 0.15))
            what = source.random()
            if what < 0.35:
                ros.finish(handle.cancel_goal_async())
            elif what < 0.5:
                ros.finish(result)
            # Else the next goal preempts this one, if it is not there yet.
        for result in waiting:
            counts[ros.finish(result).status] += 1
        growth = memory.growth()
        states = ros.subscribe(JointState, "/arm/joint_states")
        states.wait(lambda m: moving(m) < 1e-3)
        print(f"\n{i} goals {counts}, {steps.n} commands, steps {[f'{s:.3f}' for s in steps.worst]} of the limits")
        print(f"memory of the controller [MB]: {memory}; from a tenth of the time on {growth:+.2f}")
        client.destroy()
        assert all(counts.values()), "goals end in every way"
        assert max(steps.worst) < LARGEST_STEP, steps.worst
        assert growth < GROWTH
        assert not [line for line in node.lines[n_before:] if "WARN" in line and "preempted" not in line], node.output()


@pytest.mark.realtime
def test_sixty_random_goals(domain, ros):
    soak(domain, ros, 60)


@pytest.mark.soak
def test_a_thousand_random_goals(domain, ros):
    soak(domain, ros, 1000, duration=600.0)


def share_of_a_core(ros, node, duration):
    """Of a node that runs, while nobody looks."""
    started, used = time.monotonic(), node.cpu_seconds()
    ros.spin_for(duration)
    return (node.cpu_seconds() - used) / (time.monotonic() - started)


@pytest.mark.soak
def test_processor_time_at_1_khz(domain, ros):
    arm = Arm(domain, period=0.001)
    arm.parameters["feedforward_controller"]["period"] = 0.001
    with arm:
        states = ros.subscribe(JointState, "/arm/joint_states", 1)
        states.wait()
        diagnostics = ros.subscribe(DiagnosticArray, "/diagnostics")
        client = ros.action(FollowJointTrajectory, "/arm/follow_joint_trajectory")
        ros.wait_for(lambda: ros.send_goal(client, goal([q + 0.5 for q in START], 30.0)).accepted)
        # From here nobody looks: what the controller does for an observer is not counted.
        states.close()
        share = share_of_a_core(ros, arm.nodes["feedforward_controller"], 20.0)
        ours = [s for m in diagnostics.messages for s in m.status if s.name.endswith("feedforward_controller: control")]
        timing = {value.key: value.value for value in ours[-1].values}
        print(f"\nfeedforward_controller at 1 kHz: {100 * share:.1f} % of a core; the last second: {timing}")
        assert 900 < int(timing["n_answers"]) < 1100
        client.destroy()
        # Most of it is the middleware's: waking up, taking and publishing 1000 messages a second.
        assert share < 0.2
    # The same messages, and nothing computed.
    with Arm(domain, nodes=["sim"], period=0.001), NodeProcess(domain, "answerer", namespace="/arm") as answerer:
        commands = ros.subscribe(JointState, "/arm/joint_command", 1)
        commands.wait()
        commands.close()
        print(f"with nothing computed: {100 * share_of_a_core(ros, answerer, 10.0):.1f} % of a core")

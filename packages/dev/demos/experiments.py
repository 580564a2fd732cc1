"""The experiments of parallel inverse dynamics through the nodes: rods, branches, loops, walls traced, a block held, fast arms.

Each is launch/NAME.launch.xml with the motion of config/mechanisms/NAME.yaml: the joints' as a goal of follow_joint_trajectory, the
tips' forces (or zero) sample by sample on target_wrench/LINK, in lockstep: time waits until this program has heard a sample. Judges errors with feed-forward and without, and leaves
report.json, tables and plots. Ends with 0 only if all are as good as they should be.
"""
from common import interrupt  # first: an import may swallow what a signal raises in it

import argparse
import csv
import dataclasses
import functools
import json
import math
import os
import pathlib
import signal
import subprocess
import sys
import time

import rclpy
import rclpy.node
import rclpy.signals
from control_msgs.action import FollowJointTrajectory
from geometry_msgs.msg import WrenchStamped
from rcl_interfaces.msg import Parameter, ParameterType, ParameterValue
from rcl_interfaces.srv import SetParameters
from rclpy.action import ActionClient
from rclpy.executors import SingleThreadedExecutor
from sensor_msgs.msg import JointState
from simulation_interfaces.msg import SimulationState
from simulation_interfaces.srv import SetSimulationState
from trajectory_msgs.msg import JointTrajectoryPoint

from common.program import find_program
from common.recorder import Recorder, stamp
from karakuri_msgs.msg import ObjectStates
from karakuri_msgs.srv import AttachJoint

ROOT = pathlib.Path(__file__).resolve().parents[3]
PERIOD = 1_000_000  # [ns]
EVERY = 10  # periods between two points of the goal
SETTLING = 0.3  # [s] until a hold has settled
MEAN = 20  # samples over which a force is averaged: in single steps a contact may part by nanometres
PATIENCE = 120.0  # [s] of wall time for anything


class Failed(Exception):
    """The message says why."""


@dataclasses.dataclass
class Tip:
    """A link that presses, and what it takes to know its force."""

    link: str
    force: str  # columns `FORCE.fx` of the tables of `karakuri inverse-dynamics`
    chain: list  # joints whose angles add up to the link's


@dataclasses.dataclass
class Experiment:
    """One launch file, and what it is to show."""

    title: str
    namespace: str
    robot: str  # its name in the scene
    joints: list  # the group's
    limit: float  # of the error with feed-forward [-]: of the force, or of the error with feedback alone
    tips: list = dataclasses.field(default_factory=list)
    along: int = 0  # axis of the force to be judged
    press: float = 0.0  # [N] a tip
    block: str = ""  # joints `slide_x` and `slide_y` of the tables move it
    load: tuple = ()  # object, link, mass [kg]
    pace: str = ""  # where there are no tips: link whose target, a zero, time waits for
    variants: dict = dataclasses.field(default_factory=dict)  # further runs with feed-forward: launch arguments, by label
    launch: str = ""  # launch file and mechanism, where they are another experiment's
    friction: float = 0.0  # dry friction of every motor [N·m], which the controller does not know of
    gains: tuple = ()  # of the force feedback, a run each [-]

    def files(self, name):
        """What its launch file and mechanism are called."""
        return self.launch or name


METHODS = {"exact": "recursive", "scheme": "nodal"}


def step_arguments(label):
    """Launch arguments of `METHOD, N ms`."""
    method, step = label.split(", ")
    return [f"method:={METHODS[method]}", f"period:={float(step.removesuffix(' ms')) * 1e-3}"]


ARM6 = ["shoulder_yaw", "shoulder_pitch", "elbow_pitch", "wrist_pitch", "wrist_yaw", "wrist_roll"]
SIDES = ["shoulder_pitch", "shoulder_roll", "elbow_roll"]
LEGS = ["hip_roll", "hip_pitch", "knee_pitch", "ankle_pitch", "ankle_roll"]
STEPS = [f"{method}, {ms} ms" for ms in (1, 4, 10) for method in METHODS]
EXPERIMENTS = {
    "three_links": Experiment(
        "Three rods, exact and by the scheme, at steps of 1 to 10 ms", "/three_links", "three_links",
        ["shoulder", "elbow", "wrist"], 0.2, pace="hand",
        variants={label: step_arguments(label) for label in STEPS},
    ),
    "branched": Experiment(
        "A branched mechanism of five links", "/branched", "branched", ["a1", "a2", "a3", "b1", "b2"], 0.2, pace="b2",
        variants={"by the scheme": ["method:=nodal"]},
    ),
    "branched_loop": Experiment(
        "A closed loop holds still while 0.3 kg swing at its branch", "/branched_loop", "branched_loop",
        ["left", "left_coupler", "right", "branch"], 0.2, load=("mass", "branch_tip", 0.3), pace="branch_tip",
    ),
    "wall_tracing": Experiment(
        "An arm traces a wall and pushes it with 5 N", "/wall_arm", "wall_arm", ["shoulder", "elbow"], 0.05,
        tips=[Tip("tip", "tip", ["shoulder", "elbow"])], along=1, press=5.0,
    ),
    "two_arms": Experiment(
        "Two arms hold a block with 0.5 N and swing it", "/dual_arm", "dual_arm",
        ["left_shoulder", "left_elbow", "right_shoulder", "right_elbow"], 0.1,
        tips=[Tip(f"{s}_tip", s, [f"{s}_shoulder", f"{s}_elbow"]) for s in ("left", "right")], press=0.5, block="block",
    ),
    "force_feedback": Experiment(
        "Two arms with dry friction hold a block with 0.5 N, without and with force feedback", "/dual_arm", "dual_arm",
        ["left_shoulder", "left_elbow", "right_shoulder", "right_elbow"], 0.5,
        tips=[Tip(f"{s}_tip", s, [f"{s}_shoulder", f"{s}_elbow"]) for s in ("left", "right")], press=0.5, block="block",
        launch="two_arms", friction=0.01, gains=(0.0, 2.0, 4.0),
    ),
    "arm6_fast": Experiment(
        "arm6 with 2 kg at its tool follows a fast trajectory", "/arm", "arm6", ARM6, 0.2, load=("load", "tool", 2.0),
        pace="tool",
    ),
    "khr1_arms": Experiment(
        "The arms of khr1 follow a fast trajectory", "/khr1", "khr1",
        ["head_yaw", *(f"{s}_{j}" for s in "lr" for j in SIDES), *(f"{s}_{j}" for s in "lr" for j in LEGS)], 0.2,
        pace="head",
    ),
}  # fmt: skip


class Tables:
    """Motion and forces of a mechanism file, a row a millisecond."""

    def __init__(self, name, out):
        files = {"--motion": out / "motion.csv", "--output": out / "torques.csv", "--report": out / "offline.json"}
        arguments = [str(text) for pair in files.items() for text in pair]
        mechanism = str(ROOT / f"config/mechanisms/{name}.yaml")
        done = subprocess.run([find_program(), "inverse-dynamics", mechanism, *arguments], capture_output=True, text=True)
        if done.returncode:
            raise Failed(done.stderr)
        self.columns = {}
        for file in ("--motion", "--output"):
            with open(files[file]) as table:
                rows = csv.reader(table)
                for column in zip(*rows):
                    self.columns[column[0].split(" [")[0]] = [float(number) for number in column[1:]]
        self.n = len(self.columns["time"])

    def at(self, name, row):
        return self.columns[name][min(max(row, 0), self.n - 1)]


@functools.cache
def tables_of(name, out):
    """Made once for all runs of an experiment."""
    return Tables(name, out)


class Client(rclpy.node.Node):
    """Gives the goal and the forces, and writes down what comes of them."""

    n_made = 0

    def __init__(self, experiment, tables):
        Client.n_made += 1
        super().__init__(f"experiment_{Client.n_made}")
        self.experiment, self.tables = experiment, tables
        space = experiment.namespace
        self.action = ActionClient(self, FollowJointTrajectory, f"{space}/follow_joint_trajectory")
        self.attach = self.create_client(AttachJoint, f"{space}/sim/attach_joint")
        self.state = self.create_client(SetSimulationState, f"{space}/sim/set_simulation_state")
        self.parameters = self.create_client(SetParameters, f"{space}/feedforward_controller/set_parameters")
        self.sim_parameters = self.create_client(SetParameters, f"{space}/sim/set_parameters")
        self.target, self.targets = WrenchStamped(), []
        self.target.header.frame_id = "world"
        for link in [tip.link for tip in experiment.tips] or [experiment.pace]:
            self.targets.append(self.create_publisher(WrenchStamped, f"{space}/target_wrench/{link}", 10))
        topics = {tip.link: (WrenchStamped, f"{space}/wrench/{tip.link}") for tip in experiment.tips}
        topics |= {"commands": (JointState, f"{space}/joint_command"), "objects": (ObjectStates, "/objects")}
        self.first, self.n_answered = None, 0
        self.recorder = Recorder(topics | {"joints": (JointState, f"{space}/joint_states")}, "joints", self.answer)

    def is_ready(self):
        """All are there and have heard of each other."""
        there = [self.action.server_is_ready(), *(c.service_is_ready() for c in (self.attach, self.state, self.parameters, self.sim_parameters))]
        there += [publisher.get_subscription_count() > 0 for publisher in self.targets]
        there += [self.n_answered > 20]
        return all(there)

    def row(self, time):
        """Row of the tables at a time; the motion begins one period after the first sample."""
        return (time - self.first) // PERIOD - 1

    def answer(self, time):
        """The forces of the tips at the time of a sample."""
        if self.first is None:
            self.first = time
        if not self.recorder.taken["commands"]:
            return  # the answer to the first sample, which is asked for once, must not depend on who was up first
        self.n_answered += 1
        self.target.header.stamp = stamp(time)
        for tip, publisher in zip(self.experiment.tips or [None], self.targets):
            if tip:
                force = self.target.wrench.force
                force.x, force.y, force.z = (self.tables.at(f"{tip.force}.{axis}", self.row(time)) for axis in ("fx", "fy", "fz"))
            publisher.publish(self.target)

    def read(self):
        """What was heard: names of the joints; positions, readings of forces by link, and places of objects, by time stamp [ns]."""
        joints, objects = self.recorder.read("joints"), self.recorder.read("objects")
        self.names = list(joints[self.first].name)
        self.positions = {time: list(message.position) for time, message in joints.items()}
        self.objects = {time: {o.name: o.pose.position for o in message.objects} for time, message in objects.items()}
        self.readings = {}
        for tip in self.experiment.tips:
            forces = {time: message.wrench.force for time, message in self.recorder.read(tip.link).items()}
            self.readings[tip.link] = {time: (force.x, force.y) for time, force in forces.items()}

    def goal(self):
        """The joints' motion, a point every `EVERY` periods with velocity and acceleration."""
        goal = FollowJointTrajectory.Goal()
        goal.trajectory.joint_names = self.experiment.joints
        goal.trajectory.header.stamp = stamp(self.first + PERIOD)
        for row in range(0, self.tables.n, EVERY):
            column = lambda part: [self.tables.at(f"{joint}.{part}", row) for joint in self.experiment.joints]
            point = JointTrajectoryPoint(positions=column("q"), velocities=column("v"), accelerations=column("a"))
            at = stamp(row * PERIOD)
            point.time_from_start.sec, point.time_from_start.nanosec = at.sec, at.nanosec
            goal.trajectory.points.append(point)
        # To rounding it is at rest there.
        goal.trajectory.points[-1].velocities = [0.0] * len(self.experiment.joints)
        return goal


class System:
    """The nodes of a launch file, while the block is open, and the client that talks to them."""

    def __init__(self, client, name, arguments, log):
        self.client, self.executor = client, SingleThreadedExecutor()
        self.executor.add_node(client)
        self.command = [find_program(), "launch", str(ROOT / f"launch/{name}.launch.xml"), *arguments]
        self.log = log

    def __enter__(self):
        with interrupt.wait(), open(self.log, "w") as log:
            self.process = subprocess.Popen(self.command, stdout=log, stderr=subprocess.STDOUT, start_new_session=True)
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
            try:
                self.process.wait(timeout=30)
            except subprocess.TimeoutExpired:
                os.killpg(self.process.pid, signal.SIGKILL)
                self.process.wait()
        self.executor.shutdown()

    def spin(self, done, what):
        """Until `done()`."""
        end, look = time.monotonic() + PATIENCE, lambda: self.executor.spin_once(timeout_sec=0.0)
        while not done():
            with interrupt.wait():
                if not self.client.recorder.attend(look):
                    continue
            if self.process.poll() is not None:
                raise Failed(f"the nodes ended; {self.log} says why")
            if time.monotonic() > end:
                raise Failed(f"{what} took longer than {PATIENCE:.0f} s; see {self.log}")

    def call(self, future, what):
        self.spin(future.done, what)
        return future.result()


def run(name, out, feed_forward, load_share=1.0, arguments=(), gain=0.0):
    """One motion, the nodes started with these arguments; what was measured."""
    experiment = EXPERIMENTS[name]
    out.mkdir(parents=True, exist_ok=True)
    tables = tables_of(experiment.files(name), out.parent)
    client = Client(experiment, tables)
    with System(client, experiment.files(name), [f"feedforward_scale:={1.0 if feed_forward else 0.0}", *arguments], out / "nodes.log") as system:
        system.spin(client.is_ready, "starting the nodes")
        if experiment.load:
            carry(system, client, load_share)
        if experiment.friction:
            friction = {f"joints.{joint}.friction": experiment.friction for joint in experiment.joints}
            set_numbers(system, client, client.sim_parameters, friction)
        if gain:
            set_numbers(system, client, client.parameters, {"force_feedback.gain": gain})
        handle = system.call(client.action.send_goal_async(client.goal()), "sending the goal")
        if not handle.accepted:
            raise Failed(f"the goal was refused; {out / 'nodes.log'} says why")
        playing = SetSimulationState.Request(state=SimulationState(state=SimulationState.STATE_PLAYING))
        system.call(client.state.call_async(playing), "starting the simulation")
        end = client.first + tables.n * PERIOD
        system.spin(lambda: client.recorder.newest["joints"] >= end, "the motion")
    client.read()
    save(client, out / "samples.csv")
    result = measure(client)
    client.recorder.destroy_node()
    client.destroy_node()
    return result


def carry(system, client, share):
    """Fixes the load to its link, and tells the controller what it is said to weigh."""
    body, link, mass = client.experiment.load
    request = AttachJoint.Request(name="load", body_a=f"{client.experiment.robot}/{link}", body_b=body, locked=[True] * 6)
    request.frame.orientation.w = 1.0
    answer = system.call(client.attach.call_async(request), "attaching the load")
    if not answer.success:
        raise Failed(answer.message)
    set_numbers(system, client, client.parameters, {"payload.mass": mass * share})


def set_numbers(system, client, service, numbers):
    """Sets parameters that are numbers, by name."""
    values = {name: ParameterValue(type=ParameterType.PARAMETER_DOUBLE, double_value=float(number)) for name, number in numbers.items()}
    request = SetParameters.Request(parameters=[Parameter(name=name, value=value) for name, value in values.items()])
    for answer in system.call(service.call_async(request), f"setting {', '.join(numbers)}").results:
        if not answer.successful:
            raise Failed(answer.reason)


def save(client, file):
    """What was measured, to the last bit."""
    readings = client.readings.values()
    with open(file, "w", newline="") as table:
        writer = csv.writer(table)
        writer.writerow(["time [s]", *client.names, *(f"{link}.{axis}" for link in client.readings for axis in ("fx", "fy"))])
        for at, positions in sorted(client.positions.items()):
            if all(at in of_link for of_link in readings):
                writer.writerow([at * 1e-9, *map(repr, positions), *(repr(f) for of_link in readings for f in of_link[at])])


def measure(client):
    """Errors over the time of the motion."""
    experiment, tables = client.experiment, client.tables
    index = {name: client.names.index(name) for name in client.names}
    rows = {client.row(t): q for t, q in sorted(client.positions.items()) if 0 <= client.row(t) < tables.n}
    far = lambda row, q: max(abs(q[index[joint]] - tables.at(f"{joint}.q", row)) for joint in experiment.joints)
    steps = [b - a for a, b in zip(sorted(rows), sorted(rows)[1:])]
    due = tables.n // min(steps, default=tables.n)
    result = {"due": due, "joint_error": {row: far(row, q) for row, q in rows.items()}, "positions": rows, "force": {}}
    for row, q in rows.items():
        time = client.first + (row + 1) * PERIOD
        if experiment.tips and all(time in client.readings[tip.link] for tip in experiment.tips):
            forces = []
            for tip in experiment.tips:
                angle, (x, y) = sum(q[index[joint]] for joint in tip.chain), client.readings[tip.link][time]
                world = (math.cos(angle) * x - math.sin(angle) * y, math.sin(angle) * x + math.cos(angle) * y)
                forces.append(abs(world[experiment.along]))
            result["force"][row] = sum(forces) / len(forces)
    if experiment.block:
        places = {client.row(t): objects[experiment.block] for t, objects in client.objects.items()}
        off = lambda row, p: math.dist((p.x, p.y, p.z), (tables.at("slide_x.q", row), 0.25 + tables.at("slide_y.q", row), 0.0))
        result["block_error"] = {row: off(row, p) for row, p in places.items() if 0 <= row < tables.n}
    return result


def means(forces):
    """Means over `MEAN` samples, by the last row."""
    rows = sorted(forces)
    runs = zip(*(rows[i:] for i in range(MEAN)))
    return {run[-1]: sum(forces[row] for row in run) / MEAN for run in runs if run[-1] - run[0] == MEAN - 1}


def summary(experiment, result):
    """The numbers that are judged: lengths [m], angles [rad], shares [-]."""
    numbers = {"samples": len(result["positions"]), "samples_due": result["due"], "joint_error_largest": max(result["joint_error"].values())}
    if experiment.tips:
        settled = {row: f for row, f in means(result["force"]).items() if row * PERIOD * 1e-9 > SETTLING}
        numbers["force_samples"] = len(settled)
        errors = [abs(f - experiment.press) / experiment.press for f in settled.values()]
        numbers["force_error_largest"] = max(errors)
        numbers["force_error_rms"] = math.sqrt(sum(error**2 for error in errors) / len(errors))
    if experiment.block:
        numbers["block_error_largest_m"] = max(result["block_error"].values())
    return numbers


def judge(name, numbers):
    """What is not as it should be."""
    experiment, wrong = EXPERIMENTS[name], []
    if experiment.gains:
        return judge_gains(experiment, numbers)
    with_it, without = numbers["with feed-forward"], numbers["feedback alone"]
    if experiment.tips:
        if with_it["force_error_largest"] > experiment.limit:
            wrong.append(f"the force is off by {100 * with_it['force_error_largest']:.1f} %")
        if without["force_error_largest"] < 0.5:
            wrong.append("feedback alone holds the force: it proves nothing")
    else:
        for label in [label for label in numbers if label != "feedback alone"]:
            ratio = numbers[label]["joint_error_largest"] / without["joint_error_largest"]
            if ratio > experiment.limit:
                wrong.append(f"{label}, the error is {ratio:.2f} of that with feedback alone")
    if experiment.block and with_it["block_error_largest_m"] > 5e-3:
        wrong.append(f"the block is off by {1e3 * with_it['block_error_largest_m']:.1f} mm")
    return wrong


def judge_gains(experiment, numbers):
    """What is not as it should be with force feedback: it is to make the force better, at little cost of the position."""
    runs = [numbers[gain_label(gain)] for gain in experiment.gains]
    errors, wrong = [run["force_error_rms"] for run in runs], []
    if not all(after < before for before, after in zip(errors, errors[1:])):
        wrong.append("the force does not get better with the gain")
    if errors[-1] > experiment.limit * errors[0]:
        wrong.append(f"force feedback leaves {errors[-1] / errors[0]:.2f} of the force's error")
    if max(run["block_error_largest_m"] for run in runs) > 5e-3:
        wrong.append("the block is off by more than 5 mm")
    return wrong


def gain_label(gain):
    return f"K_F = {gain:g}"


def experiment_runs(name, out):
    """All runs of an experiment: what was measured, by label."""
    if gains := EXPERIMENTS[name].gains:
        return {gain_label(gain): run(name, out / f"gain_{gain:g}", True, gain=gain) for gain in gains}
    runs = {"feedback alone": run(name, out / "feedback", False), "with feed-forward": run(name, out / "feed_forward", True)}
    if EXPERIMENTS[name].tips:
        run(name, out / "again", True)
        if not repeats(*(out / label / "samples.csv" for label in ("feed_forward", "again"))):
            raise Failed(f"{name}: two equal runs differ; see {out}")
    if EXPERIMENTS[name].load:
        runs["payload 20 % wrong"] = run(name, out / "wrong_load", True, 0.8)
    for label, arguments in EXPERIMENTS[name].variants.items():
        runs[label] = run(name, out / label.replace(", ", "_").replace(" ", "_"), True, arguments=arguments)
    return runs


def repeats(first, second):
    """Whether two runs are equal to the last bit wherever both were heard."""
    first, second = ({line.split(",", 1)[0]: line for line in file.read_text().splitlines()} for file in (first, second))
    common = first.keys() & second.keys()
    return len(common) > 2000 and all(first[time] == second[time] for time in common)


def draw(name, runs, out, figure):
    """Errors, and forces if there are any, at some 400 instants."""
    experiment = EXPERIMENTS[name]
    columns = {}
    if not experiment.gains:
        columns = {f"{label} [rad]": result["joint_error"] for label, result in runs.items()}
    for label, result in runs.items():
        if result["force"]:
            columns[f"force, {label} [N]"] = means(result["force"])
    if experiment.gains:
        thousand = lambda column: {row: 1e3 * error for row, error in column.items()}
        columns |= {f"block off, {label} [mm]": thousand(result["block_error"]) for label, result in runs.items()}
        columns |= {f"joints off, {label} [mrad]": thousand(result["joint_error"]) for label, result in runs.items()}
    common = sorted(set.intersection(*(set(column) for column in columns.values())))
    table = out / "errors.csv"
    with open(table, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["time [s]", *columns])
        writer.writerows([row * PERIOD * 1e-9, *(column[row] for column in columns.values())] for row in common[:: max(1, len(common) // 400)])
    desired = [f"--level={experiment.press}[N]=desired"] if experiment.tips else []
    subprocess.run([find_program(), "plot", str(table), "--title", experiment.title, *desired, "--output", str(figure)], check=True)


def describe(numbers):
    text = f"joints off by {1e3 * numbers['joint_error_largest']:.2f} mrad at most"
    if "force_error_largest" in numbers:
        text += f", force by {100 * numbers['force_error_largest']:.2f} % (rms {100 * numbers['force_error_rms']:.2f} %)"
    if "block_error_largest_m" in numbers:
        text += f", block off [mm]: {off_by(numbers['block_error_largest_m'])}"
    return text


def off_by(distance):
    """In mm, unless it fell. [m]"""
    return "dropped" if distance > 0.1 else f"{1e3 * distance:.2f}"


def write_page(folder, report):
    """docs/experiments/inverse-dynamics/nodes.md, of all experiments without force feedback."""
    report = {name: runs for name, runs in report.items() if not EXPERIMENTS[name].gains}
    lines = [
        "# The experiments through the nodes", "",
        "Made by `./dev demo experiments --page docs/experiments/inverse-dynamics`: `sim` and `feedforward_controller` over DDS in lockstep at",
        "1 kHz, the motion a goal of `follow_joint_trajectory`, forces on `target_wrench/<link>`, no force feedback. Forces are means over 20 ms",
        "after 0.3 s. `payload 20 % wrong`: the controller's `payload.mass` is 20 % less than what is carried. Equal runs are equal to the last bit. `exact` is the",
        "method `recursive`, `scheme` the method `nodal`, with the period of samples and commands.", "",
        "| launch file | | joints off [mrad] | force off | block off [mm] |", "|---|---|---|---|---|",
    ]  # fmt: skip
    for name, runs in report.items():
        for label, numbers in runs.items():
            force = f"{100 * numbers['force_error_largest']:.2f} %" if "force_error_largest" in numbers else "-"
            block = off_by(numbers["block_error_largest_m"]) if "block_error_largest_m" in numbers else "-"
            lines.append(f"| `{name}` | {label} | {1e3 * numbers['joint_error_largest']:.3f} | {force} | {block} |")
    for name in report:
        lines += ["", f"## {EXPERIMENTS[name].title}", "", f"![errors]({name}_nodes.svg)"]
    (folder / "nodes.md").write_text("\n".join(lines) + "\n")


def write_force_page(folder, name, runs):
    """docs/experiments/inverse-dynamics/force_feedback.md."""
    experiment = EXPERIMENTS[name]
    lines = [
        "# Two arms hold a wooden block, without and with force feedback", "",
        f"Made by `./dev demo experiments {name} --page docs/experiments/inverse-dynamics`: `launch/{experiment.launch}.launch.xml`, `sim` and",
        f"`feedforward_controller` over DDS in lockstep at 1 kHz. Every motor has {experiment.friction:g} N·m of dry friction, which the controller",
        f"does not know of: it takes {experiment.friction / 0.25:.2g} N at a tip 0.25 m away. The desired force of {experiment.press:g} N a tip and the block's weight and",
        "inertia go to `target_wrench/<link>`, contact sensors in the tips measure, and `force_feedback.gain` is K_F of",
        "`F = F_E + K_F (F_E - F_S)`, filtered by 20 ms. Forces are means over 20 ms after 0.3 s.", "",
        "| | force off, rms | force off, largest | block off [mm] | joints off [mrad] |", "|---|---|---|---|---|",
    ]  # fmt: skip
    for label, numbers in runs.items():
        force = [f"{100 * numbers[f'force_error_{kind}']:.2f} %" for kind in ("rms", "largest")]
        block, joints = off_by(numbers["block_error_largest_m"]), 1e3 * numbers["joint_error_largest"]
        lines.append(f"| {label} | {' | '.join(force)} | {block} | {joints:.2f} |")
    lines += [
        "", "The force follows its target the better the higher the gain; the position, to which the friction is left, pays for it with some",
        "tenths of a millimetre: force feedback goes first, as in [Isobe 2003].", "", f"![forces and errors]({name}_nodes.svg)",
    ]  # fmt: skip
    (folder / f"{name}.md").write_text("\n".join(lines) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "out/demo/experiments", help="folder of reports and plots")
    parser.add_argument("--page", type=pathlib.Path, help="write the figures into this folder, the page on force feedback, and the other where all experiments are run")
    parser.add_argument("experiments", nargs="*", help=f"which of {', '.join(EXPERIMENTS)}; all without one")
    options = parser.parse_args()
    unknown = [name for name in options.experiments if name not in EXPERIMENTS]
    if unknown:
        parser.error(f"there is no experiment {', '.join(unknown)}; there are {', '.join(EXPERIMENTS)}")
    rclpy.init(signal_handler_options=rclpy.signals.SignalHandlerOptions.NO)
    report, failures = {}, []
    try:
        with interrupt.announced():
            for name in options.experiments or EXPERIMENTS:
                print(f"{EXPERIMENTS[name].title} ...", flush=True)
                out = options.out / name
                runs = experiment_runs(name, out)
                report[name] = {label: summary(EXPERIMENTS[name], result) for label, result in runs.items()}
                for label, numbers in report[name].items():
                    print(f"  {label}: {describe(numbers)}", flush=True)
                failures += [f"{name}: {what}" for what in judge(name, report[name])]
                draw(name, runs, out, options.page / f"{name}_nodes.svg" if options.page else out / "errors.svg")
    except Failed as reason:
        failures.append(str(reason))
    except KeyboardInterrupt:
        print("\ninterrupted", flush=True)
        return 130
    finally:
        rclpy.try_shutdown()
    verdict = f"FAILED: {'; '.join(failures)}" if failures else "all as good as they should be"
    if options.page and not failures:
        for name in report:
            if EXPERIMENTS[name].gains:
                write_force_page(options.page, name, report[name])
        if len(report) == len(EXPERIMENTS):
            write_page(options.page, report)
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "report.json").write_text(json.dumps({"verdict": verdict, "experiments": report}, indent=2) + "\n")
    print(f"\n{verdict}\nReports, tables and plots: {options.out}/", flush=True)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())

"""SO-101 grips a block with its one jaw, holds it and puts it down: over emulated servos, or with --sim in the simulation.

The same client moves both: `follow_joint_trajectory` for the arm, `gripper_cmd` for the jaw. The truth about the block comes past the bus,
from the emulator's side channel or the simulation's /objects. Leaves report.json, a trace and a picture; ends with 0 only if the block was
held without slipping and stands where it was to stand.
"""
from common import interrupt  # first: an import may swallow what a signal raises in it

import argparse
import csv
import json
import math
import pathlib
import signal
import socket
import subprocess
import tempfile
import time
import xml.etree.ElementTree as xml

import numpy as np
import rclpy
import yaml
from action_msgs.msg import GoalStatus
from builtin_interfaces.msg import Duration
from control_msgs.action import FollowJointTrajectory, GripperCommand
from karakuri_msgs.msg import ObjectStates
from rclpy.action import ActionClient
from rclpy.node import Node
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectoryPoint

from common.program import find_program

ROOT = pathlib.Path(__file__).resolve().parents[3]
SCENE = ROOT / "config/scenes/so101.yaml"
URDF = ROOT / "urdf/so101/so101.urdf"
CONFIG = ROOT / "config/so101.yaml"
HARDWARE = ROOT / "config/hardware/so101.yaml"
ARM = ["shoulder_pan", "shoulder_lift", "elbow_flex", "wrist_flex", "wrist_roll"]
BLOCK = "cube"
PLACE = (0.23, 0.12)  # where its centre is to stand [m]
CLEARANCE = 0.003  # between it and the fixed jaw, before the other one pushes it there [m]
HEIGHT = 0.05  # of the way up and down [m]
FORCE = 5.0  # [N]
HOLD = 3.0  # [s]
START_UP = 60.0  # [s]
PATIENCE = 20.0  # for a motion [s]
# What counts as success: the bus's servos have 1.5 mrad a count and sag under load.
LIMITS = {"slip_m": 0.002, "placed_off_m": 0.006, "force_off_N": 1.5}


class Failed(Exception):
    """The demonstration failed; the message says why."""


def main():
    arguments = parse()
    out = pathlib.Path(arguments.out)
    out.mkdir(parents=True, exist_ok=True)
    report = {"behind": "sim" if arguments.sim else "bus", "limits": LIMITS}
    verdict, code = "interrupted", 130
    with tempfile.TemporaryDirectory(prefix="karakuri-") as folder:  # short, as names of sockets have to be
        system = System(arguments.sim, out, pathlib.Path(folder))
        try:
            with interrupt.announced():
                system.start()
                report.update(demonstrate(system, out))
            verdict, code = judge(report)
        except Failed as reason:
            verdict, code = f"FAILED: {reason}", 1
        except KeyboardInterrupt:
            pass
        finally:
            interrupt.ignore()
            system.stop()
            if rclpy.ok():
                rclpy.shutdown()
    report["verdict"] = verdict
    (out / "report.json").write_text(json.dumps(report, indent=2) + "\n")
    print(f"\n{verdict}\nReport, trace and picture: {out}/", flush=True)
    return code


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", default="out/demo/so101", help="where report and picture go")
    parser.add_argument("--headless", action="store_true", help="accepted for all demonstrations; nothing is opened anyway")
    parser.add_argument("--sim", action="store_true", help="in the simulation, without a bus")
    return parser.parse_args()


def say(text):
    print(text, flush=True)


class System:
    """The nodes, under `karakuri launch`, and the emulator, if there is one."""

    def __init__(self, is_sim, out, folder):
        self.is_sim, self.out = is_sim, out
        self.link, self.side = folder / "bus", folder / "side"
        self.running = []

    def start(self):
        launch = [find_program(), "launch", ROOT / "launch/so101.launch.xml"]
        if not self.is_sim:
            emulate = [find_program(), "emulate", "feetech", "--pty", self.link, "--side", self.side]
            self.run("emulator", [*emulate, "--hardware", HARDWARE, "--scene", SCENE])
            self.wait_for("emulator", "ready: ")
            launch += ["hardware:=so101", f"device:={self.link}"]
        self.run("nodes", launch)
        rclpy.init(signal_handler_options=rclpy.signals.SignalHandlerOptions.NO)

    def run(self, name, command):
        with interrupt.wait(), open(self.log(name), "w") as log:
            command = [str(word) for word in command]
            self.running.append((name, subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT, start_new_session=True)))

    def log(self, name):
        return self.out / f"{name}.log"

    def wait_for(self, name, text):
        end = time.monotonic() + START_UP
        while text not in self.log(name).read_text():
            self.check()
            if time.monotonic() > end:
                raise Failed(f"the {name} did not start in {START_UP:.0f} s")
            time.sleep(0.02)

    def check(self):
        interrupt.check()
        for name, process in self.running:
            if process.poll() is not None:
                tail = "\n".join(self.log(name).read_text().splitlines()[-8:])
                raise Failed(f"the {name} ended with {process.returncode}; the last it said:\n{tail}")

    def stop(self):
        # The nodes first: a driver that ends lets the servos go.
        for _, process in reversed(self.running):
            if process.poll() is None:
                process.send_signal(signal.SIGINT)
                try:
                    process.wait(timeout=15)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()


class SideChannel:
    """The truth past the bus: time, angles of the servos, objects."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(10.0)
        self.socket.connect(str(path))
        self.answers = self.socket.makefile("r")

    def look(self):
        self.socket.sendall(b'"state"\n')
        state = json.loads(self.answers.readline())
        objects = {o["name"]: (o["position_m"], o["orientation_xyzw"]) for o in state["objects"]}
        # Zeros of the arm's joints are in the middle of their servos; what the jaw says of itself is good enough.
        return state["time_s"], [servo["position_rad"] for servo in state["servos"]][: len(ARM)], objects[BLOCK]


class Client(Node):
    """What a user's program would have, and the truth beside it."""

    def __init__(self, system):
        super().__init__("so101_demo")
        self.system = system
        self.arm = ActionClient(self, FollowJointTrajectory, "/so101/follow_joint_trajectory")
        self.jaw = ActionClient(self, GripperCommand, "/so101/gripper_cmd")
        self.joints, self.objects, self.seen = {}, None, 0.0
        self.create_subscription(JointState, "/so101/joint_states", self.on_joints, 10)
        self.create_subscription(ObjectStates, "/objects", self.on_objects, 10)
        self.side = None if system.is_sim else SideChannel(system.side)
        self.trace = []
        self.offset = np.zeros(len(ARM))
        self.last_look = 0.0

    def on_joints(self, message):
        self.joints = dict(zip(message.name, message.position))
        self.time = seconds_of(message.header.stamp)

    def on_objects(self, message):
        self.objects = {o.name: o.pose for o in message.objects}
        self.seen = seconds_of(message.header.stamp)

    def measured(self):
        return np.array([self.joints[name] for name in ARM])

    def truth(self):
        """Time [s], angles of the arm's joints, position and orientation of the block."""
        if self.side:
            return self.side.look()
        pose = self.objects[BLOCK]
        p, q = pose.position, pose.orientation
        return self.time, list(self.measured()), ([p.x, p.y, p.z], [q.x, q.y, q.z, q.w])

    def look(self):
        """The truth of now: in the simulation the block is seen less often than the joints are measured."""
        if not self.side:
            now = self.time
            self.spin_until(lambda: self.seen >= now, PATIENCE, f"seeing the block, last at {self.seen:.2f} s of {now:.2f} s,")
        return self.truth()

    def spin_until(self, done, patience, what):
        end = time.monotonic() + patience
        while not done():
            rclpy.spin_once(self, timeout_sec=0.01)
            self.system.check()
            if self.joints and (self.side or self.objects) and time.monotonic() > self.last_look + 0.05:
                self.last_look = time.monotonic()
                self.trace.append((*self.truth(), self.joints["gripper"]))
            if time.monotonic() > end:
                raise Failed(f"{what} took longer than {patience:.0f} s")

    def wait(self, seconds):
        """In the time of the samples."""
        if self.side:
            end = time.monotonic() + seconds
            self.spin_until(lambda: time.monotonic() > end, seconds + PATIENCE, "a moment")
        else:
            end = self.time + seconds
            self.spin_until(lambda: self.time > end, 100 * seconds + PATIENCE, "a moment")

    def carry_out(self, action, goal, what):
        """Status and result of a goal, which is sent until it is accepted."""
        end = time.monotonic() + PATIENCE
        while True:
            sent = action.send_goal_async(goal)
            self.spin_until(sent.done, PATIENCE, f"sending {what}")
            if sent.result().accepted:
                break
            if time.monotonic() > end:
                raise Failed(f"{what} is refused; nodes.log says why")
            self.wait(0.2)
        result = sent.result().get_result_async()
        self.spin_until(result.done, 5 * PATIENCE, what)
        return result.result().status, result.result().result

    def follow(self, path, duration, what):
        """Follows joint positions along a path, with smooth speed; corrected by how far the servos hang behind under their load."""
        path = np.array(path) + self.offset
        share = np.linspace(0.0, 1.0, 2 * len(path))
        smooth, rate = 3 * share**2 - 2 * share**3, 6 * share * (1 - share)
        along = np.linspace(0.0, 1.0, len(path))
        slope = np.gradient(path, along, axis=0)
        at = lambda values: np.stack([np.interp(smooth, along, column) for column in values.T], axis=1)
        goal = FollowJointTrajectory.Goal()
        goal.trajectory.joint_names = ARM
        for t, q, v in zip(share[1:] * duration, at(path)[1:], (at(slope) * rate[:, None] / duration)[1:]):
            ns = round(1e9 * t)
            stamp = Duration(sec=ns // 10**9, nanosec=ns % 10**9)
            goal.trajectory.points.append(JointTrajectoryPoint(positions=q.tolist(), velocities=v.tolist(), time_from_start=stamp))
        status, result = self.carry_out(self.arm, goal, what)
        if status != GoalStatus.STATUS_SUCCEEDED:
            raise Failed(f"{what}: {result.error_string}")
        self.wait(0.3)

    def settle(self, target):
        """Takes up what the servos sag by."""
        sag = np.array(target) - self.measured()
        if abs(sag).max() > 0.15:
            raise Failed(f"a joint is {abs(sag).max():.2f} rad off its target")
        self.offset += sag
        self.follow([np.array(target) - sag, target], 0.5, "the correction")

    def grip(self, opening, force, what):
        goal = GripperCommand.Goal()
        goal.command.position, goal.command.max_effort = opening, force
        status, result = self.carry_out(self.jaw, goal, what)
        say(f"  {what}: {1e3 * result.position:.1f} mm, {result.effort:.1f} N, stalled: {result.stalled}, reached: {result.reached_goal}")
        if status != GoalStatus.STATUS_SUCCEEDED:
            raise Failed(f"{what} ended with status {status}")
        return result


def seconds_of(stamp):
    return stamp.sec + 1e-9 * stamp.nanosec


class Kinematics:
    """The arm's chain from its URDF, and `karakuri ik`."""

    def __init__(self):
        joints = {j.find("child").get("link"): j for j in xml.parse(URDF).getroot().iter("joint")}
        self.chain, link = [], "tool"
        while link in joints:
            joint = joints[link]
            self.chain.insert(0, joint)
            link = joint.find("parent").get("link")
        self.base = yaml.safe_load(CONFIG.read_text())["base_pose"]["xyz"]

    def tool(self, q):
        """Rotation and position of the tool frame in the world."""
        rotation, position = np.eye(3), np.array(self.base, dtype=float)
        angles = dict(zip(ARM, q))
        for joint in self.chain:
            numbers = lambda element, key: [float(x) for x in element.get(key, "0 0 0").split()]
            origin = joint.find("origin")
            position = position + rotation @ numbers(origin, "xyz")
            rotation = rotation @ rpy(*numbers(origin, "rpy"))
            if joint.get("type") != "fixed":
                rotation = rotation @ about(numbers(joint.find("axis"), "xyz"), angles[joint.get("name")])
        return rotation, position

    def reach(self, xyz, start):
        """Positions of the arm's joints with the tool looking down and the jaw opening along x."""
        words = [find_program(), "ik", str(URDF), "--config", str(CONFIG), "--link", "tool", "--lock", "gripper"]
        # The tool's x down, its y, along which the jaw opens, to the world's x.
        words += ["--pose=" + ",".join(f"{x:.9f}" for x in (*xyz, 0.0, math.pi / 2, -math.pi / 2)), "--position-tolerance", "1e-5"]
        for name, value in zip(ARM, start):
            words += ["--start", f"{name}={value:.6f}"]
        done = subprocess.run(words, capture_output=True, text=True)
        found = json.loads(done.stdout)
        if found["position_error_m"] > 1e-4 or found["orientation_error_rad"] > 1e-3:
            raise Failed(f"the arm does not reach {xyz}: {found['message']}")
        return [found["q"][name] for name in ARM]

    def line(self, start, end, guess, n=6):
        """Positions of the joints along a straight line of the tool [m]."""
        path = []
        for share in np.linspace(0.0, 1.0, n):
            point = [(1 - share) * a + share * b for a, b in zip(start, end)]
            path.append(self.reach(point, path[-1] if path else guess))
        return path


def about(axis, angle):
    x, y, z = axis
    k = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + math.sin(angle) * k + (1 - math.cos(angle)) * k @ k


def rpy(roll, pitch, yaw):
    return about((0, 0, 1), yaw) @ about((0, 1, 0), pitch) @ about((1, 0, 0), roll)


def demonstrate(system, out):
    client, arm = Client(system), Kinematics()
    ready = lambda: client.arm.server_is_ready() and client.jaw.server_is_ready() and client.joints and (client.side or client.objects)
    client.spin_until(ready, START_UP, "waiting for the nodes")
    scene = yaml.safe_load(SCENE.read_text())
    block = next(body for body in scene["bodies"] if body["name"] == BLOCK)
    x, y, z = block["pose"]["xyz"]
    width = block["shape"]["box"][0]
    target = (*PLACE, z)
    # The tool's origin is on the fixed jaw's face, which stays on the side of the base.
    beside = lambda px, py, gap: (px - 0.5 * width - gap, py, z)
    up = lambda point: (*point[:2], point[2] + HEIGHT)
    ready_posture = yaml.safe_load(CONFIG.read_text())["postures"]["ready"]
    guess = [ready_posture[name] for name in ARM]
    pick, put = beside(x, y, CLEARANCE), beside(*PLACE, 0.0)
    down, there = arm.line(up(pick), pick, guess), arm.line(put, up(put), guess)

    say("The arm goes to the block")
    begun = client.look()[0]
    if not client.grip(0.06, 0.0, "open").reached_goal:
        raise Failed("the jaw does not open")
    client.follow([client.measured(), down[0]], 3.0, "the way there")
    client.settle(down[0])
    client.follow(down, 1.5, "the way down")
    client.settle(down[-1])
    result = client.grip(0.0, FORCE, "close")
    if not result.stalled:
        raise Failed("nothing is between the jaws")
    gripped = client.look()
    say("It lifts the block, and holds it")
    client.follow(down[::-1], 1.5, "the lift")
    lifted = client.look()
    client.wait(HOLD)
    held = client.look()
    say("It puts the block down")
    client.follow([down[0], there[-1]], 2.0, "the way across")
    client.settle(there[-1])
    client.follow(there[::-1], 1.5, "the way down")
    client.settle(there[0])
    before = client.look()
    opened = client.grip(0.06, 0.0, "open")
    if not opened.reached_goal:
        raise Failed("the jaw does not open")
    client.follow(there, 1.5, "the retreat")
    client.wait(0.5)
    end = client.look()

    in_hand = lambda seen: arm.tool(seen[1])[0].T @ (np.array(seen[2][0]) - arm.tool(seen[1])[1])
    slips = [float(np.linalg.norm(in_hand(seen) - in_hand(gripped))) for seen in (lifted, held, before)]
    times = [round(seen[0] - begun, 3) for seen in (gripped, lifted, held, before, end)]
    save(client, begun, out / "state.csv")
    draw(out, times)
    return {
        "grip": {"opening_m": result.position, "effort_N": result.effort, "stalled": result.stalled, "reached_goal": result.reached_goal},
        "opened": {"opening_m": opened.position, "effort_N": opened.effort, "reached_goal": opened.reached_goal},
        "lifted_m": lifted[2][0][2] - z,
        "held_m": held[2][0][2] - z,
        "sank_while_held_m": lifted[2][0][2] - held[2][0][2],
        "slip_m": max(slips),
        "placed_off_m": math.dist(end[2][0], target),
        "turned_rad": 2 * math.acos(min(1.0, abs(end[2][1][3]))),
        "time_s": times[-1],
        "times_s": dict(zip(("gripped", "lifted", "held", "put_down", "end"), times)),
        "largest_correction_rad": float(abs(client.offset).max()),
    }


def judge(report):
    lifted, held = 1e3 * report["lifted_m"], 1e3 * report["held_m"]
    if min(lifted, held) < 600 * HEIGHT:
        return f"FAILED: the block is {lifted:.1f} mm above the table after the lift and {held:.1f} mm {HOLD:.0f} s later, not held", 1
    if report["slip_m"] > LIMITS["slip_m"]:
        return f"FAILED: the block slipped by {1e3 * report['slip_m']:.1f} mm in the jaws", 1
    if report["placed_off_m"] > LIMITS["placed_off_m"]:
        return f"FAILED: the block stands {1e3 * report['placed_off_m']:.1f} mm off", 1
    if abs(report["grip"]["effort_N"] - FORCE) > LIMITS["force_off_N"]:
        return f"FAILED: the jaw pressed with {report['grip']['effort_N']:.1f} N, not {FORCE:.1f} N", 1
    return (
        f"SUCCESS: held for {HOLD:.0f} s with {report['grip']['effort_N']:.1f} N, slipped by {1e3 * report['slip_m']:.2f} mm, "
        f"put down {1e3 * report['placed_off_m']:.1f} mm off after {report['time_s']:.1f} s"
    ), 0


def save(client, begun, path):
    """In the columns of `karakuri simulate --trace`, so that `karakuri render` can show it."""
    with open(path, "w", newline="") as file:
        block = [f"{BLOCK}.{c} [{u}]" for c, u in (*((c, "m") for c in "xyz"), *((f"q{c}", "-") for c in "xyzw"))]
        writer = csv.writer(file)
        writer.writerow(["time [s]", *(f"so101.{name}.q [rad]" for name in (*ARM, "gripper")), *block])
        for seen, q, (position, orientation), jaw in client.trace:
            writer.writerow([f"{x:.6f}" for x in (seen - begun, *q, jaw, *position, *orientation)])


def draw(out, times):
    gripped, _, held, before, _ = times
    at = ",".join(f"{t:.2f}" for t in (gripped, held, before))
    words = [find_program(), "render", str(SCENE), "--trace", str(out / "state.csv"), "--at", at, "--columns", "3", "--size", "480,400"]
    words += ["--target", "0.2,0,0.82", "--distance", "0.75", "--angles", "40,18", "--output", str(out / "so101_grip.png")]
    subprocess.run(words, check=True, capture_output=True)


if __name__ == "__main__":
    raise SystemExit(main())

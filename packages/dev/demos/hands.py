"""Hands: the same ten objects by each hand of arm6: what is placed, refused or lost, and why.

Starts the system once for each hand with `karakuri launch`, puts one object after the other on the table, and asks `pick_and_place` to put it on
the shelf. Leaves report.json, a table, and a picture for each hand. Ends with 0 only if what was said to be placed is at its place, and
no object left a hand that said it held it.
"""
from common import interrupt  # first: an import may swallow what a signal raises in it

import argparse
import csv
import json
import math
import pathlib
import sys
import time

import rclpy
import yaml
from action_msgs.msg import GoalStatus
from geometry_msgs.msg import PoseStamped
from karakuri_msgs.action import PickAndPlace
from karakuri_msgs.msg import ObjectStates
from rclpy.action import ActionClient
from rclpy.node import Node
from sensor_msgs.msg import JointState
from simulation_interfaces.msg import EntityState
from simulation_interfaces.srv import ResetSimulation, SetEntityState

from common.program import find_program
from common.system import Failed, System, attempt, say, whole

ROOT = pathlib.Path(__file__).resolve().parents[3]
HANDS = {
    "arm6": "pick_and_place",
    "arm6_scissor": "pick_and_place_scissor",
    "arm6_three_fingers": "pick_and_place_three_fingers",
    "arm6_suction": "pick_and_place_suction",
    "arm6_suction4": "pick_and_place_suction",
}
# Name: shape of a goal, edges of the box along its own axes [m], mass [kg], whether it lies, whether it rolls.
OBJECTS = {
    "cube": ("box", (0.05, 0.05, 0.05), 0.2, False, False),
    "block": ("box", (0.1, 0.05, 0.08), 0.6, False, False),
    "can": ("cylinder", (0.06, 0.06, 0.1), 0.4, False, False),
    "rod": ("cylinder", (0.03, 0.03, 0.12), 0.3, True, True),
    "capsule": ("capsule", (0.04, 0.04, 0.12), 0.3, True, True),
    "ball": ("ball", (0.06, 0.06, 0.06), 0.2, False, True),
    "cone": ("cone", (0.08, 0.08, 0.128), 0.3, False, False),
    "flat cone": ("cone", (0.09, 0.09, 0.05), 0.2, False, False),
    "plate": ("box", (0.18, 0.14, 0.02), 0.5, False, False),
    "crate": ("box", (0.16, 0.16, 0.1), 3.0, False, False),
}
COLORS = [[0.85, 0.16, 0.16], [0.93, 0.60, 0.15], [0.25, 0.60, 0.30], [0.20, 0.45, 0.75], [0.55, 0.35, 0.70]]
FRICTION = 0.6
TABLE, SHELF = (0.5, -0.2, 0.75), (0.5, 0.2, 0.85)
PLACED_WITHIN, TURNED_WITHIN = 0.005, math.radians(3)  # [m], [rad]
START_UP, PATIENCE = 60.0, 120.0  # [s] of wall time: for all nodes to appear, for one object


def main():
    arguments = parse()
    out = pathlib.Path(arguments.out)
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as reason:
        raise SystemExit(f"cannot write to {out}: {reason.strerror}") from None
    report = {"friction": FRICTION, "hands": {}}
    verdict, code = "interrupted", 130
    try:
        with interrupt.announced():
            for hand in arguments.hands:
                report["hands"][hand] = demonstrate(hand, out, arguments)
        verdict, code = judge(report)
    except Failed as reason:
        verdict, code = f"FAILED: {reason}", 1
    except KeyboardInterrupt:
        pass
    finally:
        interrupt.ignore()
        if rclpy.ok():
            rclpy.shutdown()
    report["verdict"] = verdict
    with whole(out / "report.json") as file:
        file.write(json.dumps(report, indent=2) + "\n")
    say("\n" + table(report))
    say(f"\n{verdict}\nReport and pictures: {out}/")
    return code


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", default="out/demo/hands", help="where report and pictures go")
    parser.add_argument("--headless", action="store_true", help="accepted for all demonstrations; nothing is opened anyway")
    parser.add_argument("--no-lockstep", dest="lockstep", action="store_false", help="let the nodes run freely instead of in step")
    parser.add_argument("--hands", nargs="+", choices=HANDS, default=list(HANDS), help="hands to try, by their robots (default: all)")
    parser.add_argument("--objects", nargs="+", choices=OBJECTS, default=list(OBJECTS), help="objects to try (default: all)")
    return parser.parse_args()


def scene_of(hand, out):
    """The hand's scene with all objects in rows beside the table, in a file."""
    source = ROOT / f"config/scenes/{HANDS[hand]}.yaml"
    scene = yaml.safe_load(source.read_text())
    robot = scene["robots"][0]
    robot["urdf"], robot["config"] = str(ROOT / f"urdf/arm6/{hand}.urdf"), str(ROOT / f"config/{hand}.yaml")
    scene["bodies"] = [body for body in scene["bodies"] if body.get("fixed")]
    for number, (name, (shape, size, mass, _, _)) in enumerate(OBJECTS.items()):
        aside = [-1.0 - 0.4 * (number // 5), -0.8 + 0.4 * (number % 5), centre_of_mass(name, lies=False)]
        scene["bodies"].append({
            "name": name, "shape": described(shape, size), "mass": mass, "friction": FRICTION,
            "pose": {"xyz": aside}, "color": COLORS[number % 5],
        })  # fmt: skip
    path = out / f"{hand}.yaml"
    with whole(path) as file:
        file.write(f"# {hand} with the ten objects of `./dev demo hands`.\n{yaml.safe_dump(scene, sort_keys=False)}")
    return path


def described(shape, size):
    """A shape as scenes describe it."""
    x, y, z = size
    return {
        "box": {"box": [x, y, z]},
        "ball": {"sphere": {"radius": x / 2}},
        "cylinder": {"cylinder": {"radius": x / 2, "length": z}},
        "capsule": {"capsule": {"radius": x / 2, "length": z - x}},
        "cone": {"cone": {"radius": x / 2, "length": z}},
    }[shape]


def centre_of_mass(name, lies):
    """Height of an object's centre of mass above its support. [m]"""
    shape, (x, _, z), *_ = OBJECTS[name]
    return x / 2 if lies else z / 4 if shape == "cone" else z / 2


def orientation(lies):
    """Quaternion (w, x, y, z) of an object that stands, or lies."""
    half = math.sqrt(0.5)
    return (half, 0.0, half, 0.0) if lies else (1.0, 0.0, 0.0, 0.0)


class Client(Node):
    """What a user's program would have."""

    def __init__(self):
        # One for each hand: of an equal name the log would complain.
        super().__init__("hands_demo", enable_rosout=False)
        self.pick = ActionClient(self, PickAndPlace, "/arm/pick_and_place")
        self.reset = self.create_client(ResetSimulation, "/arm/sim/reset_simulation")
        self.put = self.create_client(SetEntityState, "/arm/sim/set_entity_state")
        self.objects, self.joints, self.stage = {}, None, ""
        self.ears = [
            self.create_subscription(ObjectStates, "/objects", self.on_objects, 1),
            self.create_subscription(JointState, "/arm/joint_states", self.on_joints, 1),
        ]

    def is_ready(self):
        there = self.pick.server_is_ready() and self.reset.service_is_ready() and self.put.service_is_ready()
        return there and self.objects and self.joints is not None

    def on_objects(self, message):
        self.objects = {o.name: o.pose for o in message.objects}

    def on_joints(self, message):
        self.joints = message

    def on_feedback(self, message):
        self.stage = message.feedback.state


def spin_until(client, done, patience, what):
    end = time.monotonic() + patience
    while not done():
        with interrupt.wait():
            rclpy.spin_once(client, timeout_sec=0.05)
        System.running.check()
        if time.monotonic() > end:
            raise Failed(f"{what} took longer than {patience:.0f} s")


def call(client, service, request, what):
    future = service.call_async(request)
    spin_until(client, future.done, 20.0, what)
    result = future.result().result
    if result.result != 1:
        raise Failed(f"{what}: {result.error_message}")


def demonstrate(hand, out, arguments):
    """What came of each object."""
    scene = scene_of(hand, out)
    system = System(out / f"{hand}.log", ROOT / "launch/pick_and_place.launch.xml", {
        "urdf": ROOT / f"urdf/arm6/{hand}.urdf", "config": ROOT / f"config/{hand}.yaml", "scene": scene,
        "lockstep": str(arguments.lockstep).lower(), "real_time_factor": 0.0,
    })  # fmt: skip
    say(f"\n{hand}")
    runs, pictures = {}, []
    try:
        system.start()
        client = Client()
        spin_until(client, client.is_ready, START_UP, "waiting for the nodes")
        for name in arguments.objects:
            runs[name], picture = carry(client, name)
            pictures.append(picture)
            say(f"  {name:<10} {runs[name]['outcome']:<14} {runs[name]['message']}")
        client.destroy_node()
    finally:
        interrupt.ignore()
        system.stop()
        interrupt.heed()
    draw(out, hand, scene, pictures)
    return runs


def carry(client, name):
    """What came of one object, and what a picture of it shows."""
    shape, size, mass, lies, rolls = OBJECTS[name]
    call(client, client.reset, ResetSimulation.Request(), "the reset")
    x, y, top = TABLE
    state = EntityState()
    state.header.frame_id = "world"
    fill(state.pose, (x, y, top + centre_of_mass(name, lies)), orientation(lies))
    call(client, client.put, SetEntityState.Request(entity=name, state=state), f"putting the {name} on the table")
    goal = PickAndPlace.Goal(shape=shape, mass=mass, friction=FRICTION, approach_height=0.12)
    goal.object_size.x, goal.object_size.y, goal.object_size.z = size
    goal.object_pose, goal.place_pose = middle(name, TABLE), middle(name, SHELF)
    # The object must be seen where it is now; a gripper that has not seen the reset yet refuses, too.
    there = lambda: math.dist(position(client.objects[name]), position(goal.object_pose.pose)) < 1e-3
    spin_until(client, there, 20.0, f"seeing the {name} on the table")
    picture = snapshot(client)
    client.stage = ""
    handle = accepted(client, goal)
    result = handle.get_result_async()
    spin_until(client, lambda: result.done() or client.stage == "MOVE", PATIENCE, f"taking the {name}")
    if not result.done():
        picture = snapshot(client)
    spin_until(client, result.done, PATIENCE, f"placing the {name}")
    outcome, status = result.result().result, result.result().status
    code = next(code for code in CODES if getattr(PickAndPlace.Result, code) == outcome.error_code)
    refused = status == GoalStatus.STATUS_ABORTED and outcome.elapsed == 0
    run = {"outcome": "placed" if outcome.success else "refused" if refused else code, "message": outcome.message, "state": outcome.state,
           "elapsed_s": outcome.elapsed}  # fmt: skip
    if outcome.success:
        run.update(off(client, name, goal, rolls))
    return run, picture


CODES = [name for name in dir(PickAndPlace.Result) if name.isupper() and isinstance(getattr(PickAndPlace.Result, name), int)]


def accepted(client, goal):
    """The goal's handle; the gripper takes it as soon as it has seen the reset."""
    end = time.monotonic() + 10.0
    while True:
        sent = client.pick.send_goal_async(goal, feedback_callback=client.on_feedback)
        spin_until(client, sent.done, 20.0, "sending the goal")
        if sent.result().accepted:
            return sent.result()
        if time.monotonic() > end:
            raise Failed("the gripper refuses the goal; its log says why")
        time.sleep(0.2)


def off(client, name, goal, rolls):
    """How far an object is from its place [m], and turned from it [rad]; what is round may roll on when it is let go."""
    target = goal.place_pose.pose
    pose = client.objects[name]
    a, b = pose.orientation, target.orientation
    turn = 2 * math.acos(min(1.0, abs(a.w * b.w + a.x * b.x + a.y * b.y + a.z * b.z)))
    return {"placed_off_m": math.dist(position(pose)[:2], position(target)[:2]), "turned_rad": turn, "rolls": rolls}


def fill(pose, xyz, wxyz):
    pose.position.x, pose.position.y, pose.position.z = map(float, xyz)
    q = pose.orientation
    q.w, q.x, q.y, q.z = map(float, wxyz)


def position(pose):
    p = pose.position
    return p.x, p.y, p.z


def middle(name, place):
    """Pose of the middle of an object's box on a support."""
    _, (x, _, z), _, lies, _ = OBJECTS[name]
    message = PoseStamped()
    message.header.frame_id = "world"
    fill(message.pose, (place[0], place[1], place[2] + (x if lies else z) / 2), orientation(lies))
    return message


def snapshot(client):
    """Joints and objects now, as a row of a trace."""
    row = {f"arm.{name}.q [rad]": value for name, value in zip(client.joints.name, client.joints.position)}
    for name, pose in client.objects.items():
        x, y, z = position(pose)
        q = pose.orientation
        if name in OBJECTS and OBJECTS[name][0] == "cone":
            # A trace has the centre of mass; a quarter of the height is the way to the middle, along the axis.
            down = OBJECTS[name][1][2] / 4
            x -= down * 2 * (q.x * q.z + q.w * q.y)
            y -= down * 2 * (q.y * q.z - q.w * q.x)
            z -= down * (1 - 2 * (q.x**2 + q.y**2))
        row.update({f"{name}.x [m]": x, f"{name}.y [m]": y, f"{name}.z [m]": z})
        row.update({f"{name}.qx [-]": q.x, f"{name}.qy [-]": q.y, f"{name}.qz [-]": q.z, f"{name}.qw [-]": q.w})
    return row


def draw(out, hand, scene, pictures):
    """One picture of all objects: in the hand where it carried them, else on the table."""
    trace = out / f"{hand}.csv"
    rows = [{"time [s]": float(i), **row} for i, row in enumerate(pictures)]
    with whole(trace) as file:
        writer = csv.DictWriter(file, rows[0].keys())
        writer.writeheader()
        writer.writerows(rows)
    instants = ",".join(str(row["time [s]"]) for row in rows)
    attempt([find_program(), "render", str(scene), "--trace", str(trace), "--at", instants, "--columns", "5", "--size", "320,320",
             "--target", "0.45,0,0.95", "--distance", "1.5", "--angles", "-60,25", "--output", str(out / f"{hand}.png")])  # fmt: skip


def table(report):
    """What each hand did with each object."""
    hands = report["hands"]
    names = list(dict.fromkeys(name for runs in hands.values() for name in runs))
    lines = [f"{'':<10} " + " ".join(f"{hand.removeprefix('arm6_'):<14}" for hand in hands)]
    for name in names:
        lines.append(f"{name:<10} " + " ".join(f"{runs.get(name, {}).get('outcome', ''):<14}" for runs in hands.values()))
    return "\n".join(lines)


def judge(report):
    """Whether what was said to be placed is at its place."""
    placed = 0
    for hand, runs in report["hands"].items():
        for name, run in runs.items():
            if run["outcome"] != "placed":
                continue
            placed += 1
            if run["rolls"]:
                continue
            if run["placed_off_m"] > PLACED_WITHIN:
                return f"FAILED: {hand} says that it placed the {name}, which is {1e3 * run['placed_off_m']:.1f} mm off", 1
            if run["turned_rad"] > TURNED_WITHIN:
                return f"FAILED: {hand} says that it placed the {name}, which is turned by {math.degrees(run['turned_rad']):.1f} degrees", 1
    total = sum(len(runs) for runs in report["hands"].values())
    if placed == 0:
        return f"FAILED: none of {total} objects was placed", 1
    return f"SUCCESS: {placed} of {total} placed; the others are refused or lost as the table says", 0


if __name__ == "__main__":
    sys.exit(main())

"""Pick and place: arm6 takes a cube from the table and puts it on a shelf, held by friction alone.

Starts the whole system with `karakuri launch`, sends the goals as any ROS 2 client would, records what the topics say,
judges it, and leaves report.json, traces, plots and a picture. Ends with 0 only if every cube was placed.
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
from rclpy.action import ActionClient
from rclpy.node import Node
from rclpy.qos import QoSProfile

from control_msgs.msg import JointTrajectoryControllerState
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import PoseStamped, WrenchStamped
from karakuri_msgs.action import PickAndPlace
from karakuri_msgs.msg import GripState, ObjectStates
from common.program import find_program
from common.recorder import Recorder, stamp
from common.report import Failed, attempt, say, whole
from common.system import System
from rcl_interfaces.msg import Parameter, ParameterType, ParameterValue
from rcl_interfaces.srv import SetParameters
from sensor_msgs.msg import JointState
from simulation_interfaces.msg import SimulationState
from simulation_interfaces.srv import ResetSimulation, SetSimulationState

ROOT = pathlib.Path(__file__).resolve().parents[3]
NAMESPACE = "/arm"
START_UP = 60.0  # [s] for all nodes to appear
PATIENCE = 60.0  # [s] wall time in which simulated time must go on: how fast it goes depends on the machine's load
LONGEST = 60.0  # [s] simulated time for one pick and place
FIRST = 10_000_000  # [ns] the first sample of a simulation is stamped earlier
GRIP_LIMIT = 15.0  # [N] a finger
TRACKING_LIMIT = 0.04  # [rad] a joint further than this from its path has hit something, and the gripper stops the arm
PERIOD = 2_000_000  # [ns] between two samples
SOURCES = ["hand/joint_trajectory", "target_wrench/tool"]  # the gripper's, and what the recorder answers with
SAMPLED = {"joints": "joint_states", "tracking": "controller_state", "left": "wrench/finger_left", "right": "wrench/finger_right"}
TOPICS = {
    **{name: (kind, f"{NAMESPACE}/{SAMPLED[name]}") for name, kind in (
        ("left", WrenchStamped), ("right", WrenchStamped), ("tracking", JointTrajectoryControllerState), ("joints", JointState))},
    "objects": (ObjectStates, "/objects"),
    "grip": (GripState, f"{NAMESPACE}/grip_state"),
}


def main():
    arguments = parse()
    out = pathlib.Path(arguments.out)
    try:
        out.mkdir(parents=True, exist_ok=True)
        (out / "report.json").unlink(missing_ok=True)  # of a run before
    except OSError as reason:
        raise SystemExit(f"cannot write to {out}: {reason.strerror}") from None
    task = yaml.safe_load((ROOT / "config/tasks/pick_and_place.yaml").read_text())
    report = {"task": task, "lockstep": arguments.lockstep, "real_time_factor": arguments.real_time_factor, "runs": []}
    system = System(out / "nodes.log", ROOT / "launch/pick_and_place.launch.xml", {
        "lockstep": str(arguments.lockstep).lower(),
        "real_time_factor": arguments.real_time_factor,
        "lockstep_sources": f"[{', '.join(SOURCES)}]",
    })  # fmt: skip
    verdict, code = "interrupted", 130
    try:
        with interrupt.announced():
            system.start()
            demonstrate(arguments, task, out, report)
        verdict, code = judge(report, task)
    except Failed as reason:
        verdict, code = f"FAILED: {reason}", 1
    except KeyboardInterrupt:
        pass
    finally:
        interrupt.ignore()
        system.stop()
        report["verdict"] = verdict
        if rclpy.ok():
            rclpy.shutdown()
    try:
        with whole(out / "report.json") as file:
            file.write(json.dumps(report, indent=2) + "\n")
    except Failed as reason:
        print(f"\n{verdict}" if code else f"\nFAILED: {reason}", flush=True)
        return 1
    if code == 1 and (warnings := system.warnings()):
        print("\nThe nodes warned:", *warnings, sep="\n  ", flush=True)
    if code == 130:
        print(f"\n{verdict}; nothing is drawn. Report and tables: {out}/", flush=True)
        return code
    try:
        interrupt.heed()
        if report["runs"]:
            draw(out, report)
    except KeyboardInterrupt:
        print(f"\n{verdict}; interrupted while plots and picture were drawn. Report and tables: {out}/", flush=True)
        return 130
    print(f"\n{verdict}\nReport, plots and picture: {out}/", flush=True)
    return code


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", default="out/demo/pick_and_place", help="where report and plots go")
    parser.add_argument("--headless", action="store_true", help="accepted for all demonstrations; nothing is opened anyway")
    parser.add_argument("--no-lockstep", dest="lockstep", action="store_false", help="let the nodes run freely instead of in step")
    parser.add_argument("--real-time-factor", type=float, default=0.0, help="simulated seconds per second; 0 is as fast as it can (default)")
    parser.add_argument("--runs", type=int, default=0, help="how many start postures to try; 0 is all (default)")
    return parser.parse_args()


class Client(Node):
    """What a user's program would have: an action client, a few services, and ears."""

    def __init__(self, lockstep):
        super().__init__("pick_and_place_demo")
        # Lockstep repeats a run from where the controller waits for the hand's references; else it waits for nobody.
        self.in_step = not lockstep
        self.pick = ActionClient(self, PickAndPlace, f"{NAMESPACE}/pick_and_place")
        self.set_state = self.create_client(SetSimulationState, f"{NAMESPACE}/sim/set_simulation_state")
        self.reset = self.create_client(ResetSimulation, f"{NAMESPACE}/sim/reset_simulation")
        self.set_parameters = self.create_client(SetParameters, f"{NAMESPACE}/sim/set_parameters")
        self.pace = self.create_publisher(WrenchStamped, f"{NAMESPACE}/{SOURCES[1]}", QoSProfile(depth=10))
        self.recorder = Recorder(TOPICS, "joints", self.answer if lockstep else None)
        self.ears = self.create_subscription(DiagnosticArray, "/diagnostics", self.on_diagnostics, QoSProfile(depth=1000))

    def is_ready(self):
        """All that is talked to is there, and time has begun: every node has heard the others."""
        services = [self.set_state, self.reset, self.set_parameters]
        there = self.pick.server_is_ready() and all(s.service_is_ready() for s in services)
        return there and self.in_step and all(time > FIRST for time in self.recorder.newest.values())

    def answer(self, time):
        """A wrench of zero, which the controller waits for."""
        answer = WrenchStamped()
        answer.header.stamp = stamp(time)
        self.pace.publish(answer)

    def is_back(self):
        """Every node has seen the reset."""
        return all(time <= FIRST for time in self.recorder.newest.values())

    def on_diagnostics(self, message):
        awaited = (value.value for status in message.status for value in status.values if value.key == "awaits")
        self.in_step |= any(all(source in topics for source in SOURCES) for topics in awaited)


def spin_until(client, done, patience, what, progress=lambda: None):
    """Spins until `done()`. Fails after `patience` [s] of wall time since `progress()` changed last."""
    end = time.monotonic() + patience
    reached = progress()
    while not done():
        if reached != (now := progress()):
            end, reached = time.monotonic() + patience, now
        with interrupt.wait():
            client.recorder.attend(lambda: rclpy.spin_once(client, timeout_sec=0.0))
        System.running.check()
        if time.monotonic() > end:
            what = what() if callable(what) else what
            raise Failed(f"{what} took longer than {patience:.0f} s")


def call(client, service, request, what):
    future = service.call_async(request)
    spin_until(client, future.done, 20.0, what)
    return future.result()


def demonstrate(arguments, task, out, report):
    client = Client(arguments.lockstep)
    begun = time.monotonic()
    spin_until(client, client.is_ready, START_UP, "waiting for the nodes")
    say(f"All nodes are up after {time.monotonic() - begun:.1f} s")
    starts = task["starts"][: arguments.runs or None]
    for number, start in enumerate(starts, 1):
        say(f"\nRun {number} of {len(starts)}, from posture `{start}`")
        report["runs"].append(run(client, task, start, out, number))
    client.recorder.destroy_node()
    client.destroy_node()


def pause(client, paused):
    state = SimulationState(state=SimulationState.STATE_PAUSED if paused else SimulationState.STATE_PLAYING)
    return call(client, client.set_state, SetSimulationState.Request(state=state), "pausing the simulation")


def put_back(client, start):
    """Everything as at the start, the arm in a posture; time stands still."""
    pause(client, True)
    value = ParameterValue(type=ParameterType.PARAMETER_STRING, string_value=start)
    request = SetParameters.Request(parameters=[Parameter(name="reset_posture", value=value)])
    answer = call(client, client.set_parameters, request, "choosing the posture").results[0]
    if not answer.successful:
        raise Failed(f"choosing the posture `{start}`: {answer.reason}")
    answer = call(client, client.reset, ResetSimulation.Request(scope=ResetSimulation.Request.SCOPE_ALL), "the reset").result
    if answer.result != 1:
        raise Failed(f"reset: {answer.error_message}")


def pose(at):
    message = PoseStamped()
    message.header.frame_id = "world"
    p, q = message.pose.position, message.pose.orientation
    p.x, p.y, p.z = map(float, at["xyz"])
    q.z, q.w = math.sin(at["yaw"] / 2), math.cos(at["yaw"] / 2)
    return message


def run(client, task, start, out, number):
    put_back(client, start)
    spin_until(client, client.is_back, 20.0, "hearing of the reset")
    recorder = client.recorder
    recorder.begin()
    first = recorder.newest["joints"]
    goal = PickAndPlace.Goal()
    goal.object_pose, goal.place_pose = pose(task["pick"]), pose(task["place"])
    goal.object_size.x, goal.object_size.y, goal.object_size.z = map(float, task["object_size"])
    goal.mass, goal.friction = float(task["object_mass"]), float(task["friction"])
    goal.max_grip_force, goal.approach_height = float(task["grip_force"]), float(task["approach_height"])
    begun = time.monotonic()
    result, phases = send(client, goal)
    limit = first + round(LONGEST * 1e9)
    newest = lambda: recorder.newest["joints"]
    waiting = lambda: f"the pick and place has come to {1e-9 * newest():.2f} s of simulated time, and waiting for its end"
    spin_until(client, result.done, PATIENCE, waiting, lambda: min(newest(), limit))
    wall = time.monotonic() - begun
    outcome = result.result().result
    ended = outcome.stamp.sec * 1_000_000_000 + outcome.stamp.nanosec
    # The last messages before the end may still be under way.
    late = lambda: [TOPICS[name][1] for name in (*SAMPLED, "objects") if recorder.newest[name] < ended]
    spin_until(client, lambda: not late(), 20.0, lambda: f"hearing the last of {', '.join(late())}")
    pause(client, True)
    record = {name: recorder.read(name, ended) for name in TOPICS}
    if not record["objects"]:
        raise Failed(f"nothing was heard of /objects before the end; the gripper says: {outcome.message}")
    missing = {topic: recorder.missing(name, first, ended, PERIOD) for name, topic in SAMPLED.items()}
    summary = {
        "start": start,
        "success": result.result().status == GoalStatus.STATUS_SUCCEEDED,
        "message": outcome.message,
        "state": outcome.state,
        "simulated_s": outcome.elapsed,
        "wall_s": round(wall, 2),
        "samples": (ended - first) // PERIOD + 1,
        "missing": {topic: n for topic, n in missing.items() if n},
    }
    accepted = ended * 1e-9 - outcome.elapsed
    summary["phases"] = [{"state": state, "begins_s": round(accepted + elapsed, 3)} for state, elapsed in phases]
    # What stands is judged as it was seen last: of the samples before the end a slow listener may have missed the last ones.
    summary.update(measure(record, recorder.last("objects"), task))
    save(record, out, number)
    say(describe(summary))
    return summary


def send(client, goal):
    """The goal is accepted while time stands still, so that equal runs begin at equal times; its result, and when each state began [s]."""
    phases = []

    def on_feedback(message):
        feedback = message.feedback
        if not phases or phases[-1][0] != feedback.state:
            phases.append((feedback.state, feedback.elapsed))
            forces = f"{feedback.force_left:4.1f} and {feedback.force_right:4.1f} N"
            say(f"  {feedback.elapsed:5.2f} s  {feedback.state:<9} jaws {1e3 * feedback.width:5.1f} mm, {forces}")

    # After a reset the gripper must have seen the new samples; until then it refuses.
    end = time.monotonic() + 10.0
    while True:
        sent = client.pick.send_goal_async(goal, feedback_callback=on_feedback)
        spin_until(client, sent.done, 20.0, "sending the goal")
        if sent.result().accepted:
            break
        rest = time.monotonic() + 0.2
        spin_until(client, lambda: time.monotonic() > rest, 1.0, "a moment")
        if time.monotonic() > end:
            raise Failed("the gripper refuses the goal; nodes.log says why")
    result = sent.result().get_result_async()
    pause(client, False)
    return result, phases


def measure(record, standing, task):
    """How well the object was placed, held and carried; lengths [m], angles [rad], forces [N]."""
    last = next(o.pose for o in standing.objects if o.name == task["object"])
    target = task["place"]["xyz"]
    off = math.dist((last.position.x, last.position.y, last.position.z), target)
    forces = [pressing(message) for finger in ("left", "right") for message in record[finger].values()]
    errors = [abs(e) for message in record["tracking"].values() for e in message.error.positions]
    return {
        "placed_off_m": off,
        "placed_turned_rad": turned(last.orientation, task["place"]["yaw"]),
        "largest_finger_force_N": max(forces, default=float("nan")),
        "largest_tracking_error_rad": max(errors, default=float("nan")),
    }


def pressing(message):
    """Force on a pad along its normal, which is the link's y. [N]"""
    return abs(message.wrench.force.y)


def turned(q, yaw):
    """Angle between an orientation and one turned by `yaw` about z. [rad]"""
    w = math.cos(yaw / 2) * q.w + math.sin(yaw / 2) * q.z
    return 2 * math.acos(min(1.0, abs(w)))


def describe(run):
    mark = "placed" if run["success"] else "NOT PLACED"
    lost = ", ".join(f"{n} of {topic}" for topic, n in run["missing"].items())
    lost = lost and f"\n  not heard of {run['samples']} samples: {lost}; extremes, plots and picture are of the others"
    return (
        f"  {mark}: {run['message']}\n"
        f"  {run['simulated_s']:.2f} s simulated in {run['wall_s']:.1f} s; the cube is {1e3 * run['placed_off_m']:.2f} mm and "
        f"{math.degrees(run['placed_turned_rad']):.2f} degrees off; at most {run['largest_finger_force_N']:.1f} N a finger, "
        f"tracking error at most {1e3 * run['largest_tracking_error_rad']:.2f} mrad{lost}"
    )


def judge(report, task):
    limits = task["placed_within"]
    for run in report["runs"]:
        place = f"from `{run['start']}`"
        if run["missing"] and report["lockstep"]:
            return f"FAILED {place}: in lockstep every sample is heard, but {run['missing']} are missing", 1
        if not run["success"]:
            return f"FAILED {place}: {run['message']}", 1
        if run["placed_off_m"] > limits["position"]:
            return f"FAILED {place}: the cube is {1e3 * run['placed_off_m']:.1f} mm off", 1
        if run["placed_turned_rad"] > limits["angle"]:
            return f"FAILED {place}: the cube is turned by {math.degrees(run['placed_turned_rad']):.1f} degrees", 1
        if not run["largest_finger_force_N"] <= GRIP_LIMIT:
            return f"FAILED {place}: a finger pressed with {run['largest_finger_force_N']:.1f} N", 1
    return f"SUCCESS: {len(report['runs'])} of {len(report['runs'])} cubes placed", 0


def save(record, out, number):
    """Traces as CSV; the state in the columns of `karakuri simulate --trace`, so that `karakuri render` can show it."""
    rows = []
    for t, objects in record["objects"].items():
        if (joints := record["joints"].get(t)) is None:
            continue
        row = {"time [s]": t * 1e-9}
        row.update({f"arm.{name}.q [rad]": value for name, value in zip(joints.name, joints.position)})
        for o in objects.objects:
            p, q = o.pose.position, o.pose.orientation
            row.update({f"{o.name}.x [m]": p.x, f"{o.name}.y [m]": p.y, f"{o.name}.z [m]": p.z})
            row.update({f"{o.name}.qx [-]": q.x, f"{o.name}.qy [-]": q.y, f"{o.name}.qz [-]": q.z, f"{o.name}.qw [-]": q.w})
        rows.append(row)
    save_rows(out / f"state_{number}.csv", rows)
    save_rows(out / f"tracking_{number}.csv", [
        {
            "time [s]": t * 1e-9,
            **{f"{n} [rad]": e for n, e in zip(m.joint_names, m.error.positions)},
            "largest [mrad]": 1e3 * max(map(abs, m.error.positions)),
        }
        for t, m in record["tracking"].items()])
    rows, grip = [], None
    for t in sorted(record["left"].keys() & record["right"].keys()):
        # the gripper tells its state at a tenth of the samples
        grip = record["grip"].get(t, grip)
        if grip is not None:
            forces = {f"{f} [N]": pressing(record[f][t]) for f in ("left", "right")}
            rows.append({"time [s]": t * 1e-9, "width [m]": grip.width, **forces, "desired [N]": grip.target_force})
    save_rows(out / f"grip_{number}.csv", rows)


def save_rows(path, rows):
    if not rows:
        return
    with whole(path) as file:
        writer = csv.DictWriter(file, rows[0].keys())
        writer.writeheader()
        writer.writerows(rows)


def draw(out, report):
    """Plots and the picture, by the program `karakuri`."""
    program, task = find_program(), report["task"]
    # Below it a finger's friction cannot carry half of the weight at rest.
    slips = task["object_mass"] * 9.81 / (2 * task["friction"])
    levels = {
        "tracking": [f"{1e3 * TRACKING_LIMIT:g}[mrad]=limit: {1e3 * TRACKING_LIMIT:g} mrad"],
        "grip": [
            f"{GRIP_LIMIT}[N]=limit: {GRIP_LIMIT:g} N", f"{slips}[N]=slips at rest: {slips:.1f} N", f"{task['object_size'][0]}[m]=the cube's width",
        ],
        "path": [f"{target}[m]=desired place, {axis}" for axis, target in zip("xyz", task["place"]["xyz"])],
    }  # fmt: skip
    titles = {"tracking": "Joint tracking error", "grip": "Finger forces and opening", "path": "Path of the cube"}
    for number, run in enumerate(report["runs"], 1):
        phases = [f"--phase={phase['begins_s']}={phase['state']}" for phase in run["phases"]]
        for name, title in titles.items():
            # the cube's place is in the table of the state
            table = out / f"{'state' if name == 'path' else name}_{number}.csv"
            columns = ["--columns", "cube.x,cube.y,cube.z"] if name == "path" else []
            guides = [*phases, *(f"--level={level}" for level in levels[name])]
            title = f"{title}, from {run['start']}"
            attempt([program, "plot", str(table), "--title", title, *columns, *guides, "--output", str(out / f"{name}_{number}.svg")])
    times = [row["time [s]"] for row in csv.DictReader(open(out / "state_1.csv"))]
    instants = ",".join(times[round((len(times) - 1) * share)] for share in (0.0, 0.30, 0.55, 0.70, 0.82, 1.0))
    attempt([program, "render", str(ROOT / "config/scenes/pick_and_place.yaml"), "--trace", str(out / "state_1.csv"),
             "--at", instants, "--columns", "3", "--size", "480,400", "--output", str(out / "pick_and_place.png")])


if __name__ == "__main__":
    sys.exit(main())

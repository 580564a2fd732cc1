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

import rclpy
import yaml

from common.placing import FRICTION, PLACED_WITHIN, START_UP, TURNED_WITHIN, Client, Thing, carry, in_rows, spin_until
from common.program import find_program
from common.report import Failed, attempt, say, whole
from common.system import System

ROOT = pathlib.Path(__file__).resolve().parents[3]
HANDS = {
    "arm6": "pick_and_place",
    "arm6_scissor": "pick_and_place_scissor",
    "arm6_three_fingers": "pick_and_place_three_fingers",
    "arm6_underactuated": "pick_and_place_underactuated",
    "arm6_suction": "pick_and_place_suction",
    "arm6_suction4": "pick_and_place_suction",
}
OBJECTS = {
    "cube": Thing("box", (0.05, 0.05, 0.05), 0.2),
    "block": Thing("box", (0.1, 0.05, 0.08), 0.6),
    "can": Thing("cylinder", (0.06, 0.06, 0.1), 0.4),
    "rod": Thing("cylinder", (0.03, 0.03, 0.12), 0.3, lies=True),
    "capsule": Thing("capsule", (0.04, 0.04, 0.12), 0.3, lies=True),
    "ball": Thing("ball", (0.06, 0.06, 0.06), 0.2),
    "cone": Thing("cone", (0.08, 0.08, 0.128), 0.3),
    "flat cone": Thing("cone", (0.09, 0.09, 0.05), 0.2),
    "plate": Thing("box", (0.18, 0.14, 0.02), 0.5),
    "crate": Thing("box", (0.16, 0.16, 0.1), 3.0),
}


def main():
    arguments = parse()
    work = lambda hand, out: demonstrate(hand, out, arguments)
    return report_on(arguments, {"friction": FRICTION}, work, table, judge)


def report_on(arguments, head, work, table, judge):
    """Does `work` for each hand; says and writes what came of it, and ends as `judge` says."""
    out = pathlib.Path(arguments.out)
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as reason:
        raise SystemExit(f"cannot write to {out}: {reason.strerror}") from None
    report = {**head, "hands": {}}
    verdict, code = "interrupted", 130
    try:
        with interrupt.announced():
            for hand in arguments.hands:
                report["hands"][hand] = work(hand, out)
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
    say(f"\n{table(report)}\n\n{verdict}\nReport: {out}/")
    return code


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", default="out/demo/hands", help="where report and pictures go")
    parser.add_argument("--headless", action="store_true", help="accepted for all demonstrations; nothing is opened anyway")
    parser.add_argument("--no-lockstep", dest="lockstep", action="store_false", help="let the nodes run freely instead of in step")
    parser.add_argument("--hands", nargs="+", choices=HANDS, default=list(HANDS), help="hands to try, by their robots (default: all)")
    parser.add_argument("--objects", nargs="+", choices=OBJECTS, default=list(OBJECTS), help="objects to try (default: all)")
    return parser.parse_args()


def scene_of(hand, out, things):
    """The hand's scene with all objects in rows beside the table, in a file."""
    source = ROOT / f"config/scenes/{HANDS[hand]}.yaml"
    scene = yaml.safe_load(source.read_text())
    robot = scene["robots"][0]
    robot["urdf"], robot["config"] = str(ROOT / f"urdf/arm6/{hand}.urdf"), str(ROOT / f"config/{hand}.yaml")
    scene["bodies"] = [body for body in scene["bodies"] if body.get("fixed")] + in_rows(things)
    path = out / f"{hand}.yaml"
    with whole(path) as file:
        file.write(f"# {hand} with the objects of a demonstration.\n{yaml.safe_dump(scene, sort_keys=False)}")
    return path


def nodes(hand, out, scene, lockstep, factor):
    """The nodes of a hand in its scene, by simulated over wall time; 0 is as fast as it goes."""
    return System(out / f"{hand}.log", ROOT / "launch/pick_and_place.launch.xml", {
        "urdf": ROOT / f"urdf/arm6/{hand}.urdf", "config": ROOT / f"config/{hand}.yaml", "scene": scene,
        "lockstep": str(lockstep).lower(), "real_time_factor": factor,
    })  # fmt: skip


def carry_all(hand, out, things, lockstep, names=None, free_factor=0.0):
    """What came of each object, and the rows of a trace that show it. Without lockstep simulated time goes by `free_factor` of the wall's."""
    system = nodes(hand, out, scene_of(hand, out, things), lockstep, 0.0 if lockstep else free_factor)
    say(f"\n{hand}")
    runs, pictures = {}, []
    try:
        system.start()
        client = Client(things)
        spin_until(client, client.is_ready, START_UP, "waiting for the nodes")
        for name in names or things:
            runs[name], picture = carry(client, name)
            pictures.append(picture)
            say(f"  {name:<10} {runs[name]['outcome']:<14} {runs[name]['message']}")
        client.destroy_node()
    finally:
        interrupt.ignore()
        system.stop()
        interrupt.heed()
    return runs, pictures


def demonstrate(hand, out, arguments):
    """What came of each object."""
    runs, pictures = carry_all(hand, out, OBJECTS, arguments.lockstep, arguments.objects)
    draw(out, hand, out / f"{hand}.yaml", pictures)
    return runs


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
            if run["dropped"]:
                return f"FAILED: {hand} says that it carries the {name}, which it dropped", 1
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

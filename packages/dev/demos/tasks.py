"""Random tasks: objects of random shape, size, mass and pose, and goals that are wrong now and then, for each hand of arm6.

Starts the system once for each hand, without lockstep unless that is asked for, and has it put one object after the other on the shelf. What
is placed must be within 5 mm and 3 degrees of its place, what fails must say what is so, and nothing may fall while the hand says that it
carries it. Leaves report.json and a table of counts by hand and code; ends with 0 only if all of that holds.
"""
from common import interrupt  # noqa: F401 - first: an import may swallow what a signal raises in it

import argparse
import math
import random
import sys
from collections import Counter

from common.placing import PLACED_WITHIN, TABLE, TURNED_WITHIN, Thing
from hands import HANDS, carry_all, report_on

# Edges of objects [m], and the strength by which a hand holds at most, for the mass. [N]
EDGES = {"arm6": (0.015, 0.1), "arm6_scissor": (0.015, 0.07), "arm6_suction": (0.03, 0.2), "arm6_suction4": (0.08, 0.3)}
SHAPES = ["box", "box", "cylinder", "capsule", "ball", "cone"]
HEAVIEST = 4.0  # [kg] beyond it the arm sags
FRICTION = 0.5
PAD_FRICTION = 0.6  # of the hands; surfaces combine by the geometric mean


def main():
    arguments = parse()
    work = lambda hand, out: survey(hand, out, arguments)
    return report_on(arguments, {"seed": arguments.seed}, work, table, judge)


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", default="out/demo/tasks", help="where the report goes")
    parser.add_argument("--headless", action="store_true", help="accepted for all demonstrations; nothing is opened anyway")
    parser.add_argument("--lockstep", action="store_true", help="let the nodes run in step")
    parser.add_argument("--hands", nargs="+", choices=HANDS, default=list(HANDS), help="hands to try, by their robots (default: all)")
    parser.add_argument("--speed", type=float, default=1.0, metavar="X", help="simulated over wall time without lockstep; 0 is as fast as the controller keeps up (default: 1)")
    parser.add_argument("--tasks", type=int, default=34, metavar="N", help="tasks for each hand (default: 34)")
    parser.add_argument("--seed", type=int, default=1, help="equal seeds give equal tasks (default: 1)")
    arguments = parser.parse_args()
    if not 0 <= arguments.speed <= 1:
        parser.error(f"--speed {arguments.speed}: expected 0 to 1; faster than real time the arm's commands come late")
    if arguments.tasks < 1:
        parser.error(f"--tasks {arguments.tasks}: expected at least 1")
    return arguments


def survey(hand, out, arguments):
    """What came of random tasks of a hand."""
    dice = random.Random(f"{arguments.seed} {hand}")
    tasks = {f"task_{number}": task(dice, hand) for number in range(arguments.tasks)}
    things = {name: thing for name, (thing, _) in tasks.items()}
    runs, _ = carry_all(hand, out, things, arguments.lockstep, free_factor=arguments.speed)
    for name, run in runs.items():
        thing, flaw = tasks[name]
        run.update(task=repr(thing), flaw=flaw, wrong=wrong(run, thing, flaw))
    return runs


def task(dice, hand):
    """A random object, and what is wrong with its goal: "" or a word."""
    shape = dice.choice(SHAPES)
    low, high = EDGES.get(hand, (0.03, 0.1))
    a, b, c = (dice.uniform(low, high) for _ in range(3))
    size = {"box": (a, b, c), "cylinder": (a, a, b), "cone": (a, a, b), "capsule": (min(a, b), min(a, b), max(a, b)), "ball": (a, a, a)}[shape]
    mass = min(max(math.prod(size) * dice.uniform(200, 3000), 0.02), HEAVIEST)
    # A capsule does not stand by itself, and a cone that lies is held by no hand.
    lies = shape == "capsule" or (dice.random() < 0.3 and shape not in ("cone", "ball"))
    flaw = dice.choices(["", "slippery", "size", "moved"], [60, 15, 15, 10])[0]
    friction = dice.uniform(0.2, 0.45) if flaw == "slippery" else FRICTION
    return Thing(
        shape, size, mass, lies,
        friction=friction**2 / PAD_FRICTION,
        scale=dice.choice([0.7, 0.8, 1.2]) if flaw == "size" else 1.0,
        stated_mass=mass * dice.uniform(0.7, 1.3),
        stated_friction=FRICTION,
        at=(TABLE[0] + dice.uniform(-0.08, 0.08), TABLE[1] + dice.uniform(-0.12, 0.05)),
        yaw=dice.uniform(-math.pi, math.pi),
        place_yaw=dice.uniform(-math.pi, math.pi),
        moved=(0.0, -dice.choice([0.02, 0.25])) if flaw == "moved" else (0.0, 0.0),
    ), flaw  # fmt: skip


def wrong(run, thing, flaw):
    """What a run says that is not so, or "". """
    outcome = run["outcome"]
    if run["dropped"]:
        return "it fell while the hand said that it carries it"
    if outcome == "placed":
        # A hand feels nothing along its fingers of what is not where the goal says, nor sees it where it is near.
        unseen = max(map(abs, thing.moved))
        if run["placed_off_m"] > PLACED_WITHIN + unseen:
            return f"{1e3 * run['placed_off_m']:.1f} mm off"
        if not thing.rolls and run["turned_rad"] > TURNED_WITHIN:
            return f"turned by {math.degrees(run['turned_rad']):.1f} degrees"
        return ""
    slippery, other, away = (flaw == word for word in ("slippery", "size", "moved"))
    true = {
        "refused": True,  # nothing moved
        "NO_OBJECT": away, "BLOCKED": away, "NO_SEAL": away or other, "COLLISION": away or other, "TIMEOUT": away or other,
        "WRONG_SIZE": other, "PARTIAL": away or other, "PRESSURE_LOST": slippery,
        "SLIPPED": slippery or away or (thing.rolls and run["state"] == "RETREAT"),
        "TOO_HEAVY": slippery or thing.mass > thing.stated_mass,
    }  # fmt: skip
    return "" if true.get(outcome, False) else f"{outcome} in {run['state']}, which is not so: {run['message']}"


def table(report):
    """Counts by hand and code."""
    counts = {hand: Counter(run["outcome"] for run in runs.values()) for hand, runs in report["hands"].items()}
    codes = sorted({code for count in counts.values() for code in count}, key=lambda code: (code != "placed", code != "refused", code))
    lines = [f"{'':<20} " + " ".join(f"{code:<13}" for code in codes)]
    lines += [f"{hand:<20} " + " ".join(f"{count[code] or '':<13}" for code in codes) for hand, count in counts.items()]
    return "\n".join(lines)


def judge(report):
    runs = [(hand, name, run) for hand, runs in report["hands"].items() for name, run in runs.items()]
    false = [f"{hand} {name}: {run['wrong']}\n  {run['task']}, {run['flaw'] or 'as stated'}" for hand, name, run in runs if run["wrong"]]
    placed = sum(run["outcome"] == "placed" for _, _, run in runs)
    if false:
        return "FAILED: " + "\n".join(false), 1
    if placed == 0:
        return f"FAILED: none of {len(runs)} objects was placed", 1
    return f"SUCCESS: of {len(runs)} tasks {placed} placed; the others end as they say", 0


if __name__ == "__main__":
    sys.exit(main())

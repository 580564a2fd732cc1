"""Bin: each hand takes ten different objects out of a box of sixty and puts them on a tray; what it cannot take, and why.

The objects fall into the box once, then each hand is set before the same heap. `karakuri unload` rehearses each object in a copy of the world, and
carries out the first rehearsal that succeeds; where none that the tray lacks can be taken, another one is put aside. Leaves report.json, a table, and a
picture of box and trays before and after for each hand. Ends with 0 only if as many different objects as were asked for stand on the tray, by the state
in which the world is at the end.
"""
from common import interrupt  # first: an import may swallow what a signal raises in it

import argparse
import json
import pathlib
import subprocess
import sys
import time

from common import heap
from common.program import find_program
from common.report import Failed, say, whole

ROOT = pathlib.Path(__file__).resolve().parents[3]
# Hands that reach the goal, and those that say why they do not.
HANDS = {
    "arm6": "pick_and_place",
    "arm6_three_fingers": "pick_and_place_three_fingers",
    "arm6_bellows": "pick_and_place_suction",
    "arm6_suction": "pick_and_place_suction",
    "arm6_scissor": "pick_and_place_scissor",
    "arm6_underactuated": "pick_and_place_underactuated",
}
USUAL = ["arm6", "arm6_bellows", "arm6_scissor"]
FALL = 3.0  # in which the heap comes to rest [s]
VIEW = ["--target", "0.42,0,0.78", "--distance", "1.9", "--angles", "4,52", "--size", "800,560"]


def main():
    arguments = parse()
    out = pathlib.Path(arguments.out)
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as reason:
        raise SystemExit(f"cannot write to {out}: {reason.strerror}") from None
    report = {"seed": arguments.seed, "objects": arguments.objects, "count": arguments.count, "hands": {}}
    verdict, code = "interrupted", 130
    try:
        with interrupt.announced():
            bodies = fall(arguments, out, report)
            for hand in arguments.hands:
                report["hands"][hand] = unload(hand, bodies, arguments, out)
        verdict, code = judge(report)
    except Failed as reason:
        verdict, code = f"FAILED: {reason}", 1
    except KeyboardInterrupt:
        pass
    interrupt.ignore()
    report["verdict"] = verdict
    with whole(out / "report.json") as file:
        file.write(json.dumps(report, indent=2) + "\n")
    say(f"\n{table(report)}\n\n{verdict}\nReport and pictures: {out}/")
    return code


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", default="out/demo/bin", help="where report and pictures go")
    parser.add_argument("--headless", action="store_true", help="accepted for all demonstrations; nothing is opened anyway")
    parser.add_argument("--hands", nargs="+", choices=HANDS, default=USUAL, help=f"hands to try, by their robots (default: {' '.join(USUAL)})")
    parser.add_argument("--objects", type=int, default=60, metavar="N", help="objects in the box (default: 60)")
    parser.add_argument("--count", type=int, default=10, metavar="N", help="different objects that go on the tray (default: 10)")
    parser.add_argument("--seed", type=int, default=3, help="equal seeds give equal heaps (default: 3)")
    arguments = parser.parse_args()
    if not 1 <= arguments.objects <= 120:
        parser.error(f"--objects {arguments.objects}: expected 1 to 120; more do not fit into the box")
    if not 1 <= arguments.count <= len(heap.KINDS):
        parser.error(f"--count {arguments.count}: expected 1 to {len(heap.KINDS)}, the number of different objects")
    return arguments


def program(*arguments, show=False):
    """Runs the program to its end, also after a signal, which it hears as well: what it then leaves is read. Its exit code."""
    command = [find_program(), *map(str, arguments)]
    with interrupt.wait():
        done = subprocess.run(command, stdout=None if show else subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    return done.returncode, done.stderr.strip()


def fall(arguments, out, report):
    """Lets the objects fall into the box; the loose bodies at rest."""
    say(f"{arguments.objects} objects fall into the box")
    begun = time.monotonic()
    scene, trace = heap.fallen(arguments.objects, arguments.seed, out), out / "heap.csv"
    code, said = program("simulate", scene, "--duration", FALL, "--trace", trace, "--trace-period", 0.5)
    if code != 0:
        raise Failed(f"the heap cannot be simulated: {said}")
    report["fall_s"], report["fall_wall_s"] = FALL, time.monotonic() - begun
    return heap.settled(scene, trace)


def unload(hand, bodies, arguments, out):
    """What a hand did; its pictures are drawn."""
    say(f"\n{hand}")
    scene = heap.scene(hand, ROOT / f"config/scenes/{HANDS[hand]}.yaml", bodies, out)
    report, trace = out / f"{hand}.json", out / f"{hand}.csv"
    report.unlink(missing_ok=True)
    files = ["--report", report, "--trace", trace]
    try:
        code, said = program("unload", scene, "--count", arguments.count, "--aside", "aside", "--settle", 0.5, "--seed", arguments.seed, *files, show=True)
    except KeyboardInterrupt:
        if report.exists():
            draw(hand, scene, json.loads(report.read_text()), trace, out)
        raise
    if not report.exists():
        raise Failed(f"{hand}: {said}")
    found = json.loads(report.read_text())
    found["exit"] = code
    found["stands"] = standing(found)
    draw(hand, scene, found, trace, out)
    return found


def standing(found):
    """Different objects that stand on the tray, by where they are in the end."""
    (x, y), (width, length, thick), _ = heap.TRAY["middle"], heap.TRAY["size"], None
    top, stands = heap.TABLE + thick, {}
    for thing in found["objects"]:
        kind = thing["name"].rsplit("_", 1)[0]
        at = thing["xyz_m"]
        is_over = abs(at[0] - x) < width / 2 and abs(at[1] - y) < length / 2
        # No lower than half of its least edge, as it would be beside the tray, nor higher than half of its longest.
        is_on = min(thing["size_m"]) / 2 - 0.002 < at[2] - top < max(thing["size_m"]) / 2 + 0.002
        if kind in heap.KINDS and is_over and is_on:
            stands.setdefault(kind, thing["name"])
    return sorted(stands.values())


def draw(hand, scene, found, trace, out):
    """Box and tray before, with the first and a middle object in the hand, and after."""
    taken = found["taken"]
    held = [taken[number]["held_at_s"] for number in sorted({0, len(taken) // 2})] if taken else []
    instants = [found["began_at_s"], *held, found["ended_at_s"]]
    picture = out / f"{hand}.png"
    code, said = program("render", scene, "--trace", trace, "--at", ",".join(map(str, instants)), "--columns", 2, *VIEW, "--output", picture)
    if code != 0:
        say(f"(not drawn: {said})")


def table(report):
    """What each hand took, and what kept the others where they are."""
    lines = []
    for hand, found in report["hands"].items():
        lines.append(f"{hand}: {len(found['stands'])} of {report['count']} different objects stand on the tray")
        lines.append(f"  {'taken':<10} {'time [s]':>8} {'force [N]':>9} {'tried before':>12}")
        for taken in found["taken"]:
            force = max(taken["grip_force_n"]) if taken["grip_force_n"] else 0.0
            lines.append(f"  {taken['object']:<10} {taken['duration_s']:>8.1f} {force:>9.1f} {taken['tried_before']:>12}")
        aside = ", ".join(put["object"] for put in found["put_aside"]) or "nothing"
        lines.append(f"  put aside, as its shape is on the tray already: {aside}")
        lines.append(f"  {'not taken':<10} {'code':<12} why, when it was tried last")
        lines += [f"  {left['object']:<10} {left['code']:<12} {left['why']}" for left in found["left"]]
        alone, both = found["real_time_factor"], found["real_time_factor_with_rehearsals"]
        lines.append(f"  simulated over wall time: {alone:.2f} of what was carried out, {both:.2f} with rehearsals and plans")
    return "\n".join(lines)


def judge(report):
    count = report["count"]
    for hand, found in report["hands"].items():
        if len(found["stands"]) < count:
            return f"FAILED: {hand} has {len(found['stands'])} of {count} different objects on the tray", 1
        others = [taken["object"] for taken in found["taken"] + found["put_aside"] if not taken["as_rehearsed"]]
        if others:
            return f"FAILED: {hand} carried out other commands than the rehearsed ones with {', '.join(others)}", 1
    slow = [hand for hand, found in report["hands"].items() if found["real_time_factor_with_rehearsals"] < 1]
    note = f"; slower than real time with rehearsals: {', '.join(slow)}" if slow else ""
    return f"SUCCESS: {count} different objects stand on the tray of each of {len(report['hands'])} hands{note}", 0


if __name__ == "__main__":
    sys.exit(main())

"""Walking: khr1 walks and is pushed, the anthropomorphic walker walks and climbs stairs, all in the physics simulation.

Runs `karakuri gait walk` (no ROS 2 is involved), judges the reports, and leaves them with plots and pictures. Ends with 0 only if nobody fell.
"""
import argparse
import json
import math
import pathlib
import subprocess
import sys

from common.program import find_program

ROOT = pathlib.Path(__file__).resolve().parents[3]
GAITS = ROOT / "config/gaits"
WALKS = {
    "khr1": ("khr1, 0.34 m tall, walks 1 m and stands", ["khr1_walk.yaml", "--distance", "1"]),
    "khr1_pushed": ("khr1 is pushed 0.2 N·s to the left while it walks", ["khr1_walk.yaml", "--distance", "0.3", "--push", "3,0,0.2"]),
    "khr1_turn": ("khr1, whose legs have no yaw joint, turns by 90 degrees", ["khr1_walk.yaml", "--turn", "90"]),
    "anthropomorphic": ("a walker of human size walks 4 m", ["anthropomorphic_walk.yaml", "--distance", "4"]),
    "stairs": ("it climbs three stairs of 0.1 m and descends them", ["anthropomorphic_stairs.yaml", "--stairs", "0.1,0.36,3"]),
}


def describe(result):
    """One line about a report."""
    distance = f"{result['distance_m']:.2f} m, {1e3 * abs(result['lateral_drift_m']):.0f} mm aside, turned {math.degrees(result['yaw_rad']):.1f} degrees"
    mark = "FELL" if result["fell"] else "stands"
    why = f": {result['failure']}" if result["fell"] else ""
    return (
        f"{mark}{why}; {result['steps']} steps in {result['walking_time_s']:.1f} s, {distance}, "
        f"leaned {math.degrees(result['largest_lean_rad']):.1f} degrees at most; "
        f"{result['faster_than_real_time']:.1f} times as fast as real time"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "out/demo/walk", help="folder of reports and plots")
    parser.add_argument("walks", nargs="*", help=f"which of {', '.join(WALKS)}; all without one")
    options = parser.parse_args()
    unknown = [name for name in options.walks if name not in WALKS]
    if unknown:
        parser.error(f"there is no walk {', '.join(unknown)}; there are {', '.join(WALKS)}")
    karakuri, results = find_program(), {}
    for name in options.walks or WALKS:
        says, (gait, *arguments) = WALKS[name]
        print(f"{says} ...", flush=True)
        folder = options.out / name
        folder.mkdir(parents=True, exist_ok=True)
        report = folder / "report.json"
        report.unlink(missing_ok=True)
        outputs = ["--report", str(report), "--plot", str(folder), "--picture", str(folder / "walk.png")]
        done = subprocess.run([karakuri, "gait", "walk", str(GAITS / gait), *arguments, *outputs])
        if not report.exists():
            raise SystemExit(f"{name}: no report (exit code {done.returncode})")
        results[name] = json.loads(report.read_text())
        print(f"  {describe(results[name])}", flush=True)
    fallen = [name for name, result in results.items() if result["fell"]]
    verdict = f"FAILED: {', '.join(fallen)} fell" if fallen else "all walked and stand"
    (options.out / "report.json").write_text(json.dumps({"verdict": verdict, "walks": results}, indent=2) + "\n")
    print(f"\n{verdict}\nPictures (walk.png), plots and reports: {options.out}/", flush=True)
    return 1 if fallen else 0


if __name__ == "__main__":
    sys.exit(main())

"""Walking: khr1 walks and is pushed, the anthropomorphic walker walks and climbs stairs, all in the physics simulation.

Runs `karakuri gait walk` (no ROS 2 is involved), judges the reports, and leaves them with plots. Ends with 0 only if nobody fell.
"""
import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
GAITS = ROOT / "config/gaits"
WALKS = {
    "khr1": ["khr1_walk.yaml", "--distance", "1"],
    "khr1_pushed": ["khr1_walk.yaml", "--distance", "0.3", "--push", "3,0,0.2"],
    "anthropomorphic": ["anthropomorphic_walk.yaml", "--distance", "4"],
    "stairs": ["anthropomorphic_stairs.yaml", "--stairs", "0.1,0.36,3"],
}


def program():
    """The program `karakuri` of the first prefix that has it."""
    for prefix in os.environ.get("AMENT_PREFIX_PATH", "").split(":"):
        candidate = pathlib.Path(prefix) / "lib/karakuri/karakuri"
        if candidate.exists():
            return str(candidate)
    found = shutil.which("karakuri")
    if not found:
        raise SystemExit("the program `karakuri` is not there; run this through ./dev demo, or build with ./dev build")
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "out/demo/walk", help="folder of reports and plots")
    parser.add_argument("walks", nargs="*", help=f"which of {', '.join(WALKS)}; all without one")
    options = parser.parse_args()
    unknown = [name for name in options.walks if name not in WALKS]
    if unknown:
        parser.error(f"there is no walk {', '.join(unknown)}; there are {', '.join(WALKS)}")
    karakuri, results = program(), {}
    for name in options.walks or WALKS:
        gait, *arguments = WALKS[name]
        folder = options.out / name
        folder.mkdir(parents=True, exist_ok=True)
        report = folder / "report.json"
        report.unlink(missing_ok=True)
        command = [karakuri, "gait", "walk", str(GAITS / gait), *arguments]
        done = subprocess.run([*command, "--report", str(report), "--plot", str(folder)])
        if not report.exists():
            raise SystemExit(f"{name}: no report (exit code {done.returncode})")
        result = results[name] = json.loads(report.read_text())
        print(
            f"{name}: {result['steps']} steps, {result['distance_m']:.2f} m at {result['speed_m_s']:.3f} m/s, "
            f"drift {1e3 * result['lateral_drift_m']:.1f} mm, {result['failure'] or 'stands'}",
            flush=True,
        )
    fallen = [name for name, result in results.items() if result["fell"]]
    verdict = f"FAILED: {', '.join(fallen)} fell" if fallen else "all walked and stand"
    (options.out / "report.json").write_text(json.dumps({"verdict": verdict, "walks": results}, indent=2) + "\n")
    print(f"\n{verdict}\nReports and plots: {options.out}/", flush=True)
    return 1 if fallen else 0


if __name__ == "__main__":
    sys.exit(main())

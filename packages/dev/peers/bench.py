#!/usr/bin/env python3
"""What `./dev bench` runs: our benchmarks, with --peers beside Pinocchio, MuJoCo and Rapier, in one run.

    ./dev bench [--peers] [--turns N] [FILTER]

FILTER, a regular expression, chooses `ALGORITHM/MODEL` and `step/SCENE`, for instance `/(ur5|demo_held)$`. Prints one
table, writes out/bench/bench.json, and with --peers and without a filter the times in docs/benchmarks.md.
"""
import argparse
import datetime
import json
import os
import platform
import re
import subprocess
import sys

import pages
import peers
import report
import times

DYNAMICS = ("karakuri_dynamics", "algorithms")
STEP = ("karakuri_testkit", "step")
FIXED, FLOATING = ["ur5", "panda"], ["anymal_c", "solo12", "simple_humanoid", "g1", "talos"]
CHAINS = ["chain_10", "chain_50", "chain_200"]
ALGORITHMS = [
    "fk", "rnea", "aba", "crba", "jacobians", "centroidal", "rnea_derivatives", "crba_ldl",
]  # fmt: skip


class Ours:
    """One of our criterion benches, compiled."""

    def __init__(self, package, bench):
        command = ["cargo", "bench", "-p", package, "--bench", bench, "--no-run", "--message-format=json"]
        out = subprocess.run(command, cwd=peers.ROOT, stdout=subprocess.PIPE, text=True)
        if out.returncode:
            raise peers.Missing(f"the bench `{bench}` does not compile: see above")
        messages = [json.loads(line) for line in out.stdout.splitlines() if line.startswith("{")]
        programs = [m["executable"] for m in messages if m.get("target", {}).get("name") == bench and m.get("executable")]
        self.program, self.home = programs[-1], peers.ROOT / "target" / "criterion"

    def run(self, pattern):
        environment = {**os.environ, "CRITERION_HOME": str(self.home)}
        subprocess.run(
            [self.program, "--bench", "--noplot", pattern], cwd=peers.ROOT, env=environment, check=True,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip

    def microseconds(self, group, name):
        estimates = json.loads((self.home / group / name / "new" / "estimates.json").read_text())
        return estimates["median"]["point_estimate"] / 1e3


def selected(pattern, group, name):
    return not pattern or re.search(pattern, f"{group}/{name}")


def progress(text):
    print(f"  … {text}", file=sys.stderr, flush=True)


def fastest(measure, turns):
    """The programs take turns, again and again, and the fastest turn of each counts: what disturbs a machine for a second or two is
    not one program's. `measure` gives numbers by name, or numbers by setting."""
    best = measure()
    for _ in range(turns - 1):
        for name, value in measure().items():
            slower = best[name]["us"] <= value["us"] if isinstance(value, dict) else best[name] <= value
            if not slower:
                best[name] = value
    return best


def dynamics(pattern, pinocchio, turns):
    """One row an algorithm and model, model by model."""
    names = FIXED + FLOATING + CHAINS
    rows = [(a, n) for n in names for a in ALGORITHMS if selected(pattern, a, n)]
    chosen = [n for n in names if any(n == m for _, m in rows)]
    if not chosen:
        return []
    ours, results = Ours(*DYNAMICS), []
    for name in chosen:
        progress(f"algorithms: {name}")
        algorithms = [a for a, n in rows if n == name]

        def turn(name=name, algorithms=algorithms):
            theirs = pinocchio.times(name, name in FLOATING) if pinocchio else {}
            ours.run(f"^({'|'.join(algorithms)})/{name}$")
            return {f"their {key}": value for key, value in theirs.items()} | {a: ours.microseconds(a, name) for a in algorithms}

        best = fastest(turn, turns)
        for algorithm in algorithms:
            results.append({
                "model": name, "algorithm": algorithm, "karakuri_us": best[algorithm],
                **({"nv": best["their nv"], "pinocchio_us": best[f"their {algorithm}"]} if pinocchio else {}),
            })  # fmt: skip
    return results


def scenes():
    """The lines of scenes.yaml: name, whether Rapier steps it, the scenes that it is made of."""
    for line in (peers.HERE / "scenes.yaml").read_text().splitlines():
        if found := re.match(r"- \{name: (\w+),", line):
            parts = re.search(r"parts: \[(.*?)\]", line)
            yield found.group(1), "rapier: true" in line, parts.group(1).split(", ") if parts else []


def steps(pattern, mujoco, rapier, turns):
    """One row a scene, scene by scene."""
    chosen = [scene for scene in scenes() if selected(pattern, "step", scene[0])]
    if not chosen:
        return []
    ours, results, best = Ours(*STEP), [], {}
    for name, free_bodies, parts in chosen:
        progress(f"step: {name}")

        def turn(name=name, free_bodies=free_bodies):
            theirs = mujoco.step(name) if mujoco else {}
            if rapier and free_bodies:
                theirs |= rapier.step(name)
            ours.run(f"^step/{name}$")
            quality = json.loads((peers.OUT / "karakuri_step.json").read_text())[name]
            return {"karakuri": {"us": ours.microseconds("step", name), **quality}, **theirs}

        row = {"scene": name, **fastest(turn, turns)}
        theirs = [value["us"] for key, value in row.items() if key not in ("scene", "karakuri")]
        if theirs:
            best[name] = min(theirs)
        if parts and all(part in best for part in parts):
            row["parts"] = {"names": parts, "us": sum(best[part] for part in parts)}
        results.append(row)
    return results


def machine():
    models = re.findall(r"^model name\s*: (.*)$", open("/proc/cpuinfo").read(), re.M) if os.path.exists("/proc/cpuinfo") else []
    return f"{models[0] if models else platform.machine()}, {os.cpu_count()} cores, {platform.system()} {platform.release()}"


def output(*command):
    return subprocess.run(command, cwd=peers.ROOT, capture_output=True, text=True).stdout.strip()


def main():
    parser = argparse.ArgumentParser(prog="./dev bench", description=__doc__.splitlines()[0])
    parser.add_argument("--peers", action="store_true", help="measure Pinocchio, MuJoCo and Rapier, too")
    parser.add_argument("--turns", type=int, default=3, metavar="N", help="turns of every program, of which its fastest counts (default: 3)")
    parser.add_argument("filter", nargs="?", help="regular expression on ALGORITHM/MODEL and step/SCENE")
    arguments = parser.parse_args()
    if arguments.turns < 1:
        parser.error(f"--turns {arguments.turns}: at least one turn is needed")
    peers.OUT.mkdir(parents=True, exist_ok=True)
    pinocchio = mujoco = rapier = None
    if arguments.peers:
        # Only what is needed: Pinocchio's side takes minutes to compile.
        python = peers.environment()
        if any(selected(arguments.filter, algorithm, name) for name in FIXED + FLOATING + CHAINS for algorithm in ALGORITHMS):
            pinocchio = peers.Pinocchio(python)
        if any(selected(arguments.filter, "step", scene[0]) for scene in scenes()):
            mujoco, rapier = peers.MuJoCo(python), peers.Rapier()
    programs = {"Pinocchio": pinocchio, "MuJoCo": mujoco, "Rapier": rapier}
    result = {
        "date": datetime.date.today().isoformat(),
        "machine": machine(),
        "versions": {
            "karakuri": output("git", "describe", "--always", "--dirty") or "unknown",
            "rustc": (output("rustc", "--version").split() + ["", "unknown"])[1],
            **{name: program.version for name, program in programs.items() if program},
        },
        "turns": arguments.turns,
        "algorithms": dynamics(arguments.filter, pinocchio, arguments.turns),
        "steps": steps(arguments.filter, mujoco, rapier, arguments.turns),
    }
    if not result["algorithms"] and not result["steps"]:
        raise peers.Missing(f"no benchmark matches `{arguments.filter}`")
    (peers.OUT / "bench.json").write_text(json.dumps(result, indent=2) + "\n")
    print(report.table(result))
    print("all numbers: out/bench/bench.json")
    if arguments.peers and not arguments.filter:
        pages.write_times(report.page(result))
        times.write(report.algorithm_rows(result), report.step_rows(result))
        print("written: docs/benchmarks.md and its pictures")


if __name__ == "__main__":
    try:
        main()
    except peers.Missing as problem:
        sys.exit(f"error: {problem}")
    except KeyboardInterrupt:
        sys.exit(130)

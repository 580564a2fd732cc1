#!/usr/bin/env python3
"""Pinocchio's times beside karakuri_dynamics', same machine, same run: one table with ratios.

    python3 packages/dev/peers/dynamics.py [--filter REGEX]

Needs a C++ compiler; makes a virtual environment with the wheels under target/peers/ (once). The filter chooses
models and algorithms as `cargo bench` does, for instance `/(ur5|g1)$`.
"""
import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import venv

ROOT = pathlib.Path(__file__).resolve().parents[3]
PLACE = ROOT / "target" / "peers"
WHEELS = ["pin==4.1.0", "cmeel-eigen==3.4.1"]
FIXED, FLOATING = ["ur5", "panda"], ["anymal_c", "solo12", "simple_humanoid", "g1"]
CHAINS = [10, 50, 200]
ALGORITHMS = [
    "fk", "rnea", "aba", "crba", "jacobians", "centroidal", "rnea_derivatives", "crba_ldl",
]  # fmt: skip


def run(*command, **options):
    return subprocess.run([str(c) for c in command], check=True, **options)


def python_with_wheels():
    python = PLACE / "venv" / "bin" / "python"
    if not python.exists():
        print("making a virtual environment with Pinocchio", file=sys.stderr)
        venv.create(PLACE / "venv", with_pip=True)
    run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *WHEELS)
    return python


def build(python):
    prefix = pathlib.Path(
        run(
            python, "-c", "import cmeel, pathlib; print(pathlib.Path(cmeel.__file__).parents[1])",
            capture_output=True, text=True,
        ).stdout.strip()
    ) / "cmeel.prefix"  # fmt: skip
    source, program = pathlib.Path(__file__).with_name("pinocchio.cpp"), PLACE / "pinocchio_times"
    if not program.exists() or program.stat().st_mtime < source.stat().st_mtime:
        print("compiling the Pinocchio side (a minute or two)", file=sys.stderr)
        run(
            "c++", "-std=c++17", "-O3", "-DNDEBUG", "-w", "-DPINOCCHIO_ENABLE_TEMPLATE_INSTANTIATION",
            "-DBOOST_MPL_LIMIT_LIST_SIZE=30", "-DBOOST_MPL_CFG_NO_PREPROCESSED_HEADERS",
            "-I", prefix / "include", "-I", prefix / "include" / "eigen3", source, "-o", program,
            "-L", prefix / "lib", "-lpinocchio_default", "-lboost_serialization",
            f"-Wl,-rpath,{prefix / 'lib'}",
        )  # fmt: skip
    return program


SAVE = """
import sys, pinocchio as pin
for line in sys.stdin:
    urdf, base, out = line.split()
    root = [pin.JointModelFreeFlyer()] if base == "floating" else []
    pin.buildModelFromUrdf(urdf, *root).saveToBinary(out)
"""


def pinocchio_times(names):
    python = python_with_wheels()
    program = build(python)
    robots = [n for n in FIXED + FLOATING if n in names]
    lines = "".join(
        f"{ROOT}/tests/robots/{n}/{n}.urdf {'fixed' if n in FIXED else 'floating'} {PLACE}/{n}.pin\n"
        for n in robots
    )
    run(python, "-c", SAVE, input=lines, text=True)
    models = [f"{n}=model:{PLACE}/{n}.pin" for n in robots]
    models += [f"chain_{n}=chain:{n}" for n in CHAINS if f"chain_{n}" in names]
    out = run(program, *models, capture_output=True, text=True).stdout
    rows = [json.loads(line) for line in out.splitlines()]
    return {(r["algorithm"], r["model"]): r["ns"] for r in rows}, {r["model"]: r["nv"] for r in rows}


def karakuri_times(pattern):
    command = ["cargo", "bench", "--quiet", "-p", "karakuri_dynamics", "--bench", "algorithms"]
    environment = {**os.environ, "CRITERION_HOME": str(ROOT / "target" / "criterion")}
    run(
        *command, "--", *([pattern] if pattern else []),
        cwd=ROOT, env=environment, stdout=subprocess.DEVNULL,
    )  # fmt: skip


def ours(algorithm, name):
    path = ROOT / "target" / "criterion" / algorithm / name / "new" / "estimates.json"
    return json.loads(path.read_text())["median"]["point_estimate"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--filter", help="models and algorithms, as ALGORITHM/MODEL")
    pattern = parser.parse_args().filter
    names = FIXED + FLOATING + [f"chain_{n}" for n in CHAINS]
    wanted = [
        (a, n) for n in names for a in ALGORITHMS if not pattern or re.search(pattern, f"{a}/{n}")
    ]
    theirs, nv = pinocchio_times({n for _, n in wanted})
    karakuri_times(pattern)
    print(f"{'model':16} {'nv':>4} {'algorithm':18} {'Pinocchio':>10} {'karakuri':>10}  ratio   [us]")
    for algorithm, name in wanted:
        peer, own = theirs[algorithm, name] / 1e3, ours(algorithm, name) / 1e3
        print(f"{name:16} {nv[name]:4} {algorithm:18} {peer:10.3f} {own:10.3f} {own / peer:6.2f}")


main()

"""All 69 URDFs of example-robot-data: each is checked, and falls limp for a second, held by its base and free; its 777 meshes collide."""

import csv
import json
import os
import re
import subprocess
from concurrent.futures import ThreadPoolExecutor

import pytest
from support.process import executable
from support.robots import package_path

pytestmark = pytest.mark.apart

# Files that are broken, and the sentence that says so.
REFUSED = {
    "alex_psyonic_hands.urdf": "mimics joint `index_q1`, which does not exist",
    "romeo.urdf": "joint `LHand` moves link `LFinger11Link`, which has no mass",
    "romeo_laas_small.urdf": "principal moment 3.6067e-3 kg·m² exceeds the sum 3.6001e-3 of the other two, which no mass distribution has",
    "romeo_small.urdf": "principal moment 6.5653e-3 kg·m² exceeds the sum 1.3411e-3 of the other two, which no mass distribution has",
    "ur3.urdf": "robot `robot` has no links",
}
# Coarse enough for a minute in all; every contact is found and solved all the same.
DT = 0.005
# What a run gains must be told from here on: part of what it turns over, and the height by which it lifts everything [m].
GAIN, LIFT = 0.05, 1e-3


def files():
    robots = package_path() / "example-robot-data/robots"
    return sorted(robots.rglob("*.urdf"))


def run(*command):
    """The finished program; it may refuse, but neither panic nor hang."""
    environment = {**os.environ, "ROS_PACKAGE_PATH": str(package_path())}
    done = subprocess.run([executable("karakuri"), *map(str, command)], env=environment, capture_output=True, text=True, timeout=400)
    assert done.returncode in (0, 1) and "panicked" not in done.stderr, f"{command}: exit {done.returncode}\n{done.stderr[-2000:]}"
    return done


def gained(trace, mass):
    """Most by which energy less work grew in the traced run, if it is worth a word; else 0. [J]"""
    with trace.open() as lines:
        rows = [[float(row[f"energy.{part} [J]"]) for part in ("kinetic", "potential", "work")] for row in csv.DictReader(lines)]
    least, growth = float("inf"), 0.0
    for kinetic, potential, work in rows:
        least = min(least, kinetic + potential - work)
        growth = max(growth, kinetic + potential - work - least)
    potentials = [row[1] for row in rows]
    turnover = max(max(row[0] for row in rows), max(potentials) - min(potentials))
    return growth if growth > max(GAIN * turnover, LIFT * 9.81 * mass) else 0.0


def fall(urdf, base, mass, folder):
    """What is wrong with a second of falling limp; None if all is well."""
    name = f"{urdf.parent.parent.name}_{urdf.stem}_{base}"
    scene, trace = folder / f"{name}.yaml", folder / f"{name}.csv"
    held = {"fixed": "", "floating": ", pose: {xyz: [0, 0, 1]}"}[base]
    ground = {"fixed": "", "floating": "ground: {friction: 0.8}\n"}[base]
    scene.write_text(f"dt: {DT}\n{ground}robots:\n  - {{name: robot, urdf: '{urdf}', base: {base}{held}}}\n")
    done = run("simulate", scene, "--duration", 1, "--quiet", "--energy", "--trace", trace, "--trace-period", 2 * DT, "--report", folder / f"{name}.json")
    if done.returncode != 0:
        return f"{name}: {done.stderr[-500:]}"
    report = json.loads((folder / f"{name}.json").read_text())
    told = [warning for warning in report["warnings"] if "the energy grew by" in warning]
    growth = gained(trace, mass)
    if growth and not told:
        return f"{name}: energy grew by {growth} J in silence"
    missing = [warning for warning in report["warnings"] if warning not in done.stderr]
    return f"{name}: not on stderr: {missing}" if missing else None


def try_out(urdf, folder):
    """All that is wrong with a robot."""
    faults = []
    for base in ("fixed", "floating"):
        checked = run("check", urdf, "--base", base, "--json")
        answer = json.loads(checked.stdout)
        errors = [problem["message"] for problem in answer["problems"] if problem["severity"] == "error"]
        if urdf.name in REFUSED:
            if checked.returncode != 1 or not any(REFUSED[urdf.name] in error for error in errors):
                faults.append(f"{urdf.name}, {base}: {errors}")
        elif checked.returncode != 0:
            faults.append(f"{urdf.name}, {base}: refused: {errors}")
        else:
            faults.append(fall(urdf, base, answer["model"]["mass_kg"], folder))
    return [fault for fault in faults if fault]


def test_every_robot_loads_and_falls_limp(tmp_path):
    robots = files()
    assert len(robots) == 69 and REFUSED.keys() <= {urdf.name for urdf in robots}
    with ThreadPoolExecutor(2) as pool:
        faults = [fault for found in pool.map(lambda urdf: try_out(urdf, tmp_path), robots) for fault in found]
    assert not faults, "\n".join(faults)


# Flat meshes, of which no body can be made.
FLAT = {"plane.obj"}


def collide(meshes, name, folder):
    """Two and two in each other for 20 ms, apart from the others; the flat ones among them."""

    def scene(left_out):
        bodies = []
        for i, mesh in enumerate(meshes):
            pose = f"{{xyz: [{1e4 * (i // 2)}, 0, {1e-3 * (i % 2)}], rpy: [{0.3 * (i % 7)}, {0.2 * (i % 5)}, 0]}}"
            if i not in left_out:
                bodies.append(f"  - {{name: m{i}, mass: 1, shape: {{mesh: {{file: '{mesh}'}}}}, pose: {pose}}}\n")
        return "gravity: [0, 0, 0]\nbodies:\n" + "".join(bodies)

    file = folder / f"{name}.yaml"
    command = ["simulate", file, "--duration", "0.02", "--quiet", "--report", folder / f"{name}.json"]
    flat = set()
    file.write_text(scene(flat))
    done = run(*command)
    if done.returncode == 1:
        flat = {int(i) for i in re.findall(r"`m(\d+)`: the convex hull of \d+ points has no volume", done.stderr)}
        file.write_text(scene(flat))
        done = run(*command)
    assert done.returncode == 0, done.stderr[-2000:]
    points = json.loads((folder / f"{name}.json").read_text())["contacts"]["max"]
    assert points >= 0.8 * (len(meshes) // 2), f"{points} points of contact of {len(meshes) // 2} pairs"
    return {meshes[i].name for i in flat}


def test_every_mesh_collides_as_a_hull(tmp_path):
    meshes = sorted(file for file in package_path().rglob("*") if file.suffix.lower() in (".stl", ".dae", ".obj"))
    assert len(meshes) == 777
    with ThreadPoolExecutor(2) as pool:
        flat = set().union(*pool.map(lambda k: collide(meshes[k::12], f"meshes_{k}", tmp_path), range(12)))
    assert flat == FLAT

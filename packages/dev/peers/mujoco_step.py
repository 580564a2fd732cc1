#!/usr/bin/env python3
"""Step times of a scene of scenes.yaml in MuJoCo, and the accuracy that goes with them, as JSON.

    target/peers/venv/bin/python packages/dev/peers/mujoco_step.py NAME

The scene file, its URDFs and robot YAMLs are the ones that karakuri reads: same masses, gains, armatures, frictions,
loops, time step. Loops and mimic joints are equality constraints; drives are position actuators, implicit in damping.
"""
import json
import pathlib
import sys
import time
import typing
import xml.etree.ElementTree as ET

import mujoco
import numpy as np
import yaml

ROOT = pathlib.Path(__file__).resolve().parents[3]
BATCHES, BATCH = 7, 0.1  # medians of this many batches of at least this long [s]
FEW, LONG = 3, 1.0  # of batches that take longer than this [s] so many
IMPLICIT, RK4 = mujoco.mjtIntegrator.mjINT_IMPLICITFAST, mujoco.mjtIntegrator.mjINT_RK4
NEWTON, CG = mujoco.mjtSolver.mjSOL_NEWTON, mujoco.mjtSolver.mjSOL_CG


class Setting(typing.NamedTuple):
    """Stiff contacts, no-slip sweeps, integrator, solver."""

    stiff: bool = False
    no_slip: int = 0
    integrator: mujoco.mjtIntegrator = IMPLICIT
    solver: mujoco.mjtSolver = NEWTON


SETTINGS = {"mujoco_default": Setting(), "mujoco_stiff": Setting(stiff=True), "mujoco_no_slip": Setting(stiff=True, no_slip=3)}
# Of what moves freely only the integrator matters.
FREE_SETTINGS = {"mujoco_default": Setting(), "mujoco_rk4": Setting(integrator=RK4)}
# Of crowds conjugate gradients are faster than Newton's method.
CROWD_SETTINGS = SETTINGS | {"mujoco_cg": Setting(stiff=True, solver=CG)}
CROWD = 20  # bodies


def quaternion(rpy):
    q = np.array([1.0, 0, 0, 0])
    for axis, angle in zip(np.eye(3)[::-1], reversed(rpy)):
        turn, product = np.zeros(4), np.zeros(4)
        mujoco.mju_axisAngle2Quat(turn, axis, angle)
        mujoco.mju_mulQuat(product, q, turn)
        q = product
    return q


class Robot:
    """A robot of a scene: its URDF as MuJoCo takes it, its YAML, its mimic joints."""

    def __init__(self, entry, folder):
        self.entry = entry
        config = entry.get("config")
        self.config = yaml.safe_load((folder / config).read_text()) or {} if config else {}
        urdf = ET.parse(folder / entry["urdf"]).getroot()
        for link in urdf.iter("link"):
            # Real robots come without their meshes, which our loader leaves out, too.
            meshes = [c for c in link.findall("collision") if c.find("geometry/mesh") is not None]
            for unwanted in [*link.findall("visual"), *meshes]:
                link.remove(unwanted)
        self.root = ({l.get("name") for l in urdf.iter("link")} - {c.get("link") for c in urdf.iter("child")}).pop()
        self.mimics = []
        for joint in urdf.iter("joint"):
            mimic = joint.find("mimic")
            if mimic is not None:
                self.mimics.append((joint.get("name"), mimic.get("joint"), float(mimic.get("multiplier", 1)), float(mimic.get("offset", 0))))
                joint.remove(mimic)
        compiler = ET.SubElement(ET.SubElement(urdf, "mujoco"), "compiler")
        compiler.attrib |= {"fusestatic": "false", "discardvisual": "true", "strippath": "false"}
        self.spec = mujoco.MjSpec.from_string(ET.tostring(urdf, encoding="unicode"))

    def furnish(self, solref):
        """What the URDF cannot say."""
        spec, config, entry = self.spec, self.config, self.entry
        pose, root = entry.get("pose", {}), spec.body(self.root)
        if self.root != "world":
            root.pos, root.quat = pose.get("xyz", [0, 0, 0]), quaternion(pose.get("rpy", [0, 0, 0]))
        if entry.get("base", "fixed") == "floating":
            root.add_freejoint()
        collision = config.get("collision", {})
        for geom in spec.geoms:
            geom.friction[0] = collision.get("materials", {}).get(geom.parent.name, {}).get("friction", 0.8)
            if collision.get("self", True) is False:
                geom.contype, geom.conaffinity = 2, 1
        for a, b in collision.get("ignore", []):
            spec.add_exclude(bodyname1=a, bodyname2=b)
        if entry.get("base", "fixed") == "fixed":
            for child in root.bodies if self.root != "world" else []:  # MuJoCo would let them touch the fixed link
                spec.add_exclude(bodyname1=self.root, bodyname2=child.name)
        self.drives(spec)
        for follower, leader, multiplier, offset in self.mimics:
            couple = spec.add_equality(type=mujoco.mjtEq.mjEQ_JOINT, name1=follower, name2=leader)
            couple.data[:5] = [offset, multiplier, 0, 0, 0]
            couple.solref = solref
        for name, loop in config.get("loops", {}).items():
            if loop["type"] != "custom" or loop["locked"] != ["tx", "ty"]:
                sys.exit(f"loop `{name}`: only planar loops (locked: [tx, ty]) are translated to MuJoCo")
            for side in "ab":
                spec.body(loop[f"link_{side}"]).add_site(name=f"{name}_{side}", pos=loop[f"frame_{side}"]["xyz"])
            connect = spec.add_equality(type=mujoco.mjtEq.mjEQ_CONNECT, objtype=mujoco.mjtObj.mjOBJ_SITE)
            connect.name1, connect.name2, connect.solref = f"{name}_a", f"{name}_b", solref

    def drives(self, spec):
        own, over = self.config.get("drives", {}), self.entry.get("drives", {})
        for name in own | over:
            drive, joint = own.get(name, {}) | over.get(name, {}), spec.joint(name)
            joint.armature = drive.get("armature", 0)
            if "friction" in drive:
                joint.frictionloss = drive["friction"]
            if "viscous" in drive:
                joint.damping[0] = drive["viscous"]
            if "stiffness" in drive or "damping" in drive:
                actuator = spec.add_actuator(name=name, target=name, trntype=mujoco.mjtTrn.mjTRN_JOINT)
                actuator.set_to_position(kp=drive.get("stiffness", 0), kv=drive.get("damping", 0))

    def posture(self):
        angles = dict(self.entry.get("joints", {}))
        for follower, leader, multiplier, offset in self.mimics:
            angles[follower] = multiplier * angles.get(leader, 0) + offset
        return angles

    def targets(self):
        held = self.posture()
        names = self.config.get("drives", {}) | self.entry.get("drives", {})
        return {n: self.entry.get("drives", {}).get(n, {}).get("target", held.get(n, 0)) for n in names}


def add_body(spec, body):
    kind, size = next(iter(body["shape"].items()))
    sizes = {
        "box": (mujoco.mjtGeom.mjGEOM_BOX, lambda s: [x / 2 for x in s]),
        "sphere": (mujoco.mjtGeom.mjGEOM_SPHERE, lambda s: [s["radius"], 0, 0]),
        "capsule": (mujoco.mjtGeom.mjGEOM_CAPSULE, lambda s: [s["radius"], s["length"] / 2, 0]),
        "cylinder": (mujoco.mjtGeom.mjGEOM_CYLINDER, lambda s: [s["radius"], s["length"] / 2, 0]),
    }
    shape, half = sizes[kind]
    pose = body.get("pose", {})
    # PyYAML takes 1e-06, without a point, for a string.
    xyz, rpy = ([float(x) for x in pose.get(key, [0, 0, 0])] for key in ("xyz", "rpy"))
    made = spec.worldbody.add_body(name=body["name"], pos=xyz, quat=quaternion(rpy))
    geom = {"type": shape, "size": half(size), "friction": [body.get("friction", 0.5), 0.005, 0.0001], "conaffinity": 3}
    if not body.get("fixed", False):
        made.add_freejoint()
        geom["mass"] = body["mass"]
    made.add_geom(**geom)


def ground_friction(scene):
    """MuJoCo takes the larger of two frictions, we their geometric mean: where all bodies have one friction, which is less than
    the ground's, the ground gets the mean."""
    own, bodies = scene["ground"].get("friction", 0.8), {body.get("friction", 0.5) for body in scene.get("bodies", [])}
    if scene.get("robots") or len(bodies) != 1 or min(bodies) > own:
        return own
    return (own * bodies.pop()) ** 0.5


def build(path, setting):
    scene = yaml.safe_load(path.read_text())
    spec, robots = mujoco.MjSpec(), [Robot(entry, path.parent) for entry in scene.get("robots", [])]
    h = scene.get("dt", 0.001)
    solref = [2 * h, 1] if setting.stiff else [0.02, 1]
    if robots:
        spec = robots[0].spec
    if len(robots) > 1:
        sys.exit("scenes with several robots are not translated to MuJoCo")
    for robot in robots:
        robot.furnish(solref)
    option = spec.option
    option.timestep, option.gravity = h, scene.get("gravity", [0, 0, -9.81])
    option.solver, option.integrator = setting.solver, setting.integrator
    option.tolerance, option.iterations, option.noslip_iterations = 1e-10, 100, setting.no_slip
    if setting.stiff:
        option.cone, option.impratio = mujoco.mjtCone.mjCONE_ELLIPTIC, 10
    if "ground" in scene:
        spec.worldbody.add_geom(
            type=mujoco.mjtGeom.mjGEOM_PLANE, size=[10, 10, 0.1], conaffinity=3,
            friction=[ground_friction(scene), 0.005, 0.0001],
        )  # fmt: skip
    for body in scene.get("bodies", []):
        add_body(spec, body)
    for geom in spec.geoms:
        geom.solref = solref
    model = spec.compile()
    data = mujoco.MjData(model)
    for robot in robots:
        for name, angle in robot.posture().items():
            data.qpos[model.joint(name).qposadr[0]] = angle
        for name, rate in robot.entry.get("velocities", {}).items():
            data.qvel[model.joint(name).dofadr[0]] = rate
        for name, target in robot.targets().items():
            if mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_ACTUATOR, name) >= 0:
                data.ctrl[model.actuator(name).id] = target
    mujoco.mj_forward(model, data)
    return model, data


def places(data, body, link):
    """Where that is whose creep is asked for: a body in a link's frame, a body, a link, or all bodies."""
    if body is None:
        return data.xpos.copy() if link is None else data.body(link).xpos.copy()[None]
    p = data.body(body).xpos.copy()
    if link is None:
        return p[None]
    frame = data.body(link)
    return (frame.xmat.reshape(3, 3).T @ (p - frame.xpos))[None]


def energy(model, data):
    mujoco.mj_energyPos(model, data)
    mujoco.mj_energyVel(model, data)
    return data.energy.copy()


def quality(case, model, data, start, n_steps):
    """Steps through the window once."""
    (kind, what), before = case["accuracy"], {}
    mujoco.mj_forward(model, data)
    if kind == "creep":
        before = places(data, what.get("body"), what.get("link"))
    initial, kinetic, deepest, contacts, iterations = energy(model, data), 0.0, 0.0, 0, 0
    for _ in range(n_steps):
        mujoco.mj_step(model, data)
        contacts += data.ncon
        iterations += int(data.solver_niter[0])
        if kind == "depth":
            deepest = max(deepest, *(-c.dist for c in data.contact), 0.0)
        if kind == "energy":
            kinetic = max(kinetic, energy(model, data)[1])
    mujoco.mj_kinematics(model, data)
    if kind == "creep":
        moved = places(data, what.get("body"), what.get("link")) - before
        accuracy = 1e3 * float(np.linalg.norm(moved, axis=1).max()) / case["window"]
    elif kind == "sag":
        accuracy = 1e3 * float(start[what["body"]] - data.body(what["body"]).xpos[2])
    elif kind == "depth":
        accuracy = 1e3 * deepest
    else:
        mujoco.mj_forward(model, data)
        accuracy = float(abs(sum(energy(model, data)) - sum(initial)) / kinetic)
    return {"accuracy": accuracy, "contacts": contacts / n_steps, "iterations": iterations / n_steps}


def measure(case, setting):
    model, data = build(ROOT / case["scene"], setting)
    h = model.opt.timestep
    start = {model.body(i).name: float(data.xpos[i][2]) for i in range(model.nbody)}
    mujoco.mj_step(model, data, nstep=round(case["settle"] / h)) if case["settle"] else None
    full = mujoco.mjtState.mjSTATE_INTEGRATION
    state = np.empty(mujoco.mj_stateSize(model, full))
    mujoco.mj_getState(model, data, state, full)
    n_steps = round(case["window"] / h)
    out = quality(case, model, data, start, n_steps)
    times, longest = [], 0.0
    while len(times) < (FEW if longest > LONG else BATCHES):
        elapsed, steps = 0.0, 0
        while elapsed < BATCH:
            mujoco.mj_setState(model, data, state, full)
            begin = time.thread_time()
            mujoco.mj_step(model, data, nstep=n_steps)
            elapsed += time.thread_time() - begin
            steps += n_steps
        times.append(1e6 * elapsed / steps)
        longest = max(longest, elapsed)
    return {"us": sorted(times)[len(times) // 2]} | out


def main():
    cases = {c["name"]: c for c in yaml.safe_load(pathlib.Path(__file__).with_name("scenes.yaml").read_text())}
    case = cases[sys.argv[1]]
    accuracy = case["accuracy"]
    case["accuracy"] = (accuracy, {}) if isinstance(accuracy, str) else next(iter(accuracy.items()))
    n_bodies = len(yaml.safe_load((ROOT / case["scene"]).read_text()).get("bodies", []))
    crowd = case["accuracy"][0] == "depth" and n_bodies >= CROWD
    settings = FREE_SETTINGS if case["accuracy"][0] == "energy" else CROWD_SETTINGS if crowd else SETTINGS
    print(json.dumps({name: measure(case, setting) for name, setting in settings.items()}))


if __name__ == "__main__":
    main()

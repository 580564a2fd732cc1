#!/usr/bin/env python3
"""Step time and grip creep of the pick-and-place scene in MuJoCo, as JSON, for the table beside karakuri's.

    pip install mujoco
    packages/dev/peers/mujoco_step.py [--duration 2] [--dt 0.001] [--force 10]

The arm holds the cube between its pads, in the air, at rest. Same URDF, gains, friction and time step as in
config/arm6.yaml; loops and coupled cranks are equality constraints; elliptic cones, Newton, implicitfast.
"""

import argparse
import json
import math
import pathlib
import platform
import time

import mujoco

ROOT = pathlib.Path(__file__).resolve().parents[3]
# stiffness, damping, armature, friction, viscous: config/arm6.yaml
DRIVES = {
    "shoulder_yaw": (8000, 300, 0.60, 4.0, 6.0),
    "shoulder_pitch": (8000, 300, 0.60, 4.0, 6.0),
    "elbow_pitch": (6000, 160, 0.35, 3.0, 4.0),
    "wrist_pitch": (2000, 30, 0.08, 0.8, 0.8),
    "wrist_yaw": (2000, 30, 0.08, 0.8, 0.8),
    "wrist_roll": (2000, 30, 0.08, 0.8, 0.8),
    "left_crank_joint": (60, 2.0, 0.010, 0.05, 0.05),
}
HAND = "left_crank_joint"  # driven by effort, so that the grip force is what was asked for
POSTURE = {"shoulder_pitch": 0.1, "elbow_pitch": 1.7, "wrist_pitch": math.pi / 2 - 1.8}
STIFF = [0.002, 1]  # time constant [s] and damping ratio: the stiffest that 1 ms resolves; the default sags
LINK, HALF_OPENING, CUBE = 0.050, 0.02125, 0.05


def scene(dt, tolerance):
    """The URDF without its meshes, plus what URDF cannot say."""
    text = (ROOT / "urdf/arm6/arm6.urdf").read_text()
    lines = [line for line in text.splitlines() if "<visual>" not in line]
    compiler = '<mujoco><compiler fusestatic="false" discardvisual="true" strippath="false"/></mujoco>'
    spec = mujoco.MjSpec.from_string("\n".join([*lines[:-1], compiler, lines[-1]]))
    option = spec.option
    option.timestep, option.tolerance, option.iterations = dt, tolerance, 100
    option.cone, option.solver = mujoco.mjtCone.mjCONE_ELLIPTIC, mujoco.mjtSolver.mjSOL_NEWTON
    option.integrator, option.impratio = mujoco.mjtIntegrator.mjINT_IMPLICITFAST, 10
    for geom in spec.geoms:
        geom.friction[0], geom.condim, geom.solref = 0.6, 4, STIFF
    for name, (stiffness, damping, armature, friction, viscous) in DRIVES.items():
        joint = spec.joint(name)
        joint.armature, joint.frictionloss, joint.damping[0] = armature, friction, viscous
        actuator = spec.add_actuator(name=name, target=name, trntype=mujoco.mjtTrn.mjTRN_JOINT)
        if name == HAND:
            actuator.set_to_motor()
        else:
            actuator.set_to_position(kp=stiffness, kv=damping)
    couple = spec.add_equality(type=mujoco.mjtEq.mjEQ_JOINT, name1="right_crank_joint", name2="left_crank_joint")
    couple.data[:5], couple.solref = [0, 1, 0, 0, 0], STIFF
    for side in ("left", "right"):
        spec.body(f"{side}_follower").add_site(name=f"{side}_a", pos=[LINK, 0, 0])
        spec.body(f"{side}_jaw").add_site(name=f"{side}_b", pos=[0, -0.024 if side == "left" else 0.024, 0])
        loop = spec.add_equality(type=mujoco.mjtEq.mjEQ_CONNECT, objtype=mujoco.mjtObj.mjOBJ_SITE)
        loop.name1, loop.name2, loop.solref = f"{side}_a", f"{side}_b", STIFF
        spec.add_exclude(bodyname1=f"{side}_follower", bodyname2=f"{side}_jaw")
    cube = spec.worldbody.add_body(name="cube")
    cube.add_freejoint()
    cube.add_geom(type=mujoco.mjtGeom.mjGEOM_BOX, size=[CUBE / 2] * 3, mass=0.2, friction=[0.6, 0.005, 0.0001], condim=4, solref=STIFF)
    return spec.compile()


def start(model, force):
    data = mujoco.MjData(model)
    crank = math.asin((CUBE / 2 - HALF_OPENING) / LINK)
    angles = dict(POSTURE)
    for side in ("left", "right"):
        angles |= {f"{side}_crank_joint": crank, f"{side}_follower_joint": crank, f"{side}_jaw_joint": -crank}
    for name, angle in angles.items():
        data.qpos[model.joint(name).qposadr[0]] = angle
    for name in DRIVES.keys() - {HAND}:
        data.ctrl[model.actuator(name).id] = angles.get(name, 0.0)
    mujoco.mj_forward(model, data)
    data.ctrl[model.actuator(HAND).id] = -2 * force * LINK * math.cos(crank)  # one motor moves both fingers
    tool, cube = data.body("tool"), model.joint(model.body("cube").jntadr[0]).qposadr[0]
    data.qpos[cube : cube + 3], data.qpos[cube + 3 : cube + 7] = tool.xpos, tool.xquat
    mujoco.mj_forward(model, data)
    return data


def in_hand(data):
    """The cube's centre in the tool's frame. [m]"""
    tool = data.body("tool")
    return tool.xmat.reshape(3, 3).T @ (data.body("cube").xpos - tool.xpos)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--duration", type=float, default=2.0, help="[s]")
    parser.add_argument("--dt", type=float, default=0.001, help="[s]")
    parser.add_argument("--force", type=float, default=10.0, help="of a finger [N]")
    parser.add_argument("--tolerance", type=float, default=1e-10)
    arguments = parser.parse_args()
    model = scene(arguments.dt, arguments.tolerance)
    data = start(model, arguments.force)
    for _ in range(round(0.5 / arguments.dt)):  # the grip settles
        mujoco.mj_step(model, data)
    before, n_steps, contacts, iterations = in_hand(data), round(arguments.duration / arguments.dt), 0, 0
    begin = time.process_time()
    for _ in range(n_steps):
        mujoco.mj_step(model, data)
        contacts += data.ncon
        iterations += int(data.solver_niter[0])
    elapsed = time.process_time() - begin
    creep = in_hand(data) - before
    print(json.dumps({
        "program": "MuJoCo",
        "version": mujoco.__version__,
        "machine": platform.processor() or platform.machine(),
        "scene": "arm6 holds a 50 mm, 0.2 kg cube",
        "dt_s": arguments.dt,
        "tolerance": arguments.tolerance,
        "step_us": 1e6 * elapsed / n_steps,
        "mean_contacts": contacts / n_steps,
        "mean_iterations": iterations / n_steps,
        "grip_force_n": arguments.force,
        "grip_creep_mm_per_s": 1e3 * float((creep @ creep) ** 0.5) / arguments.duration,
    }, indent=2))


if __name__ == "__main__":
    main()

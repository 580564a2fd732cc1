#!/usr/bin/env python3
"""Golden values of rigid-body algorithms from Pinocchio, in karakuri's conventions.

    python3 -m venv /tmp/pin && /tmp/pin/bin/pip install pin==4.1.0
    /tmp/pin/bin/python generate.py

Reads `tests/robots/<name>/<name>.urdf`, writes `<name>_<base>.json` beside this script. States are drawn from a fixed seed.
Pinocchio measures a free-flyer's velocity in body axes; karakuri in world axes at the root link's origin, linear part
first. With `v = T v_pin`, `T = diag(R, R, 1)`, everything is converted here, derivatives by the chain rule.
"""
import json
import pathlib

import numpy as np
import pinocchio as pin

HERE = pathlib.Path(__file__).resolve().parent
ROBOTS = HERE.parents[4] / "tests" / "robots"
CASES = [
    ("ur5", "fixed"),
    ("panda", "fixed"),
    ("ur5", "floating"),
    ("solo12", "floating"),
    ("anymal_c", "floating"),
    ("g1", "floating"),
    ("simple_humanoid", "fixed"),
    ("simple_humanoid", "floating"),
    ("talos", "floating"),
]
STATES = 3
STATES_WITH_MATRICES = 2
TOLERANCE = 1e-10


def compact(array):
    """Fourteen significant digits: four more than the tolerance."""
    return [float(f"{x:.13e}") for x in np.asarray(array).flatten()]


def skew(a):
    return pin.skew(np.asarray(a))


class Case:
    def __init__(self, name, base, seed):
        path = str(ROBOTS / name / f"{name}.urdf")
        self.floating = base == "floating"
        root = [pin.JointModelFreeFlyer()] if self.floating else []
        self.model = pin.buildModelFromUrdf(path, *root)
        self.data = self.model.createData()
        self.random = np.random.default_rng(seed)
        first = 2 if self.floating else 1
        self.joints = [j for j in range(first, self.model.njoints)]
        links = [f for f in self.model.frames if f.type == pin.FrameType.BODY]
        self.links = [f.name for f in links]
        # The three links that end the file, among them a tip.
        self.jacobian_links = [self.links[-1], self.links[len(self.links) // 2]]

    def state(self):
        """A random state in karakuri's coordinates, joints in Pinocchio's order."""
        draw = lambda n, size: self.random.uniform(-size, size, n)
        n = len(self.joints)
        state = {"joint_q": draw(n, 1.5), "joint_v": draw(n, 2.0), "joint_a": draw(n, 5.0)}
        if self.floating:
            quaternion = self.random.normal(size=4)
            state["base_q"] = np.concatenate([draw(3, 2.0), quaternion / np.linalg.norm(quaternion)])
            state["base_v"], state["base_a"] = draw(6, 1.0), draw(6, 3.0)
        return state

    def to_pinocchio(self, s):
        """q, v, a of Pinocchio, T, and the changes of v and a of Pinocchio with karakuri's q and v."""
        model, nv = self.model, self.model.nv
        q, v, a = pin.neutral(model), np.zeros(nv), np.zeros(nv)
        for j, q_j, v_j, a_j in zip(self.joints, s["joint_q"], s["joint_v"], s["joint_a"]):
            i, k = model.joints[j].idx_q, model.joints[j].idx_v
            if model.joints[j].nq == 2:  # continuous
                q[i], q[i + 1] = np.cos(q_j), np.sin(q_j)
            else:
                q[i] = q_j
            v[k], a[k] = v_j, a_j
        T, v_by_q = np.eye(nv), np.zeros((nv, nv))
        a_by_q, a_by_v = np.zeros((nv, nv)), np.zeros((nv, nv))
        if self.floating:
            q[:7] = s["base_q"]
            R = pin.Quaternion(q[3:7]).matrix()
            T[:3, :3] = T[3:6, 3:6] = R
            v_w, a_w = s["base_v"], s["base_a"]
            v[:6] = np.concatenate([R.T @ v_w[:3], R.T @ v_w[3:]])
            linear, angular = v[:3].copy(), v[3:6].copy()
            a[:6] = np.concatenate([R.T @ a_w[:3] - np.cross(angular, linear), R.T @ a_w[3:]])
            # A turn d in world axes changes Rt x by Rt (x cross d).
            v_by_q[:3, 3:6], v_by_q[3:6, 3:6] = R.T @ skew(v_w[:3]), R.T @ skew(v_w[3:])
            a_by_q[:3, 3:6], a_by_q[3:6, 3:6] = R.T @ skew(a_w[:3]), R.T @ skew(a_w[3:])
            # a_pin contains - w cross v.
            cross = lambda d_angular, d_linear: skew(linear) @ d_angular - skew(angular) @ d_linear
            a_by_q[:3] += cross(v_by_q[3:6], v_by_q[:3])
            a_by_v[:3] += cross(T.T[3:6], T.T[:3])
        return q, v, a, T, v_by_q, a_by_q, a_by_v

    def sample(self, with_matrices):
        s = self.state()
        model, data = self.model, self.data
        q, v, a, T, v_by_q, a_by_q, a_by_v = self.to_pinocchio(s)
        world = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
        out = {key: compact(value) for key, value in s.items()}

        tau = T @ pin.rnea(model, data, q, v, a)
        out["rnea"] = compact(tau)
        out["bias"] = compact(T @ (pin.rnea(model, data, q, v, a * 0) + pin.crba(model, data, q) @ self.still(v)))
        out["gravity"] = compact(T @ pin.computeGeneralizedGravity(model, data, q))
        # Forward dynamics with other efforts than those of `a`.
        tau_in = self.random.uniform(-10, 10, model.nv)
        out["tau"] = compact(tau_in)
        vdot = pin.aba(model, data, q, v, T.T @ tau_in)
        out["aba"] = compact(T @ (vdot - self.still(v)))

        pin.forwardKinematics(model, data, q, v, a)
        pin.updateFramePlacements(model, data)
        out["links"] = {}
        for name in self.links:
            X = data.oMf[model.getFrameId(name, pin.FrameType.BODY)]
            out["links"][name] = compact(np.concatenate([X.translation, X.rotation.flatten()]))
        out["frames"] = {}
        for name in self.jacobian_links:
            f = model.getFrameId(name, pin.FrameType.BODY)
            V = pin.getFrameVelocity(model, data, f, world)
            A = pin.getFrameClassicalAcceleration(model, data, f, world)
            out["frames"][name] = {"velocity": compact(V), "acceleration": compact(A)}

        out["kinetic_energy"] = float(pin.computeKineticEnergy(model, data, q, v))
        out["potential_energy"] = float(pin.computePotentialEnergy(model, data, q))
        h = pin.computeCentroidalMomentum(model, data, q, v)
        out["momentum"] = compact(h)
        out["com"] = compact(pin.centerOfMass(model, data, q))
        if with_matrices:
            self.add_matrices(out, q, v, a, T, v_by_q, a_by_q, a_by_v)
        return out

    def still(self, v):
        """Pinocchio's acceleration of a base whose classical acceleration is zero."""
        a = np.zeros(self.model.nv)
        if self.floating:
            a[:3] = -np.cross(v[3:6], v[:3])
        return a

    def add_matrices(self, out, q, v, a, T, v_by_q, a_by_q, a_by_v):
        model, data, nv = self.model, self.data, self.model.nv
        world = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
        for name in self.jacobian_links:
            f = model.getFrameId(name, pin.FrameType.BODY)
            J = pin.computeFrameJacobian(model, data, q, f, world)
            out["frames"][name]["jacobian"] = compact(J @ T.T)
        out["centroidal"] = compact(pin.computeCentroidalMap(model, data, q) @ T.T)
        M = np.array(pin.crba(model, data, q))
        M = np.triu(M) + np.triu(M, 1).T
        out["crba"] = compact((T @ M @ T.T)[np.triu_indices(nv)])
        tau_by_q, tau_by_v, _ = (np.array(x) for x in pin.computeRNEADerivatives(model, data, q, v, a))
        tau = np.array(data.tau)
        by_q = tau_by_q @ T.T + tau_by_v @ v_by_q + M @ a_by_q
        by_q = T @ by_q
        if self.floating:
            for part in (slice(0, 3), slice(3, 6)):
                by_q[part, 3:6] -= skew((T @ tau)[part])
        out["rnea_by_position"] = compact(by_q)
        out["rnea_by_velocity"] = compact(T @ (tau_by_v @ T.T + M @ a_by_v))


def main():
    for seed, (name, base) in enumerate(CASES):
        case = Case(name, base, seed)
        golden = {
            "program": "Pinocchio",
            "version": pin.__version__,
            "inputs": f"tests/robots/{name}/{name}.urdf, {base} base, numpy default_rng({seed})",
            "tolerance": TOLERANCE,
            "why": "double round-off of two different recursions; relative to the largest entry",
            "joints": [case.model.names[j] for j in case.joints],
            "mass": sum(i.mass for i in list(case.model.inertias)[1:]),
            "samples": [case.sample(n < STATES_WITH_MATRICES) for n in range(STATES)],
        }
        path = HERE / f"{name}_{base}.json"
        path.write_text(json.dumps(golden, separators=(",", ":")) + "\n")
        print(path.name, case.model.nv, path.stat().st_size)


main()

"""The measured numbers as a table for the terminal and as docs/benchmarks.md."""

SETTINGS = {
    "mujoco_default": "MuJoCo, default",
    "mujoco_stiff": "MuJoCo, stiff",
    "mujoco_no_slip": "MuJoCo, stiff, no-slip",
    "mujoco_cg": "MuJoCo, stiff, CG",
    "mujoco_rk4": "MuJoCo, RK4",
    "rapier_default": "Rapier f32, default",
    "rapier_stiff": "Rapier f32, stiff",
    "rapier_exact": "Rapier f32, stiff, no recycling",
}
WORDS = {
    "fk": "FK", "rnea": "RNEA", "aba": "ABA", "crba": "CRBA", "jacobians": "Jacobians", "centroidal": "centroidal map",
    "rnea_derivatives": "dRNEA", "crba_ldl": "CRBA + LDL",
}  # fmt: skip


def number(x):
    if x is None:
        return ""
    if x == 0:
        return "0"
    return f"{x:.3g}" if 1e-2 <= abs(x) < 1e4 else f"{x:.1e}"


def algorithm_rows(result):
    for row in result["algorithms"]:
        own, peer = row["karakuri_us"], row.get("pinocchio_us")
        ratio = own / peer if peer else None
        yield [row["model"], str(row.get("nv", "")), WORDS[row["algorithm"]], number(own), number(peer), ratio and f"{ratio:.2f}" or ""]


def step_rows(result):
    for row in result["steps"]:
        own = row["karakuri"]
        accuracy = f"{number(own['accuracy'])} {own['unit']}"
        yield [row["scene"], "karakuri", number(own["us"]), "", f"{own['contacts']:.0f}", number(own["iterations"]), number(own["residual"]), accuracy]
        for key, title in SETTINGS.items():
            if key in row:
                peer = row[key]
                accuracy = f"{number(peer['accuracy'])} {own['unit']}"
                ratio = f"{own['us'] / peer['us']:.2f}"
                yield ["", title, number(peer["us"]), ratio, f"{peer['contacts']:.0f}", number(peer["iterations"]), "", accuracy]
        if "parts" in row:
            parts = row["parts"]
            ratio = f"{own['us'] / parts['us']:.2f}"
            yield ["", f"best of {' + best of '.join(parts['names'])}", number(parts["us"]), ratio, "", "", "", ""]


ALGORITHM_HEAD = ["model", "nv", "algorithm", "karakuri [µs]", "Pinocchio [µs]", "ratio"]
STEP_HEAD = ["scene", "program", "step [µs]", "ours / theirs", "contacts", "iterations", "residual", "accuracy"]


def aligned(head, rows):
    widths = [max(len(r[i]) for r in [head, *rows]) for i in range(len(head))]
    return "\n".join("  ".join(cell.ljust(w) for cell, w in zip(r, widths)).rstrip() for r in [head, *rows])


def markdown(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(r) + " |" for r in rows])


def title(result):
    versions = ", ".join(f"{k} {v}" for k, v in result["versions"].items())
    return f"{result['machine']}; {result['date']}; {versions}"


def table(result):
    parts = [title(result)]
    if result["algorithms"]:
        parts.append(aligned(ALGORITHM_HEAD, list(algorithm_rows(result))))
    if result["steps"]:
        parts.append(aligned(STEP_HEAD, list(step_rows(result))))
    return "\n\n".join(parts)


def page(result):
    return f"""# Benchmarks

Times are written by `./dev bench --peers`, the [physics benchmarks](#physics-benchmarks) below them by `./dev bench --physics`;
do not edit. Times: {title(result)}.

All times are CPU time of one thread, medians, the programs in turn within one run, the fastest turn of {result["turns"]} each; other work on
the machine makes factors below 1.2 meaningless. A ratio below 1 means karakuri is faster.

## Rigid-body algorithms

Both generic x86-64: karakuri as `cargo bench` builds it, Pinocchio's C++ as its wheel ships it. Sixteen random states in
turn. "Jacobians" is forward kinematics and the Jacobian of the last link here, of all joints in Pinocchio.

![Time of an algorithm, as part of Pinocchio's](images/times/algorithms.svg)

{markdown(ALGORITHM_HEAD, list(algorithm_rows(result)))}

## Steps of whole scenes

The scenes of `packages/dev/peers/scenes.yaml`, h = 1 ms, warm. "Iterations" are sweeps of our solver and Newton steps of
MuJoCo's, a mean over the window; "residual" is the largest of our natural map, in m/s or rad/s. MuJoCo's settings:
*default*; *stiff* is elliptic cones, impedance ratio 10, contact and loop time constants of two steps; *no-slip* adds
three of its no-slip sweeps; *CG* is conjugate gradients in place of Newton's method; *RK4* is its Runge-Kutta method, for what moves freely. Rapier's: *default*, four substeps; *stiff* is contacts of 250 Hz (a quarter of the step
rate) with Coulomb friction at every point; *no recycling* finds the contacts of all pairs in every step. Rapier counts predicted contacts, too.

![Time of a step of a scene](images/times/steps.svg)

{markdown(STEP_HEAD, list(step_rows(result)))}
"""

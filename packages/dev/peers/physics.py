#!/usr/bin/env python3
"""What `./dev bench --physics` runs: the physics benchmarks, and a plot of each beside the published numbers of other engines.

    ./dev bench --physics [LOG]

Runs the tests of packages/core/karakuri_physics/tests/benchmarks, the long ones too (three minutes on an idle core), reads the numbers
that they print, and writes docs/images/physics/*.svg and their section of docs/benchmarks.md. LOG, the output of such a run, is read in place of one.
"""
import math
import pathlib
import re
import subprocess
import sys

import figures
import pages

ROOT = pathlib.Path(__file__).resolve().parents[3]
PICTURES = ROOT / "docs" / "images" / "physics"
TABLE = ROOT / "out" / "bench" / "physics.csv"
COMMAND = [
    "cargo", "test", "--release", "-p", "karakuri_physics", "--test", "benchmarks", "--",
    "--nocapture", "--include-ignored", "--test-threads=1",
]  # fmt: skip
SOURCE_1 = "SimBenchmark (Hwangbo, Kang et al. 2018), its sample data, ERP 0"
SOURCE_2 = "Erez, Tassa, Todorov 2015, as restated in surveys: largest step at which the object is held"

# One picture each: file, title, axes, our lines by the pattern of what the tests print (`h`, `value`), the peers' lines, the bar.
STEPS = "step h [s]"
CURVES = [
    {
        "file": "rolling", "title": "1.1 Rolling: error of the velocities in 4 s", "y": "mean |Δv|² [m²/s²]", "source": SOURCE_1,
        "ours": {
            "karakuri, along y": r"1\.1 rolling along y, h = (?P<h>[\d.e-]+), 4 s: (?P<value>[\d.e-]+) m²",
            "karakuri, 60° from x": r"1\.1 rolling along xy, h = (?P<h>[\d.e-]+), 4 s: (?P<value>[\d.e-]+) m²",
        },
        "peers": {
            "RaiSim": {1e-3: 4.1e-7}, "Bullet, along y": {1e-3: 7e-28}, "Bullet, 60°": {1e-3: 3.9e-27}, "ODE, along y": {1e-3: 7.6e-9},
            "ODE, DART: 60°": {1e-3: 3.145}, "MuJoCo, along y": {1e-3: 9.2e-3}, "MuJoCo, 60°": {1e-3: 7.1e-3},
        },
        "bar": {1e-3: 1e-9},
    },
    {
        "file": "bouncing", "title": "1.2 Bouncing: energy error in 20 s", "y": "mean (E − E₀)² [J²]", "source": SOURCE_1,
        "ours": {"karakuri": r"1\.2 bouncing, h = (?P<h>[\d.e-]+): (?P<value>[\d.e-]+) J²"},
        "peers": {
            "RaiSim": {1e-4: 1.9e-6, 1e-3: 1.86e-2, 1e-2: 186, 0.1: 1.8e6}, "ODE": {1e-4: 1.85, 1e-3: 185, 1e-2: 1.9e4, 0.1: 2.0e6},
            "Bullet": {1e-4: 752, 1e-3: 7.5e4, 1e-2: 7.4e6, 0.1: 7.7e8}, "DART": {1e-4: 483, 1e-3: 7.2e4, 1e-2: 7.4e6, 0.1: 7.7e8},
        },
        "bar": {1e-3: 0.02, 1e-2: 1.0},
    },
    {
        "file": "pile", "title": "1.3 666: penetration of a collapsing pile in 10 s", "y": "mean Σ depth² [m²]", "source": SOURCE_1,
        "ours": {
            "karakuri": r"1\.3 666, h = (?P<h>[\d.e-]+), stabilised true: (?P<value>[\d.e-]+) m²",
            "karakuri, not stabilised": r"1\.3 666, h = (?P<h>[\d.e-]+), stabilised false: (?P<value>[\d.e-]+) m²",
        },
        "peers": {
            "RaiSim": {1e-4: 1.6e-6, 1e-3: 1.35e-4, 4e-3: 2.1e-3, 1e-2: 1.5e-2, 0.1: 0.96},
            "ODE": {1e-4: 1.5e-6, 1e-3: 1.5e-4, 4e-3: 2.4e-3, 1e-2: 1.6e-2, 0.1: 4.4},
            "DART Dantzig": {1e-4: 2.0e-7, 1e-3: 2.8e-4, 4e-3: 9.3e3, 1e-2: 215, 0.1: 6.8},
            "MuJoCo Newton": {1e-4: 1.1e-2, 1e-3: 9.5e-2, 4e-3: 0.37, 1e-2: 0.93, 0.1: 11},
            "Bullet": {1e-4: 3.5e-3, 1e-3: 0.38, 4e-3: 5.8, 1e-2: 37, 0.1: 2.8e5},
        },
        "bar": {1e-3: 1.4e-4, 1e-2: 1.6e-2},
    },
    {
        "file": "elastic_pile", "title": "1.4 Elastic 666: energy error in 10 s", "y": "mean (E − E₀)² [J²]", "source": SOURCE_1,
        "ours": {"karakuri": r"1\.4 elastic 666, h = (?P<h>[\d.e-]+): (?P<value>[\d.e-]+) J²"},
        "peers": {
            "RaiSim": {1e-4: 1.1e-3, 4e-4: 0.25, 1e-3: 8.4, 4e-3: 264, 1e-2: 5.2e6}, "ODE": {1e-4: 1.10, 4e-4: 17.5, 1e-3: 112, 4e-3: 1649, 1e-2: 8.6e6},
            "Bullet": {1e-4: 168, 4e-4: 3.6e3, 1e-3: 4.1e4, 4e-3: 8.4e5, 1e-2: 9.9e6}, "DART": {1e-4: 2.4e3, 4e-4: 5.2e4, 1e-3: 3.5e5, 4e-3: 6.6e6, 1e-2: 1.3e10},
        },
        "bar": {4e-4: 0.25, 1e-3: 8, 4e-3: 260},
    },
    {
        "file": "anymal_energy", "title": "1.6 ANYmal thrown: energy error in 2 s", "y": "mean (E − E₀)² [J²]", "source": SOURCE_1,
        "ours": {
            "karakuri, default": r"1\.6 ANYmal energy, default, h = (?P<h>[\d.e-]+): (?P<value>[\d.e-]+) J²",
            "karakuri, variational": r"1\.6 ANYmal energy, variational, h = (?P<h>[\d.e-]+): (?P<value>[\d.e-]+) J²",
            "karakuri, rk4": r"1\.6 ANYmal energy, rk4, h = (?P<h>[\d.e-]+): (?P<value>[\d.e-]+) J²",
        },
        "peers": {
            "RaiSim": {1e-5: 1.1e-6, 1e-4: 1.1e-4, 1e-3: 1.18e-2, 4e-3: 0.215, 1e-2: 1.40},
            "MuJoCo RK4": {1e-5: 2.9e-21, 1e-4: 1.6e-21, 1e-3: 1.6e-17, 4e-3: 4.5e-14, 1e-2: 5.6e-11},
            "MuJoCo Euler": {1e-5: 3.5e-4, 1e-4: 3.5e-2, 1e-3: 3.48, 4e-3: 55.5, 1e-2: 344},
            "Bullet": {1e-5: 2.7e-2, 1e-4: 7.5e-2, 1e-3: 3.65, 4e-3: 55.7, 1e-2: 343}, "ODE": {1e-5: 3.9e-4, 1e-4: 3.9e-2, 1e-3: 3.89, 4e-3: 61.6, 1e-2: 378},
        },
        "bar": {1e-3: 1.2e-2},
    },
    {
        "file": "anymal_momentum", "title": "1.7 ANYmal hit by a ball: momentum error in 10 s", "y": "mean |P − P₀|² [kg²m²/s²]", "source": SOURCE_1,
        "ours": {
            "karakuri, default": r"1\.7 ANYmal momentum, default, h = (?P<h>[\d.e-]+): (?P<value>[\d.e-]+) kg",
            "karakuri, variational": r"1\.7 ANYmal momentum, variational, h = (?P<h>[\d.e-]+): (?P<value>[\d.e-]+) kg",
            "karakuri, momentum": r"1\.7 ANYmal momentum, momentum, h = (?P<h>[\d.e-]+): (?P<value>[\d.e-]+) kg",
        },
        "peers": {
            "ODE": {1e-4: 6e-26, 1e-3: 1.3e-27, 1e-2: 4e-28}, "MuJoCo RK4": {1e-4: 1.7e-16, 1e-3: 4.7e-13, 1e-2: 2.4e-5},
            "RaiSim": {1e-4: 3.9e-7, 1e-3: 4.7e-5, 1e-2: 5.4e-3}, "Bullet": {1e-4: 2.6e-6, 1e-3: 2.7e-4, 1e-2: 2.3e-2},
            "MuJoCo Euler": {1e-4: 8.8e-6, 1e-3: 1.1e-3, 1e-2: 1.6e-2}, "DART": {1e-4: 182, 1e-3: 169, 1e-2: 105},
        },
        "bar": {1e-3: 4.7e-5},
    },
    {
        "file": "consistency", "title": "2 Deviation from one's own reference after 0.128 s", "y": "rms deviation [rad or m]",
        "source": "the source's models are not published, so there are no peers' numbers",
        "ours": {
            "five rods, default [rad]": r"2 chain, Default, h = (?P<h>[\d.e-]+): (?P<value>[\d.e-]+) rad",
            "five rods, rk4 [rad]": r"2 chain, RungeKutta4, h = (?P<h>[\d.e-]+): (?P<value>[\d.e-]+) rad",
            "27 capsules [m]": r"2 capsules, h = (?P<h>[\d.e-]+): (?P<value>[\d.e-]+) m",
            "falling humanoid [rad]": r"2 humanoid, h = (?P<h>[\d.e-]+): (?P<value>[\d.e-]+) rad",
            "the same between contacts [rad]": r"2 humanoid, h = (?P<h>[\d.e-]+): [\d.e-]+ rad, (?P<value>[\d.e-]+) rad",
        },
        "peers": {}, "bar": {4e-3: 1e-2},
    },
    {
        "file": "shaken_grasp", "title": "2 Shaken grasps: how far the object moves in the hand", "y": "distance [m]", "source": SOURCE_2,
        "ours": {
            "two pads": r"2 shaken grasp, h = (?P<h>[\d.e-]+): slips by (?P<value>[\d.e-]+) m",
            "five fingers, across": r"2 hand, shaken across, h = (?P<h>[\d.e-]+): (?P<value>[\d.e-]+) m",
            "five fingers, along": r"2 hand, shaken along, h = (?P<h>[\d.e-]+): (?P<value>[\d.e-]+) m",
        },
        "peers": {}, "bar": {},
        "marks": {"Bullet drops": 3e-5, "ODE drops": 2.5e-4, "PhysX drops": 2e-3, "MuJoCo drops": 16e-3},
    },
]  # fmt: skip

# One picture each of what the tests print as `plot FILE | line | x y x y ...`: beside it what is published or exact, as rings; lines
# that a test names `exact ...` are such rings, too. `levels` are values of y, `marks` values of x, as dashed lines.
CONE = 0.5 * 0.001 * 0.5 * 9.81 * 0.3**2
G = 9.81


def rolling_ball(t):
    """Speeds of the middle and of the spin of a ball that slides from 2 m/s, μ = 0.3, radius 0.1 m."""
    t = min(t, 2 * 2.0 / (7 * 0.3 * G))
    return 2.0 - 0.3 * G * t, 2.5 * 0.3 * G * t


def flips(until, every, h=1e-3):
    """Euler's equations of a free body (1, 2, 3) by the classical Runge-Kutta method: its rate about the middle axis."""
    rate = lambda w: (-w[1] * w[2], w[2] * w[0], -w[0] * w[1] / 3)  # noqa: E731
    after = lambda w, k, h: [a + h * b for a, b in zip(w, k)]  # noqa: E731
    w, points = [1e-3, 5.0, 1e-3], []
    for i in range(round(until / h) + 1):
        if i % round(every / h) == 0:
            points.append((i * h, w[1]))
        k1 = rate(w)
        k2 = rate(after(w, k1, h / 2))
        k3 = rate(after(w, k2, h / 2))
        k4 = rate(after(w, k3, h))
        w = [a + h / 6 * (p + 2 * q + 2 * r + s) for a, p, q, r, s in zip(w, k1, k2, k3, k4)]
    return points


def impulses(e):
    """Of a ball of 2 kg at 2 m/s along and 3 m/s (and 1.5 mm of fall) across the ground, over friction: across, along."""
    across = 2 * (1 + e) * math.sqrt(9 + 2 * G * 0.0015)
    return [(m, j) for m in (0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.5, 0.9) for j in (across, min(m * across, 8 / 7))]


# Recorded contact problems, solved by every method alone; of the whole ladder, as a step takes it, there is one point.
PROBLEMS = {
    "heap_falling": "heap falling, 198 contacts",
    "heap_landing": "heap landing, 676 contacts",
    "heap_at_rest": "heap at rest, 953 contacts, from zero",
    "humanoid_falling": "humanoid falling, 10 contacts and limits",
    "clutter": "fingers in clutter, 195 contacts and limits",
    "dominoes": "dominoes, 134 contacts",
}
WORK = "nothing; a point has at most twice the iterations of the one before it, and a method that takes no islands of that size has none"

SERIES = [
    {
        "file": "crowd", "title": "1.8 ANYmals that stand, h = 5 ms: CPU time of 250 s", "x": "robots [-]", "y": "CPU time [s]", "log": "xy",
        "points": {
            "RaiSim": [(1, 0.41), (25, 14.6), (225, 203)], "MuJoCo, no-slip": [(1, 1.75), (25, 50), (225, 548)], "Bullet": [(1, 3.7), (25, 93)],
            "DART": [(1, 5.8), (25, 122), (225, 1690)], "ODE": [(1, 22.9), (25, 613), (225, 11383)],
        },
        "source": "SimBenchmark (Hwangbo, Kang et al. 2018), CPU time on one core of an i7-7700HQ; Bullet fails above 25",
    },
    {
        "file": "mechanisms", "title": "3 IFToMM mechanisms: error over the step", "x": STEPS, "y": "error [unit of the line]", "log": "xy",
        "levels": {"limit of A05 [m]": 1e-3, "limit of A01 [J]": 5e-5, "limit of A02, two windows [J]": 0.075},
        "source": "reference solutions of the library, converged to all digits; its limits, those of A02 and A04 ours, are in the table below, too",
    },
    {
        "file": "friction_cone", "title": "4 Friction cone: boxes pushed for 0.3 s", "x": "azimuth of the push [°]", "y": "distance [m]", "log": "y",
        "points": {"exact at 1.001": [(a, CONE) for a in range(0, 91, 10)]},
        "source": "the exact cone; a pyramid of the same μ would hold up to 1.41 μmg at 45°",
    },
    {
        "file": "slope", "title": "4 Boxes on a slope of 20°: distance in 10 s", "x": "μ / tan α [-]", "y": "distance [m]", "log": "y",
        "points": {
            "exact": [(r, 0.5 * 9.81 * math.sin(math.radians(20)) * (1 - r) * 100) for r in (0.5, 0.9, 0.99, 0.999)],
            "MuJoCo 4.0, elliptic": [(1.5, 8.7e-3)], "MuJoCo, impedance ratio 100": [(1.5, 8.7e-5)], "MuJoCo, 10 no-slip sweeps": [(1.5, 1.2e-6)],
        },
        "source": "closed form; MuJoCo 4.0 at h = 2 ms, measured once",
    },
    {
        "file": "rocking_block", "title": "5 Housner's rocking block", "x": "time [s]", "y": "tilt [rad]", "log": "",
        "points": {"impacts, exact": [(0.27385897478, 0), (0.66685096503, 0)]}, "source": "Housner 1963, integrated to all digits",
    },
    {
        "file": "tippe_top", "title": "5 Tippe top: tilt of its axis", "x": "time [s]", "y": "tilt [°]", "log": "",
        "points": {"reference": [(0.5, 56.1), (0.75, 99.3), (1.0, 158.1)]}, "source": "equations of the sliding top (Cohen 1977), integrated",
    },
    {
        "file": "servo", "title": "6 Servos of the Springhead article's figure 6, h = 0.1 s", "x": "time [s]", "y": "angle [rad]", "log": "",
        "points": {
            "exact, K = 2": [(0.1, 1.353456), (0.2, 1.004128), (0.3, 0.602086), (0.5, -0.074652), (1, -0.168531)],
            "exact, K = 20": [(0.1, 1.320342), (0.2, 1.062305), (0.3, 0.841773), (0.5, 0.519366), (1, 0.150737)],
            "exact, K = 200": [(0.1, 1.310340), (0.2, 1.087226), (0.3, 0.901625), (0.5, 0.619591), (1, 0.242086)],
        },
        "source": "the implicit law's exact values, K with D = K/2",
    },
    {
        "file": "grasp", "title": "7 A block in two pads, at 1.01 and 0.99 of the least force", "x": "time [s]", "y": "distance [m]", "log": "y",
        "points": {"exact at 0.99": [(0.1 * i, 0.5 * 0.0981 * (0.1 * i) ** 2) for i in range(1, 10)]},
        "source": "closed form; the bar of what is held is 1e-6 m in 10 s",
    },
    {
        "file": "stand", "title": "1.8 ANYmal stands: how far its feet have crept", "x": "time [s]", "y": "distance since 5 s [m]", "log": "y",
        "levels": {"bar": 1e-6},
        "source": "SimBenchmark (Hwangbo, Kang et al. 2018): MuJoCo without its no-slip pass slides to the floor in seconds",
    },
    {
        "file": "stopping", "title": "4 Boxes slide to rest from 3 m/s", "x": "direction [°]", "y": "distance over v²/(2 μ g) [-]", "log": "",
        "points": {
            "MuJoCo, elliptic, at most": [(0, 1.002), (30, 1.002), (45, 1.002)],
            "MuJoCo, pyramid": [(30, 1.32), (45, 1.41)],
        },
        "levels": {"exact": 1.0},
        "source": "closed form; MuJoCo 4.0, measured once",
    },
    {
        "file": "ball", "title": "4 A ball slides, then rolls", "x": "time [s]", "y": "speed [m/s]", "log": "",
        "points": {"exact": [(0.02 * i, v) for i in range(20) for v in rolling_ball(0.02 * i)]},
        "marks": {"rolls": 4.0 / (7 * 0.3 * G)},
        "source": "closed form",
    },
    {
        "file": "thresholds", "title": "4 What holds with friction above its limit, and moves below", "x": "friction over the least that holds [-]",
        "y": "motion [unit of the line]", "log": "y",
        "points": {
            "exact, ball on a slope": [(r, 0.5 * G * (1 - r)) for r in (0.6, 0.8, 0.95, 0.99)],
            "exact, box on a slope": [
                (0.3 / math.tan(f * math.atan(0.3)), 0.5 * G * (math.sin(f * math.atan(0.3)) - 0.3 * math.cos(f * math.atan(0.3))))
                for f in (1.01, 1.05, 1.2)
            ],
        },
        "marks": {"limit": 1.0},
        "source": "closed forms; of the tall box it is width over height that must suffice. What holds has no motion at all on the exact side",
    },
    {
        "file": "no_lift", "title": "4 A sliding body does not rise", "x": "time [s]", "y": "change of the gap [m]", "log": "y",
        "points": {"convex relaxations: h μ |v|": [(0.1 + 0.05 * i, 1e-3 * 0.5 * (3 - 0.5 * G * (0.1 + 0.05 * i))) for i in range(9)]},
        "source": "Horak and Trinkle 2019: convex models lift a sliding body; the bar is 1e-9 m/s",
    },
    {
        "file": "bounce", "title": "5 A ball bounces with e = 0.8", "x": "bounce [-]", "y": "height [m]", "log": "y",
        "points": {"exact, e²ᵏ h": [(k, 0.64**k) for k in range(8)]}, "source": "closed form",
    },
    {
        "file": "oblique", "title": "5 A ball hits the ground at a slant", "x": "friction coefficient [-]", "y": "impulse [N·s]", "log": "xy",
        "points": {"exact": [p for e in (0, 0.5, 1) for p in impulses(e)]},
        "source": "closed form: across m (1 + e) |v|, along the least of μ times that and 2/7 m |slip|",
    },
    {
        "file": "painleve", "title": "5 Painlevé's rod, μ = 2, slides at 1 m/s on its tip", "x": "angle of the rod [°]", "y": "slip [m/s], p [-]", "log": "",
        "points": {"p(θ)": [(a, 1 + 3 * math.cos(math.radians(a)) * (math.cos(math.radians(a)) - 2 * math.sin(math.radians(a)))) for a in range(20, 86, 5)]},
        "levels": {"p = 0": 0.0},
        "source": "Génot and Brogliato 1999: where p < 0 no finite force slides on, and the slip must end in one step",
    },
    {
        "file": "flips", "title": "5 A free body with moments of inertia 1, 2, 3 turns over", "x": "time [s]", "y": "rate about the middle axis [rad/s]", "log": "",
        "points": {"Euler's equations": flips(25.0, 0.5)}, "source": "Euler's equations, integrated by themselves",
    },
    {
        "file": "tower", "title": "5 A tower of ten boxes", "x": "boxes carried [-]", "y": "contact force [N]", "log": "",
        "points": {"exact, n m g": [(n, n * G) for n in range(1, 11)]}, "source": "closed form; how far off, and 1000 kg on 1 kg, in the table below",
    },
    {
        "file": "bullet", "title": "5 A bullet, 300 m/s, 1/60 s a step, meets a wall of 5 mm", "x": "step [-]", "y": "position [m]", "log": "",
        "points": {"exact": [(0, 0), *((i, 0.99) for i in range(1, 5)), *((i, 1.98 - 5 * i) for i in range(1, 5))]},
        "levels": {"wall": 1.0}, "source": "closed form; the ball's radius is 1 cm",
    },
    {
        "file": "rattleback", "title": "5 Rattlebacks: spin", "x": "time [s]", "y": "spin [rad/s]", "log": "", "levels": {"turns back": 0.0},
        "source": "rolling without slipping (Garcia and Hubbard 1988), integrated by itself; the worn ones have rolling and spinning friction",
    },
    {
        "file": "heap_cost", "title": "8 Heaps that fall and land: cost of a step", "x": "contacts [-]", "y": "CPU time of a step [µs]", "log": "xy",
        "points": {"3.5 µs a contact": [(n, 3.5 * n) for n in (50, 100, 200, 500, 1000, 2000, 5000)]},
        "source": "a cost of so much a contact; means over a second from the drop, each step the fastest of 3 or 4 runs",
    },
    *(
        {
            "file": f"work_error_{file}", "title": f"8 Error over work: {title}", "x": "CPU time [s]", "y": "residual [m/s or rad/s]", "log": "xy",
            "source": WORK,
        }
        for file, title in PROBLEMS.items()
    ),
]  # fmt: skip

# Single numbers as parts of their bars: what is measured, pattern, bar, peers.
LIMITS = [
    ("1.1 rolling [m²/s²]", r"1\.1 rolling along [^:]*, h = 0\.001, 4 s: (?P<value>[\d.e-]+)", 1e-9, {"RaiSim": 4.1e-7, "Bullet": 3.9e-27, "MuJoCo": 7e-3}),
    ("1.8 feet creep in 5 s [m]", r"1\.8 stand: feet creep by (?P<value>[\d.e-]+) m", 1e-6, {}),
    ("1.8 crowds, feet creep [m]", r"1\.8 crowd of .*feet creep by (?P<value>[\d.e-]+) m", 1e-6, {}),
    ("3 A01 energy [J]", r"A01 default: energy within (?P<value>[\d.e-]+) J", 5e-5, {}),
    ("3 A02, 2 windows, energy [J]", r"A02, 2 windows, [^:]*: energy (?P<value>[\d.e-]+) of", 0.075, {}),
    ("3 A02, 40 windows, energy [J]", r"A02, 40 windows, [^:]*: energy (?P<value>[\d.e-]+) of", 1.34, {}),
    ("3 A04 energy [J]", r"A04: off by .* energy (?P<value>[\d.e-]+) J", 1e-3, {}),
    ("3 A05, h = 10 ms [m]", r"A05, h = 0\.01: off by \[(?:[\d.e-]+, )*(?P<value>[\d.e-]+)\] m", 1e-3, {}),
    ("4 rolling ball, momentum [-]", r"4 ball slides, [^:]*: momentum about the ground line moves by (?P<value>[\d.e-]+)", 1e-10, {}),
    ("4 pushed box rises [m/s]", r"4 pushed box .*, (?P<value>[\d.e-]+) m/s in a step", 1e-9, {"convex law": 0.25}),
    ("4 wedged ball sinks [m]", r"wedge at 1\.01 [^:]*: sinks by (?P<value>[\d.e-]+) m", 1e-8, {}),
    ("4 a sliding body rises [m/s]", r"4 a sliding body: rises by (?P<value>[\d.e-]+) m/s", 1e-9, {}),
    ("5 1000 kg on 1 kg, forces [-]", r"5 a ton on a kilogram: forces off by (?P<value>[\d.e-]+)", 1e-3, {}),
    ("5 tower of ten, forces [-]", r"5 tower of ten: forces off by (?P<value>[\d.e-]+)", 1e-3, {}),
    ("5 free body, momentum [-]", r"5 free body, [^:]*: momentum off by (?P<value>[\d.e-]+)", 1e-10, {}),
    ("5 free body, energy [-]", r"5 free body, [^:]*: .* energy by (?P<value>[\d.e-]+)", 1e-10, {}),
    ("7 held at 1.01, h = 1 ms [m]", r"grasp, h = 0\.001: slips by (?P<value>[\d.e-]+) m", 1e-6, {"MuJoCo elliptic": 1.2e-2, "MuJoCo no-slip": 7.6e-4}),
    ("7 held at 1.01, h = 5 ms [m]", r"grasp, h = 0\.005: slips by (?P<value>[\d.e-]+) m", 1e-6, {}),
    ("7 fingers at 1.01 [m]", r"7 fingers, h = [\d.]+: slips by (?P<value>[\d.e-]+) m", 1e-6, {}),
    ("7 fingers, force over torque [-]", r"7 fingers at .* N, off by (?P<value>[\d.e-]+)", 1e-6, {}),
    ("7 carriage at 0.999 [m]", r"7 carriage [^:]*: slips by (?P<value>[\d.e-]+) m at 0\.999", 1e-6, {}),
    ("7 carriage shakes at 0.95 [m]", r"7 carriage shakes at 0\.95, [^:]*: slips by (?P<value>[\d.e-]+) m", 1e-6, {}),
    ("7 carriage steps [m]", r"7 carriage steps [^:]*: slips by (?P<value>[\d.e-]+) m", 1e-6, {}),
    ("7 block/pad 500 [m]", r"grasp, block/pad 500: slips by (?P<value>[\d.e-]+) m", 1e-6, {}),
]  # fmt: skip


def positive(points):
    """For a logarithmic axis: what is zero lies at the power of ten below all others."""
    least = 10.0 ** math.floor(math.log10(min(y for line in points.values() for _, y in line if y > 0)))
    return {name: [(x, y if y > 0 else least) for x, y in line] for name, line in points.items()}


def series(chart, lines):
    """Ours as lines, what is published or exact as rings."""
    known = {**chart.get("points", {}), **{name: line for name, line in lines.items() if name.startswith("exact")}}
    log = ["x" in chart["log"], "y" in chart["log"]]
    everything = {**lines, **known}
    if log[1]:
        everything = positive(everything)
    style = lambda line: "rings" if len(line) == 1 else "line_dots" if len(line) < 40 else "line"  # noqa: E731
    styles = {name: style(line) for name, line in lines.items()} | dict.fromkeys(known, "rings")
    panel = {
        "x_label": chart["x"], "y_label": chart["y"], "log": log,
        "series": [figures.line(name, everything[name], style) for name, style in styles.items()],
        "guides": figures.guides(chart.get("levels", {}), chart.get("marks", {})),
    }  # fmt: skip
    figures.draw(PICTURES / f"{chart['file']}.svg", chart["title"], panel)


def curve(chart, lines):
    """Ours with filled points, the peers' thin, bars as crosses."""
    everything = positive({name: sorted(line.items()) for name, line in {**lines, **chart["peers"], "bar": chart["bar"]}.items() if line})
    style = lambda name: "line_dots" if name in lines else "crosses" if name == "bar" else "line_rings"  # noqa: E731
    panel = {
        "x_label": STEPS, "y_label": chart["y"], "log": [True, True],
        "series": [figures.line(name, points, style(name)) for name, points in everything.items()],
        "guides": figures.guides({}, {f"{name} above": x for name, x in chart.get("marks", {}).items()}),
    }  # fmt: skip
    figures.draw(PICTURES / f"{chart['file']}.svg", chart["title"], panel)


def limits(rows):
    """Measured over bar, one row each."""
    parts = {}
    for i, (_, value, bar, peers) in enumerate(rows):
        for name, number in {"karakuri": value, **peers}.items():
            # What is zero lies far below the bar.
            parts.setdefault(name, []).append((max(number / bar, 1e-22), i))
    panel = {
        "x_label": "measured over its bar [-]", "log": [True, False], "rows": [row[0] for row in rows],
        "series": [figures.line(name, points, "dots" if name == "karakuri" else "rings") for name, points in parts.items()],
        "guides": figures.guides({}, {"bar": 1.0}),
    }  # fmt: skip
    figures.draw(PICTURES / "limits.svg", "Single numbers, as part of their bars", panel)


def spread(log):
    """`2 chain, X: ["a", "b"] rad at [h, k] s` as one line a step."""
    found = re.finditer(r"2 chain, (\w+): \[(.*?)\] rad at \[(.*?)\] s", log)
    for name, values, steps in (m.groups() for m in found):
        for value, step in zip(re.findall(r"[\d.e-]+", values), re.findall(r"[\d.e-]+", steps)):
            log += f"\n2 chain, {name}, h = {step}: {value} rad"
    return log


def plotted(log):
    """Points of the lines of each file, from `plot FILE | line | x y ...`; of lines printed twice the last."""
    files = {}
    for file, line, numbers in re.findall(r"plot (\w+) \| (.*?) \| ([-\d. e]+)$", log, re.MULTILINE):
        numbers = [float(x) for x in numbers.split()]
        files.setdefault(file, {})[line] = list(zip(numbers[::2], numbers[1::2]))
    return files


def table(files):
    """All points of the pictures of series, for other programs: out/bench/physics.csv."""
    rows = [f'{file},"{line}",{x:.9g},{y:.9g}' for file, lines in files.items() for line, points in lines.items() for x, y in points]
    TABLE.parent.mkdir(parents=True, exist_ok=True)
    TABLE.write_text("\n".join(["picture,line,x,y", *rows]) + "\n")


def shown(chart):
    return [f"### {chart['title']}", "", f"![{chart['title']}](images/physics/{chart['file']}.svg)", ""]


def numbers(chart, lines):
    """The points of a picture of curves, as a table."""
    rows = {**lines, **chart["peers"], **({"bar": chart["bar"]} if chart["bar"] else {})}
    steps = sorted({h for row in rows.values() for h in row})
    yield "| step [s] | " + " | ".join(f"{h:g}" for h in steps) + " |"
    yield "|---" * (len(steps) + 1) + "|"
    for name, row in rows.items():
        yield f"| {name} | " + " | ".join(f"{row[h]:.2g}" if h in row else "" for h in steps) + " |"


def main():
    if len(sys.argv) > 1:
        log = pathlib.Path(sys.argv[1]).read_text()
    else:
        print("  … running the benchmarks, a few minutes", file=sys.stderr, flush=True)
        done = subprocess.run(COMMAND, cwd=ROOT, stdout=subprocess.PIPE, text=True)
        if done.returncode:
            sys.exit("error: a benchmark failed: see `" + " ".join(COMMAND) + "`")
        log = done.stdout
    log = spread(log)
    PICTURES.mkdir(parents=True, exist_ok=True)
    page = [
        pages.PHYSICS, "",
        "Written by `./dev bench --physics`; do not edit. Ours are the numbers that the tests of"
        " [physics-benchmarks.md](physics-benchmarks.md) print, what each means is there; thin lines and rows that are not karakuri's are"
        " published, on other machines and years.", "",
    ]  # fmt: skip
    sections = []
    for chart in CURVES:
        lines = {
            name: {float(m["h"]): float(m["value"]) for m in re.finditer(pattern, log)}
            for name, pattern in chart["ours"].items()
        }
        missing = [name for name, line in lines.items() if not line]
        if missing:
            sys.exit(f"error: {chart['title']}: the tests print nothing for {', '.join(missing)}")
        curve(chart, lines)
        sections.append([*shown(chart), *numbers(chart, lines), "", f"Peers: {chart['source']}.", ""])
    files = plotted(log)
    table(files)
    for chart in SERIES:
        if chart["file"] not in files:
            sys.exit(f"error: {chart['title']}: the tests print nothing")
        series(chart, files[chart["file"]])
        sections.append([*shown(chart), f"Beside: {chart['source']}.", ""])
    # In the order of the sections' numbers, `### 1.8 ...`.
    page += [line for section in sorted(sections, key=lambda lines: float(lines[0].split()[1])) for line in section]
    rows = []
    for name, pattern, bar, peers in LIMITS:
        values = [float(m["value"]) for m in re.finditer(pattern, log)]
        if not values:
            sys.exit(f"error: {name}: the tests print nothing")
        rows.append((name, max(values), bar, peers))
    limits(rows)
    page += ["### Single numbers", "", "![limits](images/physics/limits.svg)", "", "| | measured | bar | published |", "|---|---|---|---|"]
    page += [f"| {n} | {v:.1e} | {b:g} | {', '.join(f'{k} {x:g}' for k, x in p.items())} |" for n, v, b, p in rows]
    pages.write_physics("\n".join(page))
    print(f"written: docs/benchmarks.md and {len(CURVES) + len(SERIES) + 1} pictures in docs/images/physics")


if __name__ == "__main__":
    main()

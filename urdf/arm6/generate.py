#!/usr/bin/env python3
"""Writes arm6.urdf, arm6_bare.urdf, arm6_mimic.urdf, arm6_scissor.urdf, arm6_three_fingers.urdf, arm6_underactuated.urdf, arm6_suction.urdf, arm6_suction4.urdf, arm6_bellows.urdf and the meshes; `--check` only compares with what is there.

Everything about the arm's body is decided here; gains, loops and sensors are in config/<robot>.yaml. Needs Python only.
At zero the arm stands upright and its tool looks forward (x); every link frame is then parallel to the base.
"""

import math
import pathlib
import sys

from solids import RPY, Solid, mass_properties, stl

HERE = pathlib.Path(__file__).resolve().parent
COLORS = {"shell": "0.93 0.94 0.95 1", "accent": "0.96 0.45 0.13 1", "dark": "0.17 0.19 0.22 1", "rubber": "0.10 0.10 0.11 1"}

# The gripper's four-bars, in the palm's frame: the crank turns about (PIVOT_X, ±CRANK_Y), the follower about
# (PIVOT_X, ±FOLLOWER_Y), both of length LINK; the jaw's pad is PAD_X ahead of the crank's tip.
PIVOT_X, CRANK_Y, FOLLOWER_Y, LINK = 0.062, 0.052, 0.028, 0.050
HALF_OPENING = 0.02125  # of the pad from the middle at crank angle 0: opening = 2 (HALF_OPENING + LINK sin angle)
PAD_X, PAD_SIZE = 0.033, (0.028, 0.005, 0.024)
PAD_FACE = HALF_OPENING - CRANK_Y  # y of the left pad's face in the jaw's frame
TOOL_X = PIVOT_X + LINK + PAD_X  # tool centre in the palm's frame: between the pads at crank angle 0
OPEN, CLOSED = 0.4389, -0.4367  # crank angles at 85.0 mm and 0.2 mm

# The scissor: both fingers turn about (PIVOT_X, 0); along each, the pad's middle is JAW from the pivot and its face JAW_OFFSET beside the
# finger's line, outwards: opening = 2 (JAW sin angle + JAW_OFFSET cos angle).
JAW, JAW_OFFSET = TOOL_X - PIVOT_X, 0.010
SCISSOR_OPEN, SCISSOR_CLOSED = 0.5985, -0.1020  # angles at 110 mm and 3 mm

# Three fingers: their knuckles are PALM_RADIUS from the palm's axis and KNUCKLE_X ahead, a thumb at −y and two at ±60° from +y, which spread about x.
# Its bar is BAR_Y outwards of the line from the knuckle to the tip, so that it goes about what is wide and tall.
# A finger is FINGER long from the knuckle to the middle of its tip: opening = 2 (PALM_RADIUS + FINGER sin angle - TIP_RADIUS) where it is spread.
PALM_RADIUS, KNUCKLE_X, FINGER, TIP_RADIUS, BAR_Y = 0.024, TOOL_X - 0.090, 0.090, 0.008, 0.018
FINGER_OPEN, FINGER_CLOSED, SPREAD = 0.5107, -0.1618, math.pi / 3  # angles at 120 mm and 3 mm; spread for what is round

# Underactuated fingers: the second phalanx turns at the bar, PHALANX from the knuckle. A bar turns about the knuckle beside the first one; its
# coupler pulls the second by an arm of 0.3 of the bar's length, which is the ratio of the torque that gets there. Straight, second phalanx and
# bar are at the angle of the first.
PHALANX, BAR, ARM, BENT = 0.050, 0.025, 0.0075, 1.4

# The suction hands: a Schmalz SAF 40, four SMC pads of 32 mm, and one of 16 mm on bellows. Lengths from the fitting to the lip, which is at the tool.
CUP_RADIUS, CUP_LENGTH, PAD_CUP_RADIUS, PAD_CUP_LENGTH, LIP_ROOM = 0.0191, 0.022, 0.016, 0.020, 0.004
BELLOWS_RADIUS, BELLOWS_LENGTH, BELLOWS_ROOM = 0.008, 0.018, 0.008
PAD_CUPS = [(y, z) for y in (0.035, -0.035) for z in (0.035, -0.035)]


def cylinder(color, start, end, radius, fillet=0.006, **more):
    axis = next(a for k, a in enumerate("xyz") if start[k] != end[k])
    center = tuple((a + b) / 2 for a, b in zip(start, end))
    length = sum(b - a for a, b in zip(start, end))
    return Solid("cylinder", color, center, (radius, length), axis, fillet, **more)


def box(color, size, center, fillet=0.003, **more):
    return Solid("box", color, center, size, "z", fillet, **more)


def slot(color, size, center, fillet=0.0015, **more):
    return Solid("slot", color, center, size, "z", fillet, **more)


def trim(color, start, end, radius, fillet=0.003):
    """A cap or ring: seen, not felt."""
    return cylinder(color, start, end, radius, fillet, collide=False, heavy=False)


def arm_links():
    """Name: (mass [kg], solids)."""
    return {
        "base_link": (3.6, [
            cylinder("shell", (0, 0, 0.010), (0, 0, 0.084), 0.070, 0.012),
            cylinder("dark", (0, 0, 0), (0, 0, 0.014), 0.086, 0.005),
            trim("dark", (0, 0, 0.082), (0, 0, 0.092), 0.059, 0.001),
        ]),
        "shoulder_link": (3.8, [
            cylinder("shell", (0, 0, 0.002), (0, 0, 0.070), 0.062, 0.006),
            cylinder("shell", (0, -0.056, 0.070), (0, 0.062, 0.070), 0.060, 0.010),
            trim("accent", (0, -0.064, 0.070), (0, -0.052, 0.070), 0.050, 0.004),
            trim("dark", (0, 0.060, 0.070), (0, 0.068, 0.070), 0.052, 0.001),
        ]),
        "upper_arm_link": (5.4, [
            cylinder("shell", (0, -0.059, 0), (0, 0.052, 0), 0.060, 0.010),
            trim("accent", (0, 0.048, 0), (0, 0.060, 0), 0.050, 0.004),
            cylinder("shell", (0, 0, 0.02), (0, 0, 0.370), 0.046, 0.004, end_radius=0.042),
            cylinder("shell", (0, -0.052, 0.400), (0, 0.046, 0.400), 0.051, 0.010),
            trim("accent", (0, 0.042, 0.400), (0, 0.053, 0.400), 0.042, 0.004),
            trim("dark", (0, -0.057, 0.400), (0, -0.050, 0.400), 0.044, 0.001),
        ]),
        "forearm_link": (2.5, [
            cylinder("shell", (0, -0.042, 0), (0, 0.049, 0), 0.051, 0.010),
            trim("accent", (0, -0.049, 0), (0, -0.038, 0), 0.042, 0.004),
            cylinder("shell", (0, 0, 0.02), (0, 0, 0.325), 0.038, 0.004, end_radius=0.034),
            cylinder("shell", (0, -0.036, 0.350), (0, 0.045, 0.350), 0.039, 0.008),
            trim("accent", (0, -0.042, 0.350), (0, -0.032, 0.350), 0.031, 0.003),
            trim("dark", (0, 0.043, 0.350), (0, 0.051, 0.350), 0.033, 0.001),
        ]),
        "wrist_1_link": (1.25, [
            cylinder("shell", (0, -0.040, 0), (0, 0.036, 0), 0.039, 0.008),
            trim("accent", (0, 0.032, 0), (0, 0.042, 0), 0.031, 0.003),
            cylinder("shell", (0, 0, 0.005), (0, 0, 0.056), 0.037, 0.003),
            trim("dark", (0, 0, 0.054), (0, 0, 0.062), 0.032, 0.001),
        ]),
        "wrist_2_link": (1.25, [
            cylinder("shell", (0, 0, -0.040), (0, 0, 0.036), 0.039, 0.008),
            trim("accent", (0, 0, 0.032), (0, 0, 0.042), 0.031, 0.003),
            cylinder("shell", (0.005, 0, 0), (0.046, 0, 0), 0.037, 0.003),
            trim("dark", (0.044, 0, 0), (0.052, 0, 0), 0.032, 0.001),
        ]),
        "wrist_3_link": (0.35, [
            cylinder("shell", (0.001, 0, 0), (0.029, 0, 0), 0.037, 0.005),
            cylinder("dark", (0.027, 0, 0), (0.035, 0, 0), 0.0315, 0.001),
        ]),
    }


def palm():
    return (0.62, [
        cylinder("dark", (0, 0, 0), (0.012, 0, 0), 0.0335, 0.002),
        box("shell", (0.046, 0.100, 0.056), (0.031, 0, 0), 0.012),
        box("dark", (0.020, 0.118, 0.034), (0.059, 0, 0), 0.008),
        trim("accent", (0.031, 0, 0.0265), (0.031, 0, 0.0300), 0.013, 0.0015),
    ])


def finger(side):
    """The links of one finger; `side` is +1 for the left, at +y."""
    knuckle_y = (PAD_FACE + PAD_SIZE[1] + 0.007) / 2
    plate_y = PAD_FACE + PAD_SIZE[1] + 0.004
    screw = lambda x, y: trim("accent", (x, side * y, -0.0125), (x, side * y, 0.0125), 0.0042, 0.001)
    return {
        "crank": (0.040, [
            slot("dark", (LINK + 0.015, 0.015, 0.018), (LINK / 2, 0, 0)),
            trim("accent", (0, 0, -0.018), (0, 0, 0.018), 0.0052, 0.001),
        ]),
        "follower": (0.025, [slot("dark", (LINK + 0.010, 0.010, 0.012), (LINK / 2, 0, 0))]),
        "jaw": (0.080, [
            box("shell", (0.016, 0.0318, 0.022), (0, side * knuckle_y, 0), 0.003),
            box("shell", (0.055, 0.008, 0.024), (0.0195, side * plate_y, 0), 0.0025),
            screw(0, 0), screw(0, FOLLOWER_Y - CRANK_Y),
        ]),
        "pad": (0.006, [box("rubber", PAD_SIZE, (0, 0, 0), 0.0008)]),
    }


def fork():
    """The palm of the scissor: two plates about the pivot."""
    plate = lambda z: slot("shell", (0.056, 0.040, 0.006), (0.048, 0, z))
    return (0.44, [
        cylinder("dark", (0, 0, 0), (0.012, 0, 0), 0.0335, 0.002),
        box("shell", (0.032, 0.064, 0.056), (0.026, 0, 0), 0.010),
        plate(0.017), plate(-0.017),
        trim("accent", (PIVOT_X, 0, -0.0225), (PIVOT_X, 0, 0.0225), 0.0055, 0.001),
    ])


def jaw(side):
    """The links of one finger of the scissor: its hubs are above each other, its bar is outside of what is held."""
    bar_y = JAW_OFFSET + PAD_SIZE[1] + 0.012
    tip = JAW + PAD_SIZE[0] / 2
    return {
        "finger": (0.110, [
            cylinder("dark", (0, 0, min(0, side * 0.012)), (0, 0, max(0, side * 0.012)), 0.013, 0.0015),
            box("dark", (0.018, bar_y, 0.012), (0.001, side * bar_y / 2, side * 0.006), 0.002),
            slot("shell", (tip + 0.005, 0.010, 0.022), (tip / 2 - 0.0035, side * bar_y, 0)),
            box("shell", (PAD_SIZE[0] - 0.006, 0.008, 0.022), (JAW, side * (JAW_OFFSET + PAD_SIZE[1] + 0.004), 0), 0.002),
        ]),
        "pad": (0.006, [box("rubber", PAD_SIZE, (0, 0, 0), 0.0008)]),
    }


def ball(color, radius):
    return Solid("ball", color, (0, 0, 0), (radius,))


def hub():
    """The palm of three fingers."""
    return (0.58, [
        cylinder("dark", (0, 0, 0), (0.012, 0, 0), 0.0335, 0.002),
        trim("dark", (KNUCKLE_X - 0.030, -PALM_RADIUS, 0), (KNUCKLE_X - 0.004, -PALM_RADIUS, 0), 0.009, 0.0015),
        cylinder("shell", (0.012, 0, 0), (KNUCKLE_X - 0.020, 0, 0), 0.040, 0.006),
        trim("accent", (0.022, 0, 0), (0.028, 0, 0), 0.0408, 0.001),
    ])


def knuckle():
    """What the spread turns: the bearing of a finger."""
    return (0.03, [cylinder("dark", (-0.022, 0, 0), (-0.004, 0, 0), 0.009, 0.0015, collide=False)])


def digit(side):
    """A finger, along x from its knuckle to its tip, which opens towards `side` of y."""
    return (0.070, [
        cylinder("dark", (0, 0, -0.009), (0, 0, 0.009), 0.009, 0.0015),
        box("dark", (0.013, BAR_Y + 0.006, 0.012), (0.002, side * (BAR_Y + 0.006) / 2, 0), 0.002),
        cylinder("shell", (0.004, side * BAR_Y, 0), (FINGER + 0.004, side * BAR_Y, 0), 0.0055, 0.002),
        box("shell", (0.009, BAR_Y - 0.004, 0.009), (FINGER, side * (BAR_Y + 0.004) / 2, 0), 0.001),
    ])


def phalanges(side):
    """The links of an underactuated finger, shaped as `digit`: the bar that is driven and the coupler are beside it."""
    arm_y, coupler_y = BAR_Y + ARM, BAR_Y + ARM - BAR
    return {
        "proximal": (0.045, [
            cylinder("dark", (0, 0, -0.009), (0, 0, 0.009), 0.009, 0.0015),
            box("dark", (0.013, BAR_Y + 0.006, 0.012), (0.002, side * (BAR_Y + 0.006) / 2, 0), 0.002),
            cylinder("shell", (0.004, side * BAR_Y, 0), (PHALANX - 0.004, side * BAR_Y, 0), 0.0055, 0.002),
        ]),
        "distal": (0.030, [
            cylinder("dark", (0, 0, -0.007), (0, 0, 0.007), 0.0065, 0.001, collide=False),
            cylinder("shell", (0.004, 0, 0), (FINGER - PHALANX + 0.004, 0, 0), 0.0055, 0.002),
            box("shell", (0.009, BAR_Y - 0.004, 0.009), (FINGER - PHALANX, side * (-BAR_Y + (BAR_Y + 0.004) / 2), 0), 0.001),
            box("dark", (0.010, ARM + 0.008, 0.006), (0, side * ARM / 2, 0.006), 0.001, collide=False),
        ]),
        "bar": (0.015, [box("accent", (0.008, BAR + 0.008, 0.004), (0, side * BAR / 2, 0.012), 0.001, collide=False)]),
        "coupler": (0.010, [slot("accent", (PHALANX + 0.008, 0.007, 0.004), (PHALANX / 2, side * coupler_y / 2, 0.009), 0.001, collide=False)]),
    }


def stem(radius, cup_length):
    """The holder of one cup, with its vacuum generator; its tube has `radius`."""
    return (0.34, [
        cylinder("dark", (0, 0, 0), (0.012, 0, 0), 0.0335, 0.002),
        cylinder("shell", (0.012, 0, 0), (0.062, 0, 0), 0.031, 0.005),
        trim("accent", (0.040, 0, 0), (0.047, 0, 0), 0.0318, 0.001),
        cylinder("dark", (0.060, 0, 0), (TOOL_X - cup_length, 0, 0), radius, 0.001),
    ])


def frame():
    """The holder of four cups."""
    at = PAD_CUPS[0][0]
    bar = lambda size: box("shell", size, (0.078, 0, 0), 0.003)
    return (0.52, [
        cylinder("dark", (0, 0, 0), (0.012, 0, 0), 0.0335, 0.002),
        cylinder("shell", (0.012, 0, 0), (0.072, 0, 0), 0.031, 0.005),
        trim("accent", (0.040, 0, 0), (0.047, 0, 0), 0.0318, 0.001),
        bar((0.014, 2 * at + 0.022, 2 * at + 0.022)),
        *(cylinder("dark", (0.080, y, z), (TOOL_X - PAD_CUP_LENGTH, y, z), 0.008, 0.001) for y, z in PAD_CUPS),
    ])


def cup(mass, radius, length, room=LIP_ROOM):
    """A bellows; its lip is at the origin and looks along x. What is felt ends `room` before the lip, so that the lip has room for round things and its stroke."""
    fold = lambda k: (-length + k * length / 4, 0, 0)
    return (mass, [
        cylinder("rubber", (-length, 0, 0), (-room, 0, 0), 0.62 * radius, 0.001),
        *(trim("rubber", fold(k), fold(k + 0.8), 0.82 * radius, 0.0015) for k in (0.3, 1.5)),
        cylinder("rubber", (-0.3 * length, 0, 0), (0, 0, 0), 0.7 * radius, 0.0005, end_radius=radius, collide=False, heavy=False),
    ])


# joint: parent, child, origin, axis, lower, upper, velocity, effort
PI = math.pi
ARM_JOINTS = {
    "shoulder_yaw": ("base_link", "shoulder_link", (0, 0, 0.090), "z", -3.05, 3.05, PI, 150),
    "shoulder_pitch": ("shoulder_link", "upper_arm_link", (0, 0.125, 0.070), "y", -2.10, 2.10, PI, 150),
    "elbow_pitch": ("upper_arm_link", "forearm_link", (0, -0.105, 0.400), "y", -2.60, 2.60, PI, 120),
    "wrist_pitch": ("forearm_link", "wrist_1_link", (0, 0.090, 0.350), "y", -3.05, 3.05, PI, 30),
    "wrist_yaw": ("wrist_1_link", "wrist_2_link", (0, 0, 0.100), "z", -3.05, 3.05, PI, 30),
    "wrist_roll": ("wrist_2_link", "wrist_3_link", (0.050, 0, 0), "x", -3.05, 3.05, PI, 30),
}
AXIS = {"x": "1 0 0", "-x": "-1 0 0", "y": "0 1 0", "z": "0 0 1", "-z": "0 0 -1"}


def numbers(values):
    return " ".join(f"{v:.9g}" if abs(v) > 1e-12 else "0" for v in values)


def mesh_name(link, color):
    """Links that differ by their number alone look alike."""
    return f"{link.rstrip('_0123456789')}_{color}"


def link_xml(name, mass, solids):
    com, (ixx, iyy, izz, ixy, ixz, iyz) = mass_properties(solids, mass)
    lines = [f'  <link name="{name}">', "    <inertial>", f'      <origin xyz="{numbers(com)}"/>',
             f'      <mass value="{mass}"/>',
             f'      <inertia ixx="{ixx:.6g}" ixy="{ixy:.6g}" ixz="{ixz:.6g}" iyy="{iyy:.6g}" iyz="{iyz:.6g}" izz="{izz:.6g}"/>',
             "    </inertial>"]
    for color in dict.fromkeys(s.color for s in solids):
        mesh = f"package://karakuri/urdf/arm6/meshes/{mesh_name(name, color)}.stl"
        lines.append(f'    <visual><geometry><mesh filename="{mesh}"/></geometry><material name="{color}"/></visual>')
    for s in (s for s in solids if s.collide):
        if s.shape == "cylinder":
            rpy = f' rpy="{numbers(RPY[s.axis])}"' if s.axis != "z" else ""
            shape = f'<cylinder radius="{s.size[0]:.9g}" length="{s.size[1]:.9g}"/>'
        else:
            rpy = ""
            shape = f'<sphere radius="{s.size[0]:.9g}"/>' if s.shape == "ball" else f'<box size="{numbers(s.size)}"/>'
        lines.append(f'    <collision><origin xyz="{numbers(s.center)}"{rpy}/><geometry>{shape}</geometry></collision>')
    return lines + ["  </link>"]


def joint_xml(name, kind, parent, child, origin, axis=None, limits=None, mimic=None):
    lines = [f'  <joint name="{name}" type="{kind}">', f'    <parent link="{parent}"/>',
             f'    <child link="{child}"/>', f'    <origin xyz="{numbers(origin)}"/>']
    if axis:
        lines.append(f'    <axis xyz="{AXIS[axis]}"/>')
    if limits:
        lower, upper, velocity, effort = limits
        lines.append(f'    <limit lower="{lower:.9g}" upper="{upper:.9g}" velocity="{velocity:.9g}" effort="{effort:.9g}"/>')
    if mimic:
        leader, multiplier = mimic
        lines.append(f'    <mimic joint="{leader}" multiplier="{multiplier}"/>')
    return lines + ["  </joint>"]


def finger_joints(name, side, loops):
    """Crank, follower, jaw; the loop through follower and jaw is closed in the robot YAML or, without loops, by mimics."""
    axis = "z" if side > 0 else "-z"
    leader = ("left_crank_joint", 1) if side < 0 else None
    passive = (-0.6, 0.6, 10.0, 10.0)
    follow = (lambda multiplier: None) if loops else (lambda multiplier: ("left_crank_joint", multiplier))
    crank, follower, jaw, pad = (f"{name}_{part}" for part in ("crank", "follower", "jaw", "pad"))
    pad_y = PAD_FACE + PAD_SIZE[1] / 2
    return [
        *joint_xml(f"{crank}_joint", "revolute", "palm", crank, (PIVOT_X, side * CRANK_Y, 0), axis,
                   (CLOSED, OPEN, 2.0, 4.0), leader),
        *joint_xml(f"{follower}_joint", "revolute", "palm", follower, (PIVOT_X, side * FOLLOWER_Y, 0), axis, passive,
                   follow(1)),
        *joint_xml(f"{jaw}_joint", "revolute", crank, jaw, (LINK, 0, 0), axis, passive, follow(-1)),
        *joint_xml(f"{pad}_joint", "fixed", jaw, pad, (PAD_X, side * pad_y, 0)),
    ]


def jaw_joints(name, side):
    """A finger of the scissor; the right one mimics the left."""
    limits = (SCISSOR_CLOSED, SCISSOR_OPEN, 1.5, 6.0)
    mimic = ("left_finger_joint", 1) if side < 0 else None
    pad_y = JAW_OFFSET + PAD_SIZE[1] / 2
    return [
        *joint_xml(f"{name}_finger_joint", "revolute", "fork", f"{name}_finger", (PIVOT_X, 0, 0), "z" if side > 0 else "-z",
                   limits, mimic),
        *joint_xml(f"{name}_pad_joint", "fixed", f"{name}_finger", f"{name}_pad", (JAW, side * pad_y, 0)),
    ]


def digit_joints():
    """A thumb, and two fingers that spread: the right one's spread mimics the left one's."""
    flat, limits = math.sin(SPREAD) * PALM_RADIUS, (FINGER_CLOSED, FINGER_OPEN, 2.0, 3.0)
    joints = joint_xml("thumb_joint", "revolute", "hub", "thumb", (KNUCKLE_X, -PALM_RADIUS, 0), "-z", limits)
    for name, side in SIDES:
        mimic = ("left_spread_joint", 1) if side < 0 else None
        joints += joint_xml(f"{name}_spread_joint", "revolute", "hub", f"{name}_knuckle",
                            (KNUCKLE_X, math.cos(SPREAD) * PALM_RADIUS, side * flat), "x" if side > 0 else "-x",
                            (-0.02, 1.07, 1.5, 3.0), mimic)
        joints += joint_xml(f"{name}_digit_joint", "revolute", f"{name}_knuckle", f"{name}_digit", (0, 0, 0), "z", limits)
    for name in ("thumb", "left_digit", "right_digit"):
        tip = "thumb_tip" if name == "thumb" else name.replace("digit", "tip")
        joints += joint_xml(f"{tip}_joint", "fixed", name, tip, (FINGER, 0, 0))
    return joints


def phalanx_joints(finger, parent, origin, side):
    """An underactuated finger that opens towards `side` of y. Its bar is driven; the robot YAML closes the loop of coupler and second phalanx."""
    axis = "z" if side > 0 else "-z"
    limits = (FINGER_CLOSED, FINGER_OPEN, 10.0, 10.0)
    proximal, distal, bar, coupler = (f"{finger}_{part}" for part in ("proximal", "distal", "bar", "coupler"))
    return [
        *joint_xml(f"{proximal}_joint", "revolute", parent, proximal, origin, axis, limits),
        # It bends inwards from straight, where it has a stop.
        *joint_xml(f"{distal}_joint", "revolute", proximal, distal, (PHALANX, side * BAR_Y, 0), axis, (-BENT, 0, 10.0, 10.0)),
        *joint_xml(f"{bar}_joint", "revolute", parent, bar, origin, axis, (FINGER_CLOSED - BENT, FINGER_OPEN, 2.0, 3.0)),
        *joint_xml(f"{coupler}_joint", "revolute", bar, coupler, (0, side * BAR, 0), axis, (-BENT, BENT, 10.0, 10.0)),
        *joint_xml(f"{finger}_tip_joint", "fixed", distal, f"{finger}_tip", (FINGER - PHALANX, -side * BAR_Y, 0)),
    ]


def underactuated_joints():
    """A thumb, and two fingers that spread, as in `digit_joints`."""
    flat = math.sin(SPREAD) * PALM_RADIUS
    joints = phalanx_joints("thumb", "hub", (KNUCKLE_X, -PALM_RADIUS, 0), -1)
    for name, side in SIDES:
        mimic = ("left_spread_joint", 1) if side < 0 else None
        joints += joint_xml(f"{name}_spread_joint", "revolute", "hub", f"{name}_knuckle",
                            (KNUCKLE_X, math.cos(SPREAD) * PALM_RADIUS, side * flat), "x" if side > 0 else "-x",
                            (-0.02, 1.07, 1.5, 3.0), mimic)
        joints += phalanx_joints(name, f"{name}_knuckle", (0, 0, 0), 1)
    return joints


def cup_joints(parent, places):
    """Cups on their holder."""
    joints = []
    for name, (y, z) in places.items():
        joints += joint_xml(f"{name}_joint", "fixed", parent, name, (TOOL_X, y, z))
    return joints


def frame_xml(name):
    return [f'  <link name="{name}"/>']


def urdf(robot, links, palm_name, hand_joints):
    lines = ['<?xml version="1.0"?>', f"<!-- {robot}: written by urdf/arm6/generate.py; change that, not this. -->",
             f'<robot name="{robot}">']
    for name, rgba in COLORS.items():
        lines.append(f'  <material name="{name}"><color rgba="{rgba}"/></material>')
    for name, (mass, solids) in links.items():
        lines += link_xml(name, mass, solids)
        if name == "wrist_3_link":
            lines += frame_xml("flange")
    if palm_name:
        lines += frame_xml("tool")
    for name, (parent, child, origin, axis, *limits) in ARM_JOINTS.items():
        lines += joint_xml(name, "revolute", parent, child, origin, axis, limits)
    lines += joint_xml("flange_joint", "fixed", "wrist_3_link", "flange", (0.035, 0, 0))
    if palm_name:
        lines += joint_xml(f"{palm_name}_joint", "fixed", "flange", palm_name, (0, 0, 0))
        lines += joint_xml("tool_joint", "fixed", palm_name, "tool", (TOOL_X, 0, 0))
    lines += hand_joints
    return "\n".join([*lines, "</robot>", ""]).encode()


SIDES = (("left", 1), ("right", -1))


def hand(palm_name, palm_link, parts):
    """Links of a hand whose fingers are made by `parts`."""
    links = {palm_name: palm_link}
    for name, side in SIDES:
        links |= {f"{name}_{part}": link for part, link in parts(side).items()}
    return links


def files():
    """Path: content."""
    linkage, scissor = hand("palm", palm(), finger), hand("fork", fork(), jaw)
    cranks = lambda loops: [line for name, side in SIDES for line in finger_joints(name, side, loops)]
    jaws = [line for name, side in SIDES for line in jaw_joints(name, side)]
    one, four = {"cup": (0, 0)}, {f"pad_cup_{k + 1}": place for k, place in enumerate(PAD_CUPS)}
    suction = {"stem": stem(0.010, CUP_LENGTH)} | {name: cup(0.0136, CUP_RADIUS, CUP_LENGTH) for name in one}
    suction4 = {"frame": frame()} | {name: cup(0.009, PAD_CUP_RADIUS, PAD_CUP_LENGTH) for name in four}
    bellows = {"lance": stem(0.006, BELLOWS_LENGTH), "bellows": cup(0.003, BELLOWS_RADIUS, BELLOWS_LENGTH, BELLOWS_ROOM)}
    tip = lambda: (0.010, [ball("rubber", TIP_RADIUS)])
    three = {"hub": hub(), "thumb": digit(-1), "thumb_tip": tip()}
    for name, _ in SIDES:
        three |= {f"{name}_knuckle": knuckle(), f"{name}_digit": digit(1), f"{name}_tip": tip()}
    bent = {"hub": hub()} | {f"thumb_{part}": link for part, link in phalanges(-1).items()} | {"thumb_tip": tip()}
    for name, _ in SIDES:
        bent |= {f"{name}_knuckle": knuckle()} | {f"{name}_{part}": link for part, link in phalanges(1).items()} | {f"{name}_tip": tip()}
    robots = {
        "arm6": (linkage, "palm", cranks(True)),
        "arm6_bare": ({}, None, []),
        "arm6_mimic": (linkage, "palm", cranks(False)),
        "arm6_scissor": (scissor, "fork", jaws),
        "arm6_three_fingers": (three, "hub", digit_joints()),
        "arm6_underactuated": (bent, "hub", underactuated_joints()),
        "arm6_suction": (suction, "stem", cup_joints("stem", one)),
        "arm6_suction4": (suction4, "frame", cup_joints("frame", four)),
        "arm6_bellows": (bellows, "lance", cup_joints("lance", {"bellows": (0, 0)})),
    }
    arm = arm_links()
    out = {HERE / f"{robot}.urdf": urdf(robot, arm | links, *rest) for robot, (links, *rest) in robots.items()}
    for name, (_, solids) in (arm | linkage | scissor | three | bent | suction | suction4 | bellows).items():
        for color in dict.fromkeys(s.color for s in solids):
            mesh = mesh_name(name, color)
            out[HERE / "meshes" / f"{mesh}.stl"] = stl(f"karakuri arm6 {mesh}", [s for s in solids if s.color == color])
    return out


def main():
    if sys.argv[1:] == ["--check"]:
        stale = [str(p) for p, content in files().items() if not p.is_file() or p.read_bytes() != content]
        sys.exit(f"stale: {', '.join(stale)}; run urdf/arm6/generate.py" if stale else 0)
    for path, content in files().items():
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content)


if __name__ == "__main__":
    main()

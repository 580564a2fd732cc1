#!/usr/bin/env python3
"""Writes so101.urdf: the SO-101 of TheRobotStudio, an arm of five joints and a gripper of six Feetech STS3215 servos.

No file of the published model is used: the numbers below are its dimensions, the shapes are boxes and cylinders about servos and
joints, whose widths are estimates, and the inertias are those of boxes about the published centres of mass.
"""
from math import cos, radians, sin
from pathlib import Path

EFFORT = 2.94  # [N.m]
GRIP_EFFORT = 1.47  # of the gripper, whose servo is limited to half of its torque: config/hardware/so101.yaml [N.m]
VELOCITY = 4.71  # [rad/s]
SERVO = (0.0452, 0.0247, 0.0350)  # case: along its length, across, along its shaft [m]

SOURCES = """\
  Sources of the numbers, all of them published:
  joints, their zeros and limits, masses, centres of mass, tool: model "SO101, new calibration" of github.com/TheRobotStudio/SO-ARM100,
    rounded to 0.1 mm and 1 g, in axes that are parallel to the base (x forward, y left, z up) when all joints are at 0;
  servos: Feetech STS3215 at 12 V, 30 kgf.cm stalled, 0.222 s/60 deg without load, 45.2 x 24.7 x 35 mm, from the maker's data sheet;
  shapes: boxes and cylinders about these; inertias: of boxes."""

out = ['<?xml version="1.0"?>', "<!-- Written by generate.py: change it there.", SOURCES, "-->", '<robot name="so101">']
COLORS = {"print": (0.93, 0.76, 0.20), "servo": (0.13, 0.14, 0.16), "horn": (0.80, 0.81, 0.83)}
for material, color in COLORS.items():
    out.append(f'  <material name="{material}"><color rgba="{color[0]} {color[1]} {color[2]} 1"/></material>')


def numbers(*values):
    return " ".join(f"{v + 0.0:.9g}" for v in values)


def box(size, centre, material, pitch=0.0):
    """A box: edges and centre [m], turned about y [rad]."""
    return f'<origin xyz="{numbers(*centre)}" rpy="0 {pitch:.9g} 0"/><geometry><box size="{numbers(*size)}"/></geometry>', material


def disc(axis, radius, length, centre, material):
    """A cylinder along an axis [m]."""
    rpy = {"x": (0, radians(90), 0), "y": (radians(90), 0, 0), "z": (0, 0, 0)}[axis]
    return (
        f'<origin xyz="{numbers(*centre)}" rpy="{numbers(*rpy)}"/>'
        f'<geometry><cylinder radius="{radius}" length="{length}"/></geometry>'
    ), material


def link(name, comment, mass, com, solid, shapes, unseen=()):
    """The inertia is that of the box `solid` about the centre of mass. A link collides as it looks; `unseen` shapes are only seen."""
    a, b, c = solid
    i = [mass / 12 * (b * b + c * c), mass / 12 * (a * a + c * c), mass / 12 * (a * a + b * b)]
    out.append(f"  <!-- {comment} -->")
    out.append(f'  <link name="{name}">')
    out.append(
        f'    <inertial><origin xyz="{numbers(*com)}"/><mass value="{mass}"/>'
        f'<inertia ixx="{i[0]:.6g}" ixy="0" ixz="0" iyy="{i[1]:.6g}" iyz="0" izz="{i[2]:.6g}"/></inertial>'
    )
    for shape, material in (*shapes, *unseen):
        out.append(f'    <visual>{shape}<material name="{material}"/></visual>')
    for shape, _ in shapes:
        out.append(f"    <collision>{shape}</collision>")
    out.append("  </link>")


def joint(name, parent, child, xyz, axis, low, high, effort=EFFORT):
    out.append(
        f'  <joint name="{name}" type="revolute"><parent link="{parent}"/><child link="{child}"/><origin xyz="{numbers(*xyz)}"/>'
        f'<axis xyz="{axis}"/><limit lower="{low}" upper="{high}" effort="{effort}" velocity="{VELOCITY}"/></joint>'
    )


L, W, H = SERVO

# Joint origins in the base's axes [m].
PAN, LIFT, ELBOW = (0.0388, 0, 0.0624), (0.0304, 0, 0.0542), (0.0280, 0, 0.1126)
WRIST, ROLL, JAW = (0.1349, 0, 0.0052), (0.0611, 0, 0), (0.0234, 0.0188, 0.0202)
TOOL = (0.0981, 0, -0.0079)

link("base_link", "147 g with the pan servo and the bus board; its origin is on the table", 0.147, (0.0137, 0, 0.0335), (0.085, 0.080, 0.060), [
    box((0.100, 0.080, 0.010), (0.000, 0, 0.005), "print"),
    box((L + 0.006, W + 0.012, 0.046), (0.0388 - 0.010, 0, 0.033), "print"),
    box((0.012, 0.070, 0.045), (-0.038, 0, 0.0325), "print"),
], [box((L, W, 0.006), (0.0388 - 0.010, 0, 0.057), "servo"), disc("z", 0.010, 0.004, (0.0388, 0, 0.0605), "horn")])

link("shoulder", "100 g with the lift servo, whose shaft is the lift axis", 0.100, (0.0308, 0, 0.0253), (0.045, 0.050, 0.080), [
    box((0.052, 0.050, 0.012), (0.016, 0, 0.007), "print"),
    box((W + 0.008, H, L), (0.0304, 0, 0.0542 - 0.0125), "servo"),
], [box((W + 0.010, 0.004, 0.050), (0.0304, 0.0195, 0.034), "print"), disc("y", 0.010, 0.046, LIFT, "horn")])
joint("shoulder_pan", "base_link", "shoulder", PAN, "0 0 -1", -1.91986, 1.91986)

tilt = 0.243  # of the line from lift to elbow axis against the vertical, atan(28.0/112.6) [rad]
link("upper_arm", "103 g with the elbow servo", 0.103, (0.0084, 0, 0.0898), (0.030, 0.045, 0.115), [
    box((0.026, 0.008, 0.125), (0.0140, 0.0260, 0.0563), "print", tilt),
    box((0.026, 0.008, 0.125), (0.0140, -0.0260, 0.0563), "print", tilt),
    box((L, H, W), (0.0155, 0, 0.1126), "servo"),
], [disc("y", 0.013, 0.060, (0, 0, 0), "print"), disc("y", 0.010, 0.046, ELBOW, "horn")])
joint("shoulder_lift", "shoulder", "upper_arm", LIFT, "0 1 0", -1.74533, 1.74533)

link("lower_arm", "104 g with the wrist's flex servo", 0.104, (0.0981, 0, 0.0032), (0.130, 0.045, 0.026), [
    box((0.115, 0.008, 0.024), (0.0450, 0.0260, 0.0020), "print"),
    box((0.115, 0.008, 0.024), (0.0450, -0.0260, 0.0020), "print"),
    box((L, H, W), (0.1224, 0, 0.0052), "servo"),
], [box((0.020, 0.048, 0.020), (0.0880, 0, 0.0040), "print"), disc("y", 0.010, 0.046, WRIST, "horn")])
joint("elbow_flex", "upper_arm", "lower_arm", ELBOW, "0 1 0", -1.69, 1.69)

link("wrist", "79 g with the roll servo", 0.079, (0.0386, 0.0098, 0), (0.045, 0.040, 0.040), [
    box((0.052, 0.006, 0.024), (0.0180, 0.0250, 0), "print"),
    box((0.052, 0.006, 0.024), (0.0180, -0.0250, 0), "print"),
    box((0.022, L, W), (0.0420, 0.0060, 0), "servo"),
], [disc("x", 0.010, 0.006, (0.0570, 0, 0), "horn")])
joint("wrist_flex", "lower_arm", "wrist", WRIST, "0 1 0", -1.65806, 1.65806)

# The fixed jaw's inner face is in the tool's plane.
JAW_LENGTH, JAW_WIDTH, JAW_THICKNESS = 0.056, 0.018, 0.006
FACE = TOOL[2]
middle = TOOL[0] - 0.5 * JAW_LENGTH + 0.008
link("gripper_link", "87 g with the gripper servo and the fixed jaw", 0.087, (0.0252, 0, 0), (0.055, 0.045, 0.045), [
    box((0.030, 0.048, 0.050), (0.0190, -0.002, -0.003), "print"),
    box((JAW_LENGTH, JAW_WIDTH, JAW_THICKNESS), (middle, 0, FACE - 0.5 * JAW_THICKNESS), "print"),
], [box((W, 0.030, 0.036), (0.0234, 0.006, 0.0085), "servo"), box((0.022, JAW_WIDTH, 0.012), (0.040, 0, FACE - 0.006), "print")])
joint("wrist_roll", "wrist", "gripper_link", ROLL, "-1 0 0", -2.74385, 2.84121)

# The moving jaw: shut, at its lower limit, its inner face lies 0.5 mm above the fixed jaw's.
CLOSED = -0.174533


def of_closed(x, z):
    """A point of the moving jaw, given where it is in the gripper's link when shut, in the jaw's own axes."""
    x, z = x - JAW[0], z - JAW[2]
    return x * cos(CLOSED) + z * sin(CLOSED), -x * sin(CLOSED) + z * cos(CLOSED)


x, z = of_closed(middle, FACE + 0.0005 + 0.5 * JAW_THICKNESS)
x_arm, z_arm = of_closed(0.0410, 0.0075)
link("moving_jaw", "12 g", 0.012, (0.0300, -0.0193, -0.0016), (0.070, 0.018, 0.025), [
    box((JAW_LENGTH, JAW_WIDTH, JAW_THICKNESS), (x, -JAW[1], z), "print", CLOSED),
], [
    box((0.046, 0.010, 0.008), (x_arm, -JAW[1], z_arm), "print", CLOSED + 0.60),
    disc("y", 0.009, 0.032, (0, -0.0150, 0), "horn"),
])
joint("gripper", "gripper_link", "moving_jaw", JAW, "0 -1 0", CLOSED, 1.74533, GRIP_EFFORT)

# x towards the object, y along the opening (REP 120): a quarter turn about x turns y up, where the moving jaw opens to.
out.append("  <!-- between the jaws, 98.1 mm before the roll servo's horn: x towards the object, y along the opening -->")
out.append('  <link name="tool"/>')
out.append(
    f'  <joint name="tool_joint" type="fixed"><parent link="gripper_link"/><child link="tool"/>'
    f'<origin xyz="{numbers(*TOOL)}" rpy="{radians(90):.9g} 0 0"/></joint>'
)
out.append("</robot>")
Path(__file__).with_name("so101.urdf").write_text("\n".join(out) + "\n")

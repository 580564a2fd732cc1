#!/usr/bin/env python3
"""Writes khr1.urdf: the KHR-1 of Kondo Kagaku, 17 joints.

Lengths were measured in the front view of the kit's manual (about 2 %); masses are budgeted to the robot's 1.2 kg; what a front view does
not show (fore-aft offsets, length of the foot plate) is assumed. All at zero: upright, legs straight, arms hanging.
"""
from math import radians
from pathlib import Path

EFFORT, VELOCITY = 0.85, 6.1  # servo KRS-784ICS: 8.7 kgf cm, 0.17 s/60 deg

out = ['<?xml version="1.0"?>', '<!-- Written by generate.py: change it there. -->', '<robot name="khr1">']
COLORS = {"aluminium": (0.80, 0.81, 0.83), "servo": (0.13, 0.14, 0.16), "shell": (0.16, 0.34, 0.62), "accent": (0.93, 0.55, 0.13)}
for material, color in COLORS.items():
    out.append(f'  <material name="{material}"><color rgba="{color[0]} {color[1]} {color[2]} 1"/></material>')


def numbers(*values):
    return " ".join(f"{v:.9g}" for v in values)


def box(size, centre, material):
    """A visual box: edges and centre [m]."""
    return f'<origin xyz="{numbers(*centre)}"/><geometry><box size="{numbers(*size)}"/></geometry><material name="{material}"/>'


def disc(axis, radius, length, centre, material):
    """A visual cylinder along an axis [m]."""
    rpy = {"x": (0, radians(90), 0), "y": (radians(90), 0, 0), "z": (0, 0, 0)}[axis]
    return (
        f'<origin xyz="{numbers(*centre)}" rpy="{numbers(*rpy)}"/>'
        f'<geometry><cylinder radius="{radius}" length="{length}"/></geometry><material name="{material}"/>'
    )


def limb(length, width, depth, top, bottom, offset=0.0):
    """What is seen of a limb that hangs from a joint: its servo, two brackets of sheet metal down to the next joint, the shafts of both
    joints along `top` and `bottom`."""
    shown = [box((depth, width, 0.62 * length), (0, offset, -0.5 * length), "servo")]
    for side in (-1, 1):
        shown.append(box((0.8 * depth, 0.003, length + 0.016), (0, offset + side * (0.5 * width + 0.0015), -0.5 * length), "aluminium"))
    shown.append(disc(top, 0.009, width + 0.010, (0, offset, 0), "accent"))
    shown.append(disc(bottom, 0.009, width + 0.010, (0, offset, -length), "accent"))
    return shown


def link(name, mass, com, boxes, inertia_box=None, shown=()):
    """Boxes: (size, centre), what it collides as. The inertia is that of `inertia_box` (the first box if none) about the centre of mass;
    `shown` is what it looks like."""
    a, b, c = inertia_box or boxes[0][0]
    i = [mass / 12 * (b * b + c * c), mass / 12 * (a * a + c * c), mass / 12 * (a * a + b * b)]
    out.append(f'  <link name="{name}">')
    out.append(
        f'    <inertial><origin xyz="{numbers(*com)}"/><mass value="{mass}"/>'
        f'<inertia ixx="{i[0]:.6g}" ixy="0" ixz="0" iyy="{i[1]:.6g}" iyz="0" izz="{i[2]:.6g}"/></inertial>'
    )
    for shape in shown:
        out.append(f"    <visual>{shape}</visual>")
    for size, centre in boxes:
        out.append(f'    <collision><origin xyz="{numbers(*centre)}"/><geometry><box size="{numbers(*size)}"/></geometry></collision>')
    out.append("  </link>")


def joint(name, parent, child, xyz, axis, low, high):
    out.append(
        f'  <joint name="{name}" type="revolute"><parent link="{parent}"/><child link="{child}"/><origin xyz="{numbers(*xyz)}"/>'
        f'<axis xyz="{axis}"/><limit lower="{radians(low):.6f}" upper="{radians(high):.6f}" effort="{EFFORT}" velocity="{VELOCITY}"/></joint>'
    )


def frame(name, parent, xyz):
    out.append(f'  <link name="{name}"/>')
    out.append(f'  <joint name="{name}_joint" type="fixed"><parent link="{parent}"/><child link="{name}"/><origin xyz="{numbers(*xyz)}"/></joint>')


X, Y, Z = "1 0 0", "0 1 0", "0 0 1"

trunk = [
    box((0.034, 0.092, 0.050), (0.005, 0, 0.0615), "shell"),
    box((0.026, 0.070, 0.034), (-0.025, 0, 0.058), "servo"),
    box((0.003, 0.046, 0.022), (0.0235, 0, 0.066), "aluminium"),
    box((0.036, 0.060, 0.040), (-0.004, 0, 0.020), "servo"),
    box((0.028, 0.092, 0.010), (0, 0, 0.004), "aluminium"),
    disc("y", 0.011, 0.124, (0, 0, 0.0665), "aluminium"),
    *(disc("x", 0.011, 0.036, (0, s * 0.023, 0), "accent") for s in (-1, 1)),
]
link("base_link", 0.402, (-0.008, 0, 0.045), [((0.060, 0.097, 0.085), (-0.008, 0, 0.045))], shown=trunk)
skull = [
    disc("z", 0.010, 0.012, (0, 0, 0.006), "servo"),
    box((0.034, 0.030, 0.034), (0, 0, 0.029), "shell"),
    box((0.004, 0.024, 0.009), (0.017, 0, 0.031), "accent"),
    disc("y", 0.008, 0.040, (0, 0, 0.029), "aluminium"),
]
link("head", 0.050, (0, 0, 0.025), [((0.035, 0.021, 0.049), (0, 0, 0.0245))], shown=skull)
joint("head_yaw", "base_link", "head", (0, 0, 0.0805), Z, -90, 90)
for p, s in (("l", 1), ("r", -1)):
    # Ranges of the servo bytes about the home posture; the right side mirrors the left one.
    def out_of_body(low, high):
        return (low, high) if s > 0 else (-high, -low)

    link(f"{p}_shoulder", 0.010, (0, s * 0.011, 0), [((0.024, 0.022, 0.054), (0, s * 0.011, 0))],
         shown=[box((0.026, 0.024, 0.030), (0, s * 0.010, 0), "servo"), disc("x", 0.010, 0.034, (0, s * 0.0215, 0), "accent")])
    link(f"{p}_upper_arm", 0.055, (0, 0, -0.025), [((0.035, 0.024, 0.056), (0, 0, -0.028))],
         shown=limb(0.056, 0.022, 0.026, "x", "x"))
    link(f"{p}_forearm", 0.055, (0, 0, -0.026), [((0.035, 0.024, 0.068), (0, 0, -0.034))],
         shown=[box((0.026, 0.022, 0.040), (0, 0, -0.022), "shell"), box((0.014, 0.020, 0.030), (0, 0, -0.053), "aluminium"),
                box((0.020, 0.006, 0.016), (0, 0.008, -0.064), "servo"), box((0.020, 0.006, 0.016), (0, -0.008, -0.064), "servo")])
    joint(f"{p}_shoulder_pitch", "base_link", f"{p}_shoulder", (0, s * 0.058, 0.0665), Y, -175, 5)
    joint(f"{p}_shoulder_roll", f"{p}_shoulder", f"{p}_upper_arm", (0, s * 0.0215, 0), X, *out_of_body(0, 180))
    joint(f"{p}_elbow_roll", f"{p}_upper_arm", f"{p}_forearm", (0, 0, -0.056), X, *out_of_body(-90, 90))
    frame(f"{p}_gripper", f"{p}_forearm", (0, 0, -0.068))

    link(f"{p}_hip", 0.012, (0, 0, -0.022), [((0.024, 0.040, 0.044), (0, 0, -0.022))], (0.024, 0.050, 0.044),
         limb(0.044, 0.032, 0.022, "x", "y"))
    link(f"{p}_thigh", 0.105, (0, -s * 0.005, -0.020), [((0.030, 0.038, 0.066), (0, 0, -0.0225))], (0.030, 0.050, 0.066),
         limb(0.045, 0.034, 0.028, "y", "y"))
    link(f"{p}_shank", 0.055, (0, -s * 0.005, -0.044), [((0.030, 0.038, 0.060), (0, 0, -0.028))], (0.030, 0.050, 0.060),
         [*limb(0.056, 0.034, 0.028, "y", "y"), box((0.004, 0.030, 0.044), (0.015, 0, -0.028), "shell")])
    link(f"{p}_ankle", 0.012, (0, 0, -0.022), [((0.024, 0.038, 0.044), (0, 0, -0.022))], (0.024, 0.050, 0.044),
         limb(0.044, 0.032, 0.022, "y", "x"))
    plate = ((0.100, 0.0445, 0.008), (0.010, s * 0.01025, -0.013))
    servo = ((0.041, 0.035, 0.021), (0, s * 0.004, 0.0015))
    link(f"{p}_foot", 0.070, (0.010, s * 0.010, -0.004), [plate, servo], (0.085, 0.045, 0.030),
         [box(*plate, "aluminium"), box(*servo, "servo"), disc("x", 0.010, 0.044, (0, 0, 0), "accent")])
    joint(f"{p}_hip_roll", "base_link", f"{p}_hip", (0, s * 0.023, 0), X, *out_of_body(-9, 90))
    joint(f"{p}_hip_pitch", f"{p}_hip", f"{p}_thigh", (0, 0, -0.044), Y, -115, 65)
    joint(f"{p}_knee_pitch", f"{p}_thigh", f"{p}_shank", (0, 0, -0.045), Y, -5, 115)
    joint(f"{p}_ankle_pitch", f"{p}_shank", f"{p}_ankle", (0, 0, -0.056), Y, -90, 90)
    joint(f"{p}_ankle_roll", f"{p}_ankle", f"{p}_foot", (0, 0, -0.044), X, *out_of_body(-88, 34))
    frame(f"{p}_sole", f"{p}_foot", (0, 0, -0.017))
frame("imu", "base_link", (0, 0, 0.045))
out.append("</robot>")
Path(__file__).with_name("khr1.urdf").write_text("\n".join(out) + "\n")

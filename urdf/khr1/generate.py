#!/usr/bin/env python3
"""Writes khr1.urdf: the KHR-1 of Kondo Kagaku, 17 joints.

Lengths were measured in the front view of the kit's manual (about 2 %); masses are budgeted to the robot's 1.2 kg; what a front view does
not show (fore-aft offsets, length of the foot plate) is assumed. All at zero: upright, legs straight, arms hanging.
"""
from math import radians
from pathlib import Path

EFFORT, VELOCITY = 0.85, 6.1  # servo KRS-784ICS: 8.7 kgf cm, 0.17 s/60 deg

out = ['<?xml version="1.0"?>', '<!-- Written by generate.py: change it there. -->', '<robot name="khr1">']


def numbers(*values):
    return " ".join(f"{v:.9g}" for v in values)


def link(name, mass, com, boxes, inertia_box=None):
    """Boxes: (size, centre). The inertia is that of `inertia_box` (the first box if none) about the centre of mass."""
    a, b, c = inertia_box or boxes[0][0]
    i = [mass / 12 * (b * b + c * c), mass / 12 * (a * a + c * c), mass / 12 * (a * a + b * b)]
    out.append(f'  <link name="{name}">')
    out.append(
        f'    <inertial><origin xyz="{numbers(*com)}"/><mass value="{mass}"/>'
        f'<inertia ixx="{i[0]:.6g}" ixy="0" ixz="0" iyy="{i[1]:.6g}" iyz="0" izz="{i[2]:.6g}"/></inertial>'
    )
    for size, centre in boxes:
        for tag in ("visual", "collision"):
            out.append(
                f'    <{tag}><origin xyz="{numbers(*centre)}"/><geometry><box size="{numbers(*size)}"/></geometry></{tag}>'
            )
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

link("base_link", 0.402, (-0.008, 0, 0.045), [((0.060, 0.097, 0.085), (-0.008, 0, 0.045))])
link("head", 0.050, (0, 0, 0.025), [((0.035, 0.021, 0.049), (0, 0, 0.0245))])
joint("head_yaw", "base_link", "head", (0, 0, 0.0805), Z, -90, 90)
for p, s in (("l", 1), ("r", -1)):
    # Ranges of the servo bytes about the home posture; the right side mirrors the left one.
    def out_of_body(low, high):
        return (low, high) if s > 0 else (-high, -low)

    link(f"{p}_shoulder", 0.010, (0, s * 0.011, 0), [((0.024, 0.022, 0.054), (0, s * 0.011, 0))])
    link(f"{p}_upper_arm", 0.055, (0, 0, -0.025), [((0.035, 0.024, 0.056), (0, 0, -0.028))])
    link(f"{p}_forearm", 0.055, (0, 0, -0.026), [((0.035, 0.024, 0.068), (0, 0, -0.034))])
    joint(f"{p}_shoulder_pitch", "base_link", f"{p}_shoulder", (0, s * 0.058, 0.0665), Y, -175, 5)
    joint(f"{p}_shoulder_roll", f"{p}_shoulder", f"{p}_upper_arm", (0, s * 0.0215, 0), X, *out_of_body(0, 180))
    joint(f"{p}_elbow_roll", f"{p}_upper_arm", f"{p}_forearm", (0, 0, -0.056), X, *out_of_body(-90, 90))
    frame(f"{p}_gripper", f"{p}_forearm", (0, 0, -0.068))

    link(f"{p}_hip", 0.012, (0, 0, -0.022), [((0.024, 0.040, 0.044), (0, 0, -0.022))], (0.024, 0.050, 0.044))
    link(f"{p}_thigh", 0.105, (0, -s * 0.005, -0.020), [((0.030, 0.038, 0.066), (0, 0, -0.0225))], (0.030, 0.050, 0.066))
    link(f"{p}_shank", 0.055, (0, -s * 0.005, -0.044), [((0.030, 0.038, 0.060), (0, 0, -0.028))], (0.030, 0.050, 0.060))
    link(f"{p}_ankle", 0.012, (0, 0, -0.022), [((0.024, 0.038, 0.044), (0, 0, -0.022))], (0.024, 0.050, 0.044))
    plate = ((0.100, 0.0445, 0.008), (0.010, s * 0.01025, -0.013))
    servo = ((0.041, 0.035, 0.021), (0, s * 0.004, 0.0015))
    link(f"{p}_foot", 0.070, (0.010, s * 0.010, -0.004), [plate, servo], (0.085, 0.045, 0.030))
    joint(f"{p}_hip_roll", "base_link", f"{p}_hip", (0, s * 0.023, 0), X, *out_of_body(-9, 90))
    joint(f"{p}_hip_pitch", f"{p}_hip", f"{p}_thigh", (0, 0, -0.044), Y, -115, 65)
    joint(f"{p}_knee_pitch", f"{p}_thigh", f"{p}_shank", (0, 0, -0.045), Y, -5, 115)
    joint(f"{p}_ankle_pitch", f"{p}_shank", f"{p}_ankle", (0, 0, -0.056), Y, -90, 90)
    joint(f"{p}_ankle_roll", f"{p}_ankle", f"{p}_foot", (0, 0, -0.044), X, *out_of_body(-88, 34))
    frame(f"{p}_sole", f"{p}_foot", (0, 0, -0.017))
frame("imu", "base_link", (0, 0, 0.045))
out.append("</robot>")
Path(__file__).with_name("khr1.urdf").write_text("\n".join(out) + "\n")

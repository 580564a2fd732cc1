"""Solids with rounded rims: one description gives the mesh, the collision shape and the inertia of a part.

A solid is a convex outline, which is a polygon grown by a radius (one point: a disc; two: a slot; four: a rounded
rectangle), swept along an axis. Lengths in metres, in the frame of the link.
"""

import math
import struct
from dataclasses import dataclass

SEGMENTS = 28  # a full circle of the outline


def cross(a, b):
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


AXES = {  # sweep direction: (u, v, sweep), right-handed
    "x": ((0, 1, 0), (0, 0, 1), (1, 0, 0)),
    "y": ((0, 0, 1), (1, 0, 0), (0, 1, 0)),
    "z": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
}
# roll, pitch, yaw that turns a URDF cylinder, which lies along z, along the axis
RPY = {"x": (0, math.pi / 2, 0), "y": (-math.pi / 2, 0, 0), "z": (0, 0, 0)}


@dataclass(frozen=True)
class Solid:
    """`shape` is `cylinder` (size: radius, length), `box` (size: x, y, z), `slot` (a box whose x ends are round) or `ball` (size: radius)."""

    shape: str
    color: str
    center: tuple
    size: tuple
    axis: str = "z"
    fillet: float = 0.0
    end_radius: float = 0.0  # cylinder only: radius at the far end, 0 = the same (a cone in the picture only)
    collide: bool = True
    heavy: bool = True

    def volume(self):
        if self.shape == "cylinder":
            return math.pi * self.size[0] ** 2 * self.size[1]
        if self.shape == "ball":
            return 4 / 3 * math.pi * self.size[0] ** 3
        return self.size[0] * self.size[1] * self.size[2]

    def unit_inertia(self):
        """Principal moments about the centre for unit mass, along x, y, z of the link. [m²]"""
        if self.shape == "cylinder":
            radius, length = self.size
            along, across = radius**2 / 2, (3 * radius**2 + length**2) / 12
            return tuple(along if axis == self.axis else across for axis in "xyz")
        if self.shape == "ball":
            return (0.4 * self.size[0] ** 2,) * 3
        x, y, z = (s * s / 12 for s in self.size)
        return (y + z, x + z, x + y)

    def triangles(self):
        """Corners, outwards by the right-hand rule."""
        inner, radius, half, axis = self._outline()
        # A ball is a disc as high as it is wide, with nothing but its rim.
        fillet = radius if self.shape == "ball" else min(self.fillet, radius, half)
        u, v, w = AXES[axis]
        rings = [self._ring(inner, r, h, u, v, w) for h, r in self._profile(radius, half, fillet)]
        n = len(rings[0])
        out = []
        for low, high in zip(rings, rings[1:]):
            for i in range(n):
                j = (i + 1) % n
                out += [(low[i], low[j], high[j]), (low[i], high[j], high[i])]
        for ring, top in ((rings[0], False), (rings[-1], True)):
            middle = tuple(sum(p[k] for p in ring) / n for k in range(3))
            for i in range(n):
                j = (i + 1) % n
                out.append((middle, ring[i], ring[j]) if top else (middle, ring[j], ring[i]))
        return [t for t in out if len(set(t)) == 3]

    def _outline(self):
        """Corners of the polygon, radius around it, half of the sweep, axis of the sweep."""
        if self.shape == "cylinder":
            return [(0.0, 0.0)], self.size[0], self.size[1] / 2, self.axis
        if self.shape == "ball":
            return [(0.0, 0.0)], self.size[0], self.size[0], "z"
        x, y, z = self.size
        if self.shape == "slot":  # swept along z
            reach = x / 2 - y / 2
            return [(-reach, 0.0), (reach, 0.0)], y / 2, z / 2, "z"
        radius = min(self.fillet, x / 2, y / 2) or 1e-5
        a, b = x / 2 - radius, y / 2 - radius
        return [(-a, -b), (a, -b), (a, b), (-a, b)], radius, z / 2, "z"

    def _profile(self, radius, half, fillet):
        end = self.end_radius or radius
        if fillet == 0:
            return [(-half, radius), (half, end)]
        steps = 6 if self.shape == "ball" else 1 if fillet < 0.002 else 2 if fillet < 0.008 else 3
        turns = [math.pi / 2 * k / steps for k in range(steps + 1)]
        low = [(-half + fillet * (1 - math.sin(t)), radius - fillet * (1 - math.cos(t))) for t in reversed(turns)]
        high = [(half - fillet * (1 - math.sin(t)), end - fillet * (1 - math.cos(t))) for t in turns]
        return low + high

    def _ring(self, inner, radius, height, u, v, w):
        points = []
        n = len(inner)
        for k, (a, b) in enumerate(inner):
            steps = SEGMENTS if n == 1 else SEGMENTS // n + 1
            first = 0.0 if n == 1 else math.pi + 2 * math.pi / n * k if n == 4 else math.pi / 2 + math.pi * k
            span = 2 * math.pi if n == 1 else 2 * math.pi / n
            for i in range(steps):
                t = first + span * i / (steps if n == 1 else steps - 1)
                s, c = a + radius * math.cos(t), b + radius * math.sin(t)
                points.append(tuple(
                    round(self.center[m] + s * u[m] + c * v[m] + height * w[m], 7) for m in range(3)))
        return points


def mass_properties(solids, mass):
    """Centre [m] and inertia about it [kg·m²] (xx, yy, zz, xy, xz, yz) of solids of one density."""
    heavy = [s for s in solids if s.heavy]
    volume = sum(s.volume() for s in heavy)
    shares = [(s, mass * s.volume() / volume) for s in heavy]
    com = tuple(sum(m * s.center[k] for s, m in shares) / mass for k in range(3))
    moments = [0.0] * 6
    for s, m in shares:
        x, y, z = (s.center[k] - com[k] for k in range(3))
        ixx, iyy, izz = s.unit_inertia()
        terms = (ixx + y * y + z * z, iyy + x * x + z * z, izz + x * x + y * y, -x * y, -x * z, -y * z)
        moments = [a + m * b for a, b in zip(moments, terms)]
    return com, moments


def stl(name, solids):
    """Binary STL."""
    triangles = [t for s in solids for t in s.triangles()]
    out = [name.encode().ljust(80, b" "), struct.pack("<I", len(triangles))]
    for a, b, c in triangles:
        normal = cross([q - p for p, q in zip(a, b)], [q - p for p, q in zip(a, c)])
        length = math.sqrt(sum(k * k for k in normal)) or 1.0
        out.append(struct.pack("<12fH", *(k / length for k in normal), *a, *b, *c, 0))
    return b"".join(out)

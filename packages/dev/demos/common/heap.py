"""A scene of a robot, a box of objects that fall into it, and two empty trays. Equal seeds give equal scenes."""

import csv
import dataclasses
import math
import random

import yaml

TABLE = 0.75  # height of its top [m]
BOX = {"middle": (0.45, -0.33), "inside": (0.40, 0.54), "wall": 0.008, "height": 0.045}  # [m]
TRAY = {"middle": (0.45, 0.30), "size": (0.36, 0.46, 0.01), "rim": (0.006, 0.006)}  # width and height of the rim [m]
ASIDE = {**TRAY, "middle": (0.03, -0.45), "size": (0.36, 0.36, 0.01)}  # for what is in the way of others
FRICTION = 0.6
MATERIALS = {"wood": {"friction": FRICTION, "rolling": 0.0005, "spinning": 0.0005}}  # rolling and spinning [m]
DENSITY = 700.0  # of all objects, as of hard wood [kg/m³]
LAYER = (5, 6)  # objects of a layer that falls, along x and y
SPACING = (0.074, 0.086, 0.09)  # of these objects and of the layers [m]
LOWEST = 0.05  # of the lowest layer above the table [m]
SIDES = ((0.0, 0.0), (math.pi / 2, 0.0), (0.0, math.pi / 2))  # roll and pitch by which each axis of an object is up [rad]
TILT = 0.1  # by which it falls off level at most [rad]
# Sweeps for all islands, the hand's among them: in a heap that it touches Newton's method takes ten times as long for the same end.
SOLVER = {"method": "cone_gauss_seidel", "tolerance_rel": 1e-4, "budget": 1e5}
RESTING = {"linear": 0.002, "angular": 0.02, "time": 0.3}  # slower than this for so long an island of the heap sleeps [m/s, rad/s, s]


@dataclasses.dataclass(frozen=True)
class Kind:
    """Objects of one shape."""

    shape: dict  # as scenes describe it; of a mesh its name
    volume: float  # [m³]
    color: tuple
    rings: tuple = ()  # of a mesh: polygons above each other, as (height [m], corners [m])

    @property
    def mass(self):
        return round(DENSITY * self.volume, 4)


def box(x, y, z, color):
    return Kind({"box": [x, y, z]}, x * y * z, color)


def cylinder(radius, length, color):
    return Kind({"cylinder": {"radius": radius, "length": length}}, math.pi * radius**2 * length, color)


def capsule(radius, length, color):
    """`length` is that of its cylindrical part."""
    return Kind({"capsule": {"radius": radius, "length": length}}, math.pi * radius**2 * (length + 4 / 3 * radius), color)


def ball(radius, color):
    return Kind({"sphere": {"radius": radius}}, 4 / 3 * math.pi * radius**3, color)


def solid(rings, color):
    """A convex solid between polygons of as many corners each, the lowest first, with its centre of mass in its origin."""
    corners, faces = stacked(rings)
    six_volumes = [(determinant(*(corners[i] for i in face)), face) for face in faces]
    volume = sum(six for six, _ in six_volumes) / 6
    com = [sum(six * sum(corners[i][k] for i in face) for six, face in six_volumes) / 24 / volume for k in range(3)]
    centered = tuple((height - com[2], tuple((x - com[0], y - com[1]) for x, y in polygon)) for height, polygon in rings)
    return Kind({}, volume, color, centered)


def regular(sides, radius):
    return tuple((radius * math.cos(math.tau * i / sides), radius * math.sin(math.tau * i / sides)) for i in range(sides))


def square(edge):
    return tuple((edge / 2 * x, edge / 2 * y) for x, y in ((1, 1), (-1, 1), (-1, -1), (1, -1)))


def determinant(a, b, c):
    return a[0] * (b[1] * c[2] - b[2] * c[1]) - a[1] * (b[0] * c[2] - b[2] * c[0]) + a[2] * (b[0] * c[1] - b[1] * c[0])


def stacked(rings):
    """Corners of polygons above each other, and the triangles of the surface around them, seen from outside counterclockwise."""
    n = len(rings[0][1])
    corners = [(x, y, height) for height, polygon in rings for x, y in polygon]
    faces = [(0, i + 1, i) for i in range(1, n - 1)]
    for low in range(0, n * (len(rings) - 1), n):
        for i in range(n):
            a, b, c, d = low + i, low + (i + 1) % n, low + n + (i + 1) % n, low + n + i
            faces += [(a, b, c), (a, c, d)]
    top = n * (len(rings) - 1)
    return corners, faces + [(top, top + i, top + i + 1) for i in range(1, n - 1)]


KINDS = {
    "cube": box(0.04, 0.04, 0.04, (0.85, 0.16, 0.16)),
    "block": box(0.055, 0.04, 0.035, (0.93, 0.60, 0.15)),
    "slab": box(0.075, 0.046, 0.03, (0.25, 0.60, 0.30)),
    "bar": box(0.075, 0.03, 0.03, (0.20, 0.45, 0.75)),
    "can": cylinder(0.022, 0.05, (0.55, 0.35, 0.70)),
    "puck": cylinder(0.026, 0.03, (0.15, 0.60, 0.60)),
    "rod": cylinder(0.015, 0.07, (0.75, 0.75, 0.30)),
    "pill": capsule(0.016, 0.036, (0.90, 0.40, 0.55)),
    "bean": capsule(0.02, 0.02, (0.45, 0.70, 0.25)),
    "ball": ball(0.022, (0.95, 0.80, 0.25)),
    "marble": ball(0.017, (0.30, 0.30, 0.75)),
    "nut": solid(((0.0, regular(6, 0.026)), (0.045, regular(6, 0.026))), (0.60, 0.60, 0.62)),
    "plinth": solid(((0.0, square(0.046)), (0.04, square(0.042))), (0.62, 0.42, 0.25)),
    "wedge": solid(tuple((z, ((0.0, 0.0), (0.042, 0.0), (0.032, 0.04), (0.0, 0.04))) for z in (0.0, 0.06)), (0.35, 0.65, 0.85)),
    "stone": solid(((0.0, regular(8, 0.021)), (0.01, regular(8, 0.025)), (0.032, regular(8, 0.025)), (0.042, regular(8, 0.021))), (0.45, 0.47, 0.50)),
}  # fmt: skip


def write_mesh(path, rings):
    """The surface of a stack of polygons as STL."""
    corners, faces = stacked(rings)
    lines = ["solid heap"]
    for face in faces:
        vertices = "\n".join("   vertex {:.9g} {:.9g} {:.9g}".format(*corners[i]) for i in face)
        lines.append(f" facet normal 0 0 0\n  outer loop\n{vertices}\n  endloop\n endfacet")
    path.write_text("\n".join([*lines, "endsolid heap\n"]))


def fixed(name, size, middle, color):
    return {"name": name, "shape": {"box": list(size)}, "pose": {"xyz": [round(x, 6) for x in middle]}, "friction": FRICTION, "fixed": True, "color": list(color)}


def walls():
    """Four walls of the box on the table."""
    (x, y), (width, length), thick, height = BOX["middle"], BOX["inside"], BOX["wall"], BOX["height"]
    z, grey = TABLE + height / 2, (0.50, 0.50, 0.55)
    along, across = (thick, length + 2 * thick, height), (width, thick, height)
    off = ((width + thick) / 2, (length + thick) / 2)
    return [
        fixed("box_near", along, (x - off[0], y, z), grey), fixed("box_far", along, (x + off[0], y, z), grey),
        fixed("box_right", across, (x, y - off[1], z), grey), fixed("box_left", across, (x, y + off[1], z), grey),
    ]  # fmt: skip


def tray(name, described):
    """Its plate, and a rim that keeps on it what rolls."""
    (x, y), (width, length, thick), (rim, height) = described["middle"], described["size"], described["rim"]
    white = (0.86, 0.86, 0.82)
    z, off = TABLE + thick + height / 2, ((width - rim) / 2, (length - rim) / 2)
    parts = [("near", (rim, length, height), -off[0], 0), ("far", (rim, length, height), off[0], 0)]
    parts += [("right", (width - 2 * rim, rim, height), 0, -off[1]), ("left", (width - 2 * rim, rim, height), 0, off[1])]
    rims = [fixed(f"{name}_{side}", size, (x + dx, y + dy, z), white) for side, size, dx, dy in parts]
    return [fixed(name, (width, length, thick), (x, y, TABLE + thick / 2), white), *rims]


def falling(n, seed, folder):
    """`n` objects, about as many of each kind, above the box in layers, turned and ordered at random."""
    dice = random.Random(seed)
    names = list(KINDS)
    order = [names[number % len(names)] for number in range(n)]
    dice.shuffle(order)
    for name, kind in KINDS.items():
        if kind.rings:
            write_mesh(folder / f"{name}.stl", kind.rings)
    counts, bodies = dict.fromkeys(names, 0), []
    for number, name in enumerate(order):
        kind = KINDS[name]
        counts[name] += 1
        layer, place = divmod(number, LAYER[0] * LAYER[1])
        column, row = divmod(place, LAYER[1])
        x = BOX["middle"][0] + (column - (LAYER[0] - 1) / 2) * SPACING[0]
        y = BOX["middle"][1] + (row - (LAYER[1] - 1) / 2) * SPACING[1]
        z = TABLE + LOWEST + layer * SPACING[2]
        roll, pitch = dice.choice(SIDES)
        tilted = [roll + dice.uniform(-TILT, TILT), pitch + dice.uniform(-TILT, TILT), dice.uniform(-math.pi, math.pi)]
        turned = [round(angle, 4) for angle in tilted]
        bodies.append({
            "name": f"{name}_{counts[name]}", "shape": kind.shape or {"mesh": {"file": f"{name}.stl", "convex": "hull"}}, "mass": kind.mass,
            "pose": {"xyz": [round(x + dice.uniform(-0.004, 0.004), 5), round(y + dice.uniform(-0.004, 0.004), 5), round(z, 5)], "rpy": turned},
            "material": "wood", "color": list(kind.color),
        })  # fmt: skip
    return bodies


def fallen(n, seed, folder):
    """A scene file in `folder` of objects that fall into the box, without a robot. Its path."""
    described = {"gravity": [0, 0, -9.81], "dt": 0.001, "ground": {"friction": 0.8}, "materials": MATERIALS, "sleeping": RESTING}
    described["bodies"] = [fixed("table", (1.2, 1.4, 0.04), (0.35, 0, TABLE - 0.02), (0.72, 0.60, 0.46)), *walls(), *falling(n, seed, folder)]
    return write(folder / "heap.yaml", f"{n} objects fall into a box, by the seed {seed}.", described)


def settled(scene, trace):
    """The loose bodies of a scene as they are at the end of its trace, at rest."""
    with open(trace, newline="") as file:
        last = list(csv.DictReader(file))[-1]
    values = {column.split(" ")[0]: float(value) for column, value in last.items()}
    bodies = [body for body in yaml.safe_load(scene.read_text())["bodies"] if not body.get("fixed")]
    for body in bodies:
        at = lambda part: values[f"{body['name']}.{part}"]
        body["pose"] = {"xyz": [at(part) for part in "xyz"], "rpy": rpy(*(at(part) for part in ("qx", "qy", "qz", "qw")))}
    return bodies


def rpy(x, y, z, w):
    """Roll, pitch and yaw of a quaternion. [rad]"""
    pitch = math.asin(max(-1.0, min(1.0, 2 * (w * y - z * x))))
    return [math.atan2(2 * (w * x + y * z), 1 - 2 * (x * x + y * y)), pitch, math.atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))]


def scene(robot, source, bodies, folder):
    """A scene file in `folder`: `robot` is one of arm6's files, `source` a scene that has it with its first posture. Its path."""
    described = yaml.safe_load(source.read_text())
    root = source.resolve().parents[2]
    (arm,) = described["robots"]
    arm["urdf"], arm["config"] = str(root / f"urdf/arm6/{robot}.urdf"), str(root / f"config/{robot}.yaml")
    # Beside the box, over the tray.
    arm["joints"]["shoulder_yaw"] = 0.6
    kept = [body for body in described["bodies"] if body["name"] in ("table", "table_foot")]
    described["materials"] = {**described.get("materials", {}), **MATERIALS}
    described |= {"solver": SOLVER, "sleeping": RESTING, "bodies": kept + walls() + tray("tray", TRAY) + tray("aside", ASIDE) + bodies}
    return write(folder / f"{robot}.yaml", f"{robot} beside a box of {len(bodies)} objects.", described)


def write(path, comment, described):
    path.write_text(f"# {comment}\n{yaml.safe_dump(described, sort_keys=False)}")
    return path

"""Pictures of the measured times, from the rows of the tables in docs/benchmarks.md."""
import math

import pages
from physics import COLORS, picture, text

FOLDER = pages.PAGE.parent / "images" / "times"


def dots(title, rows, line=None):
    """One line a row, `(name, {program: value})`, on a logarithmic axis; karakuri filled, a mark at `line`."""
    programs = list(dict.fromkeys(p for _, values in rows for p in values))
    everything = [x for _, values in rows for x in values.values()] + ([line] if line else [])
    marks = [m * 10.0**n for n in range(-3, 6) for m in (1, 2, 5)]
    low = max(m for m in marks if m <= min(everything))
    high = min(m for m in marks if m >= max(everything))
    left, width, bottom = 170, 620, 70 + 24 * len(rows)
    at = lambda x: left + math.log(x / low) / math.log(high / low) * width  # noqa: E731
    parts = [text(20, 30, title, size=17)]
    for mark in (m for m in marks if low <= m <= high):
        parts += [f'<path d="M{at(mark):.1f} 50V{bottom}" stroke="#e4e4e4"/>', text(at(mark), bottom + 20, f"{mark:g}", "middle")]
    if line:
        parts.append(f'<path d="M{at(line):.1f} 50V{bottom}" stroke="black" stroke-width="2"/>')
    for i, (name, values) in enumerate(rows):
        y = 70 + 24 * i
        parts += [text(left - 12, y + 5, name, "end"), f'<path d="M{left} {y}h{width}" stroke="#f0f0f0"/>']
        for program, x in reversed(values.items()):
            parts.append(dot(at(x), y, program, programs))
    for k, program in enumerate(programs):
        y = 70 + 22 * k
        parts += [dot(left + width + 30, y, program, programs), text(left + width + 44, y + 5, program)]
    return picture(left + width + 230, max(bottom, 70 + 22 * len(programs)) + 40, parts)


def dot(x, y, program, programs):
    color = COLORS[programs.index(program) % len(COLORS)]
    fill, radius = (color, 5.5) if program == "karakuri" else ("none", 4.5)
    return f'<circle cx="{x:.1f}" cy="{y}" r="{radius}" fill="{fill}" stroke="{color}" stroke-width="2"/>'


def write(algorithms, steps):
    """The rows of both tables, as pictures."""
    ratios, scenes = {}, {}
    for model, _, algorithm, _, _, ratio in algorithms:
        if ratio:
            ratios.setdefault(model, {})[algorithm] = float(ratio)
    scene = ""
    for row in steps:
        scene = row[0] or scene
        if row[1].startswith("best of"):
            continue
        scenes.setdefault(scene, {})[row[1]] = float(row[2])
    FOLDER.mkdir(parents=True, exist_ok=True)
    (FOLDER / "algorithms.svg").write_text(dots("Time of an algorithm, as part of Pinocchio's", list(ratios.items()), 1.0))
    (FOLDER / "steps.svg").write_text(dots("Time of a step of a scene [µs]", list(scenes.items())))

"""Pictures of the documents, drawn as `karakuri plot` draws: colours, letters and sizes are those of packages/io/karakuri_files/src/plot.rs."""
import json
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[3]
COMMAND = ["cargo", "run", "--release", "--quiet", "-p", "karakuri_files", "--example", "figure", "--"]


def draw(path, title, panel):
    """One panel, as `karakuri plot --help` describes it, into an SVG file."""
    figure = json.dumps({"title": title, "panels": [panel]})
    done = subprocess.run([*COMMAND, str(path)], cwd=ROOT, input=figure, text=True)
    if done.returncode:
        raise SystemExit(f"error: {path} cannot be drawn")


def line(name, points, style="line"):
    return {"name": name, "points": [list(point) for point in points], "style": style}


def guides(levels, marks):
    """Values of the vertical and of the horizontal axis that mean something, by name."""
    return [{"name": name, "y": y} for name, y in levels.items()] + [{"name": name, "x": x} for name, x in marks.items()]

"""Pictures of the measured times, from the rows of the tables in docs/benchmarks.md."""
import figures
import pages

FOLDER = pages.PAGE.parent / "images" / "times"


def dots(file, title, label, rows, marks=None):
    """One line a row, `(name, {program: value})`, on a logarithmic axis; karakuri filled."""
    programs = dict.fromkeys(p for _, values in rows for p in values)
    lines = [
        figures.line(program, [(values[program], i) for i, (_, values) in enumerate(rows) if program in values],
                     "dots" if program == "karakuri" else "rings")
        for program in programs
    ]  # fmt: skip
    panel = {"x_label": label, "log": [True, False], "rows": [name for name, _ in rows], "series": lines, "guides": figures.guides({}, marks or {})}
    figures.draw(FOLDER / file, title, panel)


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
    dots("algorithms.svg", "Time of an algorithm, as part of Pinocchio's", "time over Pinocchio's [-]", list(ratios.items()), {"as long": 1.0})
    dots("steps.svg", "Time of a step of a scene", "CPU time of a step [µs]", list(scenes.items()))

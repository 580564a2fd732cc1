"""docs/benchmarks.md: one page of three parts. Two commands write a part each; the last is written by hand, and kept."""
import pathlib

PAGE = pathlib.Path(__file__).resolve().parents[3] / "docs" / "benchmarks.md"
# The second and the third part begin with these lines.
PHYSICS = "## Physics benchmarks"
VERSIONS = "## Measurements by version"


def parts():
    """Times, the physics benchmarks, and the measurements by version; empty where there is none yet."""
    text = PAGE.read_text() if PAGE.exists() else ""
    text, _, versions = text.partition("\n" + VERSIONS + "\n")
    times, _, physics = text.partition("\n" + PHYSICS + "\n")
    return times.rstrip("\n"), _with_heading(PHYSICS, physics), _with_heading(VERSIONS, versions)


def write_times(times):
    _write(times, *parts()[1:])


def write_physics(physics):
    times, _, versions = parts()
    _write(times, physics, versions)


def _with_heading(heading, body):
    return heading + "\n" + body.rstrip("\n") if body else ""


def _write(*texts):
    PAGE.write_text("\n\n".join(text.rstrip("\n") for text in texts if text) + "\n")

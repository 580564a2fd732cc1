"""docs/benchmarks.md: one page of two parts that two commands write, each leaving the other's as it is."""
import pathlib

PAGE = pathlib.Path(__file__).resolve().parents[3] / "docs" / "benchmarks.md"
# The second part begins with this line.
PHYSICS = "## Physics benchmarks"


def parts():
    """Times, and the physics benchmarks; empty where there is none yet."""
    text = PAGE.read_text() if PAGE.exists() else ""
    times, heading, physics = text.partition("\n" + PHYSICS + "\n")
    return times.rstrip("\n"), (PHYSICS + "\n" + physics.rstrip("\n")) if heading else ""


def write_times(times):
    PAGE.write_text("\n\n".join(part for part in (times.rstrip("\n"), parts()[1]) if part) + "\n")


def write_physics(physics):
    PAGE.write_text("\n\n".join(part for part in (parts()[0], physics.rstrip("\n")) if part) + "\n")

"""The other programs: their virtual environment, Pinocchio's timing program, MuJoCo's and Rapier's stepping."""
import json
import pathlib
import re
import shutil
import subprocess
import sys
import venv

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
OUT = ROOT / "out" / "bench"
PLACE = ROOT / "target" / "peers"
WHEELS = ["pin==4.1.0", "cmeel-eigen==3.4.1", "mujoco==4.0.0", "PyYAML==6.0.3"]


class Missing(Exception):
    """Something that a person must mend, as one sentence."""


def run(what, *command, **options):
    """Output of a command, or one line that says what failed."""
    out = subprocess.run([str(c) for c in command], capture_output=True, text=True, **options)
    if out.returncode:
        lines = [line for line in out.stderr.splitlines() if line.strip()]
        log = PLACE / "failed.log"
        log.write_text(out.stdout + out.stderr)
        raise Missing(f"{what} failed: {lines[-1] if lines else f'exit {out.returncode}'} (all of it: {log.relative_to(ROOT)})")
    return out.stdout


def environment():
    """The interpreter of a virtual environment with the wheels, made the first time."""
    PLACE.mkdir(parents=True, exist_ok=True)
    python, stamp = PLACE / "venv" / "bin" / "python", PLACE / "wheels"
    if python.exists() and stamp.exists() and stamp.read_text() == "\n".join(WHEELS):
        return python
    print("  … a virtual environment with Pinocchio and MuJoCo, about 400 MB", file=sys.stderr)
    if not python.exists():
        venv.create(PLACE / "venv", with_pip=True)
    command = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--retries", "1", *WHEELS]
    out = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    if out.returncode:
        (PLACE / "failed.log").write_text(out.stdout + out.stderr)
        raise Missing(
            "Pinocchio and MuJoCo cannot be installed from PyPI: check the network, or measure ours alone with "
            "`./dev bench` (pip's words: target/peers/failed.log)"
        )
    stamp.write_text("\n".join(WHEELS))
    return python


SAVE = """
import sys, pinocchio as pin
urdf, base, out = sys.argv[1:]
root = [pin.JointModelFreeFlyer()] if base == "floating" else []
pin.buildModelFromUrdf(urdf, *root).saveToBinary(out)
"""


class Pinocchio:
    """Pinocchio's algorithms, called from C++."""

    def __init__(self, python):
        self.python = python
        self.version = run("Pinocchio", python, "-c", "import pinocchio; print(pinocchio.__version__)").strip()
        self.program = self.compile()

    def compile(self):
        compiler = shutil.which("c++")
        if not compiler:
            raise Missing("Pinocchio is measured from C++, and there is no `c++`: install a C++ compiler")
        where = "import cmeel, pathlib; print(pathlib.Path(cmeel.__file__).parents[1])"
        prefix = pathlib.Path(run("Pinocchio", self.python, "-c", where).strip()) / "cmeel.prefix"
        source, program = HERE / "pinocchio.cpp", PLACE / "pinocchio_times"
        if not program.exists() or program.stat().st_mtime < source.stat().st_mtime:
            print("  … compiling the Pinocchio side, a minute or two", file=sys.stderr)
            run(
                "compiling the Pinocchio side", compiler, "-std=c++17", "-O3", "-DNDEBUG", "-w",
                "-DPINOCCHIO_ENABLE_TEMPLATE_INSTANTIATION", "-DBOOST_MPL_LIMIT_LIST_SIZE=30",
                "-DBOOST_MPL_CFG_NO_PREPROCESSED_HEADERS", "-I", prefix / "include", "-I",
                prefix / "include" / "eigen3", source, "-o", program, "-L", prefix / "lib",
                "-lpinocchio_default", "-lboost_serialization", f"-Wl,-rpath,{prefix / 'lib'}",
            )  # fmt: skip
        return program

    def times(self, name, floating):
        """Microseconds a call of every algorithm, and nv."""
        if name.startswith("chain_"):
            argument = f"{name}=chain:{name.removeprefix('chain_')}"
        else:
            urdf, model = ROOT / "tests" / "robots" / name / f"{name}.urdf", PLACE / f"{name}.pin"
            run("Pinocchio", self.python, "-c", SAVE, urdf, "floating" if floating else "fixed", model)
            argument = f"{name}=model:{model}"
        rows = [json.loads(line) for line in run("Pinocchio", self.program, argument).splitlines()]
        return {"nv": rows[0]["nv"]} | {r["algorithm"]: r["ns"] / 1e3 for r in rows}


class MuJoCo:
    """MuJoCo's step, called from its Python module many steps at a time."""

    def __init__(self, python):
        self.python = python
        self.version = run("MuJoCo", python, "-c", "import mujoco; print(mujoco.__version__)").strip()

    def step(self, name):
        """By setting: microseconds a step and what came out."""
        return json.loads(run("MuJoCo", self.python, HERE / "mujoco_step.py", name))


class Rapier:
    """Rapier's step, f32, of the scenes of free bodies."""

    def __init__(self):
        cargo = shutil.which("cargo")
        if not cargo:
            raise Missing("Rapier is measured from Rust, and there is no `cargo`: install it from https://rustup.rs")
        manifest, target = HERE / "rapier" / "Cargo.toml", PLACE / "rapier"
        self.program = target / "release" / "rapier_step"
        if not self.program.exists():
            print("  … compiling the Rapier side, a minute", file=sys.stderr)
        run("compiling the Rapier side", cargo, "build", "--release", "--locked", "--manifest-path", manifest, "--target-dir", target)
        locked = (HERE / "rapier" / "Cargo.lock").read_text()
        self.version = re.search(r'name = "rapier3d"\nversion = "(.*)"', locked).group(1)

    def step(self, name):
        """By setting: microseconds a step and what came out."""
        return json.loads(run("Rapier", self.program, name, cwd=ROOT))

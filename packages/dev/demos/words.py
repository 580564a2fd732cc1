"""Two published plans of language models, as calls of a robot in a picture: each call is rehearsed, shown and carried out; the block is in the bowl.

The calls are those of the documentation of Gemini's robot models (ai.google.dev, Robotics overview and Robotics orchestration, 2026), where a
mock robot prints them. Here `karakuri do` carries them out in a simulation. Leaves report.json, the audit logs and a picture of each
prediction; ends with 0 only if the block lies in the bowl each time.
"""
from common import interrupt  # noqa: F401  first: an import may swallow what a signal raises in it

import argparse
import json
import pathlib
import shutil
import subprocess
import sys
import time

import yaml
from common.program import find_program

ROOT = pathlib.Path(__file__).resolve().parents[3]
SCENE = ROOT / "config/scenes/words.yaml"
ENVELOPE = ROOT / "config/envelopes/words.yaml"
VIEW = ROOT / "config/views/words.yaml"
PLANS = ["gemini_overview", "gemini_orchestration"]
BLOCK, BOWL = "block", "bowl"


def main():
    options = parse()
    out = pathlib.Path(options.out)
    out.mkdir(parents=True, exist_ok=True)
    runs = {plan: run(plan, out / plan) for plan in ([options.plan] if options.plan else PLANS)}
    (out / "report.json").write_text(json.dumps(runs, indent=2) + "\n")
    failed = [plan for plan, run in runs.items() if not run["is_in_bowl"]]
    print(f"report and pictures in {out}")
    if failed:
        print(f"FAILED: the block is not in the bowl after {', '.join(failed)}")
        return 1
    print(f"SUCCESS: the block is in the bowl after {' and '.join(runs)}")
    return 0


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", default="out/demo/words", help="folder of the results (%(default)s)")
    parser.add_argument("--plan", choices=PLANS, help="only this plan")
    return parser.parse_args()


def run(plan, folder):
    """Carries a plan out in a world of its own; what became of the block."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    envelope = folder / "envelope.yaml"
    envelope.write_bytes(ENVELOPE.read_bytes())
    envelope.chmod(0o444)
    calls = ROOT / f"config/calls/{plan}.json"
    print(f"{plan}: {len(json.loads(calls.read_text()))} calls")
    files = ["--envelope", envelope, "--audit", folder / "audit.jsonl", "--pictures", folder, "--calls", calls, "--view", VIEW]
    command = [find_program(), "do", SCENE, *files, "--yes", "look"]
    begun = time.monotonic()
    done = subprocess.run(list(map(str, command)), stdout=subprocess.PIPE, text=True)
    sentences, _, looked = done.stdout.partition("{")
    print("".join(f"  {line}\n" for line in sentences.splitlines()), end="", flush=True)
    if done.returncode != 0 or not looked:
        return {"is_in_bowl": False, "exit": done.returncode}
    objects = {found["name"]: found for found in json.loads("{" + looked)["objects"]}
    return {"is_in_bowl": lies_in_bowl(objects), "block_m": objects[BLOCK]["xyz_m"], "bowl_m": objects[BOWL]["xyz_m"], "seconds": time.monotonic() - begun}


def lies_in_bowl(objects):
    """Whether the block lies on the floor of the bowl, all of it inside of its rim."""
    block, bowl = objects[BLOCK], objects[BOWL]
    rim = next(body["shape"]["box"][0] for body in yaml.safe_load(SCENE.read_text())["bodies"] if body["name"] == "bowl_front")
    room = bowl["size_m"][0] / 2 - rim - block["size_m"][0] / 2
    floor = bowl["xyz_m"][2] + bowl["size_m"][2] / 2
    is_inside = all(abs(block["xyz_m"][axis] - bowl["xyz_m"][axis]) <= room for axis in (0, 1))
    return is_inside and abs(block["xyz_m"][2] - block["size_m"][2] / 2 - floor) < 0.002


if __name__ == "__main__":
    sys.exit(main())

"""Motion studio: a bow of khr1 in the browser; without a screen, pictures of it.

Starts `karakuri studio` on a prepared motion. With a screen it opens the browser and runs until Ctrl-C; else, and with --pictures, Chromium
draws the page without a window and the pictures are left in the folder of the demonstration.
"""
import argparse
import os
import pathlib
import subprocess
import sys
import webbrowser

from common.program import find_program

ROOT = pathlib.Path(__file__).resolve().parents[3]
MOTION = ROOT / "config/motions/khr1_greet.yaml"
BROWSER_TESTS = ROOT / "tests/browser"


def has_screen():
    """Whether a browser can open a window."""
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def take_pictures(folder):
    """Pictures of the page, by the browser tests' own program; its exit code."""
    playwright = BROWSER_TESTS / "node_modules/@playwright/test/cli.js"
    if not playwright.exists():
        print("pictures need the page, which this build lacks: ./dev build says why")
        return 1
    environment = os.environ | {"KARAKURI_PICTURES": str(folder.resolve())}
    return subprocess.run(["node", str(playwright), "test", "pictures"], cwd=BROWSER_TESTS, env=environment).returncode


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "out/demo/studio", help="folder of the pictures and of the motion that is edited")
    parser.add_argument("--pictures", action="store_true", help="take pictures even if there is a screen")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    if options.pictures or not has_screen():
        code = take_pictures(options.out)
        pictures = sorted(options.out.glob("*.png"))
        for picture in pictures:
            print(f"  {picture}")
        print("to see it live: ./dev shell karakuri studio", MOTION.relative_to(ROOT))
        sys.exit(code or not pictures)
    with subprocess.Popen([find_program(), "studio", str(MOTION), "--folder", str(ROOT), "--port", "0"], stdout=subprocess.PIPE, text=True) as studio:
        address = studio.stdout.readline().strip()
        print(f"the studio is at {address}\nCtrl-C ends it", flush=True)
        webbrowser.open(address)
        try:
            sys.exit(studio.wait())
        except KeyboardInterrupt:
            studio.wait()


if __name__ == "__main__":
    main()

"""The pieces of ./dev: what they lay out, which domain they take, what they do with a checkout that was moved."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from support.domain import Domain
from support.process import ROOT, executable

SHELL = ROOT / "packages/dev/shell"
OVERLAY = ROOT / "packages/dev/ros_prefix/overlay.sh"


def bash(script, **variables):
    """What a script prints that has the pieces of ./dev."""
    pieces = " ".join(f'. "{SHELL}/{piece}.sh";' for piece in ("ui", "children", "needs", "ros", "cargo"))
    text = f"set -euo pipefail; root=$ROOT state=$STATE log_dir=$STATE/log; {pieces} {script}"
    environment = {**os.environ, "ROOT": str(ROOT), **{name: str(value) for name, value in variables.items()}}
    done = subprocess.run(["bash", "-c", text], env=environment, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_launch_files_are_found_by_name_as_ros2_launch_finds_them(tmp_path):
    share = tmp_path / "install/share/karakuri"
    share.mkdir(parents=True)
    (share / "launch").symlink_to(ROOT / "launch")  # as it was once
    (share / "config").mkdir()
    (share / "config/gone.yaml").symlink_to(ROOT / "config/gone.yaml")
    for _ in range(2):
        bash("lay_out", STATE=tmp_path)
    # ros2 launch PACKAGE FILE: os.walk, which enters no links
    found = {name: folder for folder, _, names in os.walk(share) for name in names}
    for file in (ROOT / "launch").iterdir():
        assert found[file.name] == str(share / "launch")
    assert "gone.yaml" not in found
    assert (share / "config/arm6.yaml").read_text() == (ROOT / "config/arm6.yaml").read_text()
    environment = {**os.environ, "AMENT_PREFIX_PATH": str(tmp_path / "install")}
    command = [str(executable("karakuri")), "launch", "--dry-run", str(share / "launch/pick_and_place.launch.xml")]
    shown = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert shown.returncode == 0 and str(share) in shown.stdout, shown.stderr


def test_runs_of_dev_and_tests_take_different_domains(tmp_path):
    ask = "separate_ros; echo $ROS_DOMAIN_ID $ROS_AUTOMATIC_DISCOVERY_RANGE"
    taken = [Domain() for _ in range(99)]
    try:
        os.environ["TMPDIR"] = str(tmp_path)
        numbers = {domain.__enter__().number for domain in taken}
        free = sorted(set(range(1, 102)) - numbers)
        assert len(free) == 2
        # what a run holds is held as long as what it started
        first = subprocess.Popen(["bash", "-c", f'. "{SHELL}/ui.sh"; state={tmp_path}; log_dir={tmp_path}/log; . "{SHELL}/ros.sh"; {ask}; sleep 60'], stdout=subprocess.PIPE, text=True)
        try:
            number, localhost = first.stdout.readline().split()
            assert int(number) in free and localhost == "LOCALHOST"
            free.remove(int(number))
            assert bash(ask, STATE=tmp_path).split()[0] == str(free[0])
            with Domain() as last:
                assert last.number == free[0]
        finally:
            first.kill()
            first.wait()
    finally:
        del os.environ["TMPDIR"]
        for domain in taken:
            if hasattr(domain, "_lock"):
                domain.__exit__()


@pytest.mark.parametrize("given, expected", [(None, "LOCALHOST"), ("SUBNET", "SUBNET")])
def test_nodes_of_a_shell_are_heard_on_this_machine_only(given, expected):
    environment = {name: value for name, value in os.environ.items() if name != "ROS_AUTOMATIC_DISCOVERY_RANGE"}
    if given:
        environment["ROS_AUTOMATIC_DISCOVERY_RANGE"] = given
    command = [str(ROOT / "dev"), "shell", "printenv", "ROS_AUTOMATIC_DISCOVERY_RANGE"]
    shown = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
    assert shown.stdout.split()[-1] == expected, shown.stderr


def test_a_checkout_that_was_moved_or_copied_builds_again(tmp_path):
    source = tmp_path / "first/source/some_msgs"
    source.mkdir(parents=True)
    (source / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.16)\nproject(some_msgs NONE)\ninstall(FILES text DESTINATION share)\n"
    )
    (source / "text").write_text("one")

    def build(checkout: Path):
        environment = {**os.environ, "AMENT_PREFIX_PATH": str(checkout / "jazzy")}
        command = [str(OVERLAY), "--cpp", str(checkout / "install"), str(checkout / "source/some_msgs")]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stdout + done.stderr
        return (checkout / "install/share/text").read_text()

    assert build(tmp_path / "first") == "one"
    shutil.copytree(tmp_path / "first", tmp_path / "copied", symlinks=True)
    (tmp_path / "first").rename(tmp_path / "moved")
    for checkout in (tmp_path / "moved", tmp_path / "copied"):
        text = checkout / "source/some_msgs/text"
        text.write_text(checkout.name)
        os.utime(text, (2e9, 2e9))  # CMake installs what is newer, by whole seconds
        assert build(checkout) == checkout.name


def test_a_private_ros_that_was_moved_is_rebuilt(tmp_path):
    jazzy = tmp_path / "first/jazzy"
    jazzy.mkdir(parents=True)
    (jazzy / "setup.sh").write_text(f'export AMENT_PREFIX_PATH="{jazzy}${{AMENT_PREFIX_PATH:+:$AMENT_PREFIX_PATH}}"\n')
    (jazzy / ".complete").write_text(bash("locked_hash", STATE=jazzy.parent))
    ask = "private_ros_is_here && echo here || echo not"
    assert bash(ask, STATE=tmp_path / "first") == "here\n"
    (tmp_path / "first").rename(tmp_path / "moved")
    assert bash(ask, STATE=tmp_path / "moved") == "not\n"


def test_what_quick_leaves_out_is_there():
    names = bash(f'. "{SHELL}/test.sh"; printf "%s\\n" "${{slow[@]}}"', STATE=ROOT).split()
    sources = "".join(file.read_text() for file in (ROOT / "packages").rglob("*.rs"))
    gone = [name for name in names if f"fn {name}()" not in sources and f"fn {name}(" not in sources]
    assert names and not gone, f"no test has these names any more: {gone}; correct `slow` in packages/dev/shell/test.sh"

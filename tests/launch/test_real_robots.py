"""Real robots from their launch files, on emulated buses: khr1 stands and walks over its two boards, with servos
alone and with physics behind them, so101 moves arm and jaw, and grips a block."""

import json
import subprocess
import sys
import time

import pytest
import yaml
from action_msgs.msg import GoalStatus
from control_msgs.action import GripperCommand, ParallelGripperCommand
from karakuri_msgs.action import Walk
from sensor_msgs.msg import JointState
from support.arm import at, carry_out, distance, trajectory
from support.emulator import Emulator
from support.launched import launched
from support.leftovers import wait_gone
from support.process import ROOT
from support.so101 import ARM
from trajectory_msgs.msg import JointTrajectory

pytestmark = pytest.mark.realtime


@pytest.mark.parametrize("hardware", ["so101", "feetech"])
def test_so101_moves_its_arm_and_its_jaw(environment, ros, hardware):
    with Emulator("feetech", "--ids", "1-6") as bus, launched(environment, "so101", bus.link, hardware, "gripper:=false"):
        carry_out(ros, [0.5, -0.4, 0.3, 0.6, -0.5], 1.5, action="/so101/follow_joint_trajectory", names=ARM)
        carry_out(ros, [0.2], 1.5, action="/so101/hand/follow_joint_trajectory", names=["gripper"])
        states = ros.subscribe(JointState, "/so101/joint_states", 10)
        states.fresh()
        names = [*ARM, "gripper"]
        ros.wait_for(
            lambda: distance(at(states.last, names), [0.5, -0.4, 0.3, 0.6, -0.5, 0.2]) < 0.004,
            what=lambda: f"the goal; it is at {at(states.last, names)}",
        )
        assert ros.node.count_publishers("/clock") == 0 and ros.get_parameters("/so101/feedforward_controller", "use_sim_time") == [False]
        states.close()


def gripper_goals(opening, effort):
    """The same command of both actions."""
    plain, parallel = GripperCommand.Goal(), ParallelGripperCommand.Goal()
    plain.command.position, plain.command.max_effort = opening, effort
    parallel.command.position, parallel.command.effort = [opening], [effort]
    return plain, parallel


def test_so101_opens_and_shuts_its_jaw_and_stalls_on_what_stops_it(environment, ros):
    """The servo's shaft is stopped where a thing between the jaws would stop it; its current says with which force."""
    with Emulator("feetech", "--ids", "1-6") as bus, launched(environment, "so101", bus.link, "so101"):
        actions = [ros.action(GripperCommand, "/so101/gripper_cmd"), ros.action(ParallelGripperCommand, "/so101/parallel_gripper_cmd")]

        def command(opening, effort=0.0, which=0):
            goal = gripper_goals(opening, effort)[which]
            handle = ros.wait_for(lambda: (h := ros.send_goal(actions[which], goal)).accepted and h, what="acceptance")
            status, result = ros.result(handle)
            state = (result.position, result.effort) if which == 0 else (result.state.position[0], result.state.effort[0])
            return status, result, *state

        for opening, which in ((0.06, 0), (0.02, 1), (0.0, 0), (0.08, 1)):
            status, result, position, _ = command(opening, which=which)
            assert status == GoalStatus.STATUS_SUCCEEDED and result.reached_goal and not result.stalled, result
            assert position == pytest.approx(max(opening, 0.0005), abs=0.002)
        # 30 mm by the law of the jaw: -0.1745 + 0.3539 + asin((0.030 - 0.0281) / 0.07964) = 0.2033 rad; the shaft's zero is 45 degrees off.
        bus.stops(6, 0.2033 - 0.7854, 1.0)
        for effort, which in ((4.0, 0), (8.0, 1)):
            begun = time.monotonic()
            status, result, position, felt = command(0.0, effort, which)
            # 50 mm at 50 mm/s and half a second without progress; what it felt of its own motion would have it creep for 20 s.
            assert time.monotonic() - begun < 10
            assert status == GoalStatus.STATUS_SUCCEEDED and result.stalled and not result.reached_goal, result
            assert position == pytest.approx(0.030, abs=0.001) and felt == pytest.approx(effort, abs=0.1 * effort)
            # 0.0796 m is the lever there. Of 4 N a count of the goal is 7 %, beside the 10 % within which the force is held.
            assert -bus.servo(6)["effort_nm"] == pytest.approx(0.0796 * effort, rel=0.2)
            assert command(0.06)[1].reached_goal
        # The servo's torque is limited to half; a force beyond what that gives is refused.
        assert not ros.send_goal(actions[0], gripper_goals(0.0, 20.0)[0]).accepted


@pytest.mark.parametrize("behind", ["bus", "sim"])
def test_so101_grips_lifts_holds_and_puts_down_a_block(environment, tmp_path, behind):
    """The demonstration, judged by the true pose of the block, which comes past the bus."""
    command = [sys.executable, str(ROOT / "packages/dev/demos/so101.py"), "--out", str(tmp_path), *(["--sim"] if behind == "sim" else [])]
    # A machine that keeps the emulator waiting for 0.2 s has lost its servos, and the robot holds: that must be so in one run of three at
    # most, and be said.
    for _ in range(3):
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
        wait_gone(environment)
        said = (tmp_path / "nodes.log").read_text()
        if done.returncode == 0 or "the robot holds until it is resumed" not in said:
            break
    written = (tmp_path / "report.json").read_text()
    assert done.returncode == 0, done.stdout + done.stderr + said + written
    report = json.loads(written)
    # 40 mm above the table at least, for 3 s, without sinking or slipping.
    assert report["lifted_m"] > 0.04 and report["held_m"] > 0.04 and abs(report["sank_while_held_m"]) < 1e-3, report
    assert report["slip_m"] < 0.001 and report["placed_off_m"] < 0.003 and report["turned_rad"] < 0.05, report
    times = report["times_s"]
    assert times["held"] - times["lifted"] > 2.9
    # By the law of a box between jaws that are not parallel: 25 mm at its edge are 32.4 mm at the tool's origin.
    assert report["grip"]["stalled"] and report["grip"]["opening_m"] == pytest.approx(0.0324, abs=0.0015), report
    # Up to 0.7 N are dry friction, and 1 N that is commanded and not felt is closed at a creep: a stall may be reported before.
    assert report["grip"]["effort_N"] == pytest.approx(5.0, abs=1.5) and report["opened"]["reached_goal"]
    assert (tmp_path / "so101_grip.png").stat().st_size > 10_000


# Servos alone, and the robot on a floor: emulator's options, launch arguments, distance [m].
BOARDS = {
    "servos": ([], [], 0.1),
    "floor": (
        ["--hardware", str(ROOT / "config/hardware/khr1.yaml"), "--scene", str(ROOT / "config/scenes/walk.yaml")],
        [f"gait:={ROOT}/config/gaits/khr1_board.yaml"],
        0.2,
    ),
}


@pytest.mark.parametrize("behind", BOARDS)
def test_khr1_stands_and_walks_over_its_boards(environment, ros, behind):
    options, arguments, length = BOARDS[behind]
    posture = yaml.safe_load((ROOT / "config/khr1.yaml").read_text())
    body, stand = posture["groups"]["body"], posture["postures"]["walk"]
    standing = [float(stand.get(name, 0.0)) for name in body]
    with Emulator("rcb1", *options) as boards, launched(environment, "khr1", boards.link, "khr1", *arguments):
        states = ros.subscribe(JointState, "/khr1/joint_states", 10)
        states.wait()
        client = ros.action(Walk, "/khr1/walk")
        walk = Walk.Goal(distance=length)
        command = ros.publisher(JointTrajectory, "/khr1/joint_trajectory")
        handles = []

        def accepted():
            handles.append(ros.send_goal(client, walk))
            if not handles[-1].accepted:
                # To its standing posture; near it the planner takes over.
                command.publish(trajectory(standing, 2.5, body))
                ros.spin_for(3.0)
            return handles[-1].accepted

        ros.wait_for(accepted, what="a walk to be accepted")
        handle = handles[-1]
        _, result = ros.result(handle)
        assert result.success, result.message
        assert result.distance == pytest.approx(length, abs=0.005), result
        if behind == "floor":
            robot = boards.state()["robot"]
            # Steps over boards and a floor are shorter than planned.
            assert not robot["has_fallen"] and 0.1 < robot["position_m"][0] < 0.25, robot
        states.close()

"""Real robots from their launch files, on emulated buses: khr1 stands and walks over its two boards, with servos
alone and with physics behind them, so101 moves arm and gripper."""

import signal
import subprocess
from contextlib import contextmanager

import pytest
import yaml
from karakuri_msgs.action import Walk
from sensor_msgs.msg import JointState
from support.arm import at, carry_out, distance, trajectory
from support.emulator import Emulator
from support.leftovers import wait_gone
from support.process import ROOT, executable
from support.so101 import ARM
from trajectory_msgs.msg import JointTrajectory

pytestmark = pytest.mark.realtime


@contextmanager
def launched(environment, name, device, hardware, *arguments):
    """A robot's launch file with its driver on a port."""
    command = [executable("karakuri"), "launch", ROOT / f"launch/{name}.launch.xml", f"hardware:={hardware}", f"device:={device}", *arguments]
    process = subprocess.Popen(
        [str(word) for word in command], env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    try:
        yield
    finally:
        process.send_signal(signal.SIGINT)
        output, _ = process.communicate(timeout=60)
        print(output)
    assert process.returncode == 0 and "has died" not in output, output
    wait_gone(environment)


@pytest.mark.parametrize("hardware", ["so101", "feetech"])
def test_so101_moves_its_arm_and_its_gripper(environment, ros, hardware):
    with Emulator("feetech", "--ids", "1-6") as bus, launched(environment, "so101", bus.link, hardware):
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

"""The walker of human size from the launch file of walks: forward, backward, aside."""

import math
import signal
import subprocess

import pytest
from action_msgs.msg import GoalStatus
from karakuri_msgs.action import Walk
from nav_msgs.msg import Odometry
from support.leftovers import wait_gone
from support.process import ROOT, executable

ARGUMENTS = {
    "namespace": "walker",
    "scene": ROOT / "config/scenes/walk_anthropomorphic.yaml",
    "urdf": ROOT / "urdf/anthropomorphic/anthropomorphic.urdf",
    "config": ROOT / "config/anthropomorphic.yaml",
    "gait": ROOT / "config/gaits/anthropomorphic_walk.yaml",
    "lockstep": "true",
    "real_time_factor": "0.0",
}


@pytest.fixture(scope="module")
def walk(shared_environment, ros):
    command = [executable("karakuri"), "launch", ROOT / "launch/walk.launch.xml"]
    command += [f"{name}:={value}" for name, value in ARGUMENTS.items()]
    process = subprocess.Popen(
        [str(word) for word in command], env=shared_environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    try:
        client = ros.action(Walk, "/walker/walk")
        yield client
        client.destroy()
    finally:
        process.send_signal(signal.SIGINT)
        text, _ = process.communicate(timeout=60)
        print(text)
    wait_gone(shared_environment)


@pytest.mark.parametrize(
    "goal, walked",
    [
        ({"distance": 0.6}, (0.6, 0.0)),
        ({"distance": -0.3}, (-0.3, 0.0)),
        ({"velocity": 0.05, "duration": 4.0}, None),
        ({"velocity": -0.05, "duration": 4.0}, None),
    ],
    ids=["forward", "backward", "left", "right"],
)
def test_the_walker_of_human_size(walk, ros, goal, walked):
    message = Walk.Goal(**{name: value for name, value in goal.items() if name != "velocity"})
    message.velocity.linear.y = goal.get("velocity", 0.0)
    odometry = ros.subscribe(Odometry, "/walker/odom")
    before = odometry.wait().pose.pose.position
    handles = []

    def accepted():
        handles.append(ros.send_goal(walk, message))
        return handles[-1].accepted

    ros.wait_for(accepted, what="acceptance")
    status, result = ros.result(handles[-1], timeout=240.0)
    assert (status, result.error_code) == (GoalStatus.STATUS_SUCCEEDED, Walk.Result.NONE), result.message
    assert not result.clipped
    last = ros.subscribe(Odometry, "/walker/odom").wait().pose.pose
    if walked is None:
        walked = (0.0, result.lateral)
        assert abs(result.lateral) > 0.1 and result.lateral * goal["velocity"] > 0.0
    gone = (last.position.x - before.x, last.position.y - before.y)
    assert math.dist(gone, walked) < 0.03 and abs(last.orientation.x) + abs(last.orientation.y) < 0.05, (gone, walked)

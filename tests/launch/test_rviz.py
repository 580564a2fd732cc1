"""What the files in rviz/ ask for is there: each display's topic arrives with the display's QoS, in frames that tf knows.

rviz itself does not run here.
"""

import signal
import subprocess

import pytest
from geometry_msgs.msg import Twist
from karakuri_msgs.action import Walk
from support.leftovers import wait_gone
from support.process import ROOT, executable
from support.ros import latched
from support.rviz import displays, first_message, frames, shown, view
from tf2_msgs.msg import TFMessage

# Not the namespace that the launch files take by themselves: a view shows the robot of the namespace that its rviz2 runs in.
NAMESPACE = "/left"
LAUNCHED = {"karakuri.rviz": "pick_and_place.launch.xml", "walk.rviz": "walk.launch.xml"}


def walk_on(ros):
    """Footsteps are shown while it walks."""
    client = ros.action(Walk, f"{NAMESPACE}/walk")
    goal = Walk.Goal(velocity=Twist())
    goal.velocity.linear.x = 0.02
    ros.wait_for(lambda: ros.send_goal(client, goal).accepted, what="a walk")


@pytest.fixture(scope="module", params=LAUNCHED)
def running(shared_environment, ros, request):
    """Name of the view whose system runs."""
    command = [str(executable("karakuri")), "launch", str(ROOT / "launch" / LAUNCHED[request.param]), f"namespace:={NAMESPACE.strip('/')}"]
    process = subprocess.Popen(command, env=shared_environment, stdout=subprocess.DEVNULL, stderr=subprocess.STDOUT)
    try:
        if request.param == "walk.rviz":
            walk_on(ros)
        yield request.param
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(timeout=60)
        wait_gone(shared_environment)


@pytest.fixture(scope="module")
def known(ros, running):
    """Frames that are connected with the view's fixed frame."""
    static, moving = ros.subscribe(TFMessage, "/tf_static", latched(10)), ros.subscribe(TFMessage, "/tf", 100)

    def edges():
        return [edge for topic in (static, moving) for message in topic.messages for edge in message.transforms]

    def reached():
        found = {view(running)["Global Options"]["Fixed Frame"]}
        while more := {edge.child_frame_id for edge in edges() if edge.header.frame_id in found} - found:
            found |= more
        return found

    def is_whole():
        return moving.messages and {edge.header.frame_id for edge in edges()} <= reached()

    ros.wait_for(is_whole, what=lambda: f"a tree of frames below the fixed frame; there are {sorted({(e.header.frame_id, e.child_frame_id) for e in edges()})}")
    frames_there = reached()
    static.close()
    moving.close()
    return frames_there


def test_every_display_is_fed(ros, running, known):
    for display in shown(view(running)):
        assert frames(first_message(ros, display, NAMESPACE)) <= known, display["Name"]


def test_frames_of_the_view_are_known(running, known):
    it = view(running)
    named = [d["Reference Frame"] for d in displays(it) if "Reference Frame" in d]
    assert {*named, it["Views"]["Current"]["Target Frame"]} <= known

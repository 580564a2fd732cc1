"""Launch files side by side on one graph, and with a robot whose YAML says as little as it may."""

import signal
import subprocess
import tempfile
from contextlib import ExitStack, contextmanager

import pytest
import yaml
from control_msgs.action import FollowJointTrajectory
from karakuri_msgs.action import PickAndPlace
from karakuri_msgs.action._pick_and_place import PickAndPlace_FeedbackMessage as FeedbackMessage
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from support.arm import CONFIG, at, distance, goal, pick, turned
from support.leftovers import wait_gone
from support.process import ROOT, executable
from support.ros import latched
from tf2_msgs.msg import TFMessage


@contextmanager
def launched(environment, file, *arguments):
    """The lines of a running launch file."""
    command = [str(executable("karakuri")), "launch", str(ROOT / "launch" / file), *arguments]
    with ExitStack() as stack:
        log = stack.enter_context(tempfile.NamedTemporaryFile("w", dir=environment["KARAKURI_TEST"], suffix=".log", delete=False))
        process = subprocess.Popen(command, env=environment, stdout=log, stderr=subprocess.STDOUT)
        try:
            yield log.name
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(timeout=60)
    assert process.returncode == 0


# Eight nodes at a rate of their own: beside other tests they do not keep up.
@pytest.mark.realtime
def test_two_systems_share_a_graph(environment, ros):
    """Each has its robot's frames and its world by two arguments, and picks in frames of its own."""
    sides = ("left", "right")
    with ExitStack() as stack:
        logs = []
        for side in sides:
            # Slower than the clock: on a busy machine an arm that cannot keep its time halts by itself.
            arguments = (f"namespace:={side}", f"frame_prefix:={side}/", f"world_namespace:=/{side}", "real_time_factor:=0.1")
            logs.append(stack.enter_context(launched(environment, "pick_and_place.launch.xml", *arguments)))
        feedbacks = [ros.subscribe(FeedbackMessage, f"/{side}/pick_and_place/_action/feedback") for side in sides]
        handles = []
        for side in sides:
            client = ros.action(PickAndPlace, f"/{side}/pick_and_place")
            handles.append(ros.wait_for(lambda c=client: (h := ros.send_goal(c, pick())).accepted and h, what=f"{side}'s acceptance"))
        for feedback in feedbacks:
            feedback.wait(lambda m: m.feedback.state == "DESCEND")
        for side in sides:
            ros.subscribe(Clock, f"/{side}/clock").wait()
        assert ros.node.count_publishers("/clock") == 0
        static, moving = ros.subscribe(TFMessage, "/tf_static", latched(100)), ros.subscribe(TFMessage, "/tf", 100)

        def parents():
            found = {}
            for transform in (t for topic in (static, moving) for m in topic.messages for t in m.transforms):
                found.setdefault(transform.child_frame_id, set()).add(transform.header.frame_id)
            return found

        ros.wait_for(lambda: {f"{side}/{link}" for side in sides for link in ("base_link", "flange")} <= set(parents()), what="frames")
        assert all(len(found) == 1 for found in parents().values()), parents()
        assert parents()["left/base_link"] == parents()["right/base_link"] == {"world"}
        assert all(frame.startswith(("left/", "right/")) for frame in parents()), sorted(parents())
        for handle in handles:
            ros.finish(handle.cancel_goal_async())
    for log in logs:
        with open(log) as file:
            said = file.read()
        assert "publishers" not in said and "nobody" not in said, said
    wait_gone(environment)


def test_groups_of_the_robot_yaml_may_be_left_out(environment, ros, tmp_path):
    config = yaml.safe_load(open(CONFIG))
    del config["groups"]
    (tmp_path / "plain.yaml").write_text(yaml.safe_dump(config))
    scene = yaml.safe_load(open(ROOT / "config/scenes/pick_and_place.yaml"))
    robot = next(robot for robot in scene["robots"] if "arm6" in robot["urdf"])
    robot.update(urdf=str(ROOT / "urdf/arm6/arm6.urdf"), config=str(tmp_path / "plain.yaml"))
    (tmp_path / "scene.yaml").write_text(yaml.safe_dump(scene))
    # In lockstep: on a busy machine an arm that is commanded too late does not follow.
    arguments = (f"config:={tmp_path}/plain.yaml", f"scene:={tmp_path}/scene.yaml", "lockstep:=true")
    with launched(environment, "arm6.launch.xml", *arguments):
        states = ros.subscribe(JointState, "/arm/joint_states")
        client = ros.action(FollowJointTrajectory, "/arm/follow_joint_trajectory")
        motion = goal(turned(0.3))
        handle = ros.wait_for(lambda: (h := ros.send_goal(client, motion)).accepted and h, what="acceptance")
        status, result = ros.result(handle)
        assert result.error_code == result.SUCCESSFUL, result.error_string
        # the middleware may find this listener long after the controller
        states.clear()
        assert distance(at(states.wait()), turned(0.3)) < 0.01
    wait_gone(environment)

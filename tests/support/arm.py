"""arm6 in its cell, as launch/pick_and_place.launch.xml starts it: processes that a test can kill and start again."""

import math
from collections import Counter
from contextlib import ExitStack

from action_msgs.msg import GoalStatus
from control_msgs.action import FollowJointTrajectory
from geometry_msgs.msg import PoseStamped
from karakuri_msgs.action import PickAndPlace
from rclpy.action import ActionClient
from sensor_msgs.msg import JointState
from simulation_interfaces.srv import ResetSimulation
from support.process import ROOT, NodeProcess
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

SCENE = ROOT / "config/scenes/pick_and_place.yaml"
URDF = ROOT / "urdf/arm6/arm6.urdf"
CONFIG = ROOT / "config/arm6.yaml"
ARM = ["shoulder_yaw", "shoulder_pitch", "elbow_pitch", "wrist_pitch", "wrist_yaw", "wrist_roll"]
# Where the demonstration takes the cube from, and where it puts it.
PICK, PLACE = [0.5, -0.2, 0.775], [0.5, 0.2, 0.875]
START = [0.0, -0.4, 1.9, 0.0708, 0.0, 0.0]


def seconds(stamp):
    """A stamp in seconds."""
    return stamp.sec + stamp.nanosec * 1e-9


def nanoseconds(stamp):
    """A stamp in nanoseconds, exactly."""
    return stamp.sec * 1_000_000_000 + stamp.nanosec


def at(states, names=ARM):
    """Positions of these joints in a JointState."""
    return [states.position[states.name.index(name)] for name in names]


def moving(states):
    """The largest speed of an arm joint in a JointState. [rad/s]"""
    return max(abs(states.velocity[states.name.index(name)]) for name in ARM)


def trajectory(positions, duration=0.5, names=ARM):
    """One point, reached after `duration` seconds."""
    whole = int(duration)
    point = JointTrajectoryPoint(positions=[float(p) for p in positions])
    point.time_from_start.sec, point.time_from_start.nanosec = whole, round((duration - whole) * 1e9)
    return JointTrajectory(joint_names=list(names), points=[point])


def goal(*arguments, **fields):
    """A goal of follow_joint_trajectory; arguments as `trajectory`."""
    return FollowJointTrajectory.Goal(trajectory=trajectory(*arguments, **fields))


def turned(angle):
    """The start posture, the shoulder turned to `angle`."""
    return [angle, *START[1:]]


def pose(xyz, frame="world"):
    message = PoseStamped()
    message.header.frame_id = frame
    p = message.pose.position
    p.x, p.y, p.z = map(float, xyz)
    message.pose.orientation.w = 1.0
    return message


def pick():
    """The goal of the demonstration."""
    goal = PickAndPlace.Goal(object_pose=pose(PICK), place_pose=pose(PLACE), mass=0.2, friction=0.6)
    goal.object_size.x = goal.object_size.y = goal.object_size.z = 0.05
    goal.max_grip_force, goal.approach_height = 10.0, 0.12
    return goal


def put_back(ros):
    """Everything as at the start, once samples have come of then: nodes that have not heard of it yet still know what was in the hand."""
    states = joint_states(ros)
    before = nanoseconds(states.last.header.stamp)
    states.clear()
    assert ros.call(ResetSimulation, "/arm/sim/reset_simulation").result.result == 1
    states.wait(lambda m: nanoseconds(m.header.stamp) < max(before, 1_000_000_000))
    states.close()


def accepted(ros, client, goal, **fields):
    """The handle of a goal that is taken, at the latest when the gripper has heard its sensors after a reset."""
    return ros.wait_for(lambda: (h := ros.send_goal(client, goal, **fields)).accepted and h, what="acceptance")


def result_of(ros, kind, name, goal):
    """Status and result of a goal that is taken (see `accepted`)."""
    client = ros.action(kind, f"/arm/{name}")
    try:
        return ros.result(accepted(ros, client, goal), timeout=240.0)
    finally:
        client.destroy()


class Arm:
    """The nodes of the arm, in its namespace."""

    namespace = "/arm"

    def __init__(
        self,
        domain,
        nodes=("sim", "feedforward_controller"),
        lockstep=False,
        real_time_factor=1.0,
        hardware="sim",
        robot="arm6",
        **sim,
    ):
        urdf, config = (path.with_stem(robot) for path in (URDF, CONFIG))
        robot = {"urdf": urdf, "config": config}
        sources = "[hand/joint_trajectory]" if "gripper" in nodes else "['']"
        self.parameters = {
            "sim": {
                "scene": SCENE,
                **sim,
                "lockstep": lockstep,
                "real_time_factor": float(real_time_factor),
                "hardware": hardware,
            },
            "feedforward_controller": {**robot, "lockstep": lockstep, "lockstep_sources": sources},
            "gripper": {**robot, "lockstep": lockstep, "lockstep_sources": "[commander/seen]"},
            "state_publisher": {"urdf": urdf},
        }
        self._domain, self._names, self.nodes = domain, nodes, {}

    def start(self, name):
        """Starts a node (again)."""
        parameters = self.parameters[name]
        file = ROOT / f"config/nodes/{name}.yaml"
        self.nodes[name] = NodeProcess(self._domain, name, namespace=self.namespace, parameters=parameters, files=[file] if file.exists() else [])
        return self.nodes[name]

    def __enter__(self):
        for name in self._names:
            self.start(name)
        return self

    def __exit__(self, *reason):
        with ExitStack() as stack:
            for node in self.nodes.values():
                stack.push(node)
            stack.__exit__(*reason)


def joint_states(ros):
    """The arm's joint states, from the first one on."""
    topic = ros.subscribe(JointState, "/arm/joint_states", 1000)
    topic.wait()
    return topic


def distance(a, b):
    return max(math.fabs(x - y) for x, y in zip(a, b, strict=True))


def settle_in(ros):
    """Has the arm carry out a motion and return to the start. Until `sim` has found the controller, too, no command moves the arm,
    and a goal ends for want of that."""
    for place in (turned(0.3), START):
        carry_out(ros, place)


def carry_out(ros, positions, duration=0.5, timeout=120.0, action="/arm/follow_joint_trajectory", names=ARM):
    """Sends the motion until one answer says that it was carried out."""
    client = ActionClient(ros.node, FollowJointTrajectory, action)
    answers = Counter()

    def answer(future):
        try:
            return ros.finish(future, 2.0)
        except AssertionError:
            return None

    def result(handle):
        for _ in range(30):
            if response := answer(handle.get_result_async()):
                return response
        return None

    def outcome():
        if not client.server_is_ready():
            return "no server"
        handle = answer(client.send_goal_async(goal(positions, duration, names)))
        if handle is None:
            return "no answer to the goal"
        if not handle.accepted:
            return "refused"
        response = result(handle)
        if response is None:
            return "no result"
        return "carried out" if response.status == GoalStatus.STATUS_SUCCEEDED else response.result.error_string

    def attempt():
        answers[last := outcome()] += 1
        return last == "carried out"

    ros.wait_for(attempt, timeout, lambda: f"the motion to be carried out; answers were {dict(answers)}")
    client.destroy()

"""Objects on the table of arm6's cell, and a client that has them put on the shelf."""

import dataclasses
import math
import time

import rclpy
from action_msgs.msg import GoalStatus
from geometry_msgs.msg import PoseStamped
from karakuri_msgs.action import PickAndPlace
from karakuri_msgs.msg import GripState, ObjectStates
from rclpy.action import ActionClient
from rclpy.node import Node
from sensor_msgs.msg import JointState
from simulation_interfaces.msg import EntityState, SimulationState
from simulation_interfaces.srv import ResetSimulation, SetEntityState, SetSimulationState

from common import interrupt
from common.report import Failed
from common.system import System

FRICTION = 0.6
TABLE, SHELF = (0.5, -0.2, 0.75), (0.5, 0.2, 0.85)
PLACED_WITHIN, TURNED_WITHIN = 0.005, math.radians(3)  # [m], [rad]
START_UP, PATIENCE = 60.0, 120.0  # [s] of wall time: for all nodes to appear, for one object
FIRST = 0.01  # [s] the first sample of a simulation is stamped earlier
LIFTED = 0.05  # [m] above the table, less than half of the height to which it is lifted
NOTICED = 0.2  # [s] in which a hand notices that it carries nothing any more
COLORS = [[0.85, 0.16, 0.16], [0.93, 0.60, 0.15], [0.25, 0.60, 0.30], [0.20, 0.45, 0.75], [0.55, 0.35, 0.70]]


@dataclasses.dataclass(frozen=True)
class Thing:
    """An object, and what a goal says of it."""

    shape: str  # of the goal
    size: tuple  # edges of its box along its own axes, as the goal says [m]
    mass: float  # as it is [kg]
    lies: bool = False
    friction: float = FRICTION  # of its surface, as it is [-]
    scale: float = 1.0  # its true edges by those of the goal [-]
    stated_mass: float | None = None  # where the goal says another [kg]
    stated_friction: float = FRICTION
    at: tuple = TABLE[:2]  # where it is on the table [m]
    yaw: float = 0.0  # [rad]
    place_yaw: float = 0.0
    moved: tuple = (0.0, 0.0)  # where it is beside what the goal says [m]

    @property
    def rolls(self):
        return self.lies or self.shape == "ball"

    @property
    def true_size(self):
        return tuple(edge * self.scale for edge in self.size)

    @property
    def height(self):
        """As the goal says. [m]"""
        return self.size[0 if self.lies else 2]

    def described(self):
        """Its shape as scenes describe it."""
        x, y, z = self.true_size
        return {
            "box": {"box": [x, y, z]},
            "ball": {"sphere": {"radius": x / 2}},
            "cylinder": {"cylinder": {"radius": x / 2, "length": z}},
            "capsule": {"capsule": {"radius": x / 2, "length": z - x}},
            "cone": {"cone": {"radius": x / 2, "length": z}},
        }[self.shape]

    def centre_of_mass(self):
        """Height of its centre of mass above its support. [m]"""
        height = self.height * self.scale
        return height / 4 if self.shape == "cone" else height / 2

    def orientation(self, yaw):
        """Quaternion (w, x, y, z) at a yaw, standing or lying: then its z is turned to x."""
        c, s = math.cos(yaw / 2), math.sin(yaw / 2)
        if not self.lies:
            return c, 0.0, 0.0, s
        half = math.sqrt(0.5)
        return half * c, -half * s, half * c, half * s

    def goal(self):
        """Goal that puts it on the shelf."""
        mass = self.mass if self.stated_mass is None else self.stated_mass
        goal = PickAndPlace.Goal(shape=self.shape, mass=mass, friction=self.stated_friction, approach_height=0.12)
        goal.object_size.x, goal.object_size.y, goal.object_size.z = self.size
        goal.object_pose, goal.place_pose = PoseStamped(), PoseStamped()
        for message, (x, y, top), yaw in ((goal.object_pose, (*self.at, TABLE[2]), self.yaw), (goal.place_pose, SHELF, self.place_yaw)):
            message.header.frame_id = "world"
            fill(message.pose, (x, y, top + self.height / 2), self.orientation(yaw))
        return goal


def in_rows(things):
    """The objects as bodies of a scene, in rows beside the table."""
    return [
        {
            "name": name, "shape": thing.described(), "mass": thing.mass, "friction": thing.friction,
            "pose": {"xyz": [-1.0 - 0.4 * (number // 5), -0.8 + 0.4 * (number % 5), dataclasses.replace(thing, lies=False).centre_of_mass()]},
            "color": COLORS[number % 5],
        }
        for number, (name, thing) in enumerate(things.items())
    ]  # fmt: skip


class Client(Node):
    """What a user's program would have."""

    def __init__(self, things):
        # One for each hand: of an equal name the log would complain.
        super().__init__("placing", enable_rosout=False)
        self.things = things
        self.pick = ActionClient(self, PickAndPlace, "/arm/pick_and_place")
        self.reset = self.create_client(ResetSimulation, "/arm/sim/reset_simulation")
        self.put = self.create_client(SetEntityState, "/arm/sim/set_entity_state")
        self.set_state = self.create_client(SetSimulationState, "/arm/sim/set_simulation_state")
        self.objects, self.joints, self.stage = {}, None, ""
        self.heard = None  # stamp of the gripper's last state [s]
        # The object that is carried, its pose when it was lowered last, and since when it is down though the hand says it carries it. [s]
        self.carried, self.lowered, self.down, self.dropped = "", None, None, False
        self.carries = False
        self.ears = [
            self.create_subscription(ObjectStates, "/objects", self.on_objects, 1),
            self.create_subscription(JointState, "/arm/joint_states", self.on_joints, 1),
            self.create_subscription(GripState, "/arm/grip_state", self.on_grip, 1),
        ]

    def is_ready(self):
        there = self.pick.server_is_ready() and all(s.service_is_ready() for s in [self.reset, self.put, self.set_state])
        return there and self.objects and self.joints is not None

    def on_objects(self, message):
        self.objects = {o.name: o.pose for o in message.objects}
        now = seconds(message)
        carried = self.objects.get(self.carried)
        is_down = self.carries and self.stage == "MOVE" and carried is not None and carried.position.z < TABLE[2] + LIFTED
        self.down = (self.down or now) if is_down else None
        self.dropped |= is_down and now - self.down > NOTICED

    def on_grip(self, message):
        self.carries = not math.isnan(message.margin)
        self.heard = seconds(message)

    def take(self, name):
        """Begins with an object."""
        self.carried, self.stage, self.lowered, self.dropped = name, "", None, False

    def on_joints(self, message):
        self.joints = message

    def on_feedback(self, message):
        self.stage = message.feedback.state
        if self.stage == "LOWER":
            self.lowered = self.objects[self.carried]

    def snapshot(self):
        """Joints and objects now, as a row of a trace."""
        row = {f"arm.{name}.q [rad]": value for name, value in zip(self.joints.name, self.joints.position)}
        for name, pose in self.objects.items():
            x, y, z = position(pose)
            q = pose.orientation
            if name in self.things and self.things[name].shape == "cone":
                # A trace has the centre of mass; a quarter of the height is the way to the middle, along the axis.
                down = self.things[name].true_size[2] / 4
                x -= down * 2 * (q.x * q.z + q.w * q.y)
                y -= down * 2 * (q.y * q.z - q.w * q.x)
                z -= down * (1 - 2 * (q.x**2 + q.y**2))
            row.update({f"{name}.x [m]": x, f"{name}.y [m]": y, f"{name}.z [m]": z})
            row.update({f"{name}.qx [-]": q.x, f"{name}.qy [-]": q.y, f"{name}.qz [-]": q.z, f"{name}.qw [-]": q.w})
        return row


def seconds(message):
    """Stamp of a message. [s]"""
    return message.header.stamp.sec + message.header.stamp.nanosec * 1e-9


def spin_until(client, done, patience, what):
    end = time.monotonic() + patience
    while not done():
        with interrupt.wait():
            rclpy.spin_once(client, timeout_sec=0.05)
        System.running.check()
        if time.monotonic() > end:
            raise Failed(f"{what} took longer than {patience:.0f} s")


def call(client, service, request, what):
    future = service.call_async(request)
    spin_until(client, future.done, 20.0, what)
    result = future.result().result
    if result.result != 1:
        raise Failed(f"{what}: {result.error_message}")


def set_state(client, state, what):
    call(client, client.set_state, SetSimulationState.Request(state=SimulationState(state=state)), what)


def carry(client, name):
    """What came of one object, and what a picture of it shows."""
    thing = client.things[name]
    # A goal that the gripper took before it has seen the reset would end with that; time stands still so that its stamp tells.
    spin_until(client, lambda: client.heard is not None and client.heard > FIRST, 20.0, "hearing of the gripper")
    set_state(client, SimulationState.STATE_PAUSED, "pausing the simulation")
    call(client, client.reset, ResetSimulation.Request(), "the reset")
    spin_until(client, lambda: client.heard <= FIRST, 20.0, "the gripper's state after the reset")
    goal = thing.goal()
    where = (thing.at[0] + thing.moved[0], thing.at[1] + thing.moved[1], TABLE[2] + thing.centre_of_mass())
    state = EntityState()
    state.header.frame_id = "world"
    fill(state.pose, where, thing.orientation(thing.yaw))
    call(client, client.put, SetEntityState.Request(entity=name, state=state), f"putting the {name} on the table")
    set_state(client, SimulationState.STATE_PLAYING, "letting the simulation go on")
    # The object must be seen where it is now; a gripper that has not seen the reset yet refuses, too.
    middle = (*where[:2], TABLE[2] + thing.height * thing.scale / 2)
    there = lambda: math.dist(position(client.objects[name]), middle) < 1e-3
    spin_until(client, there, 20.0, f"seeing the {name} on the table")
    picture = client.snapshot()
    client.take(name)
    handle = accepted(client, goal)
    result = handle.get_result_async()
    spin_until(client, lambda: result.done() or client.stage == "MOVE", PATIENCE, f"taking the {name}")
    if not result.done():
        picture = client.snapshot()
    spin_until(client, result.done, PATIENCE, f"placing the {name}")
    outcome, status = result.result().result, result.result().status
    code = next(code for code in CODES if getattr(PickAndPlace.Result, code) == outcome.error_code)
    refused = status == GoalStatus.STATUS_ABORTED and outcome.elapsed == 0
    run = {"outcome": "placed" if outcome.success else "refused" if refused else code, "message": outcome.message, "state": outcome.state,
           "elapsed_s": outcome.elapsed, "dropped": client.dropped}  # fmt: skip
    if outcome.success:
        # What is round may roll on when it is let go of.
        there = client.lowered if thing.rolls and client.lowered else client.objects[name]
        run.update(off(there, goal.place_pose.pose), rolls=thing.rolls)
    return run, picture


CODES = [name for name in dir(PickAndPlace.Result) if name.isupper() and isinstance(getattr(PickAndPlace.Result, name), int)]


def accepted(client, goal):
    """The goal's handle; the gripper takes it as soon as it has seen the reset."""
    end = time.monotonic() + 10.0
    while True:
        sent = client.pick.send_goal_async(goal, feedback_callback=client.on_feedback)
        spin_until(client, sent.done, 20.0, "sending the goal")
        if sent.result().accepted:
            return sent.result()
        if time.monotonic() > end:
            raise Failed("the gripper refuses the goal; its log says why")
        time.sleep(0.2)


def off(pose, target):
    """How far a pose is from a place [m], and turned from it [rad]."""
    a, b = pose.orientation, target.orientation
    turn = 2 * math.acos(min(1.0, abs(a.w * b.w + a.x * b.x + a.y * b.y + a.z * b.z)))
    return {"placed_off_m": math.dist(position(pose)[:2], position(target)[:2]), "turned_rad": turn}


def fill(pose, xyz, wxyz):
    pose.position.x, pose.position.y, pose.position.z = map(float, xyz)
    q = pose.orientation
    q.w, q.x, q.y, q.z = map(float, wxyz)


def position(pose):
    p = pose.position
    return p.x, p.y, p.z

"""The planning scene of MoveIt follows what is seen: a stand-in keeps the scene by MoveIt's rules, and refuses what it would refuse."""

import math

import pytest
from action_msgs.msg import GoalStatus
from diagnostic_msgs.msg import DiagnosticArray
from karakuri_msgs.action import PickAndPlace
from karakuri_msgs.msg import ObjectStates
from moveit_msgs.msg import CollisionObject
from moveit_msgs.srv import ApplyPlanningScene
from shape_msgs.msg import SolidPrimitive
from simulation_interfaces.srv import DeleteEntity, SpawnEntity
from support.arm import CONFIG, PLACE, URDF, Arm, pick, put_back, result_of
from support.process import NodeProcess

NODES = ("sim", "state_publisher", "feedforward_controller", "gripper")
BASE_HEIGHT = 0.75
"""Of arm6's base above the ground: MoveIt has its base for the origin. [m]"""


class MoveIt:
    """A planning scene: objects of the world and of the robot, by name."""

    def __init__(self, ros):
        self.ros, self.world, self.attached, self.refuses, self.log, self.wrong = ros, {}, {}, False, [], []
        self.service = ros.node.create_service(ApplyPlanningScene, "/apply_planning_scene", self.apply)
        self.moves = ros.node.create_subscription(CollisionObject, "/collision_object", self.take, 1000)

    def close(self):
        self.ros.node.destroy_service(self.service)
        self.ros.node.destroy_subscription(self.moves)

    def apply(self, request, response):
        scene = request.scene
        if self.refuses:
            response.success = False
            return response
        if not (scene.is_diff and scene.robot_state.is_diff):
            self.wrong.append("a whole scene would replace MoveIt's")
        for held in scene.robot_state.attached_collision_objects:
            self.attach(held)
        for object_ in scene.world.collision_objects:
            self.take(object_)
        response.success = True
        return response

    def attach(self, held):
        name = held.object.id
        self.log.append((("attach", "detach")[held.object.operation[0]], name))
        if held.object.operation == CollisionObject.REMOVE:
            if name in self.attached:
                self.world[name] = self.attached.pop(name)[0]
            else:
                self.wrong.append(f"{name} is not attached")
        elif name in self.world and not held.object.primitives:
            self.attached[name] = (self.world.pop(name), held.link_name, held.touch_links)
        else:
            self.wrong.append(f"{name} is not in the world, or attached with a shape of its own")

    def take(self, message):
        name, operation = message.id, message.operation
        self.log.append((("add", "remove", "append", "move")[operation[0]], name))
        if message.header.frame_id != "base_link":
            self.wrong.append(f"{name} is in {message.header.frame_id!r}")
        if operation == CollisionObject.ADD and message.primitives:
            self.world[name] = message
        elif operation == CollisionObject.REMOVE:
            if self.world.pop(name, None) is None:
                self.wrong.append(f"{name} is not in the world")
        elif operation == CollisionObject.MOVE and name in self.world and not message.primitives:
            self.world[name].pose = message.pose
        else:
            self.wrong.append(f"{operation} of {name}: a move of what is not there or with a shape, or one without a shape")

    def position(self, name):
        p = self.world[name].pose.position
        return p.x, p.y, p.z


@pytest.fixture(scope="module")
def arm(domain):
    with Arm(domain, nodes=NODES, lockstep=True) as arm:
        yield arm


@pytest.fixture
def node(arm, domain):
    with NodeProcess(domain, "planning_scene", namespace="/arm", parameters={"urdf": URDF, "config": CONFIG}) as node:
        yield node


@pytest.fixture
def moveit(ros):
    moveit = MoveIt(ros)
    yield moveit
    moveit.close()


def in_base(position):
    return position[0], position[1], position[2] - BASE_HEIGHT


def seen(ros):
    """What the simulation says of its objects, once, by name."""
    topic = ros.subscribe(ObjectStates, "/objects", 10)
    message = topic.wait()
    topic.close()
    return {o.name: o for o in message.objects}


def test_the_cube_is_attached_while_it_is_carried(node, moveit, ros):
    put_back(ros)
    objects = seen(ros)
    ros.wait_for(lambda: set(moveit.world) == set(objects), what=lambda: f"all of {set(objects)} in {set(moveit.world)}")
    cube = moveit.world["cube"].primitives[0]
    assert (cube.type, list(cube.dimensions)) == (SolidPrimitive.BOX, [0.05] * 3)
    for name, object_ in objects.items():
        p = object_.pose.position
        assert math.dist(moveit.position(name), in_base((p.x, p.y, p.z))) < 1.5e-3, name
    moveit.log.clear()
    status, result = result_of(ros, PickAndPlace, "pick_and_place", pick())
    assert status == GoalStatus.STATUS_SUCCEEDED and result.success, result.message
    # At the end it is where it was put, as the simulation says.
    ros.wait_for(
        lambda: "cube" in moveit.world and math.dist(moveit.position("cube"), in_base(PLACE)) < 0.005,
        what=lambda: f"the cube at its place: {moveit.log}",
    )
    cube = seen(ros)["cube"].pose.position
    assert math.dist(moveit.position("cube"), in_base((cube.x, cube.y, cube.z))) < 1.5e-3
    assert moveit.wrong == []
    # Nothing but the cube changed; between attached and detached it was not sent.
    assert {name for _, name in moveit.log} == {"cube"}
    kinds = [kind for kind, _ in moveit.log]
    assert kinds.count("attach") == kinds.count("detach") == 1
    assert kinds.index("detach") == kinds.index("attach") + 1


def test_the_hand_may_touch_what_it_holds(node, moveit, ros):
    put_back(ros)
    ros.wait_for(lambda: "cube" in moveit.world, what="the cube")
    client = ros.action(PickAndPlace, "/arm/pick_and_place")
    handle = ros.wait_for(lambda: (h := ros.send_goal(client, pick())).accepted and h, what="acceptance")
    _, link, touch_links = ros.wait_for(lambda: moveit.attached.get("cube"), what="the cube in the hand")
    assert link == "tool"
    assert {"wrist_3_link", "palm", "left_pad", "right_pad", "left_jaw"} <= set(touch_links)
    assert not {"base_link", "upper_arm_link", "wrist_2_link"} & set(touch_links)
    ros.result(handle, timeout=240.0)
    client.destroy()


def test_what_is_spawned_and_deleted_comes_and_goes(node, moveit, ros):
    put_back(ros)
    ros.wait_for(lambda: "cube" in moveit.world, what="the cube")
    can = """<robot name="can"><link name="can"><inertial><mass value="0.1"/>
      <inertia ixx="1e-4" iyy="1e-4" izz="1e-4" ixy="0" ixz="0" iyz="0"/></inertial>
      <collision><geometry><cylinder radius="0.03" length="0.1"/></geometry></collision></link></robot>"""
    spawn = SpawnEntity.Request(name="can", resource_string=can)
    spawn.initial_pose.pose.position.x, spawn.initial_pose.pose.position.z = 0.6, 0.81
    spawn.initial_pose.pose.orientation.w = 1.0
    answer = ros.finish(ros.client(SpawnEntity, "/arm/sim/spawn_entity").call_async(spawn))
    assert answer.result.result == 1, answer.result.error_message
    ros.wait_for(lambda: "can" in moveit.world, what="the can")
    can = moveit.world["can"].primitives[0]
    assert (can.type, list(can.dimensions)) == (SolidPrimitive.CYLINDER, pytest.approx([0.1, 0.03]))
    assert ros.call(DeleteEntity, "/arm/sim/delete_entity", entity="can").result.result == 1
    ros.wait_for(lambda: "can" not in moveit.world, what="the can to go")
    assert moveit.wrong == []


def test_a_moveit_that_comes_later_or_refuses_gets_all(node, ros):
    """Started after the node, refusing at first, then another one: each has the whole scene in the end."""
    diagnostics = ros.subscribe(DiagnosticArray, "/diagnostics", 100)
    diagnostics.wait(lambda m: any("MoveIt is not there" in s.message for s in m.status))
    diagnostics.close()
    for _ in range(2):
        moveit = MoveIt(ros)
        moveit.refuses = True
        ros.wait_for(lambda: "did not apply it" in node.output(), what="a refusal")
        moveit.refuses = False
        ros.wait_for(lambda: "cube" in moveit.world, what="the cube")  # noqa: B023
        assert moveit.wrong == []
        moveit.close()
        ros.spin_for(1.0)


def test_a_robot_without_a_hand_is_refused(domain):
    three_links = URDF.parents[1] / "three_links/three_links.urdf"
    with NodeProcess(domain, "planning_scene", namespace="/bare", parameters={"urdf": three_links}) as node:
        assert node.wait() == 1
        assert "has no `end_effector`" in node.output()

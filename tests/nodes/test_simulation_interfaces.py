"""Calls that the texts of simulation_interfaces allow or forbid, each with the result that they ask for.

Codes and their meaning: comments of the .msg, .srv and .action files of simulation_interfaces 1.1. What the simulation does not
offer is named by its features, and by RESULT_FEATURE_UNSUPPORTED where a request asks for it.
"""

import math

import pytest
from action_msgs.msg import GoalStatus
from geometry_msgs.msg import Vector3
from rclpy.action import ActionClient
from simulation_interfaces.action import SimulateSteps
from simulation_interfaces.msg import Bounds, EntityCategory, EntityFilters, EntityState, SimulationState, TagsFilter
from simulation_interfaces.srv import (
    DeleteEntity,
    GetEntities,
    GetEntitiesStates,
    GetEntityInfo,
    GetEntityState,
    GetSimulationState,
    GetSimulatorFeatures,
    ResetSimulation,
    SetEntityState,
    SetSimulationState,
    SpawnEntity,
    StepSimulation,
)
from support.arm import URDF, Arm, joint_states

UNSUPPORTED, OK, NOT_FOUND, FAILED = 0, 1, 2, 4
STOPPED, PLAYING, PAUSED = 0, 1, 2
ALREADY = 101  # SetSimulationState
POSE = 101  # SetEntityState
TAKEN, NAME, FORMAT, RESOURCE, NAMESPACE, PARSE, MISSING, ASSETS, SPAWN_POSE = range(101, 110)

INERTIAL = '<inertial><mass value="0.1"/><inertia ixx="4e-5" iyy="4e-5" izz="4e-5" ixy="0" ixz="0" iyz="0"/></inertial>'


def link(shape):
    return f'<robot name="ball 7"><link name="l">{INERTIAL}<collision><geometry>{shape}</geometry></collision></link></robot>'


BALL = link('<sphere radius="0.03"/>')
FILTERS = EntityFilters
NAN = float("nan")


@pytest.fixture(scope="module")
def sim(domain, ros):
    with Arm(domain, nodes=("sim", "state_publisher"), real_time_factor=1.0) as arm:
        joint_states(ros).close()
        yield arm.nodes["sim"]


@pytest.fixture
def at_start(sim, ros):
    """Paused, everything in its place, nothing spawned."""
    call(ros, SetSimulationState, state=SimulationState(state=PAUSED))
    assert call(ros, ResetSimulation).result.result == OK


def call(ros, kind, **fields):
    name = "".join(f"_{c.lower()}" if c.isupper() else c for c in kind.__name__).lstrip("_")
    return ros.call(kind, f"/arm/sim/{name}", **fields)


def check(answer, expected, words=""):
    result = answer.result
    assert result.result == expected, f"{result.result}, not {expected}: {result.error_message}"
    assert (result.result == OK) == (result.error_message == ""), "a reason, and only for what failed"
    assert words in result.error_message, result.error_message


def spawn(ros, frame="", position=(0.0, 0.0, 2.0), quaternion=(0.0, 0.0, 0.0, 1.0), **fields):
    request = SpawnEntity.Request(**fields)
    request.initial_pose.header.frame_id = frame
    p, q = request.initial_pose.pose.position, request.initial_pose.pose.orientation
    (p.x, p.y, p.z), (q.x, q.y, q.z, q.w) = position, quaternion
    return ros.finish(ros.client(SpawnEntity, "/arm/sim/spawn_entity").call_async(request))


def state(frame="", position=(1.0, 0.0, 0.0), w=1.0, linear=(0.0, 0.0, 0.0)):
    message = EntityState()
    message.header.frame_id = frame
    p, v = message.pose.position, message.twist.linear
    (p.x, p.y, p.z), (v.x, v.y, v.z) = position, linear
    message.pose.orientation.w = w
    return message


def place_of(ros, entity):
    answer = call(ros, GetEntityState, entity=entity)
    check(answer, OK)
    p = answer.state.pose.position
    return [p.x, p.y, p.z]


SPAWNS = [
    ("text", dict(name="a", resource_string=BALL), OK, ""),
    ("name of the URDF, fit for topics", dict(resource_string=BALL), OK, ""),
    ("no resource", dict(name="a"), RESOURCE, "both `uri` and `resource_string` are empty"),
    ("missing file", dict(name="a", uri="/none.urdf"), RESOURCE, "none.urdf"),
    ("missing package", dict(name="a", uri="package://no_such_package/a.urdf"), RESOURCE, "no_such_package"),
    ("file of a package", dict(name="a", uri="package://karakuri/urdf/arm6/arm6.urdf"), OK, ""),
    ("file that is nobody's business", dict(name="a", uri="/etc/passwd"), RESOURCE, "model_folders"),
    ("the same by file://", dict(name="a", uri="file:///etc/passwd"), RESOURCE, "model_folders"),
    ("unknown scheme", dict(name="a", uri="http://x/a.urdf"), RESOURCE, ""),
    ("SDF by its text", dict(name="a", resource_string="<sdf version='1.9'/>"), FORMAT, "SDF"),
    ("MJCF by its text", dict(name="a", resource_string="<mujoco model='a'/>"), FORMAT, "MJCF"),
    ("USD by its text", dict(name="a", resource_string="#usda 1.0\n"), FORMAT, "USD"),
    ("SDF by its name", dict(name="a", uri="/models/a.sdf"), FORMAT, ".sdf"),
    ("MJCF by its name", dict(name="a", uri="/models/a.mjcf"), FORMAT, ".mjcf"),
    ("USD by its name", dict(name="a", uri="/models/a.usdz"), FORMAT, ".usdz"),
    ("other XML", dict(name="a", resource_string="<html/>"), FORMAT, "root element"),
    ("other text", dict(name="a", resource_string="root:x:0:0"), FORMAT, "no <robot>"),
    ("broken URDF", dict(name="a", resource_string="<robot"), PARSE, "XML"),
    ("URDF without links", dict(name="a", resource_string="<robot name='x'/>"), PARSE, "link"),
    ("missing mesh", dict(name="a", resource_string=link('<mesh filename="/no/such.stl"/>')), MISSING, "such.stl"),
    ("missing mesh of a package", dict(name="a", resource_string=link('<mesh filename="package://no_such/a.stl"/>')), MISSING, "no_such"),
    ("mesh that is none", dict(name="a", resource_string=link(f'<mesh filename="{URDF}"/>')), ASSETS, "arm6.urdf"),
    ("digit first", dict(name="1bad", resource_string=BALL), NAME, "`1bad`"),
    ("space and slash", dict(name="a b/c", resource_string=BALL), NAME, "letters, digits"),
    ("namespace", dict(name="a", entity_namespace="/fleet/one", resource_string=BALL), OK, ""),
    ("namespace with a digit first", dict(name="a", entity_namespace="1bad", resource_string=BALL), NAMESPACE, "`1bad`"),
    ("namespace with a space", dict(name="a", entity_namespace="a b/c", resource_string=BALL), NAMESPACE, "letters, digits"),
    ("taken", dict(name="cube", resource_string=BALL), TAKEN, "`cube`"),
    ("taken, may be renamed", dict(name="cube", allow_renaming=True, resource_string=BALL), OK, ""),
    ("world", dict(name="a", frame="world", resource_string=BALL), OK, ""),
    ("frame of an entity", dict(name="a", frame="cube", resource_string=BALL), OK, ""),
    ("frame of a link", dict(name="a", frame="arm/tool", resource_string=BALL), OK, ""),
    ("unknown frame", dict(name="a", frame="nowhere", resource_string=BALL), SPAWN_POSE, "`nowhere`"),
    ("no number", dict(name="a", position=(NAN, 0.0, 0.0), resource_string=BALL), SPAWN_POSE, "not finite"),
    ("no rotation", dict(name="a", quaternion=(0.0, 0.0, 0.0, 0.0), resource_string=BALL), SPAWN_POSE, "quaternion"),
]


@pytest.mark.parametrize(("fields", "expected", "words"), [row[1:] for row in SPAWNS], ids=[row[0] for row in SPAWNS])
def test_spawn_entity(at_start, ros, fields, expected, words):
    answer = spawn(ros, **fields)
    check(answer, expected, words)
    assert "root:" not in answer.result.error_message.replace("root:x:0:0", ""), "no file is quoted"
    assert (answer.entity_name != "") == (expected == OK)
    if expected == OK:
        assert answer.entity_name in call(ros, GetEntities).entities


def test_the_spawned_name_is_that_of_the_urdf(at_start, ros):
    assert spawn(ros, resource_string=BALL).entity_name == "ball_7"


def test_poses_are_in_their_frame(at_start, ros):
    cube = place_of(ros, "cube")
    check(spawn(ros, name="a", frame="cube", position=(0.0, 0.0, 1.0), resource_string=BALL), OK)
    assert place_of(ros, "a") == pytest.approx([cube[0], cube[1], cube[2] + 1.0], abs=1e-9)
    check(call(ros, SetEntityState, entity="a", state=state("cube", (0.0, 0.5, 0.0))), OK)
    assert place_of(ros, "a") == pytest.approx([cube[0], cube[1] + 0.5, cube[2]], abs=1e-9)
    # Turned by 90 degrees about z: forward of that frame is the world's left.
    turned = state("", (0.0, 0.0, 3.0))
    turned.pose.orientation.z = turned.pose.orientation.w = math.sqrt(0.5)
    check(call(ros, SetEntityState, entity="cube", state=turned), OK)
    check(call(ros, SetEntityState, entity="a", state=state("cube", (1.0, 0.0, 0.0), linear=(0.2, 0.0, 0.0))), OK)
    answer = call(ros, GetEntityState, entity="a").state
    assert place_of(ros, "a") == pytest.approx([0.0, 1.0, 3.0], abs=1e-9)
    assert answer.twist.linear.y == pytest.approx(0.2) and answer.header.frame_id == "world"


STATES = [
    ("unknown entity", "nobody", state(), NOT_FOUND, "nobody"),
    ("empty name", "", state(), NOT_FOUND, "no entity"),
    ("world", "cube", state("world"), OK, ""),
    ("link of the robot", "cube", state("arm/tool"), OK, ""),
    ("link alone", "cube", state("tool"), OK, ""),
    ("unknown frame", "cube", state("nowhere"), POSE, "`nowhere`"),
    ("unknown link", "cube", state("arm/nothing"), POSE, "`arm/nothing`"),
    ("no number", "cube", state(position=(NAN, 0.0, 0.0)), POSE, "not finite"),
    ("no rotation", "cube", state(w=0.0), POSE, "quaternion"),
    ("no number in the twist", "cube", state(linear=(NAN, 0.0, 0.0)), POSE, "not finite"),
    ("static body", "table", state(position=(0.5, 0.0, 0.5)), OK, ""),
    ("static body that is to move", "table", state(linear=(0.1, 0.0, 0.0)), FAILED, "static"),
    ("robot of the scene", "arm", state(), FAILED, "cannot be moved"),
]


@pytest.mark.parametrize(("entity", "requested", "expected", "words"), [row[1:] for row in STATES], ids=[row[0] for row in STATES])
def test_set_entity_state(at_start, ros, entity, requested, expected, words):
    check(call(ros, SetEntityState, entity=entity, state=requested), expected, words)


def bounds(kind, *points):
    return Bounds(type=kind, points=[Vector3(x=x, y=y, z=z) for x, y, z in points])


ENTITIES = [
    ("all", FILTERS(), OK, {"arm", "cube", "table"}, set()),
    ("pattern", FILTERS(filter="^cu"), OK, {"cube"}, {"arm", "table"}),
    ("broken pattern", FILTERS(filter="("), FAILED, set(), set()),
    ("robots", FILTERS(categories=[EntityCategory(category=EntityCategory.CATEGORY_ROBOT)]), OK, {"arm"}, {"cube"}),
    ("static objects", FILTERS(categories=[EntityCategory(category=EntityCategory.CATEGORY_STATIC_OBJECT)]), OK, {"table"}, {"cube", "arm"}),
    ("humans", FILTERS(categories=[EntityCategory(category=EntityCategory.CATEGORY_HUMAN)]), OK, set(), {"cube", "arm"}),
    ("sphere", FILTERS(bounds=bounds(Bounds.TYPE_SPHERE, (0.5, -0.2, 0.775), (0.1, 0.0, 0.0))), OK, {"cube"}, {"arm"}),
    ("sphere far away", FILTERS(bounds=bounds(Bounds.TYPE_SPHERE, (50.0, 0.0, 0.0), (1.0, 0.0, 0.0))), OK, set(), {"cube", "arm"}),
    ("sphere of one point", FILTERS(bounds=bounds(Bounds.TYPE_SPHERE, (0.0, 0.0, 0.0))), FAILED, set(), set()),
    ("sphere of negative radius", FILTERS(bounds=bounds(Bounds.TYPE_SPHERE, (0.0, 0.0, 0.0), (-1.0, 0.0, 0.0))), FAILED, set(), set()),
    ("box", FILTERS(bounds=bounds(Bounds.TYPE_BOX, (0.0, 0.0, 0.0), (1.0, 1.0, 1.0))), UNSUPPORTED, set(), set()),
    ("convex hull", FILTERS(bounds=bounds(Bounds.TYPE_CONVEX_HULL, (0.0, 0.0, 0.0))), UNSUPPORTED, set(), set()),
    ("tags", FILTERS(tags=TagsFilter(tags=["red"])), UNSUPPORTED, set(), set()),
]


@pytest.mark.parametrize(("filters", "expected", "there", "absent"), [row[1:] for row in ENTITIES], ids=[row[0] for row in ENTITIES])
def test_filters(at_start, ros, filters, expected, there, absent):
    answer = call(ros, GetEntities, filters=filters)
    check(answer, expected)
    assert there <= set(answer.entities) and not absent & set(answer.entities)
    states = call(ros, GetEntitiesStates, filters=filters)
    check(states, expected)
    assert states.entities == answer.entities and len(states.states) == len(states.entities)


# From a state to another, and what comes of it.
TRANSITIONS = [
    (PAUSED, PLAYING, OK, PLAYING),
    (PAUSED, PAUSED, ALREADY, PAUSED),
    (PAUSED, STOPPED, OK, STOPPED),
    (PLAYING, PLAYING, ALREADY, PLAYING),
    (PLAYING, PAUSED, OK, PAUSED),
    (PLAYING, STOPPED, OK, STOPPED),
    (STOPPED, STOPPED, ALREADY, STOPPED),
    (STOPPED, PLAYING, OK, PLAYING),
    (STOPPED, PAUSED, OK, PAUSED),
    (PAUSED, 4, 103, PAUSED),
    (PAUSED, 5, 103, PAUSED),
    (PAUSED, 77, 103, PAUSED),
]


@pytest.mark.parametrize(("before", "requested", "expected", "after"), TRANSITIONS)
def test_set_simulation_state(at_start, ros, before, requested, expected, after):
    if before != PAUSED:
        check(call(ros, SetSimulationState, state=SimulationState(state=before)), OK)
    check(call(ros, SetSimulationState, state=SimulationState(state=requested)), expected)
    assert call(ros, GetSimulationState).state.state == after


RESETS = [(scope, OK) for scope in (0, 1, 2, 3, 4, 5, 6, 7, 255)] + [(8, UNSUPPORTED), (12, UNSUPPORTED), (128, UNSUPPORTED)]


@pytest.mark.parametrize(("scope", "expected"), RESETS)
def test_reset_simulation(at_start, ros, scope, expected):
    check(spawn(ros, name="a", resource_string=BALL), OK)
    check(call(ros, ResetSimulation, scope=scope), expected)
    gone = expected == OK and (scope in (0, 255) or bool(scope & ResetSimulation.Request.SCOPE_SPAWNED))
    assert ("a" not in call(ros, GetEntities).entities) == gone


def test_steps(at_start, ros):
    check(call(ros, StepSimulation, steps=0), OK)
    check(call(ros, StepSimulation, steps=3), OK)
    assert call(ros, GetSimulationState).state.state == PAUSED
    check(call(ros, SetSimulationState, state=SimulationState(state=STOPPED)), OK)
    check(call(ros, StepSimulation, steps=1), OK)
    assert call(ros, GetSimulationState).state.state == PAUSED, "it is no longer at the start"
    check(call(ros, SetSimulationState, state=SimulationState(state=PLAYING)), OK)
    check(call(ros, StepSimulation, steps=1), FAILED, "pause it")


def test_steps_by_action(at_start, ros):
    client = ActionClient(ros.node, SimulateSteps, "/arm/sim/simulate_steps")
    assert client.wait_for_server(timeout_sec=10)

    def run(steps):
        goal = ros.finish(client.send_goal_async(SimulateSteps.Goal(steps=steps)))
        assert goal.accepted
        return ros.finish(goal.get_result_async())

    answer = run(5)
    assert answer.status == GoalStatus.STATUS_SUCCEEDED
    check(answer.result, OK)
    check(call(ros, SetSimulationState, state=SimulationState(state=PLAYING)), OK)
    answer = run(5)
    assert answer.status == GoalStatus.STATUS_ABORTED
    check(answer.result, FAILED, "pause it")


def test_entities_of_no_name(at_start, ros):
    for kind in (GetEntityState, GetEntityInfo, DeleteEntity):
        check(call(ros, kind, entity="nobody"), NOT_FOUND, "cube")
    check(call(ros, DeleteEntity, entity="arm"), FAILED)
    info = call(ros, GetEntityInfo, entity="table")
    check(info, OK)
    assert info.info.category.category == EntityCategory.CATEGORY_STATIC_OBJECT


def test_features_say_what_works(at_start, ros):
    features = call(ros, GetSimulatorFeatures).features
    assert {0, 1, 8, 9, 10, 11, 12, 20, 21, 22, 23, 24, 25, 26, 31, 32, 33} == set(features.features)
    # What is not reported is not there.
    offered = {name for name, _ in ros.node.get_service_names_and_types()}
    for name in ("get_named_poses", "get_entity_bounds", "set_entity_info", "get_spawnables", "load_world", "get_available_worlds"):
        assert f"/arm/sim/{name}" not in offered

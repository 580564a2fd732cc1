"""The simulation's topics, services and parameters."""

import math
import time

import pytest
from action_msgs.msg import GoalStatus
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import Point, Vector3, Wrench, WrenchStamped
from karakuri_msgs.msg import Contacts, ObjectStates, SimStatistics
from karakuri_msgs.srv import (
    AttachGear,
    AttachJoint,
    AttachSpring,
    CastRay,
    DetachJoint,
    GetDistance,
    Push,
    RestoreSnapshot,
    SaveSnapshot,
    SetInertia,
    SetSpring,
    SetSurface,
    SetSurfaceVelocity,
)
from rosgraph_msgs.msg import Clock
from rclpy.action import ActionClient
from sensor_msgs.msg import FluidPressure, Imu, JointState
from simulation_interfaces.action import SimulateSteps
from simulation_interfaces.msg import SimulationState
from simulation_interfaces.srv import (
    DeleteEntity,
    GetEntities,
    GetEntityState,
    GetSimulationState,
    GetSimulatorFeatures,
    ResetSimulation,
    SetEntityState,
    SetSimulationState,
    SpawnEntity,
    StepSimulation,
)
from std_msgs.msg import String
from support.arm import SCENE, URDF, Arm, at, distance, joint_states, nanoseconds, seconds
from support.process import NodeProcess
from support.ros import latched
from tf2_msgs.msg import TFMessage
from visualization_msgs.msg import MarkerArray

pytestmark = pytest.mark.quick

OK, NOT_FOUND, FAILED, INVALID_POSE = 1, 2, 4, 101
BALL = """<robot name="ball"><link name="ball">
  <inertial><mass value="0.1"/><inertia ixx="4e-5" iyy="4e-5" izz="4e-5" ixy="0" ixz="0" iyz="0"/></inertial>
  <collision><geometry><sphere radius="0.03"/></geometry></collision>
</link></robot>"""


@pytest.fixture(scope="module")
def sim(domain, ros):
    with Arm(domain, nodes=("sim", "state_publisher"), real_time_factor=1.0) as arm:
        joint_states(ros).close()
        yield arm.nodes["sim"]


def service(ros, kind, name, /, **fields):
    return ros.call(kind, f"/arm/sim/{name}", **fields)


def play(ros, state):
    result = service(ros, SetSimulationState, "set_simulation_state", state=SimulationState(state=state)).result
    assert result.result in (OK, 101), result.error_message


@pytest.fixture
def paused(sim, ros):
    """Time stands still at the beginning, everything in its place."""
    play(ros, SimulationState.STATE_PAUSED)
    assert service(ros, ResetSimulation, "reset_simulation").result.result == OK
    yield
    play(ros, SimulationState.STATE_PLAYING)


def step(ros, steps):
    assert service(ros, StepSimulation, "step_simulation", steps=steps).result.result == OK


def state_of(ros, name):
    answer = service(ros, GetEntityState, "get_entity_state", entity=name)
    assert answer.result.result == OK, answer.result.error_message
    return answer.state


def position(state):
    p = state.pose.position
    return [p.x, p.y, p.z]


def save(ros, name):
    answer = service(ros, SaveSnapshot, "save_snapshot", name=name)
    assert answer.success, answer.message
    return answer.digest


def test_samples_come_at_500_hz_of_simulated_time(sim, ros):
    states, clock = ros.subscribe(JointState, "/arm/joint_states", 1000), ros.subscribe(Clock, "/clock", 1000)
    # A volatile subscription may miss samples while it is being matched; what comes after that comes whole.
    ros.wait_for(lambda: len(states.messages) > 50)
    states.clear()
    ros.wait_for(lambda: len(states.messages) > 200)
    stamps = [nanoseconds(m.header.stamp) for m in states.messages]
    steps = [b - a for a, b in zip(stamps, stamps[1:])]
    assert min(steps) > 0, "stamps increase"
    assert sorted(steps)[len(steps) // 2] == 2_000_000
    assert stamps[-1] - stamps[0] == 2_000_000 * (len(stamps) - 1), "no sample is lost"
    times = [nanoseconds(m.clock) for m in clock.messages]
    assert times == sorted(set(times)) and set(times) & set(stamps)
    assert states.last.name and len(states.last.velocity) == len(states.last.effort) == len(states.last.name)


def test_other_topics(sim, ros):
    for name in ("finger_left", "finger_right", "wrist"):
        wrench = ros.subscribe(WrenchStamped, f"/arm/wrench/{name}").wait()
        assert math.isfinite(wrench.wrench.force.x) and wrench.header.frame_id
    assert ros.subscribe(String, "/arm/robot_description", latched()).wait().data == URDF.read_text()
    assert len(ros.subscribe(TFMessage, "/tf").wait().transforms) >= 6
    ros.subscribe(TFMessage, "/tf_static", latched(10)).wait(lambda m: any(t.header.frame_id == "world" for t in m.transforms))
    objects = ros.subscribe(ObjectStates, "/objects").wait()
    cube = next(o for o in objects.objects if o.name == "cube")
    assert (cube.mass, cube.size.x) == (0.2, pytest.approx(0.05)) and objects.header.frame_id == "world"
    assert position(cube) == pytest.approx([0.5, -0.2, 0.775], abs=1e-3)


def test_every_feature_listed_has_its_service(sim, ros):
    features = service(ros, GetSimulatorFeatures, "get_simulator_features").features
    assert features.spawn_formats == ["urdf", "karakuri_scene"] and len(set(features.features)) == len(features.features)
    offered = {name for name, _ in ros.node.get_service_names_and_types() if name.startswith("/arm/sim/")}
    for name in ("spawn_entity", "delete_entity", "get_entities", "reset_simulation", "step_simulation"):
        assert f"/arm/sim/{name}" in offered


def test_steps_exactly_as_many_as_asked(paused, ros):
    states = ros.subscribe(JointState, "/arm/joint_states", 1000)
    before = nanoseconds(state_of(ros, "cube").header.stamp)
    step(ros, 25)
    assert nanoseconds(state_of(ros, "cube").header.stamp) - before == 25 * 2_000_000
    states.wait(lambda m: nanoseconds(m.header.stamp) == before + 25 * 2_000_000)
    step(ros, 0)
    answer = service(ros, GetSimulationState, "get_simulation_state")
    assert answer.state.state == SimulationState.STATE_PAUSED


def test_does_not_step_while_it_plays(sim, ros):
    result = service(ros, StepSimulation, "step_simulation", steps=1).result
    assert result.result == FAILED and "pause it" in result.error_message


def test_reset_scopes(paused, ros):
    request = ResetSimulation.Request
    start = position(state_of(ros, "cube"))
    moved = state_of(ros, "cube")
    moved.pose.position.x += 0.05
    for scope in (request.SCOPE_STATE, request.SCOPE_TIME, request.SCOPE_ALL):
        step(ros, 5)
        assert service(ros, SetEntityState, "set_entity_state", entity="cube", state=moved).result.result == OK
        before = nanoseconds(state_of(ros, "cube").header.stamp)
        assert service(ros, ResetSimulation, "reset_simulation", scope=scope).result.result == OK
        state = state_of(ros, "cube")
        assert (position(state) == start) == (scope != request.SCOPE_TIME)
        assert (nanoseconds(state.header.stamp) < before) == (scope != request.SCOPE_STATE)


def test_reset_takes_a_posture(paused, ros):
    states = ros.subscribe(JointState, "/arm/joint_states", 1000)
    try:
        assert ros.set_parameter("/arm/sim", "reset_posture", "start2") == (True, "")
        assert service(ros, ResetSimulation, "reset_simulation").result.result == OK
        states.wait(lambda m: distance(at(m), [1.2, -0.3, 1.7, 0, 0.4, -0.6]) < 1e-6)
        ros.set_parameter("/arm/sim", "reset_posture", "nowhere")
        result = service(ros, ResetSimulation, "reset_simulation").result
        assert result.result == FAILED and "`nowhere`" in result.error_message and "start1" in result.error_message
    finally:
        ros.set_parameter("/arm/sim", "reset_posture", "")


def test_objects_come_and_go(paused, ros):
    def spawn(**fields):
        request = SpawnEntity.Request(**{"name": "ball", "resource_string": BALL, **fields})
        request.initial_pose.pose.position.z = 2.0
        return ros.finish(ros.client(SpawnEntity, "/arm/sim/spawn_entity").call_async(request))

    assert spawn().entity_name == "ball"
    assert "ball" in service(ros, GetEntities, "get_entities").entities
    taken = spawn()
    assert taken.result.result == SpawnEntity.Response.NAME_NOT_UNIQUE and "`ball`" in taken.result.error_message
    assert spawn(allow_renaming=True).entity_name == "ball_1"
    step(ros, 50)
    assert 1.5 < position(state_of(ros, "ball"))[2] < 2.0, "it falls"
    assert service(ros, DeleteEntity, "delete_entity", entity="ball_1").result.result == OK
    for entity, code in (("ball_1", NOT_FOUND), ("arm", FAILED)):
        result = service(ros, DeleteEntity, "delete_entity", entity=entity).result
        assert result.result == code and result.error_message
    for text in ("<robot", "<robot name='x'/>"):
        result = spawn(name="bad", resource_string=text).result
        assert result.result != OK and result.error_message
    assert spawn(name="bad", resource_string="", uri="/none.urdf").result.result != OK
    service(ros, ResetSimulation, "reset_simulation")
    assert "ball" not in service(ros, GetEntities, "get_entities").entities


PENDULUM = """<robot name="pendulum"><link name="%s"/>
  <link name="bob"><inertial><origin xyz="0 0 -0.5"/><mass value="1"/>
    <inertia ixx="1e-3" iyy="1e-3" izz="1e-3" ixy="0" ixz="0" iyz="0"/></inertial>
    <visual><origin xyz="0 0 -0.5"/><geometry><sphere radius="0.05"/></geometry></visual></link>
  <joint name="hinge" type="continuous"><parent link="%s"/><child link="bob"/><axis xyz="0 1 0"/></joint>
</robot>"""
CART = """<robot name="cart"><link name="body"><inertial><mass value="2"/>
    <inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="wheel"><inertial><mass value="0.5"/><inertia ixx="1e-3" iyy="1e-3" izz="1e-3" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="axle" type="continuous"><parent link="body"/><child link="wheel"/><axis xyz="0 1 0"/></joint>
</robot>"""


def test_links_that_overlap_are_named(paused, sim, ros):
    # Three wheels on one axle, inside each other; the first and the last are no neighbours.
    solid = "<inertial><mass value='1'/><inertia ixx='1e-3' iyy='1e-3' izz='1e-3' ixy='0' ixz='0' iyz='0'/></inertial>"
    shape = "<collision><geometry><sphere radius='0.05'/></geometry></collision>"
    links = "".join(f"<link name='wheel{i}'>{solid}{shape}</link>" for i in range(4))
    joint = "<joint name='axle{0}' type='continuous'><parent link='wheel{1}'/><child link='wheel{0}'/><origin xyz='0.01 0 0'/></joint>"
    joints = "".join(joint.format(i, i - 1) for i in range(1, 4))
    request = SpawnEntity.Request(name="crowded", resource_string=f"<robot name='crowded'>{links}{joints}</robot>")
    request.initial_pose.pose.position.x, request.initial_pose.pose.position.z = 11.0, 3.0
    spawned = ros.finish(ros.client(SpawnEntity, "/arm/sim/spawn_entity").call_async(request))
    assert spawned.result.result == OK, spawned.result.error_message
    for line in ("robot `crowded`: two of its links overlap, `wheel0` and `wheel3` by 70.0 mm", "    - [wheel0, wheel3]  # 70.0 mm"):
        ros.wait_for(lambda line=line: line in sim.output(), what=f"{line} in\n{sim.output()}")
    assert service(ros, DeleteEntity, "delete_entity", entity="crowded").result.result == OK


def test_whole_robots_come_and_go(paused, ros):
    def spawn(name, text, x, tilted=False):
        request = SpawnEntity.Request(name=name, resource_string=text)
        request.initial_pose.pose.position.x, request.initial_pose.pose.position.z = x, 3.0
        if tilted:  # by 90 degrees about y: the pendulum starts level
            request.initial_pose.pose.orientation.y = request.initial_pose.pose.orientation.w = math.sqrt(0.5)
        return ros.finish(ros.client(SpawnEntity, "/arm/sim/spawn_entity").call_async(request))

    assert spawn("swing", PENDULUM % ("world", "world"), 5.0, tilted=True).entity_name == "swing"
    assert spawn("cart", CART, 7.0).entity_name == "cart"
    assert spawn("second_arm", URDF.read_text(), 9.0).result.result == OK
    bad = spawn("ghost", PENDULUM % ("base", "base"), 5.0).result
    assert bad.result != OK and "moves no mass" in bad.error_message, "a base without mass cannot float"
    assert {"swing", "cart", "second_arm"} <= set(service(ros, GetEntities, "get_entities").entities)
    joints = ros.subscribe(JointState, "/arm/sim/spawned_joint_states", 100)
    markers = ros.subscribe(MarkerArray, "/object_markers", 100)
    step(ros, 50)
    fallen = 3.0 - position(state_of(ros, "cart"))[2]
    assert fallen == pytest.approx(0.5 * 9.81 * 0.1**2, rel=1e-3), "it floats, so it falls"
    assert position(state_of(ros, "swing")) == pytest.approx([5.0, 0.0, 3.0]), "it hangs on the world"
    message = joints.wait(lambda m: "swing/hinge" in m.name and abs(m.position[m.name.index("swing/hinge")]) > 0.09)
    assert {"cart/axle", "second_arm/shoulder_yaw"} <= set(message.name)
    # I q'' = m g l sin, from level: 0.5 (m g l/I) t^2 to first order.
    swung = 0.5 * (9.81 * 0.5 / (0.25 + 1e-3)) * 0.1**2
    assert abs(message.position[message.name.index("swing/hinge")]) == pytest.approx(swung, rel=0.05)
    markers.wait(lambda m: any(k.ns == "swing" for k in m.markers))
    moved = state_of(ros, "cart")
    moved.pose.position.x, moved.twist.linear.z = 8.0, 1.0
    assert service(ros, SetEntityState, "set_entity_state", entity="cart", state=moved).result.result == OK
    assert position(state_of(ros, "cart"))[0] == pytest.approx(8.0)
    refused = service(ros, SetEntityState, "set_entity_state", entity="swing", state=moved).result
    assert refused.result == INVALID_POSE and "fixed" in refused.error_message
    assert service(ros, DeleteEntity, "delete_entity", entity="cart").result.result == OK
    assert "cart" not in service(ros, GetEntities, "get_entities").entities
    step(ros, 5)
    service(ros, ResetSimulation, "reset_simulation")
    assert not {"swing", "second_arm"} & set(service(ros, GetEntities, "get_entities").entities)
    step(ros, 5)


SPAWNED = """robots:
  - name: any
    urdf: %s
    drives: {hinge: {stiffness: 400, damping: 20, target: 0.5}}
    joints: {hinge: 0.5}
"""


def test_spawned_robots_have_drives_and_topics(paused, ros, tmp_path):
    urdf = tmp_path / "pendulum.urdf"
    urdf.write_text(PENDULUM % ("world", "world"))

    def spawn(**fields):
        request = SpawnEntity.Request(**{"name": "servo", "resource_string": SPAWNED % urdf, **fields})
        request.initial_pose.pose.position.x = 5.0
        return ros.finish(ros.client(SpawnEntity, "/arm/sim/spawn_entity").call_async(request))

    def at_angle(target):
        return bool(states.last) and abs(states.last.position[0] - target) < 0.02

    def reach(target):
        def nearer():
            commands.publish(JointState(name=["hinge"], position=[target]))
            step(ros, 20)
            return at_angle(target)

        ros.wait_for(nearer, what=f"{target} rad, not {states.last}")

    answer = spawn()
    assert answer.result.result == OK, answer.result.error_message
    states = ros.subscribe(JointState, "/arm/servo/joint_states", 10)
    commands = ros.publisher(JointState, "/arm/servo/joint_command")
    step(ros, 50)
    ros.wait_for(lambda: at_angle(0.5), what="the scene's drive to hold it against its weight")
    gain = "servo.drives.hinge.stiffness"
    stiffness = ros.get_parameters("/arm/sim", gain)[0]
    assert stiffness > 0 and ros.set_parameter("/arm/sim", gain, 0.01 * stiffness)[0]
    ros.wait_for(lambda: step(ros, 100) or abs(states.last.position[0] - 0.5) > 0.1, what="a weak drive to give way")
    assert ros.set_parameter("/arm/sim", gain, 2.0 * stiffness)[0]
    reach(-0.3)
    assert service(ros, DeleteEntity, "delete_entity", entity="servo").result.result == OK
    successful, reason = ros.set_parameter("/arm/sim", gain, stiffness)
    assert not successful and "not declared" in reason, "the parameters of its drives went with it"
    step(ros, 5)
    # The same robot takes up the same topics.
    assert spawn().result.result == OK
    ros.wait_for(lambda: at_angle(0.5), what="the next one where the scene has it")
    assert ros.get_parameters("/arm/sim", gain) == [stiffness], "its own gains"
    reach(0.2)
    assert len(ros.node.get_publishers_info_by_topic("/arm/servo/joint_states")) == 1
    body = "bodies: [{name: x, shape: {box: [0.1, 0.1, 0.1]}, mass: 1, pose: {xyz: [0, 0, 4]}}]"
    assert spawn(name="crate", resource_string=body).result.result == OK
    assert position(state_of(ros, "crate")) == pytest.approx([5.0, 0.0, 4.0]), "at its pose from there"
    for text, words in (
        ("bodies: []", "one robot or one body"),
        (body + "\npushes: [{part: x, force: [1, 0, 0]}]", "no springs, joints, gears, pushes or ignored pairs"),
        ("robots: [{name: a}]", "robots.urdf is missing"),
    ):
        refused = spawn(name="bad", resource_string=text).result
        assert refused.result != OK and words in refused.error_message, refused.error_message
    service(ros, ResetSimulation, "reset_simulation")
    assert not {"servo", "crate"} & set(service(ros, GetEntities, "get_entities").entities)


def test_simulates_steps_with_feedback_and_cancel(paused, ros):
    client = ActionClient(ros.node, SimulateSteps, "/arm/sim/simulate_steps")
    assert client.wait_for_server(timeout_sec=10)
    heard = []

    def run(steps):
        goal = ros.finish(client.send_goal_async(SimulateSteps.Goal(steps=steps), feedback_callback=heard.append))
        return goal, goal.get_result_async() if goal.accepted else None

    before = nanoseconds(state_of(ros, "cube").header.stamp)
    goal, result = run(20)
    answer = ros.finish(result)
    assert answer.status == GoalStatus.STATUS_SUCCEEDED and answer.result.result.result == OK
    assert nanoseconds(state_of(ros, "cube").header.stamp) - before == 20 * 2_000_000
    heard.clear()
    goal, result = run(10_000_000)
    # Of a goal that is over at once, rclpy drops the feedback.
    ros.wait_for(lambda: len(heard) > 2)
    done = [h.feedback.completed_steps for h in heard]
    assert done == sorted(done) and all(h.feedback.completed_steps + h.feedback.remaining_steps == 10_000_000 for h in heard)
    assert not run(1)[0].accepted, "one at a time"
    ros.finish(goal.cancel_goal_async())
    answer = ros.finish(result)
    assert answer.status == GoalStatus.STATUS_CANCELED and "cancelled after" in answer.result.result.error_message
    stamp = nanoseconds(state_of(ros, "cube").header.stamp)
    goal, result = run(10_000_000)
    play(ros, SimulationState.STATE_PLAYING)
    answer = ros.finish(result)
    assert answer.status == GoalStatus.STATUS_ABORTED and nanoseconds(state_of(ros, "cube").header.stamp) > stamp
    answer = ros.finish(run(1)[1])
    assert answer.status == GoalStatus.STATUS_ABORTED, "only while paused"
    assert answer.result.result.result == FAILED and "pause it" in answer.result.result.error_message
    play(ros, SimulationState.STATE_PAUSED)


def test_gains_of_drives_are_live(paused, ros):
    name = "drives.shoulder_pitch.stiffness"
    stiffness, damping, effort = ros.get_parameters("/arm/sim", name, *(f"drives.shoulder_pitch.{of}" for of in ("damping", "effort")))
    assert stiffness > 0 and effort > 0
    states = ros.subscribe(JointState, "/arm/joint_states", 1000)
    ros.wait_for(lambda: states.messages)
    try:
        assert ros.set_parameter("/arm/sim", name, 0.0)[0]
        assert ros.set_parameter("/arm/sim", "drives.shoulder_pitch.damping", 0.0)[0]
        j = states.last.name.index("shoulder_pitch")
        before = states.last.position[j]
        step(ros, 100)
        ros.wait_for(lambda: abs(states.last.position[j] - before) > 0.01)
        successful, reason = ros.set_parameter("/arm/sim", name, -1.0)
        assert not successful and reason
    finally:
        ros.set_parameter("/arm/sim", name, stiffness)
        ros.set_parameter("/arm/sim", "drives.shoulder_pitch.damping", damping)


def test_contacts_are_drawn_as_arrows_of_their_forces(paused, ros):
    contacts, markers = ros.subscribe(Contacts, "/contacts", 100), ros.subscribe(MarkerArray, "/contact_markers", 100)

    def drawn():
        """Contacts and arrows of the same sample."""
        step(ros, 1)
        arrays = {nanoseconds(m.markers[0].header.stamp): m.markers for m in markers.messages if m.markers}
        return next(((c.contacts, arrays[t]) for c in contacts.messages if (t := nanoseconds(c.header.stamp)) in arrays), None)

    points, arrows = ros.wait_for(drawn, what="arrows")
    assert points and len(points) == len(arrows)
    for point, arrow in zip(points, arrows, strict=True):
        tail, tip = arrow.points
        offset = [getattr(tail, axis) - getattr(point.position, axis) for axis in "xyz"]
        assert (arrow.type, arrow.action, arrow.header.frame_id, arrow.pose.orientation.w) == (0, 0, "world", 1.0)
        assert distance(offset, (0, 0, 0)) < 1e-12
        arrow = [getattr(tip, axis) - getattr(tail, axis) for axis in "xyz"]
        force = [getattr(point.force, axis) for axis in "xyz"]
        assert distance(arrow, [0.005 * f for f in force]) < 1e-12, "5 mm a newton"
    cube = [point.force.z for point in points if "cube" in (point.body_a, point.body_b)]
    assert sum(map(abs, cube)) > 0.1, "the cube lies on the table"


def test_inertia_and_friction_of_joints_are_live(paused, ros):
    name = "joints.elbow_pitch.friction"
    (friction,) = ros.get_parameters("/arm/sim", name)
    assert friction > 0
    gains = {f"drives.elbow_pitch.{gain}": 0.0 for gain in ("stiffness", "damping")}
    before = dict(zip(gains, ros.get_parameters("/arm/sim", *gains), strict=True))
    states = ros.subscribe(JointState, "/arm/joint_states", 1000)
    ros.wait_for(lambda: states.messages)

    def sinks():
        """How far the elbow, which nothing drives, goes in 50 ms. [rad]"""
        j = states.last.name.index("elbow_pitch")
        start, end = states.last.position[j], state_of(ros, "cube").header.stamp
        step(ros, 50)
        end = nanoseconds(end) + 50_000_000
        ros.wait_for(lambda: nanoseconds(states.last.header.stamp) >= end)
        return abs(states.last.position[j] - start)

    try:
        for gain in gains:
            assert ros.set_parameter("/arm/sim", gain, 0.0)[0]
        assert ros.set_parameter("/arm/sim", name, 1e3)[0]
        assert sinks() < 1e-6
        assert ros.set_parameter("/arm/sim", name, 0.0)[0]
        assert sinks() > 1e-3
        successful, reason = ros.set_parameter("/arm/sim", "joints.elbow_pitch.armature", -1.0)
        assert not successful and reason
    finally:
        ros.set_parameter("/arm/sim", name, friction)
        for gain, value in before.items():
            ros.set_parameter("/arm/sim", gain, value)


SENSING = """base: floating
sensors:
  noisy: {type: imu, link: body, noise: {seed: 1, angular_velocity: {white: 0.01, bias: 0.1}, linear_acceleration: {white: 0.2}}}
motors:
  dc: {joint: axle, law: speed_torque, stall: 0.4, no_load: 20, offset: 0.5}
  rub: {joint: axle, law: linear, damping: 0.01}
"""


def test_noise_has_its_covariance_and_motors_their_topic(domain, ros, tmp_path):
    (tmp_path / "cart.urdf").write_text(CART)
    (tmp_path / "cart.yaml").write_text(SENSING)
    scene = tmp_path / "scene.yaml"
    scene.write_text("gravity: [0, 0, 0]\ndt: 0.001\nrobots: [{name: cart, urdf: cart.urdf, config: cart.yaml, base: floating}]\n")
    parameters = {"scene": scene, "real_time_factor": 1.0}
    with NodeProcess(domain, "sim", name="cart", namespace="/cart", parameters=parameters):
        imu = ros.subscribe(Imu, "/cart/imu/noisy", 100)
        motors = ros.subscribe(JointState, "/cart/motor_states", 100)
        reading = imu.wait()
        assert list(reading.angular_velocity_covariance) == pytest.approx([0.11, 0, 0, 0, 0.11, 0, 0, 0, 0.11])
        assert list(reading.linear_acceleration_covariance)[0] == pytest.approx(40.0)
        assert list(reading.orientation_covariance) == [0.0] * 9
        ros.wait_for(lambda: len(imu.messages) > 20)
        assert len({m.linear_acceleration.x for m in imu.messages}) > 10, "it scatters"
        state = motors.wait(lambda m: m.velocity[0] > 1.0)
        assert state.name == ["dc", "rub"]
        assert state.effort[0] == pytest.approx(0.4 * (0.5 - state.velocity[0] / 20), rel=1e-6)
        assert state.effort[1] == pytest.approx(-0.01 * state.velocity[1], rel=1e-6)


GANTRY = """<robot name="gantry"><link name="base"/><link name="head">
  <inertial><mass value="1"/><inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="lift" type="prismatic"><parent link="base"/><child link="head"/><origin xyz="0 0 0.3"/><axis xyz="0 0 1"/>
    <limit lower="-0.3" upper="0.1" effort="200" velocity="1"/></joint></robot>"""
CUP = """drives: {lift: {stiffness: 20000, damping: 600}}
suction:
  vacuum:
    pump: {flow: 3.3e-4, vacuum: 85000}
    blow_off: 1.0e-3
    cups: {cup: {link: head, lip: {rpy: [3.14159265, 0, 0]}, radius: 0.0191, force: 69}}
"""
PLATE = """robots: [{name: gantry, urdf: gantry.urdf, config: gantry.yaml, joints: {lift: -0.28}}]
ground: {friction: 0.5}
bodies: [{name: plate, mass: 0.5, shape: {box: [0.2, 0.2, 0.02]}, pose: {xyz: [0, 0, 0.01]}}]
"""


def test_a_cup_lifts_what_it_seals_on(domain, ros, tmp_path):
    for name, text in (("gantry.urdf", GANTRY), ("gantry.yaml", CUP), ("scene.yaml", PLATE)):
        (tmp_path / name).write_text(text, encoding="utf-8")
    parameters = {"scene": str(tmp_path / "scene.yaml"), "real_time_factor": 4.0}
    with NodeProcess(domain, "sim", namespace="/cups", parameters=parameters):
        pressure = ros.subscribe(FluidPressure, "/cups/pressure/cup", 10)
        commands = ros.publisher(JointState, "/cups/joint_command")
        assert abs(pressure.wait().fluid_pressure - 101325.0) < 1.0 and pressure.last.header.frame_id.endswith("head")

        def command(height, force):
            commands.publish(JointState(name=["lift", "vacuum"], position=[height - 0.3, math.nan], effort=[math.nan, force]))

        def plate():
            return ros.call(GetEntityState, "/cups/sim/get_entity_state", entity="plate").state.pose.position.z

        # 60 kPa of 69 N
        ros.wait_for(lambda: command(0.02, 69.0) or pressure.last.fluid_pressure < 45e3, what="a vacuum")
        for mm in range(20, 121):
            command(1e-3 * mm, 69.0)
            time.sleep(0.01)
        ros.wait_for(lambda: command(0.12, 69.0) or plate() > 0.105, what="a plate that is lifted")
        ros.wait_for(lambda: command(0.12, 0.0) or plate() < 0.02, what="a plate that is let go")
        assert pressure.last.fluid_pressure > 95e3


def test_refuses_unknown_names_and_bad_poses(paused, ros):
    answer = service(ros, GetEntityState, "get_entity_state", entity="teapot")
    assert answer.result.result == NOT_FOUND and "cube" in answer.result.error_message
    state = state_of(ros, "cube")
    assert service(ros, SetEntityState, "set_entity_state", entity="teapot", state=state).result.result == NOT_FOUND
    assert service(ros, SetEntityState, "set_entity_state", entity="arm", state=state).result.result == FAILED
    before = position(state)
    for field, value in (("x", math.nan), ("y", math.inf)):
        bad = state_of(ros, "cube")
        setattr(bad.pose.position, field, value)
        assert service(ros, SetEntityState, "set_entity_state", entity="cube", state=bad).result.result == INVALID_POSE
    bad = state_of(ros, "cube")
    bad.pose.orientation.x = bad.pose.orientation.y = bad.pose.orientation.z = bad.pose.orientation.w = 0.0
    assert service(ros, SetEntityState, "set_entity_state", entity="cube", state=bad).result.result == INVALID_POSE
    assert position(state_of(ros, "cube")) == before


def test_goes_on_from_a_snapshot_bit_for_bit(paused, ros):
    # Nobody commands the arm here: it must not begin to hold at some moment of wall time.
    for timeout in ("command_timeout", "lockstep_timeout"):
        assert ros.set_parameter("/arm/sim", timeout, 0.0)[0]
    assert service(ros, ResetSimulation, "reset_simulation").result.result == OK
    step(ros, 50)
    digest, stamp = save(ros, "here"), state_of(ros, "cube").header.stamp
    step(ros, 100)
    later = save(ros, "later")
    assert later != digest
    answer = service(ros, RestoreSnapshot, "restore_snapshot", name="here")
    assert answer.success and answer.digest == digest and answer.stamp == stamp
    step(ros, 100)
    assert save(ros, "again") == later
    answer = service(ros, RestoreSnapshot, "restore_snapshot", name="nowhere")
    assert not answer.success and "here" in answer.message
    assert not service(ros, SaveSnapshot, "save_snapshot", name="").success
    ros.set_parameter("/arm/sim", "command_timeout", 0.1)
    ros.set_parameter("/arm/sim", "lockstep_timeout", 10.0)


def test_joints_come_and_go(paused, ros):
    box = "cube"
    lock = {"name": "weld", "body_a": "world", "body_b": box, "locked": [True] * 6}

    def attach(**fields):
        return service(ros, AttachJoint, "attach_joint", **{**lock, **fields})

    lifted = state_of(ros, box)
    lifted.pose.position.z += 0.2
    moved = service(ros, SetEntityState, "set_entity_state", entity=box, state=lifted).result
    assert moved.result == OK, moved.error_message
    answer = attach()
    assert answer.success, answer.message
    for fields, words in (
        ({"name": ""}, "the name is empty; give the joint a name"),
        ({}, "there is a joint `weld` already; detach it first, or choose another name"),
        ({"name": "x", "body_b": "bax"}, "body_b: there is no `bax`; there are: world, "),
        ({"name": "x", "body_a": "arm/bax"}, "body_a: there is no `arm/bax`; there are: arm/"),
        ({"name": "x", "locked": [False] * 6}, "joint `x`: it holds nothing; lock at least one of the six degrees of freedom, or give one a stiffness or damping"),
        ({"name": "x", "body_a": box}, "joint `x`: both ends are one rigid body; join two that move apart"),
    ):
        refused = attach(**fields)
        assert not refused.success and refused.message.startswith(words), refused.message
    step(ros, 50)
    assert distance(position(state_of(ros, box)), position(lifted)) < 1e-6
    unknown = service(ros, DetachJoint, "detach_joint", name="wold")
    assert not unknown.success and unknown.message == "there is no joint `wold`; there are: weld"
    assert service(ros, DetachJoint, "detach_joint", name="weld").success
    none = service(ros, DetachJoint, "detach_joint", name="weld")
    assert not none.success and none.message == "there is no joint `weld`; none is attached"
    unknown = service(ros, DetachJoint, "detach_joint", name="arm/linkage")
    assert not unknown.success and unknown.message == "there is no `linkage`; there are: left_linkage, right_linkage"
    assert service(ros, DetachJoint, "detach_joint", name="arm/left_linkage").success
    step(ros, 50)
    fallen = position(lifted)[2] - position(state_of(ros, box))[2]
    assert fallen == pytest.approx(0.5 * 9.81 * 0.1**2, rel=1e-3)


def test_joints_break_and_gears_turn(paused, ros):
    box = "cube"
    hold = {"name": "hook", "body_a": "world", "body_b": box, "locked": [True] * 6}

    def attach(**fields):
        return service(ros, AttachJoint, "attach_joint", **{**hold, **fields})

    def height():
        return position(state_of(ros, box))[2]

    lifted = state_of(ros, box)
    lifted.pose.position.z += 0.3
    assert service(ros, SetEntityState, "set_entity_state", entity=box, state=lifted).result.result == OK
    for fields, words in (
        ({"max_force": 1.0}, "a strength needs `failure`: write breaks or yields"),
        ({"failure": "rips", "max_force": 1.0}, "`failure` is `rips`; write breaks or yields, or nothing"),
        ({"failure": "breaks"}, "`failure` needs `max_force` or `max_torque` above 0"),
        ({"failure": "breaks", "max_force": -1.0}, "`max_force` is -1; give a positive number, or 0 for no bound"),
    ):
        refused = attach(**fields)
        assert not refused.success and refused.message == words, refused.message
    assert attach(failure="breaks", max_force=1000.0).success
    step(ros, 50)
    assert height() == pytest.approx(lifted.pose.position.z, abs=1e-6), "it holds"
    assert service(ros, DetachJoint, "detach_joint", name="hook").success
    assert attach(failure="breaks", max_force=0.05).success
    step(ros, 50)
    assert height() < lifted.pose.position.z - 0.03, "its weight breaks it"
    gear = {"name": "belt", "end_a": "arm/shoulder_yaw", "end_b": "arm/wrist_roll", "ratio": 0.5}

    def turn(**fields):
        return service(ros, AttachGear, "attach_gear", **{**gear, **fields})

    for fields, words in (
        ({"name": ""}, "the name is empty; give the gear a name"),
        ({"end_a": "arm/none"}, "end_a: there is no `arm/none`; there are: arm/"),
        ({"ratio": 0.0}, "joint `belt`: its ratio must be finite and not 0"),
        ({"name": "hook"}, "there is a joint `hook` already"),
    ):
        refused = turn(**fields)
        assert not refused.success and refused.message.startswith(words), refused.message
    assert turn().success
    assert not turn().success, "its name is taken"
    assert service(ros, DetachJoint, "detach_joint", name="belt").success
    assert service(ros, DetachJoint, "detach_joint", name="hook").success


def lift_cube(ros, height):
    lifted = state_of(ros, "cube")
    lifted.pose.position.z += height
    moved = service(ros, SetEntityState, "set_entity_state", entity="cube", state=lifted).result
    assert moved.result == OK, moved.error_message
    return lifted.pose.position.z


def test_a_bushing_sags_by_weight_over_stiffness(paused, ros):
    height = lift_cube(ros, 0.2)
    mount = {"name": "mount", "body_a": "world", "body_b": "cube", "locked": [False] * 6, "frame": state_of(ros, "cube").pose}
    refused = service(ros, AttachJoint, "attach_joint", **mount, stiffness=[-1.0] * 6)
    assert not refused.success and "stiffness and damping of 0 or more" in refused.message
    answer = service(ros, AttachJoint, "attach_joint", **mount, stiffness=[1.0] * 3 + [100.0] * 3, damping=[0.1] * 3 + [9.0] * 3)
    assert answer.success, answer.message
    step(ros, 1000)
    assert height - position(state_of(ros, "cube"))[2] == pytest.approx(0.2 * 9.81 / 100.0, rel=1e-3)


def test_pushes_a_thing_for_a_while(paused, ros):
    before = position(state_of(ros, "cube"))
    twice = Wrench(force=Vector3(z=2 * 0.2 * 9.81))
    for fields, words in (
        ({"duration": 0.0}, "`duration` is 0; give a time above 0 s"),
        ({"body": "table"}, "`table`"),
        ({"body": "bax"}, "body: there is no `bax`; there are: world, "),
        ({"wrench": Wrench(force=Vector3(z=math.nan))}, "`wrench` is not finite"),
    ):
        refused = service(ros, Push, "push", **{"body": "cube", "wrench": twice, "duration": 0.1, **fields})
        assert not refused.success and words in refused.message, refused.message
    assert service(ros, Push, "push", body="cube", wrench=twice, duration=0.1).success
    step(ros, 50)
    assert position(state_of(ros, "cube"))[2] - before[2] == pytest.approx(0.5 * 9.81 * 0.1**2, rel=2e-2)
    step(ros, 300)
    assert position(state_of(ros, "cube"))[2] == pytest.approx(before[2], abs=1e-4), "it fell back"


def test_looks_along_rays_and_between_things(paused, ros):
    down = {"direction": Vector3(z=-2.0), "range": 5.0}
    hit = service(ros, CastRay, "cast_ray", origin=Point(x=0.5, y=-0.2, z=1.0), **down)
    assert (hit.success, hit.hit, hit.body, hit.normal.z) == (True, True, "cube", pytest.approx(1.0))
    assert hit.distance == pytest.approx(0.2, abs=1e-4)
    hit = service(ros, CastRay, "cast_ray", origin=Point(x=5.0, z=1.0), **down)
    assert (hit.body, hit.distance) == ("world", pytest.approx(1.0))
    missed = service(ros, CastRay, "cast_ray", origin=Point(x=5.0, z=1.0), direction=Vector3(z=-1.0), range=0.5)
    assert missed.success and not missed.hit and missed.body == ""
    refused = service(ros, CastRay, "cast_ray")
    assert not refused.success and refused.message == "`direction` is not finite or has no length"
    near = service(ros, GetDistance, "get_distance", body_a="cube", body_b="shelf")
    assert near.success and near.distance == pytest.approx(0.275, abs=1e-4)
    assert (near.point_a.y, near.point_b.y) == (pytest.approx(-0.175, abs=1e-4), pytest.approx(0.1))
    unknown = service(ros, GetDistance, "get_distance", body_a="cube", body_b="bax")
    assert not unknown.success and unknown.message.startswith("body_b: there is no `bax`")


def test_surfaces_change_and_run_live(paused, ros):
    """Half a newton does not move the cube; without friction it does; on a running surface it rides along."""

    def pushed():
        assert service(ros, Push, "push", body="cube", wrench=Wrench(force=Vector3(x=0.5)), duration=0.1).success
        step(ros, 50)
        return position(state_of(ros, "cube"))[0] - 0.5

    assert pushed() == pytest.approx(0.0, abs=1e-5)
    refused = service(ros, SetSurface, "set_surface", body="cube", dynamic_friction=0.9)
    assert not refused.success and "`dynamic_friction` is above `friction`" in refused.message
    assert service(ros, SetSurface, "set_surface", body="cube", friction=0.0).success
    assert pushed() == pytest.approx(0.5 * 0.5 / 0.2 * 0.1**2, rel=2e-2)
    assert service(ros, ResetSimulation, "reset_simulation").result.result == OK
    assert pushed() == pytest.approx(0.0, abs=1e-5), "a reset takes surfaces back"
    refused = service(ros, SetSurface, "set_surface", body="cube", damping=50.0)
    assert not refused.success and "a rigid surface has no damper" in refused.message
    height = position(state_of(ros, "cube"))[2]
    assert service(ros, SetSurface, "set_surface", body="cube", stiffness=2000.0, damping=40.0).success
    step(ros, 500)
    assert height - position(state_of(ros, "cube"))[2] == pytest.approx(0.2 * 9.81 / 2000.0, rel=1e-2)
    assert service(ros, SetSurface, "set_surface", body="cube", stiffness=0.0).success
    step(ros, 500)
    assert position(state_of(ros, "cube"))[2] == pytest.approx(height, abs=2e-5)
    assert service(ros, SetSurfaceVelocity, "set_surface_velocity", body="table", velocity=Vector3(x=0.1)).success
    step(ros, 500)
    assert position(state_of(ros, "cube"))[0] - 0.5 == pytest.approx(0.1, rel=2e-2)


def test_inertias_springs_and_limits_change_live(paused, ros):
    height = lift_cube(ros, 0.2)
    spring = {"name": "hook", "body_a": "world", "point_a": state_of(ros, "cube").pose.position, "body_b": "cube", "stiffness": 100.0, "damping": 9.0}
    spring["point_a"].z += 0.1
    for fields, words in (
        ({"name": ""}, "the name is empty; give the spring a name"),
        ({"body_b": "bax"}, "body_b: there is no `bax`"),
        ({"stiffness": -1.0}, "spring `hook`: stiffness, damping or rest length is negative"),
        ({"point_a": Point(x=math.nan)}, "`point_a` is not finite"),
    ):
        refused = service(ros, AttachSpring, "attach_spring", **{**spring, **fields})
        assert not refused.success and words in refused.message, refused.message
    answer = service(ros, AttachSpring, "attach_spring", **spring)
    assert answer.success, answer.message

    def sag():
        step(ros, 2000)
        return height - position(state_of(ros, "cube"))[2]

    assert sag() == pytest.approx(0.2 * 9.81 / 100.0, rel=1e-2)
    assert service(ros, SetSpring, "set_spring", name="hook", stiffness=400.0).success
    assert sag() == pytest.approx(0.2 * 9.81 / 400.0, rel=1e-2)
    assert service(ros, SetInertia, "set_inertia", body="cube", mass=0.6).success
    assert sag() == pytest.approx(0.6 * 9.81 / 400.0, rel=1e-2)
    unknown = service(ros, SetSpring, "set_spring", name="hack")
    assert not unknown.success and unknown.message == "there is no spring `hack`; there are: hook"
    for fields, words in (
        ({"body": "cube", "mass": 0.0}, "mass is 0 kg"),
        ({"body": "cube", "inertia": [1.0, 1.0, 3.0, 0.0, 0.0, 0.0]}, "exceeds the sum of the others"),
        ({"body": "cube", "inertia": [1.0]}, "`inertia` needs six numbers"),
        ({"body": "world", "mass": 1.0}, "the ground has no mass"),
        ({"body": "arm/bax", "mass": 1.0}, "there is no `arm/bax`"),
    ):
        refused = service(ros, SetInertia, "set_inertia", **fields)
        assert not refused.success and words in refused.message, refused.message
    assert service(ros, DetachJoint, "detach_joint", name="hook").success

    # a heavier arm sags more on its servos, and goes on being commanded and read
    states = ros.subscribe(JointState, "/arm/joint_states", 10)

    def shoulder(steps):
        step(ros, steps)
        states.fresh()
        return states.last.position[states.last.name.index("shoulder_pitch")]

    before = shoulder(1000)
    # so much heavier that the joint's dry friction can't hold the difference
    assert service(ros, SetInertia, "set_inertia", body="arm/upper_arm_link", mass=60.0).success
    assert abs(shoulder(1000) - before) > 1e-3
    now, (lower,) = shoulder(1), ros.get_parameters("/arm/sim", "joints.shoulder_pitch.lower")
    try:
        done, why = ros.set_parameter("/arm/sim", "joints.shoulder_pitch.lower", now + 0.05)
        assert done, why
        assert shoulder(1000) == pytest.approx(now + 0.05, abs=1e-2), "it is brought to its new limit"
    finally:
        # parameters outlive the reset before the next test
        assert ros.set_parameter("/arm/sim", "joints.shoulder_pitch.lower", lower)[0]


def test_settings_of_the_physics_are_live(paused, ros):
    height = lift_cube(ros, 0.2)
    for name, value, words in (
        ("gravity", [0.0, 0.0], "2 numbers are no acceleration"),
        ("integrator", "euler", "`euler` is no integrator"),
        ("penetration.rate", 1.5, "outside its range"),
        ("threads", 0, "outside its range"),
    ):
        done, why = ros.set_parameter("/arm/sim", name, value)
        assert not done and words in why, why
    for name, value in (
        ("gravity", [0.0, 0.0, 0.0]),
        ("integrator", "rk4"),
        ("penetration.rate", 0.1),
        ("anchor_rate", 0.1),
        ("threads", 2),
        ("sleeping", True),
    ):
        before = ros.get_parameters("/arm/sim", name)[0]
        assert ros.set_parameter("/arm/sim", name, value) == (True, "")
        step(ros, 50)
        assert position(state_of(ros, "cube"))[2] == pytest.approx(height, abs=1e-9), name
        if name != "gravity":
            assert ros.set_parameter("/arm/sim", name, before) == (True, "")
    assert ros.set_parameter("/arm/sim", "gravity", [0.0, 0.0, -9.81]) == (True, "")
    step(ros, 50)
    assert height - position(state_of(ros, "cube"))[2] == pytest.approx(0.5 * 9.81 * 0.1**2, rel=1e-2)


def test_statistics_hide_no_step_that_was_not_solved(paused, ros):
    statistics = ros.subscribe(SimStatistics, "/arm/sim/statistics")
    diagnostics = ros.subscribe(DiagnosticArray, "/diagnostics")

    def after_steps(accept):
        """Statistics of a second in which steps were taken."""
        before = statistics.wait(lambda m: m.iterations == 0 and m.residual == 0.0 and m.unconverged == 0).step
        step(ros, 10)
        return statistics.wait(lambda m: m.step > before and accept(m))

    solved = after_steps(lambda m: m.residual > 0.0)
    assert solved.unconverged == 0 and solved.residual <= 1e-9 and solved.contacts > 0
    stages = [getattr(solved, f"{stage}_time") for stage in ("collision", "free_motion", "rows", "solve", "integrate")]
    assert all(t > 0 for t in stages) and sum(stages) <= solved.step_time
    assert solved.ledger.kinetic == 0.0, "nothing is booked unless asked for"

    assert ros.set_parameter("/arm/sim", "solver.tolerance", 1e-300)[0]
    assert ros.set_parameter("/arm/sim", "energy_ledger", True)[0]
    unsolved = after_steps(lambda m: m.unconverged > 0)
    assert 0 < unsolved.residual < 1e-6 and unsolved.iterations > 0
    diagnostics.wait(lambda m: any("not solved to the tolerance" in s.message for s in m.status))
    ledger = unsolved.ledger
    came = ledger.servos + ledger.external + ledger.contacts + ledger.limits + ledger.friction + ledger.dampers
    came += ledger.loops + ledger.stabilisation + ledger.integration + ledger.unexplained
    assert ledger.servos != 0.0 and ledger.kinetic + ledger.potential == pytest.approx(came, abs=1e-12)

    assert ros.set_parameter("/arm/sim", "solver.tolerance", 0.0)[0]
    assert ros.set_parameter("/arm/sim", "energy_ledger", False)[0]
    assert after_steps(lambda m: m.residual > 0.0).unconverged == 0


def test_parameters_hold_after_a_restore(paused, ros):
    assert service(ros, SaveSnapshot, "save_snapshot", name="tight").success
    assert ros.set_parameter("/arm/sim", "solver.tolerance", 1e-300)[0]
    assert service(ros, RestoreSnapshot, "restore_snapshot", name="tight").success
    statistics = ros.subscribe(SimStatistics, "/arm/sim/statistics")
    step(ros, 2)
    statistics.wait(lambda m: m.unconverged > 0)
    assert ros.set_parameter("/arm/sim", "solver.tolerance", 0.0)[0]


def test_live_parameters(sim, ros):
    for name, value in (("real_time_factor", 2.0), ("solver.iterations", 50), ("solver.tolerance", 1e-8), ("solver.method", "admm")):
        old = ros.get_parameters("/arm/sim", name)[0]
        assert ros.set_parameter("/arm/sim", name, value) == (True, "")
        assert ros.get_parameters("/arm/sim", name) == [value]
        assert ros.set_parameter("/arm/sim", name, old)[0]
    for name, value in (("real_time_factor", -1.0), ("solver.iterations", -1), ("solver.method", "magic"), ("scene", "other"), ("period", 0.01)):
        successful, reason = ros.set_parameter("/arm/sim", name, value)
        assert not successful and reason


def test_real_time_factor_sets_the_pace(sim, ros):
    received = []
    ros.node.create_subscription(
        JointState, "/arm/joint_states", lambda message: received.append((time.monotonic(), seconds(message.header.stamp))), 10
    )

    def pace():
        """Simulated time by real time over the next half second."""
        ros.wait_for(lambda: received, what="joint states")
        start = received[-1]
        received.clear()
        ros.wait_for(lambda: received and received[-1][0] > start[0] + 0.5, what="half a second of joint states")
        return (received[-1][1] - start[1]) / (received[-1][0] - start[0])

    # a busy machine may delay messages in one window or the other, so each pace has to be seen once
    ros.wait_for(lambda: pace() == pytest.approx(1.0, abs=0.1), what="the pace of the clock")
    assert ros.set_parameter("/arm/sim", "real_time_factor", 0.25)[0]
    ros.wait_for(lambda: pace() == pytest.approx(0.25, abs=0.05), what="a quarter of the pace")
    ros.set_parameter("/arm/sim", "real_time_factor", 1.0)


def broken_scene(tmp_path):
    scene = tmp_path / "scene.yaml"
    robot = tmp_path / "broken.urdf"
    robot.write_text("<robot name='broken'>")
    scene.write_text(f"robots: [{{name: arm, urdf: {robot}, base: fixed}}]\n")
    return scene


@pytest.mark.parametrize("scene, words", [(None, "scene"), ("/none.yaml", "/none.yaml"), (broken_scene, "broken.urdf")])
def test_says_in_one_line_why_it_cannot_start(domain, tmp_path, scene, words):
    scene = scene(tmp_path) if callable(scene) else scene
    with NodeProcess(domain, "sim", name="other", parameters={"scene": scene} if scene else {}) as node:
        assert node.wait() == 1
    assert words in node.output() and len(node.lines) == 1, node.output()


def test_mock_has_no_world(domain, ros):
    with NodeProcess(domain, "sim", name="mock", namespace="/mock", parameters={"scene": SCENE, "hardware": "mock"}):
        ros.subscribe(JointState, "/mock/joint_states", 10).wait()
        assert not [n for n, _ in ros.node.get_service_names_and_types() if n == "/mock/mock/step_simulation"]


def test_nonsense_commands_are_ignored_by_name(sim, ros):
    # Commands without a stamp are for the present sample, also after those on their way are dropped.
    assert service(ros, ResetSimulation, "reset_simulation", scope=ResetSimulation.Request.SCOPE_STATE).result.result == OK
    states = ros.subscribe(JointState, "/arm/joint_states", 10)
    commands = ros.publisher(JointState, "/arm/joint_command")
    stamp = nanoseconds(states.wait().header.stamp)
    # a reset arm sags under its weight until its drives bear it
    states.wait(lambda m: nanoseconds(m.header.stamp) > stamp + 500_000_000 and max(map(abs, m.velocity)) < 1e-4)
    before = at(states.last)
    names = list(states.last.name)

    def send():
        for field in ("position", "velocity", "effort"):
            for value in (1e300, -1e30, math.inf, -math.inf):
                commands.publish(JointState(name=names[:1], **{field: [value]}))

    # `sim` reads commands as they come: those before it has found the publisher are lost
    ros.wait_for(lambda: send() or "is ignored" in sim.output(), what="a sentence about it")
    assert "command of joint `shoulder_yaw`" in sim.output()
    stamp = nanoseconds(states.last.header.stamp)
    states.wait(lambda m: nanoseconds(m.header.stamp) > stamp + 200_000_000)
    assert distance(at(states.last), before) < 1e-3, "the arm stays where it is"
    assert service(ros, GetSimulationState, "get_simulation_state").state.state == SimulationState.STATE_PLAYING
    said = [line for line in sim.output().splitlines() if "is ignored" in line]
    assert len(said) == 1, f"once, not at every message: {said}"


@pytest.mark.parametrize("program", ["sim", "feedforward_controller", "gait_planner", "gripper", "state_publisher"])
def test_help_lists_the_parameters(domain, program):
    with NodeProcess(domain, program, "--help") as node:
        assert node.wait() == 0, node.output()
    assert node.output().startswith(f"Usage: {program} --ros-args"), node.output()
    assert "  use_sim_time (a bool" in node.output()
    assert "error" not in node.output().lower().split("parameters:")[0], node.output()

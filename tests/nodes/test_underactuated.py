"""Underactuated fingers in the nodes: the cone of their scene is placed, and the fingers are straight while they hold it."""

import math

import pytest
from action_msgs.msg import GoalStatus
from karakuri_msgs.action import PickAndPlace
from karakuri_msgs.msg import GripState
from sensor_msgs.msg import JointState
from simulation_interfaces.srv import GetEntityState
from support.arm import SCENE, Arm, put_back, result_of
from test_three_fingers import NODES, PLACE, cone

pytestmark = pytest.mark.quick


def test_a_cone_is_placed(domain, ros):
    scene = SCENE.with_stem("pick_and_place_underactuated")
    with Arm(domain, nodes=NODES, lockstep=True, real_time_factor=0.0, robot="arm6_underactuated", scene=scene):
        put_back(ros)
        states, samples = ros.subscribe(GripState, "/arm/grip_state", 1000), ros.subscribe(JointState, "/arm/joint_states", 1000)
        status, result = result_of(ros, PickAndPlace, "pick_and_place", cone())
        assert status == GoalStatus.STATUS_SUCCEEDED and result.success, result.message
        p = ros.call(GetEntityState, "/arm/sim/get_entity_state", entity="cone").state.pose.position
        # The middle of its box is a quarter of its height above its centre of mass.
        assert math.dist((p.x, p.y), PLACE[:2]) < 0.005
        held = [m.header.stamp for m in states.messages if m.holding]
        first, last = ((s.sec, s.nanosec) for s in (held[0], held[-1]))
        while_held = [m for m in samples.messages if first <= (m.header.stamp.sec, m.header.stamp.nanosec) <= last]
        assert while_held
        for finger in ("thumb", "left", "right"):
            index = while_held[0].name.index(f"{finger}_distal_joint")
            assert max(abs(m.position[index]) for m in while_held) < 1e-3, finger

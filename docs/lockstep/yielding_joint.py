#!/usr/bin/env python3
"""A node that takes part in lockstep (docs/lockstep.md): a joint follows a sine and gives way to the force at a sensor.

    python3 docs/lockstep/yielding_joint.py --ros-args -p joint:=elbow_pitch -p sensor:=wrist

beside `sim` with `lockstep:=true`. The parameter `trace` names a file for its answers, a line a sample; after `samples` of them
the node ends.
"""
import math
import sys

import rclpy
from geometry_msgs.msg import WrenchStamped
from rclpy.node import Node
from sensor_msgs.msg import JointState

AMPLITUDE, RATE = 0.1, 0.5  # of the sine [rad, Hz]
YIELD, RETURN = 0.01, 1.0  # what a force moves the joint by [rad/(N s)], and how it comes back [1/s]


def stamp_of(message):
    return message.header.stamp.sec * 1_000_000_000 + message.header.stamp.nanosec


class YieldingJoint(Node):
    def __init__(self):
        super().__init__("yielding_joint")
        self.joint = self.declare_parameter("joint", "elbow_pitch").value
        sensor = self.declare_parameter("sensor", "wrist").value
        self.samples = self.declare_parameter("samples", 0).value
        trace = self.declare_parameter("trace", "").value
        self.trace = open(trace, "w") if trace else None
        self.states, self.wrench = None, None  # newest messages
        self.sample, self.answer = None, None  # the one that was answered last, as stamp and positions; its answer
        # Reliable, as each message is waited for.
        self.output = self.create_publisher(JointState, "joint_command", 10)
        self.create_subscription(WrenchStamped, f"wrench/{sensor}", self.on_wrench, 10)
        self.create_subscription(JointState, "joint_states", self.on_states, 10)

    def on_wrench(self, message):
        self.wrench = message
        self.go_on()

    def on_states(self, message):
        self.states = message
        if self.sample == (stamp_of(message), message.position):
            self.output.publish(self.answer)  # rule 2: the same sample, the same answer
        else:
            self.go_on()

    def go_on(self):
        # Rule 1: all messages of one stamp make a sample, whatever their order.
        if self.states is None or self.wrench is None or stamp_of(self.states) != stamp_of(self.wrench):
            return
        sample = stamp_of(self.states), self.states.position
        if sample == self.sample:
            return
        position = self.states.position[self.states.name.index(self.joint)]
        # Rule 3: time is that of the stamps. One that does not go on begins a new time.
        elapsed = 1e-9 * (sample[0] - self.sample[0]) if self.sample else 0.0
        if elapsed <= 0.0:
            self.begin, self.centre, self.offset, self.answered = sample[0], position, 0.0, 0
        self.sample = sample
        self.respond(elapsed)

    def respond(self, elapsed):
        force = self.wrench.wrench.force
        push = math.sqrt(force.x**2 + force.y**2 + force.z**2)
        self.offset += max(elapsed, 0.0) * (YIELD * push - RETURN * self.offset)
        phase = 2.0 * math.pi * RATE * 1e-9 * (self.sample[0] - self.begin)
        target = self.centre + self.offset + AMPLITUDE * math.sin(phase)
        self.answer = JointState(name=[self.joint], position=[target], velocity=[AMPLITUDE * 2.0 * math.pi * RATE * math.cos(phase)])
        self.answer.header.stamp = self.states.header.stamp  # rule 1: the answer has the sample's stamp
        self.output.publish(self.answer)  # rule 4: nothing was asked of others that is not answered yet
        self.answered += 1
        if self.trace:
            measured = self.states.position[self.states.name.index(self.joint)]
            print(self.sample[0], target.hex(), measured.hex(), push.hex(), file=self.trace, flush=True)
        if self.answered == self.samples:
            sys.exit(0)


def main():
    rclpy.init()
    try:
        rclpy.spin(YieldingJoint())
    except KeyboardInterrupt:
        pass
    except Exception:
        if rclpy.ok():  # else it was ended, perhaps while it published
            raise


if __name__ == "__main__":
    main()

"""Hears every message of a few topics, and in lockstep makes time wait until it has.

Messages are taken as bytes, past the executor, and read when the run is over: that takes microseconds a message instead of hundreds.
In lockstep each sample is answered on a topic among the controller's `lockstep_sources`; the controller commands, and time goes
on, when that has come. Without lockstep a slow listener misses samples; `missing` counts them.
"""

import struct
import time

from builtin_interfaces.msg import Time
from rclpy.node import Node
from rclpy.qos import QoSProfile
from rclpy.serialization import deserialize_message

DEPTH = 1000


def stamp(nanoseconds):
    """A time stamp, as messages have it."""
    return Time(sec=nanoseconds // 1_000_000_000, nanosec=nanoseconds % 1_000_000_000)


class Recorder(Node):
    """Topics by name: `(type, topic)`; each type begins with a header. `samples` names the one of the joint states; each of them is
    answered by `answer`, which gets its time stamp [ns]."""

    def __init__(self, topics, samples, answer=None):
        super().__init__("recorder")
        self.samples, self.answer, self.looked = samples, answer, 0.0
        self.taken = {name: {} for name in topics}  # bytes by time stamp [ns]
        self.newest = {name: 0 for name in topics}
        unused = lambda _message: None
        self.ears = {
            name: self.create_subscription(kind, topic, unused, QoSProfile(depth=DEPTH), raw=True)
            for name, (kind, topic) in topics.items()
        }

    def listen(self):
        """Takes what has come; whether anything had."""
        heard = False
        for name, ear in self.ears.items():
            while True:
                with ear.handle:
                    taken = ear.handle.take_message(ear.msg_type, True)
                if taken is None:
                    break
                heard = True
                # four bytes of the encoding, then the header's stamp
                seconds, nanoseconds = struct.unpack_from("<iI", taken[0], 4)
                self.newest[name] = at = seconds * 1_000_000_000 + nanoseconds
                self.taken[name][at] = taken[0]
                if self.answer and name == self.samples:
                    self.answer(at)
        return heard

    def attend(self, look):
        """Takes what has come, or pauses: every sample is answered at once. All else can wait a little: `look` is called every 10 ms;
        whether it was."""
        if not self.listen():
            time.sleep(2e-4)
        if time.monotonic() - self.looked < 0.01:
            return False
        look()
        self.looked = time.monotonic()
        return True

    def begin(self):
        """Forgets all but the newest message of each topic: a run begins."""
        for name, messages in self.taken.items():
            newest = self.newest[name]
            self.taken[name] = {newest: messages[newest]} if newest in messages else {}

    def read(self, name, until=None):
        """The messages of a topic, up to a time [ns] if one is given, by time stamp."""
        kind = self.ears[name].msg_type
        stamps = sorted(time for time in self.taken[name] if until is None or time <= until)
        return {time: deserialize_message(self.taken[name][time], kind) for time in stamps}

    def last(self, name):
        """The newest message of a topic, which must have been heard."""
        return deserialize_message(self.taken[name][self.newest[name]], self.ears[name].msg_type)

    def missing(self, name, since, until, period):
        """How many messages of a topic with a period [ns] are not there from a time to another."""
        expected = (until - since) // period + 1
        heard = sum(since <= time <= until for time in self.taken[name])
        return max(0, expected - heard)

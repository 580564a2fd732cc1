"""Stalls of a system in real time when participants join: the longest time between two answers of the controller.

    ./dev shell python3 tests/nodes/stalls.py [joins]

Fast DDS's shared-memory transport asks whether a new port is alive before it first writes to it, and waits a third of a
second for the answer, on the thread that publishes. Run it on a machine that has nothing else to do, as it is and with
FASTDDS_BUILTIN_TRANSPORTS=UDPv4.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from diagnostic_msgs.msg import DiagnosticArray  # noqa: E402
from support.arm import URDF, Arm, carry_out, turned  # noqa: E402
from support.domain import Domain  # noqa: E402
from support.process import NodeProcess  # noqa: E402
from support.ros import Ros  # noqa: E402

#: Longer than any answer takes. [ms]
STALL = 100.0


def main(joins):
    longest = []
    with Domain() as domain, Arm(domain) as arm, Ros(domain) as ros:
        carry_out(ros, turned(0.1))

        def heard(message):
            for status in message.status:
                if status.name.endswith("feedforward_controller: control"):
                    values = {value.key: value.value for value in status.values}
                    longest.append(float(values["interval_longest_us"]) * 1e-3)

        ros.node.create_subscription(DiagnosticArray, "/diagnostics", heard, 10)
        ros.spin_for(3.0)
        alone = max(longest)
        longest.clear()
        for join in range(joins):
            with NodeProcess(domain, "state_publisher", name=f"guest_{join}", namespace="/arm", parameters={"urdf": URDF}):
                ros.spin_for(1.5)
        del arm
    stalls = [f"{time:.0f}" for time in longest if time > STALL]
    print(f"longest interval: alone {alone:.1f} ms, with {joins} joins {max(longest):.1f} ms")
    print(f"stalls above {STALL:.0f} ms: {len(stalls)} in {len(longest)} s: {', '.join(stalls)} ms")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 30)

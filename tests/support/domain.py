"""A ROS domain id that nobody else on this machine uses."""

import fcntl
import os
import random
from pathlib import Path


class Domain:
    """Holds a domain id for as long as it is open; other test runs pick others, and so does `./dev demo` (packages/dev/shell/ros.sh).

    Without `shared_memory` its processes talk over UDP only: one that is stopped inside a mutex of shared memory stalls the
    others until DDS declares it dead, about a second later."""

    def __init__(self, shared_memory=True):
        # A discovery range brings transports of its own, so it is left to Fast DDS.
        udp = {"ROS_AUTOMATIC_DISCOVERY_RANGE": "SYSTEM_DEFAULT", "FASTDDS_BUILTIN_TRANSPORTS": "UDPv4"}
        self._transports = {} if shared_memory else udp

    def __enter__(self):
        ids = list(range(1, 102))
        random.shuffle(ids)
        for number in ids:
            path = Path(os.environ.get("TMPDIR") or "/tmp") / f"karakuri-domain-{number}.lock"
            try:
                lock = open(path, "w")
            except PermissionError:  # another user's
                continue
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                lock.close()
                continue
            self.number, self._lock = number, lock
            return self
        raise RuntimeError("all ROS domain ids from 1 to 101 are in use")

    def __exit__(self, *_):
        self._lock.close()

    def environment(self):
        """The environment for a process in this domain."""
        return {
            **os.environ,
            "ROS_DOMAIN_ID": str(self.number),
            "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST",
            "RCUTILS_COLORIZED_OUTPUT": "0",
            **self._transports,
        }

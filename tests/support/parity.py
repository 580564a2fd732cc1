"""Even parity on a pseudo-terminal, for clients that insist on it.

A terminal without a wire has no parity bit and drops the flag; the C library takes that for a failure. The bytes are the same with and
without it, so leaving it out changes nothing that a client could notice.
"""

import termios


def leave_out(monkeypatch):
    """Opens ports without parity for the rest of a test."""
    original = termios.tcsetattr

    def without_parity(descriptor, when, attributes):
        attributes = list(attributes)
        attributes[2] &= ~(termios.PARENB | termios.PARODD)
        return original(descriptor, when, attributes)

    monkeypatch.setattr(termios, "tcsetattr", without_parity)

"""Clients of others, each in a process of its own."""

import json
import os
import subprocess
import sys
from pathlib import Path

from support.clients import folder

DRIVE = Path(__file__).parents[1] / "mcp_server/drive.py"
CLIENTS = ["mcp", "fastmcp"]


def drive(client, server, tool, arguments, *options):
    """What a client saw, in a process of its own: its packages are not those of the tests."""
    environment = {**os.environ, "PYTHONPATH": str(folder("mcp"))}
    command = [sys.executable, str(DRIVE), client, str(server), tool, json.dumps(arguments), *options]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1]) if done.stdout.strip() else None

"""docs/nodes.md says what the nodes are."""

import subprocess
import sys

from support.process import ROOT


def test_the_tables_of_the_nodes_are_current():
    command = [sys.executable, str(ROOT / "packages/dev/docs/nodes.py"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr

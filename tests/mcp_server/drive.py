"""Drives a server of the Model Context Protocol by a client of others, and prints what it saw as JSON.

usage: drive.py mcp|fastmcp SERVER TOOL ARGUMENTS [approve|decline] [vanish|cancel]

SERVER is a URL, or a program that speaks on stdio. With `vanish` the process ends without a word when a quarter is done, with `cancel`
it cancels the call, asks the tool `look`, and ends.
"""

import asyncio
import json
import os
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

    server = SERVER if SERVER.startswith("http:") else StdioServerParameters(command=SERVER)
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

    server = SERVER if SERVER.startswith("http:") else StdioTransport(command=SERVER, args=[])
    return Client(server, elicitation_handler=answer, mode="2026-07-28"), call


async def main():
    seen = Seen()
    client, call = {"mcp": by_mcp, "fastmcp": by_fastmcp}[CLIENT](seen)
    async with client:
        task = asyncio.create_task(call(client, TOOL, json.loads(ARGUMENTS)))
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
        "result": getattr(result, "structured_content", None) or getattr(result, "structuredContent", None),
    }))


async def until_stopped(client, call):
    """What the tool `look` answers once the robot has stopped."""
    for _ in range(200):
        result = await call(client, "look", {})
        content = getattr(result, "structured_content", None) or getattr(result, "structuredContent", None)
        if content["stops"]:
            return result
        await asyncio.sleep(0.05)
    return result


asyncio.run(main())

"""Subscribes to resources by a client of others, which rehearses and acts meanwhile, and prints its notifications as JSON.

usage: subscribe.py SERVER URI...

SERVER is a URL, or the command line of a program that speaks on stdio. The client picks the cube, and says yes.
"""

import asyncio
import json
import shlex
import sys
import time

from mcp import Client, StdioServerParameters
from mcp.client.subscriptions import ResourceUpdated
from mcp.types import ElicitResult

SERVER, *URIS = sys.argv[1:]
#: Silence after which no notification is under way. [s]
SILENCE = 1.0


async def agree(context, params):
    return ElicitResult(action="accept", content={"approve": True})


async def collect(subscription, seen):
    async for event in subscription:
        seen.append([time.monotonic(), event.uri if isinstance(event, ResourceUpdated) else "list"])


async def silence(seen):
    """Waits until there are no more notifications, and gives their number."""
    count = -1
    while count != len(seen):
        count = len(seen)
        await asyncio.sleep(SILENCE)
    return len(seen)


async def main():
    program, *arguments = shlex.split(SERVER)
    server = SERVER if SERVER.startswith("http:") else StdioServerParameters(command=program, args=arguments)
    async with Client(server, elicitation_callback=agree, mode="2026-07-28") as client:
        async with client.listen(resources_list_changed=True, resource_subscriptions=URIS) as subscription:
            seen = []
            collecting = asyncio.create_task(collect(subscription, seen))
            rehearsed = (await client.call_tool("pick", {"object": "cube"})).structured_content
            rehearsal = await silence(seen)
            begun = time.monotonic()
            acted = (await client.call_tool("act", {"ticket": rehearsed["ticket"], "request_id": "r"})).structured_content
            ended = time.monotonic()
            await silence(seen)
            collecting.cancel()
    print(json.dumps({
        "number": rehearsed["rehearsal"],
        "outcome": acted["outcome"],
        "duration_s": ended - begun,
        "of_rehearsal": [what for _, what in seen[:rehearsal]],
        "of_act": [[at - begun, what] for at, what in seen[rehearsal:]],
    }))


asyncio.run(main())

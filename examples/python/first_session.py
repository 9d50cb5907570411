"""One agent, one environment, one session, one turn, with the standard library alone."""

import json
import os
import time
import urllib.request

URL = os.environ.get("STEWARD_URL", "http://127.0.0.1:8787")
HEADERS = {"x-api-key": os.environ["STEWARD_API_KEY"], "content-type": "application/json"}


def post(path: str, body: dict):
    data = json.dumps(body).encode()
    return urllib.request.urlopen(urllib.request.Request(URL + path, data, HEADERS))


def make(path: str, body: dict) -> str:
    with post(path, body) as answer:
        return json.load(answer)["id"]


agent = make(
    "/v1/agents",
    {
        "name": "First agent",
        "model": os.environ.get("MODEL", "offline"),
        "tools": [{"type": "agent_toolset_20260401"}],
    },
)
environment = make("/v1/environments", {"name": f"first {time.time()}"})
session = make("/v1/sessions", {"agent": agent, "environment_id": environment})

# The answer streams the events of the turn, and ends with it.
with post(f"/v1/sessions/{session}/messages", {"content": "run: uname -s"}) as events:
    for line in events:
        if not line.startswith(b"data: "):
            continue
        event = json.loads(line[len(b"data: ") :])
        if event["type"] == "agent.message":
            content = event.get("content") or event["data"]["content"]
            print("".join(block.get("text", "") for block in content))

#!/bin/sh
# One agent, one environment, one session, one turn, with curl alone.
set -eu
url=${STEWARD_URL:-http://127.0.0.1:8787}
post() { curl -fsS "$url$1" -H "x-api-key: $STEWARD_API_KEY" -H 'content-type: application/json' -d "$2"; }
id() { sed -n 's/.*"id" *: *"\([a-z]*_[0-9A-Za-z]*\)".*/\1/p' | head -n 1; }
make() { post "$1" "$2" | tr '{,' '\n\n' | id; }

agent=$(make /v1/agents "{\"name\": \"First agent\", \"model\": \"${MODEL:-offline}\", \"tools\": [{\"type\": \"agent_toolset_20260401\"}]}")
environment=$(make /v1/environments "{\"name\": \"first $$ $(date +%s)\"}")
session=$(make /v1/sessions "{\"agent\": \"$agent\", \"environment_id\": \"$environment\"}")
echo "session $session"

# Answers with the events of the turn, and ends with it.
post "/v1/sessions/$session/messages" '{"content": "run: uname -s"}' | grep '"agent.message"'

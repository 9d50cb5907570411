#!/bin/sh
# Follows the newest session as server-sent events (SSE), from its first event on, until it rests.
set -eu
url=${STEWARD_URL:-http://127.0.0.1:8787}
session=${1:-$(curl -fsS "$url/v1/sessions?limit=1" -H "x-api-key: $STEWARD_API_KEY" | grep -o 'sesn_[0-9A-Za-z]*' | head -n 1)}
curl -fsSN "$url/v1/sessions/$session/events/stream?replay=1" -H "x-api-key: $STEWARD_API_KEY" |
  while IFS= read -r line; do
    case $line in
    data:*) printf '%s\n' "$line" | cut -c1-160 ;;
    esac
    case $line in
    *'"type":"session.status_idle"'*) break ;;
    esac
  done

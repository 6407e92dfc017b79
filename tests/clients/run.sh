#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the client libraries against a server: run.sh [SAMPO]
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cache=${SAMPO_CLIENTS_CACHE:-${TMPDIR:-/tmp}/sampo-clients}
mkdir -p "$cache"
sampo=${1:-}
if [ -z "$sampo" ]; then
  sampo=$cache/sampo
  (cd "$here/../.." && CGO_ENABLED=0 go build -o "$sampo" ./cmd/sampo)
fi
for tool in go python3 node npm; do
  command -v "$tool" >/dev/null || { echo "clients: $tool is missing" >&2; exit 1; }
done

# The two environments need different releases of the OpenAI library.
for env in python agents; do
  if [ ! -x "$cache/$env/bin/python" ] || ! cmp -s "$here/$env/requirements.txt" "$cache/$env/requirements.txt"; then
    python3 -m venv "$cache/$env"
    "$cache/$env/bin/pip" install --quiet --disable-pip-version-check -r "$here/$env/requirements.txt"
    cp "$here/$env/requirements.txt" "$cache/$env/requirements.txt"
  fi
done
mkdir -p "$cache/node"
if ! cmp -s "$here/node/package.json" "$cache/node/package.json"; then
  cp "$here/node/package.json" "$cache/node/package.json"
  (cd "$cache/node" && npm install --silent --no-audit --no-fund --no-package-lock)
fi
cp "$here"/node/*.mjs "$cache/node/"

log=$(mktemp)
SAMPO_HOME=$(mktemp -d)
export SAMPO_HOME
"$sampo" serve --port 0 >"$log" 2>"$log.err" &
server=$!
trap 'kill "$server" 2>/dev/null || true; wait "$server" 2>/dev/null || true' EXIT
for _ in $(seq 100); do
  base=$(grep -om1 'http://[0-9.:]*' "$log" || true)
  if [ -n "$base" ] && curl -fs "$base/health" >/dev/null 2>&1; then break; fi
  kill -0 "$server" 2>/dev/null || { cat "$log" "$log.err" >&2; exit 1; }
  sleep 0.1
done
export SAMPO_BASE_URL="$base/v1"

echo "-- python"
"$cache/python/bin/python" "$here/python/openai_sdk.py"
echo "-- node"
(cd "$cache/node" && node openai_sdk.mjs && node ai_sdk.mjs)
export LITELLM_LOCAL_MODEL_COST_MAP=True # nothing is fetched
for program in litellm langchain instructor; do
  echo "-- $program"
  "$cache/agents/bin/python" "$here/agents/${program}_client.py"
done
echo "-- go"
(cd "$here/go" && go run .)

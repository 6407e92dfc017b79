#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Puts a server under load and compares every answer with the same request alone.
#
#   tests/load/run.sh                          the embedded model, 64 clients, 30 seconds
#   tests/load/run.sh MODEL --duration 10m     any model that sampo serve takes, any flags of tests/load
#
# Prints a report as JSON; ends with 1 if an answer differs or fails, or the server keeps something.
set -euo pipefail
cd "$(dirname "$0")/../.."
model=${1:-sampo/mini-chat}
shift || true
dir=$(mktemp -d)
trap 'kill "$server" 2>/dev/null || true; wait "$server" 2>/dev/null || true; rm -rf "$dir"' EXIT
go build -o "$dir/sampo" ./cmd/sampo
go build -o "$dir/load" ./tests/load
SAMPO_HOME="$dir/home" "$dir/sampo" serve "$model" --port 0 --log-level debug >"$dir/banner" 2>"$dir/log" &
server=$!
url=
for _ in $(seq 600); do
  url=$(grep -oE 'http://127\.0\.0\.1:[0-9]+' "$dir/banner" | head -1 || true)
  [ -n "$url" ] && break
  kill -0 "$server" 2>/dev/null || { cat "$dir/log" >&2; exit 1; }
  sleep 0.1
done
"$dir/load" --url "$url" --steps "$dir/log" "$@"

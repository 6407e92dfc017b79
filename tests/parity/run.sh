#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Compares engines with a float32 reference: run.sh OUT.md MODEL.gguf [MODEL.gguf ...]
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
if [ $# -lt 2 ]; then
  echo "usage: $0 OUT.md MODEL.gguf [MODEL.gguf ...]" >&2
  exit 2
fi
[ -z "${LLAMA_SERVER:-}" ] || LLAMA_BIN=$(dirname "$LLAMA_SERVER")
. "$here/setup.sh"
out=$1
shift
exec "$python" "$here/parity.py" --sampo "$sampo" --llama-server "${LLAMA_SERVER:-$LLAMA_BIN/llama-server}" --cache "$cache" --out "$out" "$@"

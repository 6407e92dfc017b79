#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Compares engines with a float32 reference: run.sh OUT.md MODEL.gguf [MODEL.gguf ...]
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
if [ $# -lt 2 ]; then
  echo "usage: $0 OUT.md MODEL.gguf [MODEL.gguf ...]" >&2
  exit 2
fi
cache=${SAMPO_PARITY_CACHE:-${TMPDIR:-/tmp}/sampo-parity}
mkdir -p "$cache"
python=${SAMPO_PARITY_PYTHON:-$cache/python/bin/python}
if [ ! -x "$python" ]; then
  python3 -m venv "$cache/python"
  "$cache/python/bin/pip" install --quiet --disable-pip-version-check -r "$here/requirements.txt"
fi
if [ -z "${LLAMA_SERVER:-}" ]; then
  LLAMA_SERVER=$cache/llama.cpp/bin/llama-server
  [ -x "$LLAMA_SERVER" ] || "$here/../peers/llama.cpp.sh" "$cache/llama.cpp"
fi
sampo=${SAMPO:-$cache/sampo}
[ -n "${SAMPO:-}" ] || (cd "$here/../.." && CGO_ENABLED=0 go build -o "$sampo" ./cmd/sampo)
out=$1
shift
exec "$python" "$here/parity.py" --sampo "$sampo" --llama-server "$LLAMA_SERVER" --cache "$cache" --out "$out" "$@"

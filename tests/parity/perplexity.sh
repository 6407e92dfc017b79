#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Compares the perplexity of a text under Sampo and llama-perplexity: perplexity.sh MODEL.gguf [MODEL.gguf ...]
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
if [ $# -lt 1 ]; then
  echo "usage: $0 MODEL.gguf [MODEL.gguf ...]" >&2
  exit 2
fi
. "$here/setup.sh"
exec "$python" "$here/perplexity.py" --sampo "$sampo" --llama-perplexity "$LLAMA_BIN/llama-perplexity" "$@"

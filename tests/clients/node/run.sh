# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
node_packages
serve_libraries
for program in openai_sdk tool_loop ai_sdk; do
  [ "$program" != tool_loop ] || [ "$SAMPO_MODEL" = sampo/mini-chat ] || continue
  echo "$program:"
  (cd "$modules" && node "$program.mjs")
done

# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
node_packages
serve_libraries
for program in openai_sdk tool_loop ai_sdk; do
  echo "$program:"
  (cd "$modules" && node "$program.mjs")
done

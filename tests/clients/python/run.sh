# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
python_packages
serve_libraries
"$bin/python" openai_sdk.py
[ "$SAMPO_MODEL" != sampo/mini-chat ] || "$bin/python" tool_loop.py

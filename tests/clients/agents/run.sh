# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
python_packages
serve_libraries
export LITELLM_LOCAL_MODEL_COST_MAP=True # nothing is fetched
for library in litellm langchain instructor; do
  echo "$library:"
  "$bin/python" "${library}_client.py"
done

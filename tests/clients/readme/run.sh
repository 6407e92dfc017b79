# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# What README.md shows is run as it stands, on the port that it names.
python_packages ../python
node_packages ../node
if curl -s http://127.0.0.1:7267/ >/dev/null; then
  echo "readme: another program uses port 7267, where README.md has the server" >&2
  exit 1
fi
PORT=7267 serve
PATH=$bin:$PATH python3 readme.py ../../../README.md "$scratch" "$SAMPO" "$modules"

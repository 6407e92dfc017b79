# SPDX-License-Identifier: Apache-2.0
# Sets cache, python, LLAMA_BIN (llama.cpp's programs) and sampo, and installs or builds what is missing. To be sourced; here is this folder.
cache=${SAMPO_PARITY_CACHE:-${TMPDIR:-/tmp}/sampo-parity}
mkdir -p "$cache"
python=${SAMPO_PARITY_PYTHON:-$cache/python/bin/python}
if [ ! -x "$python" ]; then
  python3 -m venv "$cache/python"
  "$cache/python/bin/pip" install --quiet --disable-pip-version-check -r "$here/requirements.txt"
fi
if [ -z "${LLAMA_BIN:-}" ]; then
  LLAMA_BIN=$cache/llama.cpp/bin
  [ -x "$LLAMA_BIN/llama-server" ] || "$here/../peers/llama.cpp.sh" "$cache/llama.cpp"
fi
sampo=${SAMPO:-$cache/sampo}
[ -n "${SAMPO:-}" ] || (cd "$here/../.." && CGO_ENABLED=0 go build -o "$sampo" ./cmd/sampo)

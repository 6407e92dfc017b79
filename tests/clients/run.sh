#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs client programs against Sampo: run.sh [PATH/SAMPO] [SUITE ...]
# A suite is a folder with a run.sh. Without names the quick ones run; "all" runs all. See README.md.
set -euo pipefail
quick=(readme python agents node go llm)
slow=(openapi lm-eval evalplus mini-swe-agent guidellm aiperf vllm)

cache=${SAMPO_CLIENTS_CACHE:-${TMPDIR:-/tmp}/sampo-clients}
mkdir -p "$cache"
sampo=
if [[ ${1:-} = */* ]]; then
  sampo=$(realpath "$1")
  shift
fi
[ -z "${SAMPO_RESULTS:-}" ] || { mkdir -p "$SAMPO_RESULTS" && export SAMPO_RESULTS=$(realpath "$SAMPO_RESULTS"); }
cd "$(dirname "$0")"
suites=("$@")
case "${1:-}" in
  "") suites=("${quick[@]}") ;;
  all) suites=("${quick[@]}" "${slow[@]}") ;;
esac
for tool in go python3 node npm curl; do
  command -v "$tool" >/dev/null || { echo "clients: $tool is missing" >&2; exit 1; }
done
if [ -z "$sampo" ]; then
  sampo=$cache/sampo
  (cd ../.. && CGO_ENABLED=0 go build -o "$sampo" ./cmd/sampo)
fi
scripted=$cache/scripted.gguf
(cd ../.. && go run ./tests/scripted "$scripted")

failed=()
for suite in "${suites[@]}"; do
  [ -f "$suite/run.sh" ] || { echo "clients: there is no suite $suite; there are: ${quick[*]} ${slow[*]}" >&2; exit 2; }
  echo "-- $suite"
  (cd "$suite" && CACHE=$cache SAMPO=$sampo SCRIPTED=$scripted bash -euo pipefail -c 'source ../common.sh; source ./run.sh') || failed+=("$suite")
done
echo "${#suites[@]} suites, ${#failed[@]} failed: ${failed[*]:-none}"
[ ${#failed[@]} -eq 0 ]

#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs every fuzz target for a while: run.sh [TIME-FOR-EACH], by default 60s. Ends with 1 at the first finding.
set -euo pipefail
cd "$(dirname "$0")/../.."
each=${1:-60s}
count=0
while IFS=: read -r file line; do
  target=$(sed -E 's/func (Fuzz[A-Za-z0-9_]+).*/\1/' <<<"$line")
  package=./$(dirname "$file")
  echo "-- $package $target"
  go test -run '^$' -fuzz "^$target\$" -fuzztime "$each" -fuzzminimizetime 5x "$package"
  count=$((count + 1))
done < <(grep -rE '^func Fuzz' --include='*_test.go' internal)
echo "$count passed, 0 failed"

# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# The API's document against its meta-schema, answers against the document, and then Schemathesis: requests made from the
# document, well formed and broken, must get answers that it tells of, and never a 5xx. Which fields exclude each other
# the document doesn't say in schemas, so that a well-formed request may be refused; and keys that mean nothing where they
# stand are ignored whatever they hold, so that one with a wrong type may be taken.
python_packages
serve
"$bin/python" "$(realpath ../../openapi/check.py)" "$url"
export SAMPO_API_KEY=key-of-the-tests
serve "$SCRIPTED" --context 1024 # requests that ignore the end fill it
cd "$scratch" # it keeps what it found where it runs
"$bin/schemathesis" run "$url/api/openapi.json" --checks all --exclude-checks positive_data_acceptance,negative_data_rejection --max-examples 100 --seed 8 \
  --header "Authorization: Bearer $SAMPO_API_KEY" --request-timeout 60 --generation-database :memory: --no-color >"$scratch/schemathesis.log" 2>&1 ||
  { cat "$scratch/schemathesis.log" >&2; false; }
grep -E 'generated|passed' "$scratch/schemathesis.log"

# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# EvalPlus with problems of our own: the model of fixed scripts solves the one that asks for its program, and no other.
python_packages
serve sampo/mini-chat "$SCRIPTED"
HUMANEVAL_OVERRIDE_PATH=$PWD/problems.jsonl
export HUMANEVAL_OVERRIDE_PATH OPENAI_API_KEY=any XDG_CACHE_HOME=$scratch/cache
evaluate() { # evaluate MODEL WORK [FLAG ...]: writes $scratch/WORK.log and the results below $scratch/WORK
  local model=$1 work=$2
  shift 2
  (cd "$scratch" && "$bin/evalplus.evaluate" --model "$model" --dataset humaneval --backend openai --base_url "$url/v1" \
    --root "$scratch/$work" --parallel 2 "$@" >"$work.log" 2>&1) || { cat "$scratch/$work.log" >&2; return 1; }
}
for work in first second; do evaluate scripted "$work" --greedy; done
evaluate sampo/mini-chat samples --n_samples 4 --temperature 0.8
"$bin/python" check.py "$scratch"

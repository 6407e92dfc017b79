# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# GuideLLM: chats one after the other, then four at a time.
python_packages
serve_models
for model in "${models[@]}"; do
  command=(guidellm run --backend "kind=openai_http,target=$url,model=$model,request_format=/v1/chat/completions"
    --tokenizer "kind=huggingface_auto,model=${tokenizers[$model]}" --data kind=synthetic_text,prompt_tokens=128,output_tokens=32
    --profile '{"kind": "concurrent", "streams": [1, 4]}' --constraint "kind=max_duration,seconds=${SAMPO_CLIENT_SECONDS:-20}")
  out=$scratch/$(basename "$model")
  mkdir "$out"
  (cd "$out" && GUIDELLM__DEFAULT_RESULTS_DIR=$out COLUMNS=200 "$bin/${command[0]}" "${command[@]:1}" --disable-console-interactive >log 2>&1) ||
    { cat "$out/log" >&2; false; }
  "$bin/python" summary.py "$out/benchmarks.json" | report "guidellm-$(basename "$model")" "${command[@]}"
done

# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# vLLM's own client, `vllm bench serve`, by both routes.
UV_OVERRIDES=$PWD/overrides.txt python_packages
serve_models
for model in "${models[@]}"; do
  for route in openai:/v1/completions openai-chat:/v1/chat/completions; do
    command=(vllm bench serve --backend "${route%%:*}" --endpoint "${route#*:}" --base-url "$url" --model "$model"
      --tokenizer "${tokenizers[$model]}" --dataset-name random --random-input-len 128 --random-output-len 32
      --num-prompts 64 --max-concurrency 4 --ignore-eos --percentile-metrics ttft,tpot,itl,e2el)
    name=$(basename "$model")-${route%%:*}
    "$bin/python" vllm.py "${command[@]:1}" --disable-tqdm >"$scratch/$name.log" 2>&1 || { cat "$scratch/$name.log" >&2; false; }
    grep -qE '^Successful requests: +64 *$' "$scratch/$name.log" || { cat "$scratch/$name.log" >&2; false; }
    sed -n '/Serving Benchmark Result/,$p' "$scratch/$name.log" | report "vllm-bench-$name" "${command[@]}"
  done
done

# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# AIPerf: streamed chats, four at a time, with the model's own tokenizer folder.
python_packages
serve_models
unset HF_HUB_OFFLINE TRANSFORMERS_OFFLINE # offline it takes names only, and no folders
for model in "${models[@]}"; do
  command=(aiperf profile --model "$model" --url "$url" --endpoint-type chat --streaming --tokenizer "${tokenizers[$model]}"
    --isl 128 --osl 32 --concurrency 4 --request-count 64 --extra-inputs ignore_eos:true)
  out=$scratch/$(basename "$model")
  (cd "$scratch" && "$bin/${command[0]}" "${command[@]:1}" --ui none --no-gpu-telemetry --output-artifact-dir "$out" >"$out.log" 2>&1) ||
    { cat "$out.log" >&2; false; }
  "$bin/python" summary.py "$out/profile_export_aiperf.json" | report "aiperf-$(basename "$model")" "${command[@]}"
done

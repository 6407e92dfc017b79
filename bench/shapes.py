#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a GGUF file of random BF16 weights in the shape of a Qwen3 model. It says nothing sensible; it is for measuring speed.

    python3 bench/shapes.py 0.6b OUT.gguf VOCABULARY.gguf
    llama-quantize --allow-requantize OUT.gguf OUT-q4_k_m.gguf Q4_K_M

The tokenizer is copied from VOCABULARY.gguf, any file with at least 151,936 SentencePiece tokens (Gemma's have).
Needs the packages numpy and gguf.
"""

import argparse

import gguf
import numpy as np

VOCABULARY = 151_936
CONTEXT = 32_768

# By name: hidden size, FFN size, layers, query heads, KV heads. The head dim is 128.
SHAPES = {
    "0.6b": (1024, 3072, 28, 16, 8),
    "1.7b": (2048, 6144, 28, 16, 8),
}
HEAD_DIM = 128


def copy_tokenizer(writer, path):
    """Writes the first tokens of another file's tokenizer."""
    fields = gguf.GGUFReader(path).fields

    def first(name):
        return fields[f"tokenizer.ggml.{name}"].contents()[:VOCABULARY]

    writer.add_tokenizer_model("llama")
    writer.add_tokenizer_pre("default")
    writer.add_token_list(first("tokens"))
    writer.add_token_scores(first("scores"))
    writer.add_token_types(first("token_type"))
    writer.add_eos_token_id(1)
    writer.add_bos_token_id(2)


def tensors(shape):
    """Yields the name and the dimensions of each tensor: two for a matrix, one for a norm."""
    hidden, ffn, layers, heads, kv_heads = shape
    yield "token_embd.weight", (VOCABULARY, hidden)
    yield "output_norm.weight", (hidden,)
    for layer in range(layers):
        for part, size in {
            "attn_norm": (hidden,),
            "attn_q": (heads * HEAD_DIM, hidden),
            "attn_k": (kv_heads * HEAD_DIM, hidden),
            "attn_v": (kv_heads * HEAD_DIM, hidden),
            "attn_q_norm": (HEAD_DIM,),
            "attn_k_norm": (HEAD_DIM,),
            "attn_output": (hidden, heads * HEAD_DIM),
            "ffn_norm": (hidden,),
            "ffn_gate": (ffn, hidden),
            "ffn_up": (ffn, hidden),
            "ffn_down": (hidden, ffn),
        }.items():
            yield f"blk.{layer}.{part}.weight", size


def bf16(x):
    """Cuts floats to their upper 16 bits."""
    return (x.view(np.uint32) >> 16).astype(np.uint16)


def main():
    """Parses the arguments and writes the file."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("shape", choices=SHAPES)
    parser.add_argument("out")
    parser.add_argument("vocabulary", metavar="VOCABULARY.gguf")
    args = parser.parse_args()
    shape = SHAPES[args.shape]
    hidden, ffn, layers, heads, kv_heads = shape
    writer = gguf.GGUFWriter(args.out, "qwen3", use_temp_file=True)
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(hidden)
    writer.add_feed_forward_length(ffn)
    writer.add_block_count(layers)
    writer.add_head_count(heads)
    writer.add_head_count_kv(kv_heads)
    writer.add_key_length(HEAD_DIM)
    writer.add_value_length(HEAD_DIM)
    writer.add_layer_norm_rms_eps(1e-6)
    writer.add_rope_freq_base(1e6)
    writer.add_file_type(gguf.LlamaFileType.MOSTLY_BF16)
    copy_tokenizer(writer, args.vocabulary)
    random = np.random.default_rng(1)
    for name, size in tensors(shape):
        if len(size) == 1:
            writer.add_tensor(name, np.ones(size, np.float32))
            continue
        values = random.standard_normal(size, np.float32) * np.float32(size[1] ** -0.5)
        writer.add_tensor(name, bf16(values).view(np.uint8).reshape(size[0], -1), raw_dtype=gguf.GGMLQuantizationType.BF16)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


if __name__ == "__main__":
    main()

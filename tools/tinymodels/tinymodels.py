# SPDX-License-Identifier: Apache-2.0
"""Makes the tiny checkpoints with random weights that the model tests compare with.

Usage: python tinymodels.py --llama-cpp CHECKOUT --out ../../internal/model [NAME ...]

Needs torch, transformers, safetensors and gguf. CHECKOUT is a source tree of llama.cpp, whose converter makes the GGUF
file of each checkpoint. Writes, for each model, FAMILY/testdata/NAME/ with

    config.json, model.safetensors   as transformers saves them (F32)
    model.gguf                       as llama.cpp converts them (F32, no tokenizer)
    tokens.json                      the prompt
    logits.f32                       [S, V] little-endian floats: the reference
    layers.f32                       [L, S, E] the residual stream after each layer (only where asked for below)
"""

import argparse
import json
import pathlib
import sys

import torch
import transformers

PROMPT_TOKENS = 75  # more than two cache blocks and than every window below


def models():
    """Returns name -> (family, config, keep layers)."""
    common = dict(bos_token_id=1, eos_token_id=2, max_position_embeddings=512)
    return {
        # Grouped queries, q width other than hidden size, Llama 3.1's rope scaling, own output matrix.
        "llama3": ("llama", transformers.LlamaConfig(
            vocab_size=160, hidden_size=60, num_hidden_layers=3, num_attention_heads=6, num_key_value_heads=2, head_dim=16,
            intermediate_size=96, rms_norm_eps=1e-5, tie_word_embeddings=False,
            rope_parameters=dict(rope_type="llama3", rope_theta=1000.0, factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0,
                                 original_max_position_embeddings=64), **common), True),
        # Sizes that no vector width divides, three KV heads, biases everywhere, linear rope scaling, tied.
        "odd": ("llama", transformers.LlamaConfig(
            vocab_size=77, hidden_size=54, num_hidden_layers=2, num_attention_heads=9, num_key_value_heads=3, head_dim=20,
            intermediate_size=76, rms_norm_eps=1e-6, tie_word_embeddings=True, attention_bias=True, mlp_bias=True,
            rope_parameters=dict(rope_type="linear", rope_theta=10000.0, factor=2.0), **common), False),
        "qwen3": ("qwen3", transformers.Qwen3Config(
            vocab_size=133, hidden_size=48, num_hidden_layers=3, num_attention_heads=4, num_key_value_heads=1, head_dim=32,
            intermediate_size=80, rms_norm_eps=1e-6, tie_word_embeddings=True,
            rope_parameters=dict(rope_type="default", rope_theta=1000000.0), **common), False),
        # Seven layers, so that the sixth sees everything; a window shorter than the prompt.
        "gemma3": ("gemma3", transformers.Gemma3TextConfig(
            vocab_size=149, hidden_size=40, num_hidden_layers=7, num_attention_heads=4, num_key_value_heads=1, head_dim=24,
            intermediate_size=64, rms_norm_eps=1e-6, sliding_window=21, query_pre_attn_scalar=24, pad_token_id=0,
            rope_parameters=dict(full_attention=dict(rope_type="linear", rope_theta=1000000.0, factor=8.0),
                                 sliding_attention=dict(rope_type="default", rope_theta=10000.0)), **common), False),
    }


def randomize(model):
    """Gives every weight a size at which attention is neither flat nor one-hot, and every bias and norm a value."""
    for name, p in model.named_parameters():
        if name.endswith("bias"):
            p.data.normal_(0, 0.2)
        elif "norm" in name:
            p.data += torch.randn_like(p) * 0.2
        elif "embed_tokens" in name:
            p.data.normal_(0, 0.5)
        else:
            p.data.normal_(0, 1.2 / p.shape[1] ** 0.5)


def reference(model, folder, keep_layers):
    """Writes the prompt, its logits and, if asked for, the residual stream after each layer."""
    vocab = model.config.vocab_size
    tokens = torch.randint(0, vocab, (1, PROMPT_TOKENS))
    layers = []
    for layer in model.model.layers:
        layer.register_forward_hook(lambda _m, _i, out: layers.append((out[0] if isinstance(out, tuple) else out).reshape(PROMPT_TOKENS, -1)))
    with torch.no_grad():
        logits = model(tokens, use_cache=False).logits[0]
    (folder / "tokens.json").write_text(json.dumps(tokens[0].tolist()) + "\n")
    logits.numpy().astype("<f4").tofile(folder / "logits.f32")
    if keep_layers:
        torch.stack(layers).numpy().astype("<f4").tofile(folder / "layers.f32")


def convert(folder, checkout):
    """Runs llama.cpp's converter without a tokenizer."""
    sys.path[:0] = [str(checkout), str(checkout / "gguf-py")]
    import gguf
    from conversion import ModelBase, get_model_architecture, get_model_class
    from conversion.base import ModelType
    hparams = ModelBase.load_hparams(folder, False)
    base = get_model_class(get_model_architecture(hparams, ModelType.TEXT))

    class Converter(base):
        model_arch = base.model_arch

        def set_vocab(self):
            self._set_vocab_none()

    if base.__name__.startswith("Gemma3"):  # it counts a tokenizer's entries to cut the embedding
        entries = {f"t{i}": i for i in range(hparams["vocab_size"])}
        (folder / "tokenizer.json").write_text(json.dumps({"model": {"vocab": entries}, "added_tokens": []}))
    Converter(folder, gguf.LlamaFileType.ALL_F32, folder / "model.gguf").write()
    (folder / "tokenizer.json").unlink(missing_ok=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--llama-cpp", type=pathlib.Path, required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("names", nargs="*")
    args = parser.parse_args()
    for name, (family, config, keep_layers) in models().items():
        if args.names and name not in args.names:
            continue
        torch.manual_seed(sum(name.encode()))
        folder = args.out / family / "testdata" / name
        folder.mkdir(parents=True, exist_ok=True)
        config._attn_implementation = "eager"
        model = transformers.AutoModelForCausalLM.from_config(config, dtype=torch.float32).eval()
        randomize(model)
        model.save_pretrained(folder)
        (folder / "generation_config.json").unlink(missing_ok=True)
        reference(model, folder, keep_layers)
        convert(folder, args.llama_cpp)


main()

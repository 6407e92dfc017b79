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
    crossing.json                    for LongRoPE: a prompt shorter than the original context, the greedy tokens after it, which
                                     end behind that, and their logits [tokens, V]
"""

import argparse
import json
import pathlib
import sys

import torch
import transformers

PROMPT_TOKENS = 75  # more than two cache blocks and than every window below


def without(config, key):
    """Returns a copy of a dictionary without a key."""
    return {k: v for k, v in config.items() if k != key}


def models():
    """Returns name -> (family, config)."""
    common = dict(bos_token_id=1, eos_token_id=2, max_position_embeddings=512)
    default = dict(rope_type="default", rope_theta=10000.0)
    # What most have: a prime vocabulary, three heads of a size that no vector width divides, one KV head.
    small = dict(vocab_size=67, hidden_size=36, num_hidden_layers=2, num_attention_heads=3, num_key_value_heads=1, head_dim=20,
                 intermediate_size=44, rms_norm_eps=1e-6, **common)
    # Without head_dim, for converters that take it for hidden size over heads.
    whole = without(small, "head_dim")
    less = dict(hidden_size=24, intermediate_size=28)  # for the further checkpoints of a family
    # Three KV heads with three heads each, of a size that is not hidden size over heads, and another prime vocabulary.
    grouped = small | dict(vocab_size=53, hidden_size=18, num_attention_heads=9, num_key_value_heads=3, head_dim=6, intermediate_size=22)
    grouped_whole = without(grouped, "head_dim") | dict(hidden_size=36)
    return {
        # Grouped queries, q width other than hidden size, Llama 3.1's rope scaling, own output matrix.
        "llama3": ("llama", transformers.LlamaConfig(
            **small | dict(num_hidden_layers=3, num_attention_heads=6, num_key_value_heads=2, head_dim=12, rms_norm_eps=1e-5),
            tie_word_embeddings=False,
            rope_parameters=dict(rope_type="llama3", rope_theta=1000.0, factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0,
                                 original_max_position_embeddings=64))),
        # Sizes that no vector width divides, three KV heads, biases everywhere, linear rope scaling, tied.
        "odd": ("llama", transformers.LlamaConfig(
            **small | dict(vocab_size=77, hidden_size=54, num_attention_heads=9, num_key_value_heads=3, head_dim=10, intermediate_size=46),
            tie_word_embeddings=True, attention_bias=True, mlp_bias=True,
            rope_parameters=dict(rope_type="linear", rope_theta=10000.0, factor=2.0))),
        # Llama 2: as many KV heads as heads, no scaling, own output matrix.
        "llama2": ("llama", transformers.LlamaConfig(
            **small | less | dict(num_key_value_heads=3, head_dim=12, rms_norm_eps=1e-5), tie_word_embeddings=False, rope_parameters=default)),
        "mistral": ("llama", transformers.MistralConfig(
            **small | less, tie_word_embeddings=False, sliding_window=None, rope_parameters=dict(rope_type="default", rope_theta=1000000.0))),
        # Mistral 7B v0.1: a window in all layers, which GGUF files do not tell of.
        "mistral-window": ("llama", transformers.MistralConfig(
            **small | less, tie_word_embeddings=False, sliding_window=21, rope_parameters=default)),
        # YaRN, and a query scale that changes within the prompt.
        "ministral3": ("mistral3", transformers.Ministral3Config(
            **small, tie_word_embeddings=True, sliding_window=None,
            rope_parameters=dict(rope_type="yarn", rope_theta=10000.0, factor=16.0, original_max_position_embeddings=32,
                                 beta_fast=32.0, beta_slow=1.0, mscale=1.0, mscale_all_dim=1.0, llama_4_scaling_beta=0.1))),
        "qwen2": ("qwen2", transformers.Qwen2Config(
            **whole | dict(num_attention_heads=3, num_key_value_heads=3), tie_word_embeddings=False,
            rope_parameters=dict(rope_type="default", rope_theta=1000000.0))),
        # YaRN as users switch it on, tied.
        "qwen2-yarn": ("qwen2", transformers.Qwen2Config(
            **whole | less, tie_word_embeddings=True,
            rope_parameters=dict(rope_type="yarn", rope_theta=10000.0, factor=4.0, original_max_position_embeddings=32))),
        "qwen3": ("qwen3", transformers.Qwen3Config(
            **small, tie_word_embeddings=True, rope_parameters=dict(rope_type="default", rope_theta=1000000.0))),
        "gemma": ("gemma", transformers.GemmaConfig(
            **small | less, hidden_act="gelu_pytorch_tanh", pad_token_id=0, rope_parameters=default)),
        # A layer with a window shorter than the prompt and one that sees everything; caps that bite.
        "gemma2": ("gemma2", transformers.Gemma2Config(
            **small, sliding_window=21, query_pre_attn_scalar=20, attn_logit_softcapping=2.0, final_logit_softcapping=3.0, pad_token_id=0,
            rope_parameters=default)),
        # Seven layers, so that the sixth sees everything; a window shorter than the prompt.
        "gemma3": ("gemma3", transformers.Gemma3TextConfig(
            **small | dict(hidden_size=30, num_hidden_layers=7, head_dim=12, intermediate_size=28), sliding_window=21,
            query_pre_attn_scalar=12, pad_token_id=0,
            rope_parameters=dict(full_attention=dict(rope_type="linear", rope_theta=1000000.0, factor=8.0),
                                 sliding_attention=dict(rope_type="default", rope_theta=10000.0)))),
        # Four layers, so that the last does not turn.
        "smollm3": ("smollm3", transformers.SmolLM3Config(
            **small | dict(num_hidden_layers=4, hidden_size=30, head_dim=12, intermediate_size=28), tie_word_embeddings=True,
            pad_token_id=0, rope_parameters=default)),
        "granite": ("granite", transformers.GraniteConfig(
            **whole | dict(num_attention_heads=3, num_key_value_heads=3), tie_word_embeddings=True, embedding_multiplier=1.5,
            residual_multiplier=0.7, attention_multiplier=0.2, logits_scaling=3.0, rope_parameters=default)),
        "olmo2": ("olmo2", transformers.Olmo2Config(**small, tie_word_embeddings=False, pad_token_id=0, rope_parameters=default)),
        # Four layers, so that the last sees everything; YaRN for it.
        "olmo3": ("olmo2", transformers.Olmo3Config(
            **small | less | dict(num_hidden_layers=4, head_dim=8), tie_word_embeddings=False, pad_token_id=0, sliding_window=21,
            rope_parameters=dict(
                full_attention=dict(rope_type="yarn", rope_theta=10000.0, factor=8.0, original_max_position_embeddings=32,
                                    attention_factor=1.2079, beta_fast=32.0, beta_slow=1.0),
                sliding_attention=default))),
        # Four layers, so that the last sees everything and does not turn.
        "exaone4": ("exaone4", transformers.Exaone4Config(
            **small | less | dict(num_hidden_layers=4, head_dim=8), tie_word_embeddings=True, pad_token_id=0, sliding_window=21,
            sliding_window_pattern=4, rope_parameters=dict(rope_type="llama3", rope_theta=1000.0, factor=8.0, low_freq_factor=1.0,
                                                           high_freq_factor=4.0, original_max_position_embeddings=64))),
        "ernie4.5": ("ernie45", transformers.Ernie4_5Config(
            **small | less, tie_word_embeddings=True, pad_token_id=0, rope_parameters=default)),
        "seed-oss": ("seedoss", transformers.SeedOssConfig(
            **small | less, tie_word_embeddings=False, attention_bias=True, pad_token_id=0, rope_parameters=default)),
        # Sizes that the converter derives: FFN size of four times the hidden size, as many KV heads as heads.
        "phi2": ("phi2", transformers.PhiConfig(
            **without(whole | less, "rms_norm_eps") | dict(num_key_value_heads=3, intermediate_size=96), layer_norm_eps=1e-5,
            tie_word_embeddings=False, rope_parameters=dict(rope_type="default", rope_theta=10000.0, partial_rotary_factor=0.5))),
        # Phi-3-mini-4k: a window in all layers.
        "phi3": ("phi3", transformers.Phi3Config(
            **whole | dict(num_attention_heads=3, num_key_value_heads=3), tie_word_embeddings=False, sliding_window=21, pad_token_id=0,
            original_max_position_embeddings=512, rope_parameters=default)),
        # Phi-4-mini: LongRoPE, where the prompt is longer than the original context; heads of 8 of which 6 are turned.
        "phi4-mini": ("phi3", transformers.Phi3Config(
            **whole | less, tie_word_embeddings=True, sliding_window=None, pad_token_id=0, original_max_position_embeddings=64,
            rope_parameters=dict(rope_type="longrope", rope_theta=10000.0, partial_rotary_factor=0.75,
                                 short_factor=[1.0, 1.1, 1.2], long_factor=[1.0, 1.5, 3.0]))),
        # The other output matrix, and three KV heads, of families with checkpoints above.
        "mistral-grouped": ("llama", transformers.MistralConfig(
            **grouped, tie_word_embeddings=True, sliding_window=None, rope_parameters=default)),
        "qwen2-grouped": ("qwen2", transformers.Qwen2Config(**grouped_whole, tie_word_embeddings=True, rope_parameters=default)),
        "qwen3-grouped": ("qwen3", transformers.Qwen3Config(**grouped, tie_word_embeddings=False, rope_parameters=default)),
        # A scale of queries that is not that of the head's size, which GGUF files do not tell of.
        "gemma2-grouped": ("gemma2", transformers.Gemma2Config(
            **grouped, sliding_window=21, query_pre_attn_scalar=13, pad_token_id=0, rope_parameters=default)),
        "gemma3-grouped": ("gemma3", transformers.Gemma3TextConfig(
            **grouped, sliding_window=21, query_pre_attn_scalar=6, pad_token_id=0,
            rope_parameters=dict(full_attention=dict(rope_type="default", rope_theta=1000000.0), sliding_attention=default))),
        "smollm3-grouped": ("smollm3", transformers.SmolLM3Config(
            **grouped | dict(num_hidden_layers=4), tie_word_embeddings=False, pad_token_id=0, rope_parameters=default)),
        "granite-grouped": ("granite", transformers.GraniteConfig(
            **grouped_whole, tie_word_embeddings=False, embedding_multiplier=1.5, residual_multiplier=0.7, attention_multiplier=0.2,
            logits_scaling=3.0, rope_parameters=default)),
        "olmo2-grouped": ("olmo2", transformers.Olmo2Config(**grouped, tie_word_embeddings=True, pad_token_id=0, rope_parameters=default)),
        # LongRoPE as well as a window.
        "phi3-grouped": ("phi3", transformers.Phi3Config(
            **grouped_whole, tie_word_embeddings=True, sliding_window=21, pad_token_id=0, original_max_position_embeddings=64,
            rope_parameters=dict(rope_type="longrope", rope_theta=10000.0, short_factor=[1.0, 1.1], long_factor=[1.0, 2.5]))),
        "arcee": ("arcee", transformers.ArceeConfig(
            **small | less, tie_word_embeddings=False, pad_token_id=0,
            rope_parameters=dict(rope_type="yarn", rope_theta=10000.0, factor=16.0, original_max_position_embeddings=32))),
        "nemotron": ("nemotron", transformers.NemotronConfig(
            **without(whole | less, "rms_norm_eps"), head_dim=8, norm_eps=1e-5, tie_word_embeddings=False,
            rope_parameters=dict(rope_type="default", rope_theta=10000.0, partial_rotary_factor=0.5))),
        "starcoder2": ("starcoder2", transformers.Starcoder2Config(
            **without(whole | less, "rms_norm_eps"), norm_epsilon=1e-5, use_bias=True, tie_word_embeddings=True, sliding_window=None,
            rope_parameters=default)),
        "stablelm": ("stablelm", transformers.StableLmConfig(
            **without(whole | less, "rms_norm_eps"), layer_norm_eps=1e-5, use_qkv_bias=True, tie_word_embeddings=False,
            rope_parameters=dict(rope_type="default", rope_theta=10000.0, partial_rotary_factor=0.25))),
        # Both branches see the same norm.
        "stablelm-parallel": ("stablelm", transformers.StableLmConfig(
            **without(whole | less, "rms_norm_eps"), layer_norm_eps=1e-5, use_parallel_residual=True, tie_word_embeddings=True,
            rope_parameters=dict(rope_type="default", rope_theta=10000.0, partial_rotary_factor=0.25))),
        "command-r": ("cohere", transformers.CohereConfig(
            **without(whole | less, "rms_norm_eps"), layer_norm_eps=1e-5, logit_scale=0.3, use_qk_norm=False, pad_token_id=0,
            rope_parameters=default)),
        # Four layers, so that the last sees everything and does not turn.
        "cohere2": ("cohere", transformers.Cohere2Config(
            **without(whole | less, "rms_norm_eps") | dict(num_hidden_layers=4), layer_norm_eps=1e-5, logit_scale=0.3, pad_token_id=0,
            sliding_window=21, rotary_pct=1.0, rope_parameters=default)),
        # The context length is one of those that the converter knows.
        "hunyuan": ("hunyuan", transformers.HunYuanDenseV1Config(
            **small | less | dict(max_position_embeddings=32768), tie_word_embeddings=True, pad_token_id=0,
            rope_parameters=dict(rope_type="dynamic", rope_theta=10000.0, alpha=50.0, factor=1.0))),
        # Half of each head is turned.
        "glm": ("glm", transformers.GlmConfig(
            **whole | dict(hidden_size=24, intermediate_size=28, rms_norm_eps=1e-5), head_dim=8, tie_word_embeddings=False,
            attention_bias=True, pad_token_id=0, rope_parameters=dict(rope_type="default", rope_theta=10000.0, partial_rotary_factor=0.5))),
        "glm4": ("glm4", transformers.Glm4Config(
            **small, tie_word_embeddings=False, attention_bias=True, pad_token_id=0,
            rope_parameters=dict(rope_type="default", rope_theta=10000.0, partial_rotary_factor=0.5))),
    }


KEEP_LAYERS = {"llama3"}  # models whose residual stream after each layer is kept
NO_GGUF = {"mistral-window", "gemma2-grouped"}  # models that a GGUF file cannot hold


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
    layers, hooks = [], []
    for layer in model.model.layers:
        hooks.append(layer.register_forward_hook(lambda _m, _i, out: layers.append((out[0] if isinstance(out, tuple) else out).reshape(PROMPT_TOKENS, -1))))
    with torch.no_grad():
        logits = model(tokens, use_cache=False).logits[0]
    for hook in hooks:
        hook.remove()
    (folder / "tokens.json").write_text(json.dumps(tokens[0].tolist()) + "\n")
    logits.numpy().astype("<f4").tofile(folder / "logits.f32")
    if keep_layers:
        torch.stack(layers).numpy().astype("<f4").tofile(folder / "layers.f32")


def crossing(model, folder):
    """Writes greedy text that begins below LongRoPE's original context and ends above it. Each step computes the whole sequence, by the
    list that its length asks for; generate() does the same, since it drops its cache at the limit."""
    limit = model.config.original_max_position_embeddings
    prompt = torch.randint(0, model.config.vocab_size, (1, limit - 8))
    tokens, logits = prompt, []
    with torch.no_grad():
        for _ in range(24):
            logits.append(model(tokens, use_cache=False).logits[0, -1])
            tokens = torch.cat([tokens, logits[-1].argmax().reshape(1, 1)], dim=1)
        same = model.generate(prompt, max_new_tokens=24, do_sample=False, eos_token_id=None, attention_mask=torch.ones_like(prompt))
    assert torch.equal(same, tokens), "generate() differs"
    made = tokens[0, prompt.shape[1] :].tolist()
    (folder / "crossing.json").write_text(json.dumps({"prompt": prompt[0].tolist(), "tokens": made, "logits": torch.stack(logits).tolist()}) + "\n")


def convert(folder, checkout):
    """Runs llama.cpp's converter without a tokenizer."""
    sys.path[:0] = [str(checkout), str(checkout / "gguf-py")]
    import gguf
    from conversion import ModelBase, get_model_architecture, get_model_class
    from conversion.base import ModelType
    hparams = ModelBase.load_hparams(folder, False)
    base = get_model_class(get_model_architecture(hparams, ModelType.TEXT))
    base = getattr(base, "Ministral3Model", base)  # what a class for several kinds of Mistral leaves it to

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
    for name, (family, config) in models().items():
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
        reference(model, folder, name in KEEP_LAYERS)
        if (config.rope_parameters or {}).get("rope_type") == "longrope":
            crossing(model, folder)
        if name not in NO_GGUF:
            convert(folder, args.llama_cpp)


main()

# SPDX-License-Identifier: Apache-2.0
"""Writes a checkpoint as a Hugging Face folder (for evaluation), and as the GGUF with its small companions for assets/.

    python export.py TOKENIZER.json CKPT.pt HF_DIR [--gguf mini-chat.gguf --beside DIR]
"""
import argparse
import json
import pathlib
import shutil

import gguf
import numpy as np
import torch
from safetensors.torch import save_file
from tokenizers import Tokenizer

import vocabulary
from model import Config, Model

HERE = pathlib.Path(__file__).parent
NAME = "sampo/mini-chat"
ABOUT = ("A very small chat model made for Sampo, trained from scratch on generated conversations: capitals, small sums, counting, "
         "spelling, repeating, a few translations, JSON extraction, thinking and tool calls. It knows nothing else.")
CONTEXT_NAMES = {"input_layernorm": "attn_norm", "self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v",
                 "self_attn.o_proj": "attn_output", "self_attn.q_norm": "attn_q_norm", "self_attn.k_norm": "attn_k_norm",
                 "post_attention_layernorm": "ffn_norm", "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up", "mlp.down_proj": "ffn_down"}


def gguf_name(name):
    name = name.removeprefix("model.").removesuffix(".weight")
    if not name.startswith("layers."):
        return {"embed_tokens": "token_embd", "norm": "output_norm"}[name] + ".weight"
    _, layer, part = name.split(".", 2)
    return f"blk.{layer}.{CONTEXT_NAMES[part]}.weight"


def small_files(folder, tokenizer_path, tokenizer, config):
    """tokenizer.json, tokenizer_config.json, config.json, generation_config.json and the chat template."""
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(tokenizer_path, folder / "tokenizer.json")
    shutil.copy(HERE / "chat_template.jinja", folder / "chat_template.jinja")
    end, turn_end = tokenizer.token_to_id("<|endoftext|>"), tokenizer.token_to_id("<|im_end|>")
    dump = lambda name, value: (folder / name).write_text(json.dumps(value, indent=2) + "\n")
    dump("config.json", config.to_hf() | {"bos_token_id": None, "eos_token_id": turn_end, "pad_token_id": end})
    dump("generation_config.json", {"do_sample": False, "eos_token_id": [turn_end, end], "pad_token_id": end})
    dump("tokenizer_config.json", {
        "tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": config.context, "add_prefix_space": False, "clean_up_tokenization_spaces": False,
        "bos_token": None, "eos_token": "<|im_end|>", "pad_token": "<|endoftext|>", "unk_token": None,
        "added_tokens_decoder": {str(tokenizer.token_to_id(t)): {"content": t, "special": t in vocabulary.CONTROL, "normalized": False, "lstrip": False,
                                                                 "rstrip": False, "single_word": False} for t in vocabulary.CONTROL + vocabulary.MARKERS}})


def write_gguf(path, tokenizer_path, tokenizer, config, weights):
    out = gguf.GGUFWriter(path, "qwen3")
    out.add_name(NAME)
    out.add_basename("mini-chat")
    out.add_organization("sampo")
    out.add_description(ABOUT)
    out.add_license("apache-2.0")
    out.add_size_label(f"{sum(w.numel() for w in weights.values()) / 1e6:.1f}M")
    out.add_languages(["en"])
    out.add_file_type(gguf.LlamaFileType.MOSTLY_Q8_0)
    out.add_quantization_version(2)
    out.add_context_length(config.context)
    out.add_embedding_length(config.hidden)
    out.add_block_count(config.layers)
    out.add_feed_forward_length(config.ffn)
    out.add_head_count(config.heads)
    out.add_head_count_kv(config.kv_heads)
    out.add_key_length(config.head_dim)
    out.add_value_length(config.head_dim)
    out.add_rope_freq_base(config.rope_theta)
    out.add_layer_norm_rms_eps(config.eps)
    out.add_float32("general.sampling.temp", 0.0)
    spec = json.loads(pathlib.Path(tokenizer_path).read_text())
    tokens = [None] * config.vocab
    for piece, i in tokenizer.get_vocab(with_added_tokens=True).items():
        tokens[i] = piece
    kinds = [gguf.TokenType.CONTROL if t in vocabulary.CONTROL else gguf.TokenType.USER_DEFINED if t in vocabulary.MARKERS else gguf.TokenType.NORMAL
             for t in tokens]
    out.add_tokenizer_model("gpt2")
    out.add_tokenizer_pre("qwen2")
    out.add_token_list(tokens)
    out.add_token_types(kinds)
    out.add_token_merges([" ".join(m) for m in spec["model"]["merges"]])
    out.add_eos_token_id(tokenizer.token_to_id("<|im_end|>"))
    out.add_eot_token_id(tokenizer.token_to_id("<|im_end|>"))
    out.add_pad_token_id(tokenizer.token_to_id("<|endoftext|>"))
    out.add_add_bos_token(False)
    out.add_add_eos_token(False)
    out.add_chat_template((HERE / "chat_template.jinja").read_text())
    for name, weight in weights.items():
        array = weight.numpy().astype(np.float32)
        if array.ndim == 2:
            kind = gguf.GGMLQuantizationType.Q8_0
            out.add_tensor(gguf_name(name), gguf.quants.quantize(array, kind), raw_dtype=kind)
        else:
            out.add_tensor(gguf_name(name), array)
    out.write_header_to_file()
    out.write_kv_data_to_file()
    out.write_tensors_to_file()
    out.close()


def read_gguf(path):
    """The weights of a file that write_gguf wrote, under the names of model.Model."""
    parts = {gguf_part: part for part, gguf_part in CONTEXT_NAMES.items()}
    weights = {}
    for tensor in gguf.GGUFReader(path).tensors:
        name = tensor.name.removesuffix(".weight")
        if name.startswith("blk."):
            _, layer, part = name.split(".")
            name = f"layers.{layer}.{parts[part]}"
        else:
            name = {"token_embd": "embed_tokens", "output_norm": "norm"}[name]
        weights[name + ".weight"] = torch.from_numpy(gguf.quants.dequantize(tensor.data, tensor.tensor_type).copy())
    return weights


def rounded(weights):
    """The weights as Q8_0 stores them, so that evaluation sees what ships."""
    kind = gguf.GGMLQuantizationType.Q8_0
    return {n: torch.from_numpy(gguf.quants.dequantize(gguf.quants.quantize(w.numpy(), kind), kind).copy()) if w.ndim == 2 else w for n, w in weights.items()}


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("tokenizer")
    parser.add_argument("checkpoint", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--gguf", type=pathlib.Path)
    parser.add_argument("--beside", type=pathlib.Path)
    options = parser.parse_args()
    tokenizer = Tokenizer.from_file(options.tokenizer)
    saved = torch.load(options.checkpoint)
    config, model = Config(**saved["config"]), Model(Config(**saved["config"]))
    model.load_state_dict(saved["model"])
    weights = model.to_hf()
    small_files(options.folder, options.tokenizer, tokenizer, config)
    save_file(rounded(weights), options.folder / "model.safetensors", metadata={"format": "pt"})
    if options.gguf:
        write_gguf(options.gguf, options.tokenizer, tokenizer, config, weights)
    if options.beside:
        small_files(options.beside, options.tokenizer, tokenizer, config)

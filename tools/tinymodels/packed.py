# SPDX-License-Identifier: Apache-2.0
"""Makes the tiny checkpoints with packed matrices that internal/weights/packed is tested with.

Usage: python packed.py ../../internal/weights/packed/testdata

Needs torch, transformers, safetensors and compressed-tensors. Writes, for each kind, NAME/ with

    config.json, model.safetensors   the checkpoint, whose layers' matrices are packed
    values.safetensors               what the packed matrices stand for, by the reference code, in BF16
    tokens.json, logits.f32          a prompt, and the reference's logits [S, V] with those values, computed in float32
"""

import json
import pathlib
import sys

import torch
import transformers
from compressed_tensors.compressors import BaseCompressor
from compressed_tensors.quantization import QuantizationScheme
from compressed_tensors.quantization.quant_scheme import MXFP4A16
from safetensors.torch import save_file
from transformers.integrations.finegrained_fp8 import Fp8Dequantize
from transformers.integrations.mxfp4 import convert_moe_packed_tensors

FP8_MAX = 448.0
FP4_MAX_EXPONENT = 2  # 4 is the largest power of two of a 4-bit float


def mx_scales(w):
    """Returns the power of two of each 32 values, as the OCP specification chooses it."""
    top = w.reshape(*w.shape[:-1], -1, 32).abs().amax(-1)
    return torch.exp2(torch.floor(torch.log2(top)) - FP4_MAX_EXPONENT)


def compressed_mxfp4(name, w):
    """compressed-tensors' mxfp4-pack-quantized."""
    scheme = QuantizationScheme(targets=["Linear"], **MXFP4A16)
    compressor = BaseCompressor.get_value_from_registry("mxfp4-pack-quantized")
    packed = compressor.compress({"weight": w, "weight_scale": mx_scales(w).to(torch.bfloat16)}, scheme)
    values = compressor.decompress(packed, scheme)["weight"]
    stem = name.removesuffix("weight")
    return {stem + k: v.contiguous() for k, v in packed.items()}, values.to(torch.bfloat16)


def blocks_mxfp4(name, w):
    """Hugging Face's mxfp4, as gpt-oss has it."""
    packed, _ = compressed_mxfp4(name, w)
    stem = name.removesuffix(".weight")
    out, half = packed[stem + ".weight_packed"].shape
    blocks = packed[stem + ".weight_packed"].reshape(1, out, half // 16, 16)
    scales = packed[stem + ".weight_scale"].reshape(1, out, half // 16)
    values = convert_moe_packed_tensors(blocks, scales)[0].T  # the reference gives [experts, in, out]
    return {stem + "_blocks": blocks[0], stem + "_scales": scales[0]}, values.contiguous()


def block_fp8(name, w):
    """Hugging Face's fp8 with blocks of [16, 32]."""
    grid = w.reshape(w.shape[0] // 16, 16, w.shape[1] // 32, 32)
    scales = grid.abs().amax((1, 3)) / FP8_MAX
    codes = (grid / scales[:, None, :, None]).reshape(w.shape).to(torch.float8_e4m3fn)
    values = Fp8Dequantize(None)._dequantize_one(codes, scales, torch.bfloat16)
    return {name: codes, name + "_scale_inv": scales}, values


KINDS = {
    "mxfp4-pack-quantized": (compressed_mxfp4, {
        "quant_method": "compressed-tensors", "format": "mxfp4-pack-quantized", "ignore": ["lm_head"],
        "config_groups": {"group_0": {"targets": ["Linear"], "weights": {
            "num_bits": 4, "type": "float", "strategy": "group", "group_size": 32, "symmetric": True, "scale_dtype": "torch.uint8"}}}}),
    "mxfp4": (blocks_mxfp4, {"quant_method": "mxfp4", "modules_to_not_convert": ["lm_head"]}),
    "fp8": (block_fp8, {"quant_method": "fp8", "activation_scheme": "dynamic", "weight_block_size": [16, 32]}),
}


def main():
    out = pathlib.Path(sys.argv[1])
    for kind, (pack, quantization) in KINDS.items():
        torch.manual_seed(7267)
        config = transformers.LlamaConfig(
            vocab_size=37, hidden_size=32, num_hidden_layers=1, num_attention_heads=2, num_key_value_heads=1, intermediate_size=64,
            max_position_embeddings=512, tie_word_embeddings=False, rope_parameters=dict(rope_type="default", rope_theta=10000.0))
        model = transformers.AutoModelForCausalLM.from_config(config, dtype=torch.float32).eval()
        tensors, all_values = {}, {}
        for name, p in model.named_parameters():
            p.data = (torch.ones_like(p) + 0.2 * torch.randn_like(p) if p.dim() == 1 else torch.randn_like(p) / p.shape[1] ** 0.5).to(torch.bfloat16).float()
            if "_proj" not in name:
                tensors[name] = p.data.to(torch.bfloat16).clone()
                continue
            parts, values = pack(name, p.data)
            tensors |= parts
            all_values[name] = values
            p.data = values.float()
        folder = out / kind
        folder.mkdir(parents=True, exist_ok=True)
        save_file(tensors, folder / "model.safetensors")
        save_file(all_values, folder / "values.safetensors")
        described = config.to_dict() | {"architectures": ["LlamaForCausalLM"], "quantization_config": quantization}
        (folder / "config.json").write_text(json.dumps(described, indent=1, sort_keys=True) + "\n")
        tokens = torch.randint(0, 37, (1, 40))
        with torch.no_grad():
            logits = model(tokens, use_cache=False).logits[0]
        (folder / "tokens.json").write_text(json.dumps(tokens[0].tolist()) + "\n")
        logits.numpy().astype("<f4").tofile(folder / "logits.f32")


main()

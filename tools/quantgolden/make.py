# SPDX-License-Identifier: Apache-2.0
"""Makes internal/quant/testdata/golden.json: random blocks of each tensor type with the values that the Python
package gguf gives them, and rows of values with the blocks that it makes of them.

    pip install gguf==0.19.0 numpy
    python tools/quantgolden/make.py > internal/quant/testdata/golden.json
"""

import json
import sys

import numpy as np
from gguf import GGML_QUANT_SIZES, GGMLQuantizationType as T
from gguf.quants import dequantize, quantize

# Byte offsets of the half floats in a block; they are redrawn until finite.
HALVES = {
    T.F16: [0],
    T.Q4_0: [0],
    T.Q4_1: [0, 2],
    T.Q5_0: [0],
    T.Q5_1: [0, 2],
    T.Q8_0: [0],
    T.Q2_K: [80, 82],
    T.Q3_K: [108],
    T.Q4_K: [0, 2],
    T.Q5_K: [0, 2],
    T.Q6_K: [208],
    T.IQ4_NL: [0],
    T.IQ4_XS: [0],
}
DEQUANTIZE = [
    *(T.F16, T.BF16, T.Q4_0, T.Q4_1, T.Q5_0, T.Q5_1, T.Q8_0, T.Q4_K, T.Q5_K, T.Q6_K),
    *(T.Q2_K, T.Q3_K, T.IQ4_NL, T.IQ4_XS, T.MXFP4),
]
QUANTIZE = [T.BF16, T.Q4_0, T.Q4_1, T.Q5_0, T.Q5_1, T.Q8_0]


def random_blocks(rng, kind, count):
    """Random bytes of count blocks, with finite scales of every exponent."""
    _, size = GGML_QUANT_SIZES[kind]
    blocks = rng.integers(0, 256, (count, size), dtype=np.uint8)
    for at in HALVES.get(kind, []):
        halves = rng.integers(0, 1 << 16, count, dtype=np.uint16)
        halves[(halves & 0x7C00) == 0x7C00] &= 0xBFFF
        blocks[:, at : at + 2] = halves.view(np.uint8).reshape(count, 2)
    return blocks.reshape(1, -1)


def hexed(array):
    return np.ascontiguousarray(array).tobytes().hex()


def main():
    rng = np.random.default_rng(7267)
    cases = {"dequantize": [], "quantize": []}
    for kind in DEQUANTIZE:
        elems, _ = GGML_QUANT_SIZES[kind]
        blocks = random_blocks(rng, kind, max(6, 320 // elems))
        values = dequantize(blocks, kind).astype("<f4")
        if kind == T.BF16:  # random bytes may be NaN
            values = np.nan_to_num(values, nan=1.0, posinf=2.0, neginf=-2.0)
            blocks = quantize(values, kind)
        cases["dequantize"].append({"type": kind.name, "blocks": hexed(blocks), "values": hexed(values)})
    for kind in QUANTIZE:
        values = rng.standard_normal((1, 320)).astype("<f4")
        values[0, :32] = 0  # a block of zeros
        values[0, 32:64] *= 1e-6  # scales that are half subnormals
        cases["quantize"].append(
            {"type": kind.name, "values": hexed(values), "blocks": hexed(quantize(values, kind))}
        )
    json.dump(cases, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()

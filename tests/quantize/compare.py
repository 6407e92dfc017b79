# SPDX-License-Identifier: Apache-2.0
"""Prints the mean squared errors of two quantised GGUF files against the file that both were made from.

    python compare.py SOURCE OURS THEIRS TYPE [LIMIT]

Only tensors that have the type in both files count. The exit status is 1 if ours is more than LIMIT times theirs.
"""

import sys

import numpy as np
from gguf import GGUFReader
from gguf.quants import dequantize


def tensors(path):
    return {t.name: t for t in GGUFReader(path).tensors}


def values(tensor):
    return dequantize(tensor.data, tensor.tensor_type).astype(np.float64).ravel()


def main():
    source, ours, theirs = (tensors(path) for path in sys.argv[1:4])
    kind, limit = sys.argv[4], float(sys.argv[5]) if len(sys.argv) > 5 else 1.02
    squares, count, used = np.zeros(2), 0, 0
    for name, tensor in source.items():
        pair = [ours[name], theirs[name]]
        if any(t.tensor_type.name != kind for t in pair):
            continue
        want = values(tensor)
        squares += [np.square(values(t) - want).sum() for t in pair]
        count += want.size
        used += 1
    if not count:
        print(f"{kind:7} no tensor has this type in both files")
        return
    ratio = squares[0] / squares[1]
    print(f"{kind:7} {used:4} tensors {count / 1e6:7.1f} M values  ours {squares[0] / count:.4e}  theirs {squares[1] / count:.4e}  ratio {ratio:.4f}", flush=True)
    if ratio > limit:
        sys.exit(1)


main()

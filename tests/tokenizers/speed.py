# SPDX-License-Identifier: Apache-2.0
"""Measures the package tokenizers (PyPI), its encode_fast, on one thread and in texts of 64 KiB. Counts processor time.

    TOKENIZERS_PARALLELISM=false python3 speed.py [--write TEXT] tokenizer.json ...
"""

import argparse
import time

from corpus import CODE, SENTENCES, texts
from tokenizers import Tokenizer

PIECE = 64 << 10


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--write", help="write the text here, for Sampo's benchmark")
    p.add_argument("--bytes", type=int, default=2_500_000)
    p.add_argument("--plain", action="store_true", help="sentences and code only, without noise")
    p.add_argument("tokenizers", nargs="*")
    a = p.parse_args()
    if a.plain:
        import random

        r = random.Random(1)
        data = "".join(r.choice(SENTENCES[:28] + CODE) + "\n" for _ in range(a.bytes // 110)).encode()
    else:
        data = b"".join(texts(a.bytes)).decode("utf-8", errors="replace").encode()
    if a.write:
        with open(a.write, "wb") as f:
            f.write(data)
    pieces = [data[i : i + PIECE].decode("utf-8", errors="ignore") for i in range(0, len(data), PIECE)]
    for name in a.tokenizers:
        t = Tokenizer.from_file(name)
        best = float("inf")
        for _ in range(3):
            start = time.process_time()
            for s in pieces:
                t.encode_batch_fast([s], add_special_tokens=False)
            best = min(best, time.process_time() - start)
        print(f"{name}: {len(data) / best / 1e6:.1f} MB/s", flush=True)


main()

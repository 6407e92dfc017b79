# SPDX-License-Identifier: Apache-2.0
"""Writes SmolLM2's tokenizer.json from the vocabulary in its GGUF file (see ggufvocab.py), as Hugging Face's own has it.

    python3 smollm2.py smollm2.vocab.json smollm2.json
"""

import json
import sys

CONTROL = 3

with open(sys.argv[1]) as f:
    v = json.load(f)
level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
reference = {
    "version": "1.0",
    "truncation": None,
    "padding": None,
    "added_tokens": [{"id": i, "content": t, **flags} for i, t in enumerate(v["Tokens"]) if v["Types"][i] == CONTROL],
    "normalizer": None,
    "pre_tokenizer": {"type": "Sequence", "pretokenizers": [{"type": "Digits", "individual_digits": True}, level]},
    "post_processor": None,
    "decoder": level,
    "model": {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None, "end_of_word_suffix": None, "fuse_unk": False,
              "byte_fallback": False, "ignore_merges": False, "vocab": {t: i for i, t in enumerate(v["Tokens"])}, "merges": v["Merges"]},
}  # fmt: skip
with open(sys.argv[2], "w") as f:
    json.dump(reference, f)

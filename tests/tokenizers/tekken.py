# SPDX-License-Identifier: Apache-2.0
"""Writes a tokenizer.json that does what one of Mistral's tekken.json files says.

    python3 tekken.py tekken.json tokenizer.json

A pair merges if its joined bytes are in the vocabulary, lowest rank first; as a list of merges that is, for each piece in the order of ranks,
every way to make it of two.
"""

import base64
import json
import sys

from tokenizers import pre_tokenizers


def alphabet():
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    other = [b for b in range(256) if b not in plain]
    return {b: chr(b) for b in plain} | {b: chr(256 + i) for i, b in enumerate(other)}


def convert(d):
    config, spell = d["config"], alphabet()
    assert set(spell.values()) == set(pre_tokenizers.ByteLevel.alphabet())
    special = config["default_num_special_tokens"]
    ranks = {base64.b64decode(v["token_bytes"]): v["rank"] for v in d["vocab"][: config["default_vocab_size"] - special]}
    text = {b: "".join(map(spell.get, b)) for b in ranks}
    merges = []
    for b in ranks:
        ways = [(ranks[b[:i]], ranks[b[i:]], b[:i], b[i:]) for i in range(1, len(b)) if b[:i] in ranks and b[i:] in ranks]
        merges += [(text[left], text[right]) for *_, left, right in sorted(ways)]
    listed = {t["rank"]: t["token_str"] for t in d.get("special_tokens") or []}
    names = listed or {0: "<unk>", 1: "<s>", 2: "</s>", 3: "[INST]", 4: "[/INST]", 11: "<pad>"}
    names = [names.get(i, f"<SPECIAL_{i}>") for i in range(special)]
    flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
    split = {"type": "Split", "pattern": {"Regex": config["pattern"]}, "behavior": "Isolated", "invert": False}
    return {
        "version": "1.0", "truncation": None, "padding": None,
        "added_tokens": [{"id": i, "content": n, **flags} for i, n in enumerate(names)],
        "normalizer": None,
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [split, level]},
        "post_processor": None,
        "decoder": level,
        "model": {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None, "end_of_word_suffix": None, "fuse_unk": False,
                  "byte_fallback": False, "ignore_merges": True, "vocab": {n: i for i, n in enumerate(names)} | {text[b]: special + r for b, r in ranks.items()},
                  "merges": merges},
    }  # fmt: skip


if __name__ == "__main__":
    with open(sys.argv[1]) as f:
        tekken = json.load(f)
    with open(sys.argv[2], "w") as f:
        json.dump(convert(tekken), f)

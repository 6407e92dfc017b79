# SPDX-License-Identifier: Apache-2.0
"""Writes a GGUF file's tokenizer metadata as the JSON form of Sampo's tokenizer.Vocab. Needs the package gguf (PyPI).

    python3 ggufvocab.py model.gguf name.vocab.json
"""

import json
import sys

from gguf import GGUFReader

NAMES = {
    "model": "Model", "pre": "Pre", "tokens": "Tokens", "scores": "Scores", "token_type": "Types", "merges": "Merges",
    "bos_token_id": "BOS", "eos_token_id": "EOS", "eot_token_id": "EOT", "eom_token_id": "EOM", "unknown_token_id": "UNK",
    "padding_token_id": "PAD", "add_bos_token": "AddBOS", "add_eos_token": "AddEOS", "add_space_prefix": "AddSpacePrefix",
}  # fmt: skip

fields = GGUFReader(sys.argv[1]).fields
vocab = {}
for key, name in NAMES.items():
    field = fields.get("tokenizer.ggml." + key)
    if field is not None:
        vocab[name] = field.contents()
with open(sys.argv[2], "w") as f:
    json.dump(vocab, f)

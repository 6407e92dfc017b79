# SPDX-License-Identifier: Apache-2.0
"""Writes a tokenizer.json that does what a SentencePiece BPE model (tokenizer.model) says, as Hugging Face converts Llama 2's and Mistral's.
Needs the packages sentencepiece and protobuf (PyPI).

    python3 sentencepiece_bpe.py tokenizer.model tokenizer.json
"""

import sys

from sentencepiece import sentencepiece_model_pb2
from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers

proto = sentencepiece_model_pb2.ModelProto()
with open(sys.argv[1], "rb") as f:
    proto.ParseFromString(f.read())
vocab = {p.piece: i for i, p in enumerate(proto.pieces)}
merges = []
for p in proto.pieces:
    if p.type == p.NORMAL:
        merges += [(-p.score, -n, n - len(p.piece), p.piece[:n], p.piece[n:]) for n in range(1, len(p.piece)) if p.piece[:n] in vocab and p.piece[n:] in vocab]
merges = [m[3:] for m in sorted(merges, key=lambda m: m[:3])]
t = Tokenizer(models.BPE(vocab=vocab, merges=merges, unk_token="<unk>", fuse_unk=True, byte_fallback=True))
t.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
t.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)])
t.add_special_tokens([AddedToken(p.piece, normalized=False, special=True) for p in proto.pieces if p.type in (p.UNKNOWN, p.CONTROL)])
t.save(sys.argv[2])

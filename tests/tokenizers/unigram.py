# SPDX-License-Identifier: Apache-2.0
"""Trains Unigram tokenizers of the kinds of T5 and XLM-R, with SentencePiece's own normalisation (nmt_nfkc), and writes them as tokenizer.json. Needs
the packages sentencepiece and protobuf (PyPI).

    python3 unigram.py t5.json xlmr.json
"""

import io
import sys

import sentencepiece
from corpus import texts
from sentencepiece import sentencepiece_model_pb2
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers

lines = [s for t in texts(4_000_000, seed=3) for s in t.decode("utf-8", errors="ignore").replace("\0", "").splitlines() if s.strip()]
model = io.BytesIO()
sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(lines), model_writer=model, vocab_size=8000, model_type="unigram",
                                         character_coverage=0.98, hard_vocab_limit=False, minloglevel=2)  # fmt: skip
proto = sentencepiece_model_pb2.ModelProto()
proto.ParseFromString(model.getvalue())
pieces = [(p.piece, p.score) for p in proto.pieces if p.type == p.NORMAL]


def write(path, special, steps, pre):
    t = Tokenizer(models.Unigram([(s, 0.0) for s in special] + pieces, special.index("<unk>"), False))
    t.normalizer = normalizers.Sequence([normalizers.Precompiled(proto.normalizer_spec.precompiled_charsmap), *steps])
    t.pre_tokenizer = pre
    t.decoder = decoders.Metaspace()
    t.add_special_tokens([AddedToken(s, normalized=False, special=True) for s in special])
    t.save(path)


mark = pre_tokenizers.Metaspace("▁", "always")
write(sys.argv[1], ["<pad>", "</s>", "<unk>"], [normalizers.Strip(left=False, right=True), normalizers.Replace(Regex(" {2,}"), "▁")], mark)
write(sys.argv[2], ["<s>", "<pad>", "</s>", "<unk>", "<mask>"], [], pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), mark]))

# SPDX-License-Identifier: Apache-2.0
"""Writes the vocabularies of tokenizer.json files in the older forms, as their makers published them too: tiktoken's file, vocab.json with
merges.txt, vocab.txt. Trains tokenizer.model files that are not like Llama's.

    python3 otherfiles.py OUT qwen3.json llama3.json gpt2.json bert.json

Needs the package sentencepiece (PyPI).
"""

import base64
import io
import json
import pathlib
import sys

import sentencepiece
from corpus import texts
from tekken import alphabet

out, files = pathlib.Path(sys.argv[1]), [json.loads(pathlib.Path(f).read_text()) for f in sys.argv[2:6]]
qwen, llama, gpt2, bert = files
spelled = {c: b for b, c in alphabet().items()}


def tiktoken(d, path):
    vocab = sorted(d["model"]["vocab"].items(), key=lambda e: e[1])
    added = {t["id"] for t in d["added_tokens"]}
    lines = [base64.b64encode(bytes(spelled[c] for c in piece)) + b" %d\n" % rank for piece, rank in vocab if rank not in added]
    path.write_bytes(b"".join(lines))


def vocab_and_merges(d, folder, kind):
    folder.mkdir(exist_ok=True)
    (folder / "vocab.json").write_text(json.dumps(d["model"]["vocab"], ensure_ascii=False))
    merges = [m if isinstance(m, str) else " ".join(m) for m in d["model"]["merges"]]
    (folder / "merges.txt").write_text("#version: 0.2\n" + "\n".join(merges) + "\n")
    (folder / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": kind}))


def train(path, **options):
    lines = [s for t in texts(4_000_000, seed=3) for s in t.decode("utf-8", errors="ignore").replace("\0", "").splitlines() if s.strip()]
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(lines), model_writer=model, vocab_size=8000, hard_vocab_limit=False,
                                             minloglevel=2, **options)  # fmt: skip
    path.write_bytes(model.getvalue())


tiktoken(qwen, out / "qwen.tiktoken")
tiktoken(llama, out / "llama3.tokenizer.model")
vocab_and_merges(qwen, out / "qwen2-files", "Qwen2Tokenizer")
vocab_and_merges(gpt2, out / "gpt2-files", "GPT2Tokenizer")
(out / "bert-files").mkdir(exist_ok=True)
pieces = sorted(bert["model"]["vocab"], key=bert["model"]["vocab"].get)
(out / "bert-files" / "vocab.txt").write_text("\n".join(pieces) + "\n")
(out / "bert-files" / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "BertTokenizer"}))
if not (out / "unigram.model").exists():
    train(out / "bpe.model", model_type="bpe", byte_fallback=True, character_coverage=0.98, user_defined_symbols=["<sep>"],
          normalization_rule_name="identity", remove_extra_whitespaces=False)  # fmt: skip
    train(out / "unigram.model", model_type="unigram", character_coverage=0.98)

# SPDX-License-Identifier: Apache-2.0
"""Makes small tokenizer files of the kinds that are no tokenizer.json, and the IDs that their own packages give to texts.jsonl.gz.

    python3 modelfiles.py ../../internal/tokenizer/testdata

Needs the packages sentencepiece, tiktoken and tokenizers (PyPI). Writes spbpe and spunigram (tokenizer.model), and kimi and qwen (tiktoken, with
the pieces of ranked.tekken.json).
"""

import base64
import gzip
import io
import json
import pathlib
import sys

import sentencepiece

folder = pathlib.Path(sys.argv[1])
sys.path.insert(0, str(pathlib.Path(__file__).parent.parent.parent / "tests" / "tokenizers"))
sys.argv[1:] = []
from corpus import CODE, SENTENCES  # noqa: E402
from files import tiktoken_reference, unigram_reference  # noqa: E402

strings = [base64.b64decode(json.loads(line)).decode("utf-8", errors="replace") for line in gzip.open(folder / "texts.jsonl.gz")]


def write(name, data):
    with open(folder / name, "wb") as f, gzip.GzipFile(fileobj=f, mode="wb", mtime=0) as z:
        z.write(data)


def answers(name, encode):
    write(name + ".ids.jsonl.gz", "".join(json.dumps({"ids": encode(s)}) + "\n" for s in strings).encode())


def train(**options):
    lines = [s for t in (SENTENCES + CODE) * 3 for s in t.replace("\0", "").splitlines() if s.strip()]
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(lines), model_writer=model, vocab_size=1500, hard_vocab_limit=False,
                                             character_coverage=0.98, minloglevel=2, **options)  # fmt: skip
    return model.getvalue()


bpe = train(model_type="bpe", byte_fallback=True, normalization_rule_name="identity", remove_extra_whitespaces=False)
write("spbpe.model.gz", bpe)
answers("spbpe", sentencepiece.SentencePieceProcessor(model_proto=bpe).encode)
unigram = train(model_type="unigram")
write("spunigram.model.gz", unigram)
plain = pathlib.Path("/dev/shm" if pathlib.Path("/dev/shm").exists() else ".") / "spunigram.model"
plain.write_bytes(unigram)
answers("spunigram", unigram_reference(plain))
vocab = json.loads(gzip.open(folder / "ranked.tekken.json.gz").read())["vocab"]
ranks = b"".join(v["token_bytes"].encode() + b" %d\n" % v["rank"] for v in vocab)
write("ranked.tiktoken.gz", ranks)
plain.write_bytes(ranks)
answers("kimi-tiktoken", tiktoken_reference("TikTokenTokenizer", plain))
answers("qwen-tiktoken", tiktoken_reference("QWenTokenizer", plain))
plain.unlink()

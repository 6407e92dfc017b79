# SPDX-License-Identifier: Apache-2.0
"""Compares what Sampo makes of files other than tokenizer.json with the packages that such files are for. See README.md.

    python3 files.py [--bytes N] IDSOF KIND=FILE ...

KIND is sentencepiece or unigram (a tokenizer.model), or the tokenizer_class of a tiktoken file or of a folder with vocab.json and merges.txt or a
vocab.txt. Needs the packages sentencepiece, tiktoken and transformers (PyPI).
"""

import argparse
import base64
import json
import os
import pathlib
import subprocess
import sys
import tempfile

from corpus import texts

CONTRACTIONS = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
TAIL = r"|\s*[\r\n]+|\s+(?!\S)|\s+"
QWEN = CONTRACTIONS + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*" + TAIL
LLAMA3 = CONTRACTIONS + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*" + TAIL
UPPER, LOWER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]"
KIMI = (r"[\p{Han}]+|[^\r\n\p{L}\p{N}]?" + UPPER + "*" + LOWER + "+" + CONTRACTIONS + r"?|[^\r\n\p{L}\p{N}]?" + UPPER + "+" + LOWER + "*" + CONTRACTIONS
        + r"?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*" + TAIL)  # fmt: skip


def tiktoken_reference(kind, path):
    """Encodes as the models' own programs do, control tokens as text."""
    import unicodedata

    import tiktoken

    ranks = {base64.b64decode(t): int(r) for t, r in (line.split() for line in path.read_bytes().splitlines() if line)}
    pattern = {"QWenTokenizer": QWEN, "TikTokenTokenizer": KIMI}.get(kind, LLAMA3)
    encoding = tiktoken.Encoding("reference", pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
    return lambda s: encoding.encode_ordinary(unicodedata.normalize("NFC", s) if kind == "QWenTokenizer" else s)


def unigram_reference(path):
    """Encodes as transformers does with the file: its map of characters goes by grapheme, its sums are float64."""
    from sentencepiece import sentencepiece_model_pb2
    from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers

    proto = sentencepiece_model_pb2.ModelProto()
    proto.ParseFromString(path.read_bytes())
    t = Tokenizer(models.Unigram([(p.piece, p.score) for p in proto.pieces], proto.trainer_spec.unk_id, False))
    charsmap = normalizers.Precompiled(proto.normalizer_spec.precompiled_charsmap)
    t.normalizer = normalizers.Sequence([charsmap, normalizers.Strip(), normalizers.Replace(Regex(" {2,}"), " ")])
    t.pre_tokenizer = pre_tokenizers.Metaspace("▁", "always")
    return lambda s: t.encode(s, add_special_tokens=False).ids


def reference(kind, path):
    """A function from text to the IDs that the file's own package gives it."""
    if kind == "sentencepiece":
        import sentencepiece

        return sentencepiece.SentencePieceProcessor(model_file=str(path)).encode
    if kind == "unigram":
        return unigram_reference(path)
    if path.is_dir():
        import transformers

        t = getattr(transformers, kind).from_pretrained(path)
        return lambda s: t.encode(s, add_special_tokens=False, split_special_tokens=True)
    return tiktoken_reference(kind, path)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--bytes", type=int, default=2_500_000)
    p.add_argument("idsof")
    p.add_argument("files", nargs="+")
    a = p.parse_args()
    corpus = list(texts(a.bytes, 7))
    coded = b"\n".join(base64.b64encode(t) for t in corpus) + b"\n"
    failed = False
    for spec in a.files:
        kind, _, path = spec.partition("=")
        encode = reference(kind, pathlib.Path(path))
        with tempfile.NamedTemporaryFile("w", suffix=".json") as config:
            json.dump({"tokenizer_class": kind} if kind[0].isupper() else {}, config)
            config.flush()
            out = subprocess.run([a.idsof, "-config", config.name, path], input=coded, stdout=subprocess.PIPE, check=True)
        different = total = compared = 0
        for text, line in zip(corpus, out.stdout.splitlines(), strict=True):
            if kind == "unigram" and any(c in text for c in (b"<s>", b"</s>", b"<unk>")):
                continue  # the package makes control tokens of them
            compared += 1
            want, got = encode(text.decode("utf-8", errors="replace")), json.loads(line)
            total += len(want)
            if want != got:
                different += 1
                if different <= 3:
                    at = next((i for i, (x, y) in enumerate(zip(want, got)) if x != y), min(len(want), len(got)))
                    print("  differs at token", at, "want", want[at : at + 8], "got", got[at : at + 8], repr(text[:80]))
        print(f"{kind} {os.path.basename(path)}: {compared} texts, {sum(map(len, corpus))} bytes, {total} tokens: {different} texts encoded otherwise", flush=True)
        failed = failed or different
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()

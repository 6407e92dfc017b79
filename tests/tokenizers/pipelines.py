# SPDX-License-Identifier: Apache-2.0
"""Compares Sampo with the package tokenizers (PyPI) on random pipelines: the models of the test fixtures behind random normalizers and
pre-tokenizers. Prints the first text that each pipeline encodes otherwise.

    python3 pipelines.py [--seed N] [--count N] IDSOF
"""

import argparse
import base64
import copy
import gzip
import json
import pathlib
import random
import subprocess
import sys
import tempfile

from corpus import texts
from tokenizers import Tokenizer

FIXTURES = pathlib.Path(__file__).parents[2] / "internal" / "tokenizer" / "testdata"
BEHAVIORS = ["Isolated", "Removed", "MergedWithPrevious", "MergedWithNext", "Contiguous"]
PATTERNS = [r"\s+", r"\p{L}+", r"[aeiou]", r"\d{1,3}(?=\d)|\d", r"(?i:the|and)", r"[^\p{L}\s]+", r"\p{Lu}\p{Ll}*", r"[\p{Han}\p{Hiragana}]+", r".", r"\w+",
            r"(?:ab|a)+?b?", r"[\p{N}\p{S}]{2,}", r"[^a-m\s]++", r"\S+\s*", r"x|y|z", r"\W", r"\p{M}+", r"\p{P}", r"\n$", r"[\x00-\x1f]"]  # fmt: skip


def fixture(name):
    with gzip.open(FIXTURES / f"{name}.json.gz") as f:
        return json.load(f)


def maps():
    for name in ("t5", "xlmr"):
        n = fixture(name)["normalizer"]
        yield next(m for m in n.get("normalizers", [n]) if m["type"] == "Precompiled")


BASES = [fixture(n) for n in ("gpt2", "llama2", "t5", "bert", "words")]
MAPS = list(maps())


def normalizer(r):
    coin = r.random() < 0.5
    return r.choice([
        {"type": r.choice(["NFC", "NFD", "NFKC", "NFKD", "Lowercase", "StripAccents", "Nmt"])},
        {"type": "Strip", "strip_left": coin, "strip_right": r.random() < 0.5},
        {"type": "Replace", "pattern": {"Regex": r.choice([*PATTERNS, "^ +", r"\bt", "x*"])}, "content": r.choice(["", " ", "▁", "q"])},
        {"type": "Replace", "pattern": {"String": " "}, "content": "▁"},
        {"type": "Prepend", "prepend": "▁"},
        {"type": "BertNormalizer", "clean_text": r.random() < 0.7, "handle_chinese_chars": coin, "strip_accents": r.choice([None, True, False]), "lowercase": r.random() < 0.5},
        r.choice(MAPS),
    ])  # fmt: skip


def pre_tokenizer(r):
    coin = r.random() < 0.5
    pattern = {"Regex": r.choice(PATTERNS)} if r.random() < 0.8 else {"String": r.choice([" ", "e", "th", "\n", "▁"])}
    split = {"type": "Split", "pattern": pattern, "behavior": r.choice(BEHAVIORS), "invert": r.random() < 0.4}
    return r.choice([
        split, split, split,
        {"type": "Digits", "individual_digits": coin},
        {"type": "Punctuation", "behavior": r.choice(BEHAVIORS)},
        {"type": r.choice(["Whitespace", "WhitespaceSplit", "BertPreTokenizer"])},
        {"type": "CharDelimiterSplit", "delimiter": r.choice("ae ,")},
        {"type": "Metaspace", "replacement": "▁", "prepend_scheme": r.choice(["always", "first", "never"]), "split": coin},
    ])  # fmt: skip


def pipeline(r):
    d = copy.deepcopy(r.choice(BASES))
    pre = [pre_tokenizer(r) for _ in range(r.randrange(4))]
    if d["model"]["type"] == "BPE" and not d["model"]["byte_fallback"]:
        pre.append({"type": "ByteLevel", "add_prefix_space": r.random() < 0.3, "trim_offsets": True, "use_regex": r.random() < 0.5})
    d["pre_tokenizer"] = {"type": "Sequence", "pretokenizers": pre}
    d["normalizer"] = {"type": "Sequence", "normalizers": [normalizer(r) for _ in range(r.randrange(3))]}
    return d


def difference(idsof, d, corpus):
    """The first text that is encoded otherwise, None if there is none; a string if Sampo refuses the pipeline."""
    hf = Tokenizer.from_str(json.dumps(d))
    with tempfile.NamedTemporaryFile("w", suffix=".json") as f:
        json.dump(d, f)
        f.flush()
        coded = b"\n".join(base64.b64encode(t) for t in corpus) + b"\n"
        out = subprocess.run([idsof, "-special", f.name], input=coded, capture_output=True)
    if out.returncode:
        return out.stderr.decode().strip()
    for text, line in zip(corpus, out.stdout.splitlines(), strict=True):
        try:
            want = hf.encode(text.decode("utf-8", errors="replace"), add_special_tokens=False).ids
        except BaseException as e:  # the package panics on some
            if isinstance(e, KeyboardInterrupt):
                raise
            continue
        if want != (got := json.loads(line)):
            return text, want, got
    return None


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--count", type=int, default=100)
    p.add_argument("idsof")
    a = p.parse_args()
    r, corpus = random.Random(a.seed), list(texts(40_000, a.seed))
    different = refused = 0
    for _ in range(a.count):
        d = pipeline(r)
        found = difference(a.idsof, d, corpus)
        if isinstance(found, str):
            refused += 1
            print(found)
        elif found:
            different += 1
            print(d["model"]["type"], d["normalizer"]["normalizers"], d["pre_tokenizer"]["pretokenizers"], *found)
    print(f"{a.count} random pipelines: {different} encode otherwise, {refused} refused")
    sys.exit(1 if different else 0)


main()

# SPDX-License-Identifier: Apache-2.0
"""Compares Sampo's token IDs with those of the package tokenizers (PyPI) on generated text. See README.md.

    python3 compare.py [--bytes N] IDSOF NAME=REFERENCE.json[=SUBJECT] ...

REFERENCE is a tokenizer.json; SUBJECT, REFERENCE itself unless given, is what idsof reads.
"""

import argparse
import base64
import json
import subprocess
import sys

import tokenizers
from corpus import texts
from tokenizers import Tokenizer


def lines(idsof, subject, data, *flags):
    out = subprocess.run([idsof, *flags, subject], input=b"\n".join(data) + b"\n", stdout=subprocess.PIPE, check=True)
    return out.stdout.splitlines()


def same_control(reference, subject):
    """Whether a GGUF vocabulary has the reference's control tokens: Gemma's calls <unused12> one, its tokenizer.json doesn't."""
    if not subject.endswith("vocab.json"):
        return True
    with open(reference) as f:
        special = {t["id"] for t in json.load(f)["added_tokens"] if t["special"]}
    with open(subject) as f:
        return {i for i, kind in enumerate(json.load(f)["Types"]) if kind == 3} == special


def spells_control(reference):
    """Whether the reference makes control tokens of plain text: a Unigram has them among its pieces. Sampo never does."""
    with open(reference) as f:
        return json.load(f)["model"]["type"] == "Unigram"


def compare(idsof, reference, subject, corpus):
    hf = Tokenizer.from_file(reference)
    hf.no_truncation()
    hf.no_padding()
    strings = [t.decode("utf-8", errors="replace") for t in corpus]
    coded = [base64.b64encode(t) for t in corpus]
    hf.encode_special_tokens = True
    want_data = [hf.encode(s, add_special_tokens=False).ids for s in strings]
    hf.encode_special_tokens = False
    want = [hf.encode(s, add_special_tokens=False).ids for s in strings]
    got = [json.loads(l) for l in lines(idsof, subject, coded, "-special")]
    got_data = [json.loads(l) for l in lines(idsof, subject, coded)]
    if not same_control(reference, subject):
        want_data, got_data = [], []
    if spells_control(reference):
        control = [t.content for t in hf.get_added_tokens_decoder().values() if t.special]
        kept = [i for i, s in enumerate(strings) if not any(c in s for c in control)]
        want_data, got_data = [want_data[i] for i in kept], [got_data[i] for i in kept]
    different = 0
    for w, g in zip(want + want_data, got + got_data, strict=True):
        if w == g:
            continue
        different += 1
        if different <= 3:
            at = next((i for i, (a, b) in enumerate(zip(w, g)) if a != b), min(len(w), len(g)))
            print("  differs after", repr(hf.decode(w[max(0, at - 5) : at], skip_special_tokens=False)))
            print("    want", [(i, hf.id_to_token(i)) for i in w[at : at + 6]])
            print("    got ", [(i, hf.id_to_token(i)) for i in g[at : at + 6]])
    decoded = lines(idsof, subject, [json.dumps(w).encode() for w in want], "-decode")
    undecoded = sum(base64.b64decode(d).decode("utf-8") != hf.decode(w, skip_special_tokens=False) for d, w in zip(decoded, want, strict=True))
    return different, undecoded, sum(map(len, want)), sum(map(len, want_data))


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--bytes", type=int, default=2_500_000)
    p.add_argument("--seed", type=int, default=7)
    p.add_argument("idsof")
    p.add_argument("tokenizers", nargs="+")
    a = p.parse_args()
    corpus = list(texts(a.bytes, a.seed))
    size = sum(map(len, corpus))
    failed, rows = False, []
    for spec in a.tokenizers:
        name, reference, *subject = spec.split("=")
        different, undecoded, n, data = compare(a.idsof, reference, subject[0] if subject else reference, corpus)
        print(f"{name}: {len(corpus)} texts, {size} bytes, {n} tokens ({data} as data): {different} texts encoded otherwise, {undecoded} decoded otherwise", flush=True)
        failed = failed or different or undecoded
        rows.append(f"| {name} | {n:,} | {data:,} | {different} | {undecoded} |")
    print(f"\n{len(corpus):,} texts, {size:,} bytes, tokenizers {tokenizers.__version__}\n")
    print("| tokenizer | tokens | tokens as data | texts encoded otherwise | texts decoded otherwise |\n| --- | --- | --- | --- | --- |")
    print("\n".join(rows))
    sys.exit(1 if failed else 0)


main()

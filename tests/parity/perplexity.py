# SPDX-License-Identifier: Apache-2.0
"""Compares the perplexity of a text under Sampo, under llama-perplexity, and under transformers in float32 with the same weights.

    python3 perplexity.py --sampo sampo --llama-perplexity llama-perplexity MODEL.gguf ...

The text is 50,000 bytes of Newton's Opticks, which every Go toolchain has among its test data. As llama-perplexity does, it is cut into pieces of 512 tokens, each piece
begins with BOS in place of its first token if the model wants one, and the second half of each piece is scored. Fails if Sampo differs from
llama-perplexity by more than 0.5 %, unless it is nearer to float32.
"""

import argparse
import hashlib
import json
import math
import pathlib
import re
import subprocess
import sys
import tempfile

from parity import Sampo, post

SHA256 = "d4a9ac22462b35e7821a4f2706c211093da678620a8f9997989ee7cf8d507bbd"
START, BYTES = 5_000, 50_000  # inside the first book
CONTEXT = 512
FIRST = CONTEXT // 2 + 1  # position of the first token that is scored
LIMIT = 0.005


def text():
    root = subprocess.run(["go", "env", "GOROOT"], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
    data = (pathlib.Path(root) / "src" / "testdata" / "Isaac.Newton-Opticks.txt").read_bytes()
    if hashlib.sha256(data).hexdigest() != SHA256:
        sys.exit("Isaac.Newton-Opticks.txt is another one than that of the figures in docs/parity.md")
    return data[START : START + BYTES].decode("utf-8", errors="ignore").strip("\n")  # llama-perplexity drops a newline at the end


def tokens(sampo, model, file, *flags):
    with open(file, "rb") as f:
        return json.loads(subprocess.run([sampo, "tokenize", model, *flags], stdin=f, stdout=subprocess.PIPE, check=True).stdout)


def pieces(sampo, model, file):
    """The token IDs of each piece."""
    ids, plain = tokens(sampo, model, file), tokens(sampo, model, file, "--no-bos")
    bos = ids[:1] if len(ids) > len(plain) else []
    return [bos + ids[at + len(bos) : at + CONTEXT] for at in range(0, len(ids) - CONTEXT + 1, CONTEXT)]


def of_sampo(sampo, model, texts):
    server = Sampo(sampo, model)
    try:
        loss = 0
        for piece in texts:
            body = {"prompt": piece, "max_tokens": 1, "temperature": 0, "prompt_logprobs": 0}
            scores = post(server.url + "/v1/completions", body)["choices"][0]["prompt_logprobs"]
            loss -= sum(scores[at][str(piece[at])]["logprob"] for at in range(FIRST, CONTEXT))
        return math.exp(loss / (len(texts) * (CONTEXT - FIRST)))
    finally:
        server.close()


def of_float32(model, texts):
    import torch
    import transformers

    path = pathlib.Path(model).resolve()
    lm = transformers.AutoModelForCausalLM.from_pretrained(path.parent, gguf_file=path.name, dtype=torch.float32).eval()
    loss = 0
    with torch.inference_mode():
        for piece in texts:
            ids = torch.tensor([piece])
            logits = lm(ids, logits_to_keep=CONTEXT - FIRST + 1).logits[0, :-1].double()
            loss += torch.nn.functional.cross_entropy(logits, ids[0, FIRST:], reduction="sum").item()
    return math.exp(loss / (len(texts) * (CONTEXT - FIRST)))


def of_llama(binary, model, file):
    out = subprocess.run([binary, "-m", model, "-f", file, "-c", str(CONTEXT), "-t", "2"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    found = re.search(r"Final estimate: PPL = ([\d.]+)", out.stdout)
    if not found:
        sys.exit(out.stdout[-2000:])
    return float(found.group(1))


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--sampo", required=True)
    p.add_argument("--llama-perplexity", required=True)
    p.add_argument("models", nargs="+")
    a = p.parse_args()
    failed = False
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as f:
        f.write(text())
        f.flush()
        print("| model | tokens scored | Sampo | llama-perplexity | difference | float32 |\n| --- | --- | --- | --- | --- | --- |")
        for model in a.models:
            texts = pieces(a.sampo, model, f.name)
            ours, theirs, exact = of_sampo(a.sampo, model, texts), of_llama(a.llama_perplexity, model, f.name), of_float32(model, texts)
            failed = failed or abs(ours / theirs - 1) > LIMIT and abs(ours - exact) > abs(theirs - exact)
            count = len(texts) * (CONTEXT - FIRST)
            print(f"| {pathlib.Path(model).name} | {count:,} | {ours:.4f} | {theirs:.4f} | {ours / theirs - 1:+.2%} | {exact:.4f} |", flush=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()

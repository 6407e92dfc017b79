# SPDX-License-Identifier: Apache-2.0
"""Compares the perplexity of a text under Sampo and under llama-perplexity.

    python3 perplexity.py --sampo sampo --llama-perplexity llama-perplexity MODEL.gguf ...

The text is the first 50,000 bytes of the project's documents. As llama-perplexity does, it is cut into pieces of 512 tokens, each piece
begins with BOS in place of its first token if the model wants one, and the second half of each piece is scored. Fails if the two differ by
more than 0.5 %.
"""

import argparse
import json
import math
import pathlib
import re
import subprocess
import sys
import tempfile
import urllib.request

from parity import Sampo

BYTES = 50_000
CONTEXT = 512
LIMIT = 0.005


def text():
    root = pathlib.Path(__file__).parents[2]
    files = [root / "README.md", root / "CONTRIBUTING.md", *sorted((root / "docs").glob("*.md")), *sorted((root / "docs" / "adr").glob("*.md"))]
    data = b"\n".join(f.read_bytes() for f in files)[:BYTES]
    return data.decode("utf-8", errors="ignore").rstrip("\n")  # llama-perplexity drops a newline at the end


def tokens(sampo, model, file, *flags):
    with open(file, "rb") as f:
        return json.loads(subprocess.run([sampo, "tokenize", model, *flags], stdin=f, stdout=subprocess.PIPE, check=True).stdout)


def of_sampo(sampo, model, file):
    ids, plain = tokens(sampo, model, file), tokens(sampo, model, file, "--no-bos")
    bos = ids[:1] if len(ids) > len(plain) else []
    server = Sampo(sampo, model)
    try:
        loss = count = 0
        for at in range(0, len(ids) - CONTEXT + 1, CONTEXT):
            piece = bos + ids[at + len(bos) : at + CONTEXT]
            body = json.dumps({"prompt": piece, "max_tokens": 1, "temperature": 0, "prompt_logprobs": 0}).encode()
            request = urllib.request.Request(server.url + "/v1/completions", body, {"Content-Type": "application/json"})
            with urllib.request.urlopen(request, timeout=600) as answer:
                scores = json.load(answer)["choices"][0]["prompt_logprobs"]
            for position in range(CONTEXT // 2 + 1, CONTEXT):
                loss -= scores[position][str(piece[position])]["logprob"]
                count += 1
        return math.exp(loss / count), count
    finally:
        server.close()


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
        print("| model | tokens scored | Sampo | llama-perplexity | difference |\n| --- | --- | --- | --- | --- |")
        for model in a.models:
            ours, count = of_sampo(a.sampo, model, f.name)
            theirs = of_llama(a.llama_perplexity, model, f.name)
            failed = failed or abs(ours / theirs - 1) > LIMIT
            print(f"| {pathlib.Path(model).name} | {count:,} | {ours:.4f} | {theirs:.4f} | {ours / theirs - 1:+.2%} |", flush=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()

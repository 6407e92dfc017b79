# SPDX-License-Identifier: Apache-2.0
"""Compares the logprobs of Sampo and of llama.cpp with a float32 forward pass over the same weights."""

import argparse
import datetime
import hashlib
import json
import os
import pathlib
import re
import socket
import subprocess
import sys
import time
import urllib.request

import text

TOKENS = 100  # greedy tokens a prompt
RATIO = 1.1  # Sampo's mean difference over llama.cpp's, at most
GAP = 2.0  # largest gap between the reference's two best tokens where greedy texts may part, over llama.cpp's largest difference in logprob


def post(url, body):
    data = json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=600) as answer:
        return json.load(answer)


def wait_until_up(url, process):
    for _ in range(600):
        if process.poll() is not None:
            sys.exit(f"the server ended with status {process.returncode}")
        try:
            urllib.request.urlopen(url + "/health", timeout=5)
            return
        except OSError:
            time.sleep(0.1)
    sys.exit(f"no answer from {url}")


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Sampo:
    """A running sampo serve."""

    def __init__(self, binary, model):
        port = free_port()
        self.url = f"http://127.0.0.1:{port}"
        self.process = subprocess.Popen([binary, "serve", model, "--port", str(port), "--log-level", "warn"], stdout=subprocess.DEVNULL)
        wait_until_up(self.url, self.process)

    def close(self):
        self.process.terminate()
        self.process.wait()

    def tokenize(self, prompt):
        return post(self.url + "/tokenize", {"prompt": prompt})["tokens"]

    def forced(self, prompt, tokens):
        """Logprobs of tokens after prompt."""
        body = {"prompt": prompt + tokens, "max_tokens": 0, "echo": True, "logprobs": 0}
        return post(self.url + "/v1/completions", body)["choices"][0]["logprobs"]["token_logprobs"][len(prompt):]

    def greedy(self, prompt):
        body = {"prompt": prompt, "max_tokens": TOKENS, "temperature": 0, "repetition_penalty": 1,
                "ignore_eos": True, "return_token_ids": True}
        return post(self.url + "/v1/completions", body)["choices"][0]["token_ids"]


class Llama:
    """A running llama-server."""

    def __init__(self, binary, model):
        port = free_port()
        self.url = f"http://127.0.0.1:{port}"
        command = [binary, "-m", model, "--port", str(port), "-np", "1", "-c", "4096", "-t", str(os.cpu_count())]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_until_up(self.url, self.process)

    close = Sampo.close

    def forced(self, prompt, tokens):
        out = []
        for i, token in enumerate(tokens):
            body = {"prompt": prompt + tokens[:i], "n_predict": 1, "n_probs": 50, "temperature": 0, "cache_prompt": True}
            best = post(self.url + "/completion", body)["completion_probabilities"][0]["top_logprobs"]
            found = [b["logprob"] for b in best if b["id"] == token]
            if not found:
                sys.exit(f"llama.cpp does not have token {token} among its 50 best")
            out.append(found[0])
        return out

    def greedy(self, prompt):
        """Ends where the model does: with ignore_eos the server would forbid that token, where the reference goes on past it."""
        body = {"prompt": prompt, "n_predict": TOKENS, "temperature": 0, "top_k": 1, "return_tokens": True, "cache_prompt": True}
        return post(self.url + "/completion", body)["tokens"]


def reference(model, prompts, cache):
    """Greedy tokens, their logprobs and the top-2 gaps, in float32. Kept in the cache: it takes minutes."""
    digest = hashlib.sha256(pathlib.Path(model).read_bytes() + json.dumps([prompts, TOKENS]).encode()).hexdigest()[:16]
    path = pathlib.Path(cache) / f"reference-{digest}.json"
    if path.exists():
        return json.loads(path.read_text())
    import torch
    import transformers

    file = pathlib.Path(model).resolve()
    lm = transformers.AutoModelForCausalLM.from_pretrained(file.parent, gguf_file=file.name, dtype=torch.float32)
    lm.eval()
    out = []
    for prompt in prompts:
        print(".", end="", file=sys.stderr, flush=True)
        past, step, tokens, logprobs, gaps = None, torch.tensor([prompt]), [], [], []
        with torch.no_grad():
            for _ in range(TOKENS):
                result = lm(step, past_key_values=past, use_cache=True)
                past = result.past_key_values
                best = result.logits[0, -1].float().log_softmax(-1).topk(2)
                tokens.append(int(best.indices[0]))
                logprobs.append(float(best.values[0]))
                gaps.append(float(best.values[0] - best.values[1]))
                step = best.indices[:1].view(1, 1)
        out.append({"tokens": tokens, "logprobs": logprobs, "gaps": gaps})
    print(file=sys.stderr)
    path.write_text(json.dumps(out))
    return out


def differences(engine, prompts, ref):
    out = []
    for prompt, r in zip(prompts, ref):
        got = engine.forced(prompt, r["tokens"])
        out += [abs(a - b) for a, b in zip(got, r["logprobs"], strict=True)]
    return out


def partings(engine, prompts, ref):
    """The reference's gap at the first place where greedy tokens differ, for each prompt where they do."""
    out = []
    for prompt, r in zip(prompts, ref):
        got = engine.greedy(prompt)
        for a, b, gap in zip(got, r["tokens"], r["gaps"]):
            if a != b:
                out.append(gap)
                break
    return out


def compare(args, model):
    sampo = Sampo(args.sampo, model)
    try:
        prompts = [sampo.tokenize(p) for p in text.prompts()]
        ref = reference(model, prompts, args.cache)
        ours, parted = differences(sampo, prompts, ref), partings(sampo, prompts, ref)
    finally:
        sampo.close()
    llama = Llama(args.llama_server, model)
    try:
        theirs, their_parted = differences(llama, prompts, ref), partings(llama, prompts, ref)
    finally:
        llama.close()
    lengths = [len(p) for p in prompts]
    return {
        "model": os.path.basename(model), "shortest": min(lengths), "longest": max(lengths), "tokens": len(ours),
        "sampo_mean": sum(ours) / len(ours), "sampo_max": max(ours),
        "llama_mean": sum(theirs) / len(theirs), "llama_max": max(theirs),
        "parted": len(parted), "gap": max(parted, default=0.0),
        "llama_parted": len(their_parted), "llama_gap": max(their_parted, default=0.0),
    }


def cpu_name():
    try:
        return re.search(r"model name\s*: (.*)", pathlib.Path("/proc/cpuinfo").read_text()).group(1)
    except (OSError, AttributeError):
        return "unknown CPU"


def table(rows):
    lines = [
        f"Measured on {datetime.date.today()} ({cpu_name()}, {os.cpu_count()} cores).", "",
        "| model | prompts, tokens | Sampo: mean, largest | llama.cpp: mean, largest | ratio of means | greedy texts that part, largest gap there | llama.cpp's |",
        "| --- | --- | --- | --- | --- | --- | --- |"]
    for r in rows:
        lines.append(
            f"| {r['model']} | {r['shortest']} to {r['longest']} | {r['sampo_mean']:.4f}, {r['sampo_max']:.3f} | "
            f"{r['llama_mean']:.4f}, {r['llama_max']:.3f} | {r['sampo_mean'] / r['llama_mean']:.2f} | "
            f"{r['parted']} of 20, {r['gap']:.3f} | {r['llama_parted']} of 20, {r['llama_gap']:.3f} |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("sampo", "llama-server", "cache", "out"):
        parser.add_argument("--" + name, required=True)
    parser.add_argument("models", nargs="+")
    args = parser.parse_args()
    rows = [compare(args, m) for m in args.models]
    result = table(rows)
    pathlib.Path(args.out).write_text(result)
    print(result)
    bad = [r["model"] for r in rows if r["sampo_mean"] > RATIO * r["llama_mean"] or r["gap"] >= GAP * r["llama_max"]]
    if bad:
        sys.exit("not at parity: " + ", ".join(bad))


if __name__ == "__main__":
    main()

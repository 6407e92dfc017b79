#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Serves one GGUF file with sampo and with llama.cpp's llama-server in turn, and compares their throughput.

Both get the same file, threads, slots and requests: completions with prompts and outputs of mixed lengths, greedy, sent
by as many clients as there are slots. llama-server runs once for each set of options that it is tried with, and its best
one counts. A ratio is taken within a round, where the two ran one after the other.
"""

import argparse
import concurrent.futures
import contextlib
import json
import os
import random
import re
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request

WORDS = "the sea is cold in winter and many ships wait for spring near an old town with three mills two bridges".split()


def traffic(args):
    """Returns the requests; lengths are spread evenly over their logarithms."""
    rng = random.Random(args.seed)

    def length(least, most):
        return round(least * (most / least) ** rng.random())

    return [
        {
            "prompt": " ".join(rng.choice(WORDS) for _ in range(length(16, args.prompt))),
            "max_tokens": length(16, args.output), "temperature": 0, "ignore_eos": True, "seed": 1,
        }
        for _ in range(args.requests)
    ]


def post(url, body):
    """Returns the answer to a request."""
    request = urllib.request.Request(url, json.dumps(body).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=600) as answer:
        return json.load(answer)


def free_port():
    """Returns a port that nobody listens on."""
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def wait(url, process):
    """Waits until a server is ready."""
    for _ in range(600):
        try:
            with urllib.request.urlopen(url + "/health", timeout=5):
                return
        except OSError:
            if process.poll() is not None:
                sys.exit(f"{process.args[0]} ended with status {process.returncode}")
            time.sleep(0.2)
    sys.exit(f"{process.args[0]} is not ready")


@contextlib.contextmanager
def serving(command, url):
    """Runs a server, which is ready then."""
    with tempfile.TemporaryDirectory() as home, open(os.devnull, "wb") as null:
        process = subprocess.Popen(command, stdout=null, stderr=null, env=dict(os.environ, SAMPO_HOME=home))
        try:
            wait(url, process)
            yield
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait()


def serve(command, url, requests, slots):
    """Runs a server and returns its output tokens a second, and those of prompts."""
    completions = url + "/v1/completions"
    with serving(command, url):
        post(completions, {"prompt": "warm", "max_tokens": 8, "temperature": 0})
        begun = time.monotonic()
        with concurrent.futures.ThreadPoolExecutor(slots) as pool:
            answers = list(pool.map(lambda r: post(completions, r), requests))
        seconds = time.monotonic() - begun
    usage = [a["usage"] for a in answers]
    return sum(u["completion_tokens"] for u in usage) / seconds, sum(u["prompt_tokens"] for u in usage) / seconds


def sampo(args, requests):
    """Measures sampo."""
    port = free_port()
    command = [args.sampo, "serve", args.model, "--port", str(port), "--threads", str(args.threads),
               "--max-num-seqs", str(args.slots), "--context", str(args.context)]
    return serve(command, f"http://127.0.0.1:{port}", requests, args.slots)


def llama(args, options, requests):
    """Measures llama-server with some options."""
    port = free_port()
    command = [args.llama_server, "-m", args.model, "--port", str(port), "-t", str(args.threads), "-tb", str(args.threads),
               "-np", str(args.slots), "-c", str(args.slots * args.context), *options.split()]
    return serve(command, f"http://127.0.0.1:{port}", requests, args.slots)


def main():
    """Parses arguments, measures in turn and prints a report as JSON."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", metavar="MODEL.gguf")
    parser.add_argument("--sampo", default="sampo")
    parser.add_argument("--llama-server", default="llama-server")
    parser.add_argument("--llama-options", action="append", help="a set of options to try; may be given more than once")
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--slots", type=int, default=16)
    parser.add_argument("--context", type=int, default=1024, help="tokens of a slot")
    parser.add_argument("--requests", type=int, default=48)
    parser.add_argument("--prompt", type=int, default=400, help="longest prompt, in words")
    parser.add_argument("--output", type=int, default=128, help="longest output, in tokens")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    requests = traffic(args)
    rounds = []
    for _ in range(args.rounds):
        ours = sampo(args, requests)
        theirs = {o: llama(args, o, requests) for o in args.llama_options or ["-fa on", "-fa off"]}
        best = max(theirs, key=lambda o: theirs[o][0])
        rounds.append({
            "load_average": round(os.getloadavg()[0], 1), "sampo_output_tok_s": round(ours[0], 1), "sampo_prompt_tok_s": round(ours[1], 1),
            "llama_output_tok_s": {o: round(t[0], 1) for o, t in theirs.items()}, "llama_best": best, "ratio": round(ours[0] / theirs[best][0], 2),
        })
        print(rounds[-1], file=sys.stderr)
    model = re.sub(r".*/", "", args.model)
    report = {key: getattr(args, key) for key in ("threads", "slots", "context", "requests", "prompt", "output", "seed")}
    ratios = [r["ratio"] for r in rounds]
    print(json.dumps({"model": model, **report, "rounds": rounds, "ratio": statistics.median(ratios)}, indent=1))


if __name__ == "__main__":
    main()

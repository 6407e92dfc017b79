#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Serves one GGUF file with sampo and with llama.cpp's llama-server at once, lets them generate in turn, and compares their speed.

A turn is a second or less, so that a machine that changes its speed changes it for neighbours alike; the median over many
rounds counts. llama-server runs once for each set of options that it is tried with, and the one with the best median counts.
Its speed is what it reports, without the prompt; that of sampo is the whole request.
"""

import argparse
import contextlib
import itertools
import json
import os
import statistics
import time

from serve_compare import free_port, post, serving


PAUSE = 0.5  # seconds before a turn: threads of llama.cpp go on looking for work after their last


def sampo(url, args):
    """Returns sampo's tokens a second."""
    begun = time.monotonic()
    answer = post(url + "/v1/completions", {
        "prompt": "The", "max_tokens": args.tokens, "temperature": 0, "ignore_eos": True})
    return answer["usage"]["completion_tokens"] / (time.monotonic() - begun)


def llama(url, args):
    """Returns llama-server's tokens a second."""
    answer = post(url + "/completion", {
        "prompt": "The", "n_predict": args.tokens, "temperature": 0, "ignore_eos": True, "cache_prompt": False})
    return answer["timings"]["predicted_per_second"]


def commands(args):
    """Returns what to run: name, port, command, and what measures it."""
    port = free_port()
    yield "sampo", port, [args.sampo, "serve", args.model, "--port", str(port), "--threads", str(args.threads)], sampo
    for options in args.llama_options or ["-fa on", "-fa off"]:
        port = free_port()
        yield options, port, [args.llama_server, "-m", args.model, "--port", str(port), "-t", str(args.threads), "-np", "1",
                              "-c", "1024", *options.split()], llama


def measure(args):
    """Returns the speeds of each server, of all rounds."""
    with contextlib.ExitStack() as stack:
        servers = {}
        for name, port, command, turn in commands(args):
            url = f"http://127.0.0.1:{port}"
            stack.enter_context(serving(command, url))
            servers[name] = lambda url=url, turn=turn: turn(url, args)
        for turn in servers.values():
            turn()  # warm
        speeds = {name: [] for name in servers}
        order = itertools.cycle(itertools.permutations(servers))
        for _ in range(args.rounds):
            for name in next(order):
                time.sleep(PAUSE)
                speeds[name].append(servers[name]())
    return speeds


def main():
    """Parses arguments, measures and prints a report as JSON."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", metavar="MODEL.gguf")
    parser.add_argument("--sampo", default="sampo")
    parser.add_argument("--llama-server", default="llama-server")
    parser.add_argument("--llama-options", action="append", help="a set of options to try; may be given more than once")
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--tokens", type=int, default=32, help="of a turn")
    parser.add_argument("--rounds", type=int, default=30)
    args = parser.parse_args()
    speeds = measure(args)
    ours = speeds.pop("sampo")
    best = max(speeds, key=lambda name: statistics.median(speeds[name]))
    ratios = [a / b for a, b in zip(ours, speeds[best])]
    low, middle, high = statistics.quantiles(ratios, n=4)
    print(json.dumps({
        "model": os.path.basename(args.model), "threads": args.threads, "tokens": args.tokens, "rounds": args.rounds,
        "sampo_tok_s": round(statistics.median(ours), 1),
        "llama_tok_s": {name: round(statistics.median(x), 1) for name, x in speeds.items()}, "llama_best": best,
        "ratio": round(middle, 2), "quartiles": [round(low, 2), round(high, 2)],
    }))


if __name__ == "__main__":
    main()

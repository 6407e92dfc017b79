#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs sampo bench and llama.cpp's llama-bench in turn on the same files, and prints the ratios of their speeds.

A ratio is taken within a round, where the two ran one after the other, so that a machine that changes its speed over
minutes changes both. Printed are the median over the rounds and the smallest and largest ratio.
"""

import argparse
import json
import statistics
import subprocess
import sys


def run(command):
    """Returns the standard output of a command."""
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def sampo_speeds(args, model):
    """Returns the speeds of prefill and decode, and whether the run was noisy."""
    command = [args.sampo, "bench", model, "--json", "--threads", str(args.threads), "--repeat", "1",
               "--prefill", str(args.prefill), "--decode-tokens", str(args.decode), "--context", "0", "--parallel", "1"]
    report = json.loads(run(command))
    return {"prefill": report["prefill"][0]["tok_s"], "decode": report["decode"][0]["tok_s"]}, report["noisy"]


def llama_speeds(args, model):
    """Returns the speeds of prefill and decode: the best over the options that llama.cpp is tried with."""
    best = {"prefill": 0.0, "decode": 0.0}
    for flash in ("0", "1"):
        command = [args.llama_bench, "-m", model, "-t", str(args.threads), "-p", str(args.prefill), "-n", str(args.decode),
                   "-r", "1", "-fa", flash, "-o", "json"]
        for test in json.loads(run(command)):
            kind = "prefill" if test["n_prompt"] > 0 else "decode"
            best[kind] = max(best[kind], test["avg_ts"])
    return best


def compare(args, model):
    """Measures one model and prints its lines."""
    speeds = {"prefill": [], "decode": []}
    noisy = 0
    for _ in range(args.rounds):
        ours, disturbed = sampo_speeds(args, model)
        theirs = llama_speeds(args, model)
        noisy += disturbed
        if disturbed and not args.count_noisy:
            print(f"{model}: a noisy round: sampo {ours}, llama.cpp {theirs}", file=sys.stderr)
            continue
        for kind, pairs in speeds.items():
            pairs.append((ours[kind], theirs[kind]))
    for kind, pairs in speeds.items():
        if not pairs:
            print(f"{model}\t{kind}\tno quiet round")
            continue
        ratios = sorted(a / b for a, b in pairs)
        ours, theirs = (statistics.median(p[i] for p in pairs) for i in (0, 1))
        print(f"{model}\t{kind}\t{ours:.4g}\t{theirs:.4g}\t{statistics.median(ratios):.2f}\t{ratios[0]:.2f} to {ratios[-1]:.2f}\t{noisy} of {args.rounds}")


def main():
    """Parses arguments and measures every model."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", nargs="+", metavar="MODEL.gguf")
    parser.add_argument("--sampo", default="sampo")
    parser.add_argument("--llama-bench", default="llama-bench")
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--prefill", type=int, default=512, help="tokens of the prompt")
    parser.add_argument("--decode", type=int, default=64, help="tokens that are decoded")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--count-noisy", action="store_true", help="count rounds that other programs disturbed")
    args = parser.parse_args()
    print("model\twork\tsampo tok/s\tllama.cpp tok/s\tratio\tspread\tnoisy rounds")
    for model in args.models:
        compare(args, model)


if __name__ == "__main__":
    main()

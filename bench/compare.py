#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs sampo bench and llama.cpp's llama-bench in turn on the same files, and prints a table of the ratios of their speeds.

A ratio is taken within a round, where the two ran one after the other, so that a machine that changes its speed over
minutes changes both. Printed are the median over the rounds and the smallest and largest ratio.
"""

import argparse
import datetime
import json
import os
import statistics
import subprocess
import sys


def run(command):
    """Returns the standard output of a command."""
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def sampo_speeds(args, model):
    """Returns the report of sampo bench."""
    command = [args.sampo, "bench", model, "--json", "--threads", str(args.threads), "--repeat", "1",
               "--prefill", str(args.prefill), "--decode-tokens", str(args.decode), "--context", "0", "--parallel", "1"]
    return json.loads(run(command))


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
    pairs = {"prefill": [], "decode": []}
    shares = {"prefill": [], "decode": []}
    noisy = 0
    for _ in range(args.rounds):
        report = sampo_speeds(args, model)
        theirs = llama_speeds(args, model)
        noisy += report["noisy"]
        if report["noisy"] and not args.count_noisy:
            print(f"{model}: a noisy round: sampo {report}, llama.cpp {theirs}", file=sys.stderr)
            continue
        for kind in pairs:
            pairs[kind].append((report[kind][0]["tok_s"], theirs[kind]))
            shares[kind].append(report[kind][0]["share"])
    name = os.path.basename(model).removesuffix(".gguf")
    for kind, speeds in pairs.items():
        if not speeds:
            print(f"| {name} | {kind} | | | no quiet round | | | {noisy} of {args.rounds} |", flush=True)
            continue
        ratios = sorted(a / b for a, b in speeds)
        ours, theirs = (statistics.median(p[i] for p in speeds) for i in (0, 1))
        share = statistics.median(shares[kind])
        print(f"| {name} | {kind} | {ours:.4g} | {theirs:.4g} | {statistics.median(ratios):.2f} | {ratios[0]:.2f} to {ratios[-1]:.2f} "
              f"| {share:.2f} | {noisy} of {args.rounds} |", flush=True)


def header(args):
    """Prints when and where this was measured, and the head of the table."""
    report = json.loads(run([args.sampo, "bench", args.models[0], "--json", "--quick", "--threads", str(args.threads), "--repeat", "1"]))
    limits = ", ".join(f"{name} {value}" for name, value in report["limits"].items())
    print(f"{datetime.date.today()}, {report['cpu']}, tier {report['tier']}, {report['threads']} threads; limits: {limits}\n")
    print("| model | work | sampo tok/s | llama.cpp tok/s | ratio | spread | share of the limit | noisy rounds |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |", flush=True)


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
    header(args)
    for model in args.models:
        compare(args, model)


if __name__ == "__main__":
    main()

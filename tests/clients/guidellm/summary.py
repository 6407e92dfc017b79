# SPDX-License-Identifier: Apache-2.0
"""Prints what GuideLLM measured, and fails where a request did: summary.py benchmarks.json"""

import json
import sys

with open(sys.argv[1]) as file:
    report = json.load(file)
FIGURES = {
    "request_latency": "request latency (s)", "time_to_first_token_ms": "TTFT (ms)", "inter_token_latency_ms": "ITL (ms)",
    "output_tokens_per_second": "output tokens/s", "requests_per_second": "requests/s",
    "prompt_token_count": "prompt tokens", "output_token_count": "output tokens",
}  # fmt: skip
for benchmark in report["benchmarks"]:
    metrics = benchmark["metrics"]
    totals = metrics["request_totals"]
    strategy = benchmark["config"]["strategy"]
    print(f"{strategy['type_']} {strategy.get('streams', '')}: {totals['successful']} requests, {totals['errored']} errors, {totals['incomplete']} cut at the end")
    print(f"  {'':22}{'mean':>10}{'median':>10}{'p95':>10}{'p99':>10}")
    for key, name in FIGURES.items():
        told = metrics[key]["successful"]
        p = told["percentiles"]
        print(f"  {name:22}{told['mean']:10.4g}{told['median']:10.4g}{p['p95']:10.4g}{p['p99']:10.4g}")
    assert totals["successful"] > 0 and totals["errored"] == 0, totals

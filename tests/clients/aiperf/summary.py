# SPDX-License-Identifier: Apache-2.0
"""Prints what AIPerf measured, and fails where a request did: summary.py profile_export_aiperf.json"""

import json
import sys

with open(sys.argv[1]) as file:
    report = json.load(file)
FIGURES = (
    "request_count", "error_request_count", "request_latency", "time_to_first_token", "inter_token_latency", "output_token_throughput",
    "request_throughput", "input_sequence_length", "output_sequence_length",
)  # fmt: skip
for name in FIGURES:
    told = report.get(name)
    if told:
        values = "".join(f"  {k} {told[k]:.4g}" for k in ("avg", "p50", "p95", "p99") if told.get(k) is not None)
        print(f"{name} ({told['unit']}):{values}")
assert report["request_count"]["avg"] == 64, report["request_count"]
assert not report.get("error_request_count"), report["error_request_count"]
assert not report.get("error_summary"), report["error_summary"]

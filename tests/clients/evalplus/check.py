# SPDX-License-Identifier: Apache-2.0
"""Checks what EvalPlus wrote below a folder: check.py FOLDER"""

import json
import pathlib
import sys


def results(work):
    [file] = (pathlib.Path(sys.argv[1]) / work).rglob("*_eval_results.json")
    return json.loads(file.read_text())["eval"]


first, second, samples = results("first"), results("second"), results("samples")
assert first == second, "greedy answers differ from run to run"
solved = {task for task, [sample] in first.items() if sample["base_status"] == sample["plus_status"] == "pass"}
assert solved == {"HumanEval/0"}, solved
assert len(samples) == len(first) and all(len(s) == 4 for s in samples.values()), samples.keys()
print(f"scripted solves {len(solved)} of {len(first)} problems, the same in both runs; mini-chat gave 4 samples for each")

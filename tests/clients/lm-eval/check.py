# SPDX-License-Identifier: Apache-2.0
"""Checks what lm-eval wrote, and compares its log-likelihoods with those that the server tells: check.py FOLDER URL MODEL"""

import json
import pathlib
import sys
import urllib.request

folder, url, model = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3]


def post(route, **body):
    request = urllib.request.Request(url + route, json.dumps({"model": model, **body}).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


def samples(run, task):
    """Returns the logged samples of a task, in order."""
    [file] = (folder / run).rglob(f"samples_{task}_*.jsonl")
    return sorted((json.loads(line) for line in file.read_text().splitlines()), key=lambda s: s["doc_id"])


def answers(run, task):
    return [s["resps"] for s in samples(run, task)]


def likelihood(context, continuation):
    """Returns the log-likelihood of a continuation by prompt_logprobs: the prompt is computed anew, without the cache."""
    start = len(post("/tokenize", prompt=context, add_special_tokens=False)["tokens"])
    ids = post("/tokenize", prompt=context + continuation, add_special_tokens=False)["tokens"]
    told = post("/v1/completions", prompt=ids, max_tokens=1, temperature=0, prompt_logprobs=1)["choices"][0]["prompt_logprobs"]
    chosen = [told[i][str(ids[i])] for i in range(start, len(ids))]
    return sum(c["logprob"] for c in chosen), all(c["rank"] == 1 for c in chosen)


for task in ("sampo_capitals", "sampo_stories"):
    assert answers("one", task) == answers("many", task), f"{task}: log-likelihoods depend on how they are asked for"
compared = 0
for sample in samples("one", "sampo_capitals"):
    for request, [answer] in zip(sample["arguments"].values(), sample["resps"], strict=True):
        want = likelihood(request["arg_0"], request["arg_1"])
        got = (float(answer[0]), answer[1] in (True, "True"))
        assert got == want, (request, got, want)
        compared += 1
assert compared == 32, compared
assert answers("first", "sampo_questions") == answers("second", "sampo_questions"), "answers differ from run to run"
assert len(answers("text", "sampo_questions")) == 8
print(f"{model}: {compared} log-likelihoods are exact, and equal in both runs; 8 answers are the same twice")

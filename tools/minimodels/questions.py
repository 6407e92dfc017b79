# SPDX-License-Identifier: Apache-2.0
"""Writes questions.json: forty questions that the shipped model answers right, with its greedy answers, for the replay test.

    python questions.py HF_DIR questions.json
    python questions.py http://127.0.0.1:7267 questions.json
It takes a fixed share from every skill of the held-out set, in order, and leaves out what the model gets wrong. Requests are
written as the chat API takes them; an answer is split into thought, text and calls.
"""
import json
import sys

import heldout
from evaluate import CALL, Chat, Server, request, right

SHARE = {"capitals": 3, "remembers": 3, "thinks when on": 4, "calls a tool": 4, "uses a result": 3}
COUNT = 40


def answer(text):
    thought, closed, rest = text.partition("</think>")
    if not closed:
        thought, rest = "", text
    calls = [json.loads(c) for c in CALL.findall(rest)]
    return {"thought": thought.strip(), "text": CALL.sub("", rest).strip(),
            "calls": [{"name": c["name"], "arguments": json.dumps(c["arguments"], ensure_ascii=False)} for c in calls] or None}


def main():
    chat, chosen, more = (Server if sys.argv[1].startswith("http") else Chat)(sys.argv[1]), [], []
    for skill, items in heldout.ITEMS.items():
        share, taken = SHARE.get(skill, 2), 0
        for item in items:
            text = chat.answers([item])[0] if taken < share + 1 else ""
            if text and right(item["check"], item["value"], text):
                entry = {"skill": skill, "request": request(item), "prompt": chat.prompt(item), "answer": answer(text)}
                (chosen if taken < share else more).append(entry)
                taken += 1
    chosen = (chosen + more)[:COUNT]
    with open(sys.argv[2], "w") as f:
        json.dump(chosen, f, indent=1, ensure_ascii=False)
        f.write("\n")
    print(len(chosen), "questions")


if __name__ == "__main__":
    main()

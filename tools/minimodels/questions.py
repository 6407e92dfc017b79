# SPDX-License-Identifier: Apache-2.0
"""Writes questions.json: forty questions that the shipped model answers right, with its greedy answers, for the replay test.

    python questions.py HF_DIR questions.json

It takes a fixed share from every skill of the held-out set, in order, and leaves out what the model gets wrong.
"""
import json
import sys

import torch

import heldout
from evaluate import Chat, measure

SHARE = {"capitals": 5, "remembers": 3, "calls two tools": 1, "obeys: JSON": 1, "obeys: one word": 1}


def main():
    torch.set_num_threads(1)
    chat, chosen = Chat(sys.argv[1]), []
    for skill, items in heldout.ITEMS.items():
        for number, item in enumerate(items):
            item["number"] = number
        good = sorted(((i["number"], i, text) for i, text, passed in measure(chat, items) if passed), key=lambda g: g[0])
        for _, item, text in good[:SHARE.get(skill, 2)]:
            chosen.append({"skill": skill, "messages": item["messages"], "tools": item["tools"], "enable_thinking": item["think"],
                           "prompt": chat.prompt(item), "answer": text})
    with open(sys.argv[2], "w") as f:
        json.dump(chosen[:40], f, indent=1, ensure_ascii=False)
        f.write("\n")
    print(len(chosen), "questions")


if __name__ == "__main__":
    main()

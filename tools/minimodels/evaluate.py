# SPDX-License-Identifier: Apache-2.0
"""Measures a Hugging Face folder, or the model that a Sampo server serves, on the held-out questions, greedily, and prints a
table of shares per skill.

    python evaluate.py HF_DIR [--misses] [--json FILE]
    python evaluate.py http://127.0.0.1:7267 [--misses]         # needs no PyTorch
"""
import argparse
import json
import re
import unicodedata
import urllib.request

import heldout

CALL = re.compile(r"<tool_call>\s*(.*?)\s*</tool_call>", re.S)


class Server:
    """A Sampo server. Thoughts and calls that it has taken out of the text are put back."""

    def __init__(self, url):
        self.url = url

    def post(self, item, **more):
        body = json.dumps(request(item) | {"temperature": 0} | more).encode()
        call = urllib.request.Request(self.url.rstrip("/") + "/v1/chat/completions", body, {"Content-Type": "application/json"})
        with urllib.request.urlopen(call) as response:
            return json.load(response)

    def prompt(self, item):
        return self.post(item, max_tokens=1, return_prompt_text=True)["prompt_text"]

    def answers(self, items, limit=160):
        return [self.answer(item, limit) for item in items]

    def answer(self, item, limit):
        message = self.post(item, max_tokens=limit)["choices"][0]["message"]
        thought = message.get("reasoning_content")
        calls = [f'<tool_call>{{"name": {json.dumps(c["function"]["name"])}, "arguments": {c["function"]["arguments"]}}}</tool_call>' for c in message.get("tool_calls") or []]
        return (thought + "</think>" if thought else "") + (message["content"] or "") + "".join(calls)


def request(item):
    """The body of a chat request: calls have IDs and their arguments are strings."""
    messages, last = [], []
    for message in item["messages"]:
        message = dict(message)
        if message.get("tool_calls"):
            last = [f"call_{n}" for n in range(len(message["tool_calls"]))]
            message["tool_calls"] = [{"id": i, "type": "function", "function": {"name": c["function"]["name"], "arguments": json.dumps(c["function"]["arguments"])}}
                                     for i, c in zip(last, message["tool_calls"])]
        if message["role"] == "tool":
            message["tool_call_id"] = last.pop(0)
        messages.append(message)
    return {"messages": messages} | ({"tools": item["tools"]} if item["tools"] else {}) | ({"chat_template_kwargs": {"enable_thinking": True}} if item["think"] else {})


class Chat:
    """A Hugging Face folder."""

    def __init__(self, folder):
        import torch
        from transformers import AutoModelForCausalLM, AutoTokenizer

        torch.set_num_threads(1)
        self.torch = torch
        self.tokenizer = AutoTokenizer.from_pretrained(folder)
        self.model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
        self.end = self.tokenizer.convert_tokens_to_ids("<|im_end|>")
        self.pad = self.tokenizer.convert_tokens_to_ids("<|endoftext|>")

    def prompt(self, item):
        return self.tokenizer.apply_chat_template(item["messages"], tools=item.get("tools"), tokenize=False, add_generation_prompt=True,
                                                  enable_thinking=item.get("think", False))

    def answers(self, items, limit=160):
        """Greedy answers of a batch, padded on the left."""
        rows = [self.tokenizer.encode(self.prompt(item)) for item in items]
        longest = max(map(len, rows))
        ids = self.torch.tensor([[self.pad] * (longest - len(r)) + r for r in rows])
        mask = self.torch.tensor([[0] * (longest - len(r)) + [1] * len(r) for r in rows])
        with self.torch.no_grad():
            out = self.model.generate(ids, attention_mask=mask, max_new_tokens=limit, do_sample=False, eos_token_id=self.end, pad_token_id=self.pad)
        texts = []
        for row in out[:, longest:].tolist():
            row = row[:row.index(self.end)] if self.end in row else row
            texts.append(self.tokenizer.decode(row, clean_up_tokenization_spaces=False))
        return texts


def plain(text):
    text = unicodedata.normalize("NFKD", text.lower())
    return re.sub(r"[^a-z0-9 ]", "", text.replace("-", " ").replace("'", " ")).strip()


def calls(text):
    try:
        found = [json.loads(c) for c in CALL.findall(text)]
        return [[c["name"], c["arguments"]] for c in found]
    except (ValueError, KeyError, TypeError):
        return None


def parsed(text):
    try:
        return json.loads(text)
    except ValueError:
        return None


def right(check, value, text):
    """Whether an answer passes. A thought or a call where none belongs never passes."""
    if check == "thought":
        thought, closed, answer = text.partition("</think>")
        good = right("number", value, answer) if value.isdigit() else value.lower() in answer.lower()  # a long count holds every number
        return bool(closed and thought.strip() and good)
    if check == "calls":
        return calls(text) == value
    if "<think>" in text or "<tool_call>" in text:
        return False
    if check == "any":
        return any(v.lower() in text.lower() for v in value)
    if check == "all":
        return all(v.lower() in text.lower() for v in value)
    if check == "exact":
        return text.strip() == value
    if check == "loose":
        return plain(text) == plain(value)
    if check == "number":
        return re.findall(r"-?\d+", text.replace("- ", "minus "))[-1:] == [str(value)]
    if check == "letters":
        return text.strip().lower() == "-".join(value.lower())
    if check == "word":
        return text.strip().rstrip(".").lower() == value.lower()
    if check == "json":
        return parsed(text) == value
    if check == "object":
        key, want = value
        found = parsed(text)
        return isinstance(found, dict) and len(found) == 1 and (key is None or key in found) and str(next(iter(found.values()))) == want
    if check == "story":
        return value in text and len(re.findall(r"[.!?](?:\s|$)", text)) == 2
    raise ValueError(check)


def measure(chat, items, batch=16):
    items = sorted(items, key=lambda i: len(str(i)))
    for at in range(0, len(items), batch):
        part = items[at:at + batch]
        for item, text in zip(part, chat.answers(part)):
            yield item, text, right(item["check"], item["value"], text)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("model")
    parser.add_argument("--misses", action="store_true")
    parser.add_argument("--json")
    options = parser.parse_args()
    chat, shares = (Server if options.model.startswith("http") else Chat)(options.model), {}
    for skill, items in heldout.ITEMS.items():
        good = 0
        for item, text, passed in measure(chat, items):
            good += passed
            if options.misses and not passed:
                print(f"  {skill}: {item['messages'][-1]['content']!r} -> {text!r}, want {item['value']!r}")
        shares[skill] = (good, len(items))
        print(f"| {skill} | {good} of {len(items)} | {100 * good / len(items):.0f} % |", flush=True)
    good, total = (sum(s[i] for s in shares.values()) for i in (0, 1))
    print(f"| all | {good} of {total} | {100 * good / total:.0f} % |")
    if options.json:
        with open(options.json, "w") as f:
            json.dump(shares, f)


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: Apache-2.0
"""Trains the byte-level BPE vocabulary on generated conversations and writes tokenizer.json.

A word is cut the same way with and without a space before it: pieces are learned on words without their space, and the
merges that put a space in front of a piece come last. So " Paris" and "Paris" differ in their first token only, and
copying a name from a sentence into JSON is a matter of one token. Readers of tokenizer.json and GGUF see plain BPE.
"""
import argparse
import collections
import json
import random

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers, trainers

import generate
import world as w

PATTERN = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")
CONTROL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
MARKERS = ["<think>", "</think>", "<tool_call>", "</tool_call>", "<tool_response>", "</tool_response>", "<tools>", "</tools>"]
SPACE = "Ġ"


def pre_tokenizer(apart=False):
    split = pre_tokenizers.Split(Regex(PATTERN), "isolated")
    spaces = [pre_tokenizers.Split(" ", "isolated")] if apart else []
    return pre_tokenizers.Sequence([split, *spaces, pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])


def corpus(count, seed):
    rng, template = random.Random(seed), generate.load_template()
    marks = CONTROL + MARKERS
    for _ in range(count):
        text = generate.render(template, generate.conversation(rng))
        for mark in marks:
            text = text.replace(mark, "\n")
        yield text
    for words in (w.FIRST_NAMES, w.CITIES, w.ANIMALS, w.FOODS, w.THINGS, w.ADJECTIVES, w.VERBS, w.FOREIGN):
        for _ in range(20):
            yield " ".join(words)


def train(size, count, seed):
    texts = list(corpus(count, seed))
    spaced = (size - 256 - len(CONTROL + MARKERS)) * 2 // 5
    learner = Tokenizer(models.BPE())
    learner.pre_tokenizer = pre_tokenizer(apart=True)
    learner.train_from_iterator(texts, trainers.BpeTrainer(
        vocab_size=size - spaced - len(CONTROL + MARKERS), min_frequency=2, show_progress=False, max_token_length=12,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
    learned = json.loads(learner.to_str())["model"]
    first = collections.Counter()
    for text in texts:
        tokens = learner.encode(text).tokens
        first.update(b for a, b in zip(tokens, tokens[1:]) if a == SPACE and b[0] not in (SPACE, "Ċ"))
    vocab = dict(sorted(learned["vocab"].items(), key=lambda item: item[1]))
    merges = [tuple(m) for m in learned["merges"]]
    for piece, _ in sorted(first.items(), key=lambda item: (-item[1], item[0])):
        if len(vocab) + len(CONTROL + MARKERS) == size:
            break
        vocab[SPACE + piece] = len(vocab)
        merges.append((SPACE, piece))
    tokenizer = Tokenizer(models.BPE(vocab=vocab, merges=merges))
    tokenizer.pre_tokenizer = pre_tokenizer()
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_tokens([AddedToken(t, normalized=False, special=True) for t in CONTROL])
    tokenizer.add_tokens([AddedToken(t, normalized=False, special=False) for t in MARKERS])
    assert tokenizer.get_vocab_size() == size, tokenizer.get_vocab_size()
    return tokenizer


def pieces(tokenizer):
    """The pieces made of ASCII letters only, for made-up words."""
    return sorted(p for p in tokenizer.get_vocab() if p.isascii() and p.isalpha())


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("out")
    parser.add_argument("--size", type=int, default=3072)
    parser.add_argument("--count", type=int, default=20000)
    parser.add_argument("--seed", type=int, default=7)
    options = parser.parse_args()
    tokenizer = train(options.size, options.count, options.seed)
    tokenizer.save(options.out)
    for text in (" Paris", "Paris", ' "Paris"', "Rounweexburg", " Rounweexburg", "27 + 15 = 42", '{"name": "get_weather", "arguments": {"city": "Zachary"}}'):
        print(tokenizer.encode(text).tokens)

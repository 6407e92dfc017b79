# SPDX-License-Identifier: Apache-2.0
"""Trains mini-chat on an endless stream of generated conversations. Loss on the assistant's tokens only.

    python train.py TOKENIZER.json CKPT_DIR --tokens 10 [--resume CKPT_DIR/last.pt] [--seed 1]

Matrices of the blocks are trained by Muon (momentum made orthogonal by Newton-Schulz steps), the rest by AdamW. The
learning rate warms up, stays, and falls to nothing in the last part. Sequences grow longer with progress.
Each rank is one process with one thread and its own conversations; gradients are averaged after every step. On a machine
that is busy with other work this is several times faster than one process with threads that wait for each other.
"""
import argparse
import collections
import dataclasses
import json
import math
import pathlib
import random
import time

import torch
import torch.distributed as dist
from tokenizers import Tokenizer

import generate
import vocabulary
import world as w
from model import Config, Model

TURN, END, THINK, PAD = "<|im_start|>", "<|im_end|>", "<think>", "<|endoftext|>"


class Stream:
    """Batches of conversations of similar length, rows padded to a multiple of 16 tokens."""

    def __init__(self, tokenizer, seed, batch_tokens):
        self.tokenizer, self.rng, self.batch_tokens = tokenizer, random.Random(seed), batch_tokens
        self.template = generate.load_template()
        self.ids = {t: tokenizer.token_to_id(t) for t in (TURN, END, THINK, PAD)}
        self.assistant = tokenizer.encode("assistant\n").ids
        self.newline = tokenizer.encode("\n").ids
        self.ready = []

    def example(self, conv):
        """Token ids and which of them the assistant says (its end mark included, a thought's opening excluded)."""
        ids = self.tokenizer.encode(generate.render(self.template, conv)).ids
        says, inside, head = [False] * len(ids), False, len(self.assistant)
        for i, token in enumerate(ids):
            if token == self.ids[TURN]:
                start = i + 1 + head
                inside = ids[i + 1:start] == self.assistant
                if inside and ids[start] == self.ids[THINK]:
                    start += 1 + len(self.newline)
            elif inside and i >= start:
                says[i] = True
                inside = token != self.ids[END]
        return ids, says

    def fill(self, progress):
        limit = next(n for until, n in ((0.1, 96), (0.3, 160), (0.5, 384), (2.0, 1024)) if progress < until)
        tools = 0.05 if progress < 0.05 else 0.27
        drill = 0.35 if progress < 0.5 else 0.12
        pool = []
        while len(pool) < 1500:
            exchanges = self.rng.choice((1, 2, 3, 4)) if progress > 0.1 else self.rng.choice((1, 2, 2))
            if progress > 0.5 and self.rng.random() < 0.05:
                exchanges = self.rng.randint(5, 16)
            conv = generate.conversation(self.rng, exchanges, tools, drill)
            ids, says = self.example(conv)
            if len(ids) <= limit:
                pool.append((ids, says))
        pool.sort(key=lambda p: len(p[0]))
        batch, longest = [], 0
        for item in pool:
            longest = -(-len(item[0]) // 16) * 16
            if batch and longest * (len(batch) + 1) > self.batch_tokens:
                self.ready.append(batch)
                batch = []
            batch.append(item)
        self.rng.shuffle(self.ready)

    def batch(self, progress):
        """Shapes: ids [B, S]; keep [N] rows that predict an assistant token; targets [N]."""
        if not self.ready:
            self.fill(progress)
        rows = self.ready.pop()
        size = -(-max(len(ids) for ids, _ in rows) // 16) * 16
        ids = torch.full((len(rows), size), self.ids[PAD])
        keep, targets = [], []
        for r, (tokens, says) in enumerate(rows):
            ids[r, :len(tokens)] = torch.tensor(tokens)
            at = [i for i, s in enumerate(says) if s]
            keep += [r * size + i - 1 for i in at]
            targets += [tokens[i] for i in at]
        return ids, torch.tensor(keep), torch.tensor(targets)


class Muon:
    """Momentum whose update is made nearly orthogonal (Keller Jordan's Muon), one stack per matrix shape."""

    def __init__(self, params, momentum=0.95, decay=0.01):
        self.momentum, self.decay = momentum, decay
        self.stacks = collections.defaultdict(list)
        for p in params:
            self.stacks[tuple(p.shape)].append(p)
        self.speed = {shape: torch.zeros(len(ps), *shape) for shape, ps in self.stacks.items()}

    @torch.no_grad()
    def step(self, lr):
        for shape, params in self.stacks.items():
            grad = torch.stack([p.grad for p in params])
            speed = self.speed[shape].lerp_(grad, 1 - self.momentum)
            update = orthogonal(grad.lerp(speed, self.momentum)) * max(1, shape[0] / shape[1]) ** 0.5
            for p, u in zip(params, update):
                p.mul_(1 - lr * self.decay).add_(u, alpha=-lr)


def orthogonal(x):
    """Five quintic Newton-Schulz steps in bfloat16. Shapes: x [M, rows, cols]."""
    tall = x.shape[1] > x.shape[2]
    x = x.bfloat16()
    x = x.mT if tall else x
    x = x / (x.norm(dim=(1, 2), keepdim=True) + 1e-7)
    for _ in range(5):
        a = x @ x.mT
        x = 3.4445 * x + (-4.7750 * a + 2.0315 * a @ a) @ x
    return (x.mT if tall else x).float()


def rate(progress, step):
    """1 after a short warm-up, then 1 until progress 0.6, then down to 0.02 in a straight line."""
    return min(1, (step + 1) / 40) * max(0.02, min(1, (1 - progress) / 0.4))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tokenizer")
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--tokens", type=float, required=True, help="millions of tokens, padding included")
    parser.add_argument("--start", type=float, default=0.0, help="progress to start from: 0.5 skips the short sequences")
    parser.add_argument("--resume", type=pathlib.Path)
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--batch-tokens", type=int, default=3072, help="per rank")
    parser.add_argument("--muon", type=float, default=0.02)
    parser.add_argument("--adam", type=float, default=3e-3)
    parser.add_argument("--compile", action="store_true", help="compile the blocks: a minute or two, then 1.4 times the speed")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--config", default="{}", help="JSON of fields of model.Config")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    torch.multiprocessing.spawn(train, (options,), options.ranks)


def average(model):
    """Averages gradients over the ranks."""
    grads = [p.grad for p in model.parameters()]
    flat = torch.cat([g.flatten() for g in grads])
    dist.all_reduce(flat)
    flat /= dist.get_world_size()
    at = 0
    for g in grads:
        g.copy_(flat[at:at + g.numel()].view_as(g))
        at += g.numel()


def train(rank, options):
    torch.manual_seed(options.seed)
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{options.out.resolve()}/ranks", rank=rank, world_size=options.ranks)
    say = print if rank == 0 else lambda *a, **k: None
    tokenizer = Tokenizer.from_file(options.tokenizer)
    w.PIECES[:] = vocabulary.pieces(tokenizer)
    stream = Stream(tokenizer, options.seed * 1000 + rank, options.batch_tokens)
    config = Config(vocab=tokenizer.get_vocab_size(), **json.loads(options.config))
    model = Model(config)
    if options.resume:
        saved = torch.load(options.resume)
        model = Model(Config(**saved["config"]))
        model.load_state_dict(saved["model"])
    if options.compile:
        for layer in model.layers:
            layer.compile(dynamic=True)
    matrices = [p for n, p in model.named_parameters() if p.ndim == 2 and "embed" not in n]
    others = [p for n, p in model.named_parameters() if p.ndim != 2 or "embed" in n]
    muon = Muon(matrices)
    adam = torch.optim.AdamW(others, lr=options.adam, betas=(0.9, 0.98), weight_decay=0.0, fused=True)
    say(f"{sum(p.numel() for p in model.parameters())} parameters", flush=True)

    begin, step, seen, losses = time.time(), 0, 0, []
    saved_at, mark = begin, (begin, 0)
    steps = math.ceil(options.tokens * 1e6 / options.batch_tokens / options.ranks)
    while step < steps:
        progress = options.start + step / steps * (1 - options.start)
        ids, keep, targets = stream.batch(progress)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            loss = model(ids, keep, targets, torch.bfloat16)
        loss.backward()
        average(model)
        factor = rate(progress, step)
        torch.nn.utils.clip_grad_norm_(others, 1.0)
        muon.step(options.muon * factor)
        for group in adam.param_groups:
            group["lr"] = options.adam * factor
        adam.step()
        model.zero_grad(set_to_none=True)
        step, seen = step + 1, seen + ids.numel() * options.ranks
        losses.append(loss.item())
        now = time.time()
        if step % 20 == 0:
            say(f"step {step} tokens {seen} progress {progress:.3f} loss {sum(losses) / len(losses):.4f} "
                f"{(seen - mark[1]) / (now - mark[0]):.0f} tok/s", flush=True)
            losses, mark = [], (now, seen)
        if rank == 0 and now - saved_at > 240:
            saved_at = now
            save(model, options.out / "last.pt", step, seen)
    if rank == 0:
        save(model, options.out / "last.pt", step, seen)
        (options.out / "ranks").unlink(missing_ok=True)
    say(f"done: {step} steps, {seen} tokens, {(time.time() - begin) / 60:.1f} minutes")


def save(model, path, step, seen):
    temporary = path.with_suffix(".tmp")
    torch.save({"config": dataclasses.asdict(model.c), "model": model.state_dict(), "step": step, "tokens": seen}, temporary)
    temporary.rename(path)


if __name__ == "__main__":
    main()

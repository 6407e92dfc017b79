# SPDX-License-Identifier: Apache-2.0
"""Trains mini-chat on an endless stream of generated conversations. Loss on the assistant's tokens only.

    python train.py TOKENIZER.json CKPT_DIR --tokens 10 [--resume CKPT_DIR/last.pt] [--seed 1]

Matrices of the blocks are trained by Muon (momentum made orthogonal by Newton-Schulz steps), the rest by AdamW. The
learning rate warms up, stays, and falls to nothing in the last part.
Each rank is one process with one thread and its own conversations; gradients are averaged after every step. On a machine
that is busy with other work this is several times faster than one process with threads that wait for each other.
"""
import argparse
import dataclasses
import json
import pathlib
import random
import signal
import time

import torch
import torch.distributed as dist
from tokenizers import Tokenizer

import generate
import vocabulary
import world as w
from model import Config, Model, compile_pointwise

LONGEST, BRICK = 768, 1024  # tokens
ROUND = 256  # batches are filled up to a multiple: with a few sizes only, memory is used again and kernels are found in their cache
TURN, END, THINK, PAD = "<|im_start|>", "<|im_end|>", "<think>", "<|endoftext|>"


class Stream:
    """Batches of conversations. A brick is a few conversations of nearly the same length, so that next to nothing is padding;
    a batch is a few bricks of any lengths, so that every step sees every kind."""

    def __init__(self, tokenizer, seed):
        self.tokenizer, self.rng = tokenizer, random.Random(seed)
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
        pool = []
        while len(pool) < 1500:
            ids, says = self.example(generate.lesson(self.rng, progress))
            if len(ids) <= LONGEST:
                pool.append((ids, says))
        pool.sort(key=lambda p: len(p[0]))
        brick = []
        for item in pool:
            if brick and len(item[0]) * (len(brick) + 1) > BRICK:
                self.ready.append(brick)
                brick = []
            brick.append(item)
        self.rng.shuffle(self.ready)

    def batch(self, progress, size):
        """At least size tokens. Shapes: ids [T]; bricks a list of (B, S); keep [N] rows that predict an assistant token; targets [N]."""
        ids, bricks, keep, targets = [], [], [], []
        while len(ids) < size:
            if not self.ready:
                self.fill(progress)
            rows = self.ready.pop()
            longest = len(rows[-1][0])
            bricks.append((len(rows), longest))
            for tokens, says in rows:
                at = [i for i, s in enumerate(says) if s]
                keep += [len(ids) + i - 1 for i in at]
                targets += [tokens[i] for i in at]
                ids += tokens + [self.ids[PAD]] * (longest - len(tokens))
        if fill := -len(ids) % ROUND:
            bricks.append((1, fill))
            ids += [self.ids[PAD]] * fill
        fill = -len(keep) % ROUND
        return torch.tensor(ids), bricks, torch.tensor(keep + [0] * fill), torch.tensor(targets + [-100] * fill)  # -100 bears no loss


class Muon:
    """Momentum whose update is made nearly orthogonal (Keller Jordan's Muon)."""

    def __init__(self, params, momentum=0.95, decay=0.01, dtype=torch.float32):
        self.params, self.momentum, self.decay, self.dtype = params, momentum, decay, dtype
        self.speed = [torch.zeros_like(p) for p in params]

    @torch.no_grad()
    def step(self, lr):
        for p, speed in zip(self.params, self.speed):
            speed.lerp_(p.grad, 1 - self.momentum)
            update = orthogonal(p.grad.lerp(speed, self.momentum).to(self.dtype)).to(p.dtype)
            p.mul_(1 - lr * self.decay).add_(update, alpha=-lr * max(1, p.shape[0] / p.shape[1]) ** 0.5)


# The first steps of Polar Express (arXiv:2505.16932); three bring most singular values near 1 and cost little beside the gradient.
QUINTIC = ((8.28721, -23.59589, 17.30039), (4.10706, -2.94785, 0.54484), (3.94869, -2.90890, 0.55182))


def orthogonal(x):
    """Three quintic Newton-Schulz steps. Shapes: x [rows, cols]."""
    tall = x.shape[0] > x.shape[1]
    x = x.mT if tall else x
    x = x / (x.norm() * 1.02 + 1e-7)
    for a, b, c in QUINTIC:
        square = x @ x.mT
        x = torch.addmm(x, torch.addmm(square, square, square, beta=b, alpha=c), x, beta=a)
    return x.mT if tall else x


def rate(progress, step):
    """1 after a short warm-up, then 1 until progress 0.2, then down to nothing in a straight line."""
    return min(1, (step + 1) / 40) * max(0.005, min(1, (1 - progress) / 0.8))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tokenizer")
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--tokens", type=float, default=1e6, help="the length of the run in millions of tokens")
    parser.add_argument("--minutes", type=float, default=1e6, help="its length in minutes of processor; whichever ends first counts")
    parser.add_argument("--start", type=float, default=0.0, help="progress to start from")
    parser.add_argument("--stop", type=float, default=1.0, help="progress to stop at")
    parser.add_argument("--resume", type=pathlib.Path, help="a checkpoint, or a GGUF of export.py")
    parser.add_argument("--ranks", type=int, default=1)
    parser.add_argument("--batch-tokens", type=int, default=3072, help="per rank")
    parser.add_argument("--muon", type=float, default=0.02)
    parser.add_argument("--adam", type=float, default=3e-3)
    parser.add_argument("--bf16", action="store_true", help="matrix products in bfloat16: more than twice as fast where the processor has AVX512_BF16 or AMX")
    parser.add_argument("--compile", action="store_true", help="a tenth less time for a step after some minutes")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--config", default="{}", help="JSON of fields of model.Config")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    if options.ranks == 1:
        train(0, options)
    else:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)  # the ranks end by themselves
        torch.multiprocessing.spawn(train, (options,), options.ranks)


def load(path, vocab, fields):
    """The model of a checkpoint or of a GGUF, or a fresh one."""
    if path is None:
        return Model(Config(vocab=vocab, **fields))
    if path.suffix == ".gguf":
        import export
        weights, model = export.read_gguf(path), Model(Config(vocab=vocab, **fields))
    else:
        saved = torch.load(path)
        weights, model = saved["model"], Model(Config(**saved["config"]))
    model.load_state_dict(weights)
    return model


def agreed(progress):
    """The progress of the first rank: clocks differ, and all must stop at the same step."""
    if not dist.is_initialized():
        return progress
    shared = torch.tensor(progress, dtype=torch.float64)
    dist.broadcast(shared, 0)
    return shared.item()


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
    if options.ranks > 1:
        dist.init_process_group("gloo", init_method=f"file://{options.out.resolve()}/ranks", rank=rank, world_size=options.ranks)
    say = print if rank == 0 else lambda *a, **k: None
    tokenizer = Tokenizer.from_file(options.tokenizer)
    w.PIECES[:] = vocabulary.pieces(tokenizer)
    stream = Stream(tokenizer, options.seed * 1000 + rank)
    model = load(options.resume, tokenizer.get_vocab_size(), json.loads(options.config))
    if options.compile:
        compile_pointwise()
    matrices = [p for n, p in model.named_parameters() if p.ndim == 2 and "embed" not in n]
    others = [p for n, p in model.named_parameters() if p.ndim != 2 or "embed" in n]
    dtype = torch.bfloat16 if options.bf16 else torch.float32
    muon = Muon(matrices, dtype=dtype)
    adam = torch.optim.AdamW(others, lr=options.adam, betas=(0.9, 0.98), weight_decay=0.0, fused=True)
    say(f"{sum(p.numel() for p in model.parameters())} parameters", flush=True)

    stopped = []
    signal.signal(signal.SIGTERM, lambda *_: stopped.append(True))  # ends after the step, with a checkpoint
    begin, step, seen, losses = time.process_time(), 0, 0, []  # a process that is stopped for a while loses nothing
    saved_at, mark, kept = begin, (begin, 0), 0
    while True:
        progress = agreed(1.0 if stopped else options.start + (1 - options.start) * max(seen / options.tokens / 1e6, (time.process_time() - begin) / options.minutes / 60))
        if progress >= options.stop:
            break
        ids, bricks, keep, targets = stream.batch(progress, options.batch_tokens)
        with torch.autocast("cpu", dtype, enabled=options.bf16):
            loss = model(ids, bricks, keep, targets)
        loss.backward()
        if options.ranks > 1:
            average(model)
        factor = rate(progress, step)
        torch.nn.utils.clip_grad_norm_(others, 1.0)
        muon.step(options.muon * factor)
        for group in adam.param_groups:
            group["lr"] = options.adam * factor
        adam.step()
        model.zero_grad(set_to_none=True)
        step, seen = step + 1, seen + len(ids) * options.ranks
        losses.append(loss.item())
        now = time.process_time()
        if step % 20 == 0:
            say(f"step {step} tokens {seen} progress {progress:.3f} loss {sum(losses) / len(losses):.4f} {(seen - mark[1]) / (now - mark[0]):.0f} tok/s, "
                f"{now / 60:.1f} minutes of processor", flush=True)
            losses, mark = [], (now, seen)
        if rank == 0 and now - saved_at > 150:
            saved_at = now
            save(model, options.out / "last.pt", step, seen)
            if now - begin > 600 * (kept + 1):  # ten minutes
                kept += 1
                save(model, options.out / f"{kept}.pt", step, seen)
    if rank == 0:
        save(model, options.out / "last.pt", step, seen)
        (options.out / "ranks").unlink(missing_ok=True)
    say(f"done: {step} steps, {seen} tokens, {time.process_time() / 60:.1f} minutes of processor")


def save(model, path, step, seen):
    temporary = path.with_suffix(".tmp")
    torch.save({"config": dataclasses.asdict(model.c), "model": model.state_dict(), "step": step, "tokens": seen}, temporary)
    temporary.rename(path)


if __name__ == "__main__":
    main()

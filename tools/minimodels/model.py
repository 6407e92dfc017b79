# SPDX-License-Identifier: Apache-2.0
"""The Qwen3 architecture, small: pre-norm blocks with grouped-query attention, q and k norms, RoPE, SwiGLU, tied embeddings.

Shapes: T tokens, B sequences of S tokens each, E hidden, H query heads, K KV heads, D head dim, F FFN, V vocabulary.
Parameter names are those of transformers' Qwen3ForCausalLM, so that a checkpoint loads there unchanged.
"""
import dataclasses

import torch
import torch.nn.functional as F
from torch import nn


@dataclasses.dataclass
class Config:
    vocab: int = 3072
    hidden: int = 256
    layers: int = 6
    heads: int = 4
    kv_heads: int = 2
    head_dim: int = 64
    ffn: int = 640
    context: int = 8192
    rope_theta: float = 100000.0
    eps: float = 1e-6

    def to_hf(self):
        return {
            "architectures": ["Qwen3ForCausalLM"], "model_type": "qwen3", "vocab_size": self.vocab, "hidden_size": self.hidden,
            "num_hidden_layers": self.layers, "num_attention_heads": self.heads, "num_key_value_heads": self.kv_heads,
            "head_dim": self.head_dim, "intermediate_size": self.ffn, "max_position_embeddings": self.context,
            "rope_theta": self.rope_theta, "rope_parameters": {"rope_type": "default", "rope_theta": self.rope_theta}, "rms_norm_eps": self.eps, "hidden_act": "silu", "tie_word_embeddings": True,
            "attention_bias": False, "attention_dropout": 0.0, "use_sliding_window": False, "torch_dtype": "float32"}


def products(x):
    """The type that the matrix products want: bfloat16 under autocast, which would else convert the same rows once for each product."""
    return torch.get_autocast_dtype("cpu") if torch.is_autocast_enabled("cpu") else x.dtype


def normed(x, weight, eps, dtype):
    return F.rms_norm(x, (x.shape[-1],), weight, eps).to(dtype)


def turned(x, weight, eps, cos, sin):
    """RMS norm, then RoPE on halves (arXiv:2104.09864), in float32. Shapes: x [T, H, D]; weight [D]; cos, sin [T, 1, D/2]."""
    a, b = F.rms_norm(x.float(), (x.shape[-1],), weight, eps).chunk(2, -1)
    return torch.cat((a * cos - b * sin, b * cos + a * sin), -1).to(x.dtype)


def gated(gate, up):
    return F.silu(gate) * up


def compile_pointwise():
    """Compiles what stands between the matrix products: a minute at first, then a fifth less time for a step."""
    for f in (normed, turned, gated):
        globals()[f.__name__] = torch.compile(f, dynamic=True)


class RMSNorm(nn.Module):
    def __init__(self, size, eps):
        super().__init__()
        self.weight, self.eps = nn.Parameter(torch.ones(size)), eps

    def forward(self, x):
        return normed(x, self.weight, self.eps, products(x))


class Attention(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.c = c
        self.q_proj = nn.Linear(c.hidden, c.heads * c.head_dim, bias=False)
        self.k_proj = nn.Linear(c.hidden, c.kv_heads * c.head_dim, bias=False)
        self.v_proj = nn.Linear(c.hidden, c.kv_heads * c.head_dim, bias=False)
        self.o_proj = nn.Linear(c.heads * c.head_dim, c.hidden, bias=False)
        self.q_norm = RMSNorm(c.head_dim, eps=c.eps)
        self.k_norm = RMSNorm(c.head_dim, eps=c.eps)

    def forward(self, x, cos, sin, bricks):
        """Shapes: x [T, E]; cos, sin [T, 1, D/2]; bricks a list of (B, S); result [T, H*D], before the output projection."""
        q = turned(self.q_proj(x).unflatten(-1, (-1, self.c.head_dim)), self.q_norm.weight, self.c.eps, cos, sin)
        k = turned(self.k_proj(x).unflatten(-1, (-1, self.c.head_dim)), self.k_norm.weight, self.c.eps, cos, sin)
        v = self.v_proj(x).unflatten(-1, (-1, self.c.head_dim))
        sizes = [b * s for b, s in bricks]
        return torch.cat([self.attend(*parts, *brick) for *parts, brick in zip(q.split(sizes), k.split(sizes), v.split(sizes), bricks)])

    def attend(self, q, k, v, b, s):
        """Causal attention inside each of b rows of s tokens, the query heads of a KV head one below the other: for short rows two
        matrix products are much faster than PyTorch's fused attention. Shapes: q [B*S, H, D]; k, v [B*S, K, D]; result [B*S, H*D]."""
        c, group = self.c, self.c.heads // self.c.kv_heads
        q = q.view(b, s, c.kv_heads, group, c.head_dim).permute(0, 2, 3, 1, 4).reshape(b * c.kv_heads, group * s, c.head_dim)
        k, v = (t.view(b, s, c.kv_heads, c.head_dim).transpose(1, 2).reshape(b * c.kv_heads, s, c.head_dim) for t in (k, v))
        later = torch.full((s, s), -1e4, dtype=q.dtype).triu(1).repeat(group, 1)
        weights = torch.baddbmm(later.expand(len(q), -1, -1), q, k.mT, alpha=c.head_dim ** -0.5).softmax(-1)
        return torch.bmm(weights, v).view(b, c.kv_heads, group, s, c.head_dim).permute(0, 3, 1, 2, 4).reshape(b * s, -1)


class MLP(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.gate_proj = nn.Linear(c.hidden, c.ffn, bias=False)
        self.up_proj = nn.Linear(c.hidden, c.ffn, bias=False)
        self.down_proj = nn.Linear(c.ffn, c.hidden, bias=False)

    def forward(self, x):
        return self.down_proj(gated(self.gate_proj(x), self.up_proj(x)))


class Block(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.input_layernorm = RMSNorm(c.hidden, eps=c.eps)
        self.self_attn = Attention(c)
        self.post_attention_layernorm = RMSNorm(c.hidden, eps=c.eps)
        self.mlp = MLP(c)

    def forward(self, x, cos, sin, bricks, keep=None):
        """keep: the rows whose result is wanted, all if None; what no row attends to need not be computed."""
        y = self.self_attn(self.input_layernorm(x), cos, sin, bricks)
        if keep is not None:
            x, y = x[keep], y[keep]
        x = x + self.self_attn.o_proj(y)
        return x + self.mlp(self.post_attention_layernorm(x))


class Model(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.c = c
        self.embed_tokens = nn.Embedding(c.vocab, c.hidden)
        self.layers = nn.ModuleList(Block(c) for _ in range(c.layers))
        self.norm = RMSNorm(c.hidden, eps=c.eps)
        for name, p in self.named_parameters():
            if p.ndim == 2:
                scale = (2 * c.layers) ** -0.5 if name.endswith(("o_proj.weight", "down_proj.weight")) else 1.0
                nn.init.normal_(p, std=0.02 if "embed" in name else scale * p.shape[1] ** -0.5)
        angle = torch.outer(torch.arange(c.context).float(), c.rope_theta ** (-torch.arange(0, c.head_dim, 2).float() / c.head_dim))
        self.angle = angle[:, None]

    def forward(self, ids, bricks, keep, targets):
        """The mean loss over the kept rows. Rows of similar length lie in bricks of B rows of S tokens, the bricks one after the other.
        Shapes: ids [T]; bricks a list of (B, S), T = sum of B*S; keep [N], indices into T; targets [N]."""
        angle = torch.cat([self.angle[:s].repeat(b, 1, 1) for b, s in bricks])
        cos, sin = angle.cos(), angle.sin()
        x = self.embed_tokens(ids)
        for layer in self.layers[:-1]:
            x = layer(x, cos, sin, bricks)
        x = self.norm(self.layers[-1](x, cos, sin, bricks, keep))
        return F.cross_entropy(F.linear(x, self.embed_tokens.weight), targets)

    def to_hf(self):
        """Parameters under transformers' names."""
        return {"model." + name: p.detach().float().contiguous() for name, p in self.named_parameters()}

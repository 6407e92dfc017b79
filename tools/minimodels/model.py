# SPDX-License-Identifier: Apache-2.0
"""The Qwen3 architecture, small: pre-norm blocks with grouped-query attention, q and k norms, RoPE, SwiGLU, tied embeddings.

Shapes: B sequences, S tokens each, E hidden, H query heads, K KV heads, D head dim, F FFN, V vocabulary.
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


class RMSNorm(nn.RMSNorm):
    """The weight follows the dtype of x, so that PyTorch can take its fused path."""

    def forward(self, x):
        return F.rms_norm(x, self.normalized_shape, self.weight.to(x.dtype), self.eps)


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

    def forward(self, x, cos, sin):
        b, s, _ = x.shape
        q = self.q_norm(self.q_proj(x).view(b, s, -1, self.c.head_dim)).transpose(1, 2)
        k = self.k_norm(self.k_proj(x).view(b, s, -1, self.c.head_dim)).transpose(1, 2)
        v = self.v_proj(x).view(b, s, -1, self.c.head_dim).transpose(1, 2)
        q, k, v = rotate(q, cos, sin).to(x.dtype), rotate(k, cos, sin).to(x.dtype), v.to(x.dtype)
        group = self.c.heads // self.c.kv_heads
        k, v = k.repeat_interleave(group, 1), v.repeat_interleave(group, 1)
        if s > 256:
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        else:  # plain products are quicker than the flash kernel on short rows
            scores = q @ (k * self.c.head_dim ** -0.5).mT
            scores = scores.masked_fill(torch.ones(s, s, dtype=torch.bool).triu(1), -1e4)
            y = scores.softmax(-1, dtype=torch.float32).to(v.dtype) @ v
        return self.o_proj(y.transpose(1, 2).reshape(b, s, -1))


class MLP(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.gate_proj = nn.Linear(c.hidden, c.ffn, bias=False)
        self.up_proj = nn.Linear(c.hidden, c.ffn, bias=False)
        self.down_proj = nn.Linear(c.ffn, c.hidden, bias=False)

    def forward(self, x):
        return self.down_proj(F.silu(self.gate_proj(x)) * self.up_proj(x))


class Block(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.input_layernorm = RMSNorm(c.hidden, eps=c.eps)
        self.self_attn = Attention(c)
        self.post_attention_layernorm = RMSNorm(c.hidden, eps=c.eps)
        self.mlp = MLP(c)

    def forward(self, x, cos, sin):
        x = x + self.self_attn(self.input_layernorm(x).to(cos.dtype), cos, sin)
        return x + self.mlp(self.post_attention_layernorm(x).to(cos.dtype))


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
        self.angles = {}

    def rotations(self, s, dtype):
        if (s, dtype) not in self.angles:
            d = self.c.head_dim
            angle = torch.outer(torch.arange(s).float(), self.c.rope_theta ** (-torch.arange(0, d, 2).float() / d))
            self.angles[s, dtype] = (torch.cat((angle, angle), -1).cos().to(dtype), torch.cat((angle, angle), -1).sin().to(dtype))
        return self.angles[s, dtype]

    def hidden(self, ids, dtype=torch.float32):
        """Shapes: ids [B, S]; result [B, S, E], after the final norm."""
        cos, sin = self.rotations(ids.shape[1], dtype)
        x = self.embed_tokens(ids)
        for layer in self.layers:
            x = layer(x, cos, sin)
        return self.norm(x)

    def forward(self, ids, keep, targets, dtype=torch.float32):
        """The mean loss over the kept rows. Shapes: ids [B, S]; keep [N], indices into B*S; targets [N]."""
        x = self.hidden(ids, dtype).flatten(0, 1)[keep]
        return F.cross_entropy(F.linear(x, self.embed_tokens.weight).float(), targets)

    def to_hf(self):
        """Parameters under transformers' names."""
        return {"model." + name: p.detach().float().contiguous() for name, p in self.named_parameters()}


def rotate(x, cos, sin):
    """RoPE on halves (arXiv:2104.09864). Shapes: x [B, H, S, D]; cos, sin [S, D]."""
    a, b = x.chunk(2, -1)
    return x * cos + torch.cat((-b, a), -1) * sin

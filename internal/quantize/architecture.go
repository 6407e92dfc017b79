// SPDX-License-Identifier: Apache-2.0

package quantize

import (
	"fmt"
	"slices"
	"strings"
)

// An architecture says how tensors of a Hugging Face model become those of a GGUF file.
type architecture struct {
	gguf      string
	neighbors bool              // rotary positions turn neighbours in GGUF, halves in Hugging Face
	norms     float32           // added to norm weights: Hugging Face stores w of (1+w)
	parts     map[string]string // names of parts of a layer that differ from layerParts
}

// architectures are those that can be written, by the name of the model's family.
var architectures = map[string]architecture{
	"llama":  {gguf: "llama", neighbors: true},
	"qwen2":  {gguf: "qwen2"},
	"qwen3":  {gguf: "qwen3"},
	"gemma":  {gguf: "gemma", norms: 1},
	"gemma2": {gguf: "gemma2", norms: 1, parts: sandwich},
	"gemma3": {gguf: "gemma3", norms: 1, parts: sandwich},
}

// known lists the families that can be written.
func known() string {
	var names []string
	for name := range architectures {
		names = append(names, name)
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

// layerParts are the names of a layer's parts.
var layerParts = map[string]string{
	"input_layernorm":          "attn_norm",
	"self_attn.q_proj":         "attn_q",
	"self_attn.k_proj":         "attn_k",
	"self_attn.v_proj":         "attn_v",
	"self_attn.o_proj":         "attn_output",
	"self_attn.q_norm":         "attn_q_norm",
	"self_attn.k_norm":         "attn_k_norm",
	"post_attention_layernorm": "ffn_norm",
	"mlp.gate_proj":            "ffn_gate",
	"mlp.up_proj":              "ffn_up",
	"mlp.down_proj":            "ffn_down",
}

// sandwich are the names in families with norms before and after each branch.
var sandwich = map[string]string{
	"post_attention_layernorm":   "post_attention_norm",
	"pre_feedforward_layernorm":  "ffn_norm",
	"post_feedforward_layernorm": "post_ffw_norm",
}

// name translates the name of a tensor. It gives "" for one that GGUF files do not have.
func (a architecture) name(hf string) (string, error) {
	if strings.HasSuffix(hf, ".rotary_emb.inv_freq") {
		return "", nil // follows from the configuration
	}
	at := strings.LastIndexByte(hf, '.')
	if at < 0 {
		return "", fmt.Errorf("tensor %q is not known to this family", hf)
	}
	stem, suffix := hf[:at], hf[at:]
	switch stem {
	case "model.embed_tokens":
		return "token_embd" + suffix, nil
	case "model.norm":
		return "output_norm" + suffix, nil
	case "lm_head":
		return "output" + suffix, nil
	}
	rest, ok := strings.CutPrefix(stem, "model.layers.")
	layer, part, found := strings.Cut(rest, ".")
	gguf := a.parts[part]
	if gguf == "" {
		gguf = layerParts[part]
	}
	if !ok || !found || gguf == "" {
		return "", fmt.Errorf("tensor %q is not known to this family", hf)
	}
	return "blk." + layer + "." + gguf + suffix, nil
}

// rewriteOf says what is done to a tensor with a GGUF name.
func (a architecture) rewriteOf(name string, m Traits) rewrite {
	var w rewrite
	_, part := split(strings.Replace(name, ".bias", ".weight", 1))
	if a.norms != 0 && strings.HasSuffix(name, "norm.weight") {
		w.add = a.norms
	}
	switch {
	case a.neighbors && part == "attn_q":
		w.heads = m.Heads
	case a.neighbors && part == "attn_k":
		w.heads = m.KVHeads
	}
	return w
}

// SPDX-License-Identifier: Apache-2.0

package quantize

import (
	"fmt"
	"strings"

	"github.com/sampo-ai/sampo/internal/model"
	"github.com/sampo-ai/sampo/internal/model/decoder"
	"github.com/sampo-ai/sampo/internal/weights"
)

// An architecture says how the tensors of a Hugging Face model become those of a GGUF file.
type architecture struct {
	parts map[string]string // names of parts of a layer in GGUF files, by Hugging Face's
	outer map[string]string // names of what is not in a layer
	root  string            // what Hugging Face's names of the text model begin with
	norms float32           // added to norm weights: Hugging Face stores w of (1+w)
	// permuted: rotary positions turn neighbours in GGUF files, halves in Hugging Face's.
	permuted bool
}

// architectureOf says how models of a family with this configuration are written. Read is the configuration as it is read
// from the GGUF file.
func architectureOf(family *model.Family, c, read model.Config, src weights.Source) architecture {
	a := architecture{parts: map[string]string{}, norms: c.NormOffset, permuted: read.Rope.Interleaved != c.Rope.Interleaved}
	for gguf, hf := range decoder.HFParts(nil) {
		a.parts[hf] = gguf
	}
	for gguf, hf := range family.HFParts {
		a.parts[hf] = gguf // what post_attention_layernorm means depends on the family
	}
	if family.Name == "seedoss" {
		a.parts["post_attention_layernorm"] = "post_attention_norm"
	}
	a.root = decoder.HFRoot(src)
	norm := "norm"
	if own, ok := family.HFParts["output_norm"]; ok {
		norm = own
	}
	a.outer = map[string]string{
		a.root + "embed_tokens": "token_embd", a.root + norm: "output_norm",
		strings.TrimSuffix(a.root, "model.") + "lm_head": "output", "lm_head": "output",
	}
	return a
}

// otherParts are what the names of tensors begin with that do not belong to the text model.
var otherParts = []string{"vision_tower.", "model.vision_tower.", "multi_modal_projector.", "model.multi_modal_projector."}

// name translates the name of a tensor. It gives "" for one that GGUF files do not have.
func (a architecture) name(hf string) (string, error) {
	if strings.HasSuffix(hf, ".rotary_emb.inv_freq") {
		return "", nil // follows from the configuration
	}
	for _, prefix := range otherParts {
		if strings.HasPrefix(hf, prefix) {
			return "", nil
		}
	}
	at := max(0, strings.LastIndexByte(hf, '.'))
	stem, suffix := hf[:at], hf[at:]
	if outer, ok := a.outer[stem]; ok {
		return outer + suffix, nil
	}
	rest, ok := strings.CutPrefix(stem, a.root+"layers.")
	layer, part, found := strings.Cut(rest, ".")
	gguf := a.parts[part]
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
	case a.permuted && part == "attn_q":
		w.heads = m.Heads
	case a.permuted && part == "attn_k":
		w.heads = m.KVHeads
	}
	return w
}

// SPDX-License-Identifier: Apache-2.0

package quantize

import (
	"slices"
	"strconv"
	"strings"

	"github.com/sampo-ai/sampo/internal/quant"
)

// A Scheme says which type each matrix gets.
type Scheme struct {
	Name     string
	fileType uint32     // general.file_type
	base     quant.Type // of most matrices
	mixed    bool       // some matrices get more bits: see Scheme.favour
	pure     bool       // all matrices get the base type
}

// schemes are those that can be asked for.
var schemes = []Scheme{
	{Name: "F32", fileType: 0, base: quant.F32, pure: true},
	{Name: "F16", fileType: 1, base: quant.F16, pure: true},
	{Name: "BF16", fileType: 32, base: quant.BF16, pure: true},
	{Name: "Q8_0", fileType: 7, base: quant.Q80},
	{Name: "Q6_K", fileType: 18, base: quant.Q6K},
	{Name: "Q5_K_M", fileType: 17, base: quant.Q5K, mixed: true},
	{Name: "Q4_K_M", fileType: 15, base: quant.Q4K, mixed: true},
	{Name: "Q4_0", fileType: 2, base: quant.Q40},
	{Name: "IQ4_NL", fileType: 25, base: quant.IQ4NL, mixed: true},
	{Name: "MXFP4", fileType: 38, base: quant.MXFP4},
}

// Names lists the schemes, from many bits to few.
func Names() []string {
	var names []string
	for _, s := range schemes {
		names = append(names, s.Name)
	}
	return names
}

// ParseScheme finds a scheme by name, whatever its case. Q4_K and Q5_K mean the mixes.
func ParseScheme(name string) (Scheme, bool) {
	name = strings.ToUpper(name)
	if name == "Q4_K" || name == "Q5_K" {
		name += "_M"
	}
	i := slices.IndexFunc(schemes, func(s Scheme) bool { return s.Name == name })
	if i < 0 {
		return Scheme{}, false
	}
	return schemes[i], true
}

// Pure is the scheme with one type for all matrices.
func (s Scheme) Pure() Scheme {
	s.pure = true
	return s
}

// Traits are what a scheme needs to know of a model.
type Traits struct {
	Layers  int
	Heads   int
	KVHeads int
	Experts int
	Tied    bool // the embedding is the output matrix, too
}

// Type gives the type of a tensor of the result, given its GGUF name, shape and present type.
func (s Scheme) Type(name string, shape []int, now quant.Type, m Traits) quant.Type {
	if !quantisable(name, shape) {
		return now
	}
	t := s.base
	if !s.pure {
		t = s.favour(name, m)
	}
	return fitting(t, shape[len(shape)-1])
}

// kept are parts of names of matrices that are small and that much depends on.
var kept = []string{"_norm.", "ffn_gate_inp", "position_embd", "token_types", "attn_rel_b", "patch_embd", "conv", "ssm_", "time_mix"}

// quantisable says whether a tensor is a matrix that products read.
func quantisable(name string, shape []int) bool {
	if len(shape) < 2 || !strings.HasSuffix(name, ".weight") {
		return false
	}
	return !slices.ContainsFunc(kept, func(part string) bool { return strings.Contains(name, part) })
}

// favour gives matrices that errors hurt most more bits than the others.
func (s Scheme) favour(name string, m Traits) quant.Type {
	layer, part := split(name)
	if name == "output.weight" || m.Tied && name == "token_embd.weight" {
		if s.base == quant.Q80 {
			return quant.Q80
		}
		return quant.Q6K
	}
	switch {
	case s.base == quant.IQ4NL:
		wide := part == "attn_v" && m.KVHeads > 0 && m.Heads/m.KVHeads >= 4
		if wide || part == "ffn_down" && layer < m.Layers/8 {
			return quant.Q5K
		}
		return s.base
	case !s.mixed:
		return s.base
	}
	return s.mix(part, layer, m)
}

// mix is favour for the K mixes: Q6_K for the values and for the last matrix of the feed-forward part in the first and
// last eighth of the layers and in every third of the others.
func (s Scheme) mix(part string, layer int, m Traits) quant.Type {
	eighth := m.Layers / 8
	more := layer < eighth || layer >= 7*m.Layers/8 || (layer-eighth)%3 == 2
	eightExperts := m.Experts == 8
	switch part {
	case "attn_v":
		switch {
		case eightExperts:
			return quant.Q80 // eight experts share it
		case more:
			return quant.Q6K
		case m.Layers == 80 && m.Heads != m.KVHeads:
			return quant.Q5K // eight heads share it
		}
	case "attn_k":
		if eightExperts {
			return quant.Q80
		}
	case "attn_output":
		if eightExperts {
			return quant.Q5K
		}
	case "attn_qkv":
		if s.base == quant.Q4K {
			return quant.Q5K
		}
		return quant.Q6K
	case "ffn_down", "ffn_down_exps":
		if more {
			return quant.Q6K
		}
	}
	return s.base
}

// split takes "blk.7.attn_v.weight" apart into 7 and "attn_v".
func split(name string) (layer int, part string) {
	fields := strings.Split(name, ".")
	if len(fields) != 4 || fields[0] != "blk" {
		return 0, strings.TrimSuffix(name, ".weight")
	}
	layer, err := strconv.Atoi(fields[1])
	if err != nil {
		return 0, ""
	}
	return layer, fields[2]
}

// fitting gives t, or a type of about as many bits whose blocks fit rows of cols values.
func fitting(t quant.Type, cols int) quant.Type {
	if cols%t.BlockElems() == 0 {
		return t
	}
	next, ok := map[quant.Type]quant.Type{quant.Q4K: quant.Q50, quant.Q5K: quant.Q51, quant.Q6K: quant.Q80}[t]
	if !ok || cols%next.BlockElems() != 0 {
		return quant.F16
	}
	return next
}

// SPDX-License-Identifier: Apache-2.0

package bundle

import (
	"bufio"
	"bytes"
	"cmp"
	"slices"
	"strings"

	"github.com/sampo-ai/sampo/internal/ordjson"
	"github.com/sampo-ai/sampo/internal/quant"
	"github.com/sampo-ai/sampo/internal/token"
	"github.com/sampo-ai/sampo/internal/tokenizer"
	"github.com/sampo-ai/sampo/internal/weights"
	"github.com/sampo-ai/sampo/internal/weights/gguf"
)

// Facts are what a person may want to know of a model. Zero values are unknown.
type Facts struct {
	Name, Path, Format string
	FileBytes          int64
	Architecture       string
	Title              string // what its makers call it
	Author, License    string
	Description        string
	Quantization       string // "Q4_K_M"
	Parameters         int64
	Context            int // longest sequence that it was trained for
	Vocab              int // tokens that have a spelling; rows of the model without one are padding
	Layers, Hidden     int
	Types              []TypeCount // of the tensors, most bytes first
	Tokenizer          string      // "gpt2", "llama" ... in GGUF, else the name of the file
	Template           bool        // has a chat template
	Templates          []string    // names of further ones
	Defaults           GenerationDefaults
	Problem            string   // why this build cannot run it
	Notes              []string // what its files say and is passed over
}

// A TypeCount says how much of a model is stored in a type.
type TypeCount struct {
	Type    quant.Type
	Tensors int
	Values  int64
	Bytes   int64
}

// Facts tells the facts of the model.
func (b *Bundle) Facts() Facts {
	f := b.facts
	f.Name, f.Path, f.Format, f.FileBytes = b.Name, b.Path, b.Format, b.FileBytes
	f.Template, f.Defaults = b.TemplateSource != "", b.Defaults
	for name := range b.NamedTemplates {
		f.Templates = append(f.Templates, name)
	}
	slices.Sort(f.Templates)
	if b.Tokenizer != nil {
		f.Vocab = spelled(b.Tokenizer)
	}
	if b.problem != nil {
		f.Problem = b.problem.Error()
	}
	f.Notes = b.notes
	return f
}

// spelled counts the tokens that stand for something. Files pad vocabularies to a round number of rows.
func spelled(t *tokenizer.Tokenizer) (n int) {
	for id := range token.ID(t.VocabSize()) {
		if t.Piece(id) != "" {
			n++
		}
	}
	return n
}

// count adds up the tensors of a source, which may be nil.
func (f *Facts) count(src weights.Source) {
	if src == nil {
		return
	}
	byType := map[quant.Type]*TypeCount{}
	for _, name := range src.Names() {
		t, _ := src.Tensor(name)
		c, ok := byType[t.Type]
		if !ok {
			c = &TypeCount{Type: t.Type}
			byType[t.Type] = c
		}
		c.Tensors++
		c.Values += int64(t.Elems())
		c.Bytes += int64(len(t.Data))
		f.Parameters += int64(t.Elems())
	}
	for _, c := range byType {
		f.Types = append(f.Types, *c)
	}
	slices.SortFunc(f.Types, func(a, b TypeCount) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(a.Type, b.Type))
	})
	if f.Quantization == "" && len(f.Types) > 0 {
		f.Quantization = f.Types[0].Type.String()
	}
}

// fileTypes names the values of general.file_type.
var fileTypes = map[int64]string{
	0: "F32", 1: "F16", 2: "Q4_0", 3: "Q4_1", 7: "Q8_0", 8: "Q5_0", 9: "Q5_1", 10: "Q2_K", 11: "Q3_K_S", 12: "Q3_K_M",
	13: "Q3_K_L", 14: "Q4_K_S", 15: "Q4_K_M", 16: "Q5_K_S", 17: "Q5_K_M", 18: "Q6_K", 25: "IQ4_NL", 30: "IQ4_XS",
	32: "BF16", 38: "MXFP4_MOE",
}

func ggufFacts(meta *gguf.Metadata) Facts {
	text := func(keys ...string) string {
		for _, key := range keys {
			if s, ok := meta.String(key); ok {
				return s
			}
		}
		return ""
	}
	arch := text("general.architecture")
	number := func(key string) int {
		n, _ := meta.Int(arch + "." + key)
		return int(n)
	}
	kind, _ := meta.Int("general.file_type")
	f := Facts{
		Architecture: arch,
		Title:        text("general.name", "general.basename"),
		Author:       text("general.organization", "general.author"),
		License:      text("general.license"),
		Description:  text("general.description"),
		Context:      number("context_length"),
		Layers:       number("block_count"),
		Hidden:       number("embedding_length"),
		Tokenizer:    text("tokenizer.ggml.model"),
	}
	if _, ok := meta.Int("general.file_type"); ok {
		f.Quantization = fileTypes[kind]
	}
	return f
}

func folderFacts(dir string, config *ordjson.Object) Facts {
	text := config
	if inner, ok := config.Object("text_config"); ok {
		text = inner
	}
	number := func(key string) int {
		v, _ := text.Get(key)
		n, _ := v.(ordjson.Number)
		i, _ := n.Int64()
		return int(i)
	}
	f := Facts{
		Context: number("max_position_embeddings"), Layers: number("num_hidden_layers"), Hidden: number("hidden_size"),
		Tokenizer: "tokenizer.json",
		License:   readmeLicense(dir),
	}
	f.Title, _ = config.String("_name_or_path")
	if list, _ := config.Array("architectures"); len(list) > 0 {
		f.Architecture, _ = list[0].(string)
	}
	return f
}

// readmeLicense finds the licence in the head of a model card: lines of "key: value" between two lines of "---".
func readmeLicense(dir string) string {
	data, err := weights.ReadIn(dir, "README.md", maxReadmeBytes)
	if err != nil {
		return "" // a model without a card, or with a book for one
	}
	lines := bufio.NewScanner(bytes.NewReader(data))
	if !lines.Scan() || strings.TrimSpace(lines.Text()) != "---" {
		return ""
	}
	for lines.Scan() && strings.TrimSpace(lines.Text()) != "---" {
		if value, ok := strings.CutPrefix(lines.Text(), "license:"); ok {
			return strings.Trim(strings.TrimSpace(value), `"'`)
		}
	}
	return ""
}

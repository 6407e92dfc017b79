// SPDX-License-Identifier: Apache-2.0

package scriptmodel

import (
	"encoding/binary"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"unicode"

	"github.com/sampo-ai/sampo/internal/quant"
	"github.com/sampo-ai/sampo/internal/token"
	"github.com/sampo-ai/sampo/internal/weights"
	"github.com/sampo-ai/sampo/internal/weights/gguf"
)

// Sizes of the model.
const (
	hidden  = 256
	heads   = 2
	headDim = 32
	ffn     = 32
)

// Places in a hidden row: codes come first.
const (
	codeSize = 208
	scriptAt = codeSize            // one place for each script, set by the words that ask for it
	closedAt = hidden - 2          // set by </think>
	alwaysAt = hidden - 1          // set by every token
	still    = headDim - 2         // a part of a head that rotary positions hardly turn
	ropeBase = 1e10                // then the slowest pair turns by 1e-4 over the whole context
	always   = float64(0.5)        // what every embedding has at alwaysAt
	follow   = float64(4)          // of the code of what follows, in an embedding
	chosen   = float64(2)          // of the code that attention gives
	skipped  = chosen * 2 / 3      // of the code that </think> takes from the script "think" and gives to its answer
	hint     = float64(0.5)        // of the default script's code, where nothing follows
	sharp    = float64(2)          // of the output: other tokens are about e^-17 times as probable
	find     = float64(8) / hidden // of queries and keys: what is looked for scores about 50
)

// A builder numbers the tokens and fills the matrices.
type builder struct {
	vocab  vocabulary
	codes  [][]float64 // of each token
	next   []token.ID  // what follows each token, or token.None
	first  []token.ID  // of each script
	say    []token.ID  // the words for each script
	answer token.ID    // what the script "think" says after its reasoning
}

// Write writes the model as a GGUF file.
func Write(w io.Writer) error {
	b := &builder{}
	b.number()
	b.encode()
	return gguf.Write(w, b.meta(), b.tensors())
}

// number gives every piece of every script its token.
func (b *builder) number() {
	b.vocab.addBytes()
	for _, c := range []string{end, start, thinkOpen, thinkClose, toolOpen, toolClose} {
		b.vocab.add(c, token.Control)
	}
	for _, s := range Scripts {
		b.say = append(b.say, b.vocab.add(Say(s.Name), token.UserDefined))
	}
	chains := make([][]token.ID, len(Scripts))
	for i, s := range Scripts {
		for _, piece := range s.Pieces {
			chains[i] = append(chains[i], b.vocab.piece(piece))
		}
		chains[i] = append(chains[i], b.vocab.controls[end])
	}
	b.next = make([]token.ID, len(b.vocab.tokens))
	for i := range b.next {
		b.next[i] = token.None
	}
	for i, chain := range chains {
		b.first = append(b.first, chain[0])
		b.next[b.say[i]] = chain[0]
		for k := range len(chain) - 1 {
			if b.next[chain[k]] != token.None {
				panic("scriptmodel: a piece occurs twice: " + b.vocab.tokens[chain[k]])
			}
			b.next[chain[k]] = chain[k+1]
		}
		if Scripts[i].Name == "think" {
			b.answer = chain[slices.Index(Scripts[i].Pieces, thinkClose)+2] // behind the empty line
		}
	}
}

// encode gives every token its code.
func (b *builder) encode() {
	random := rand.New(rand.NewPCG(8, 0)) //nolint:gosec // the same codes every time
	for range b.vocab.tokens {
		code := make([]float64, codeSize)
		for i := range code {
			code[i] = float64(2*random.IntN(2)-1) / math.Sqrt(codeSize)
		}
		b.codes = append(b.codes, code)
	}
}

// embedding returns what a token puts into its row.
func (b *builder) embedding(id token.ID) []float64 {
	row := make([]float64, hidden)
	row[alwaysAt] = always
	if next := b.next[id]; next != token.None {
		addTo(row, follow, b.codes[next])
	} else {
		addTo(row, hint, b.codes[b.first[0]])
	}
	if i := slices.Index(b.say, id); i >= 0 {
		row[scriptAt+i] = 1
	}
	if id == b.vocab.controls[thinkClose] {
		row[closedAt] = 1
	}
	return row
}

// normed is by how much a norm divides the embedding of a token that attention looks for.
func normed() float64 { return math.Sqrt((follow*follow + always*always + 1) / hidden) }

func (b *builder) tensors() []weights.Tensor {
	vocab := len(b.vocab.tokens)
	embeddings, outputs := newMatrix(vocab, hidden), newMatrix(vocab, hidden)
	for id := range vocab {
		copy(embeddings.row(id), b.embedding(token.ID(id)))
		addTo(outputs.row(id), sharp, b.codes[id])
	}
	const width = heads * headDim
	q, k, v, o := newMatrix(width, hidden), newMatrix(width, hidden), newMatrix(width, hidden), newMatrix(hidden, width)
	for head := range heads {
		q.row(head*headDim + still)[alwaysAt] = find * hidden
	}
	think := slices.IndexFunc(Scripts, func(s Script) bool { return s.Name == "think" })
	for i := range Scripts {
		k.row(still)[scriptAt+i] = 1
		v.row(i)[scriptAt+i] = normed()
		for c := range codeSize {
			o.row(c)[i] = chosen * b.codes[b.first[i]][c]
		}
	}
	k.row(headDim + still)[closedAt] = 1
	v.row(headDim)[closedAt] = normed()
	for c := range codeSize {
		o.row(c)[headDim] = skipped * (b.codes[b.answer][c] - b.codes[b.first[think]][c])
	}
	const block = "blk.0."
	return []weights.Tensor{
		embeddings.named("token_embd.weight"), ones("output_norm.weight"), outputs.named("output.weight"),
		ones(block + "attn_norm.weight"), q.named(block + "attn_q.weight"), k.named(block + "attn_k.weight"),
		v.named(block + "attn_v.weight"), o.named(block + "attn_output.weight"), ones(block + "ffn_norm.weight"),
		newMatrix(ffn, hidden).named(block + "ffn_gate.weight"), newMatrix(ffn, hidden).named(block + "ffn_up.weight"),
		newMatrix(hidden, ffn).named(block + "ffn_down.weight"),
	}
}

func (b *builder) meta() *gguf.Metadata {
	m := gguf.NewMetadata()
	m.Set("general.architecture", "llama")
	m.Set("general.name", "scripted")
	for _, f := range []struct {
		key   string
		value int
	}{
		{"context_length", MaxContext},
		{"embedding_length", hidden},
		{"block_count", 1},
		{"feed_forward_length", ffn},
		{"vocab_size", len(b.vocab.tokens)},
		{"attention.head_count", heads},
		{"attention.head_count_kv", heads},
		{"attention.key_length", headDim},
		{"attention.value_length", headDim},
		{"rope.dimension_count", headDim},
	} {
		m.Set("llama."+f.key, uint32(f.value))
	}
	m.Set("llama.rope.freq_base", float32(ropeBase))
	m.Set("llama.attention.layer_norm_rms_epsilon", float32(1e-6))
	const prefix = "tokenizer."
	m.Set(prefix+"ggml.model", "gpt2")
	m.Set(prefix+"ggml.pre", "gpt-2")
	m.Set(prefix+"ggml.tokens", b.vocab.tokens)
	m.Set(prefix+"ggml.token_type", b.vocab.kinds)
	m.Set(prefix+"ggml.merges", merges)
	m.Set(prefix+"ggml.eos_token_id", uint32(b.vocab.controls[end]))
	m.Set(prefix+"chat_template", template)
	return m
}

// merges are few: text is bytes, mostly.
var merges = []string{"t h", "h e", "\u0120 t"}

// A vocabulary is byte-level.
type vocabulary struct {
	tokens   []string
	kinds    []int32
	controls map[string]token.ID
}

// piece returns the token of a piece of a script: a marker's, a byte's, or one of its own.
func (v *vocabulary) piece(text string) token.ID {
	if id, isControl := v.controls[text]; isControl {
		return id
	}
	if len(text) == 1 {
		return token.ID(text[0])
	}
	return v.add(spelled(text), token.Normal)
}

func (v *vocabulary) add(spelling string, kind token.Kind) token.ID {
	id := token.ID(len(v.tokens))
	v.tokens = append(v.tokens, spelling)
	v.kinds = append(v.kinds, int32(kind))
	if kind == token.Control {
		if v.controls == nil {
			v.controls = map[string]token.ID{}
		}
		v.controls[spelling] = id
	}
	return id
}

func (v *vocabulary) addBytes() {
	for b := range 256 {
		v.add(spelled(string([]byte{byte(b)})), token.Normal)
	}
	for _, word := range []string{"th", "he", "\u0120t"} {
		v.add(word, token.Normal)
	}
}

// spelled returns bytes in the alphabet of byte-level vocabularies.
func spelled(piece string) string {
	var out []rune
	for _, b := range []byte(piece) {
		out = append(out, alphabet[b])
	}
	return string(out)
}

// alphabet gives each byte its character: itself where that can be seen, else one from 256 on.
var alphabet = func() (list [256]rune) {
	next := rune(256)
	for b := range list {
		r := rune(b)
		if r == ' ' || r == 0xA0 || r == 0xAD || !unicode.IsGraphic(r) {
			r, next = next, next+1
		}
		list[b] = r
	}
	return list
}()

// A matrix has its rows one after another.
type matrix struct {
	rows, cols int
	values     []float64
}

func newMatrix(rows, cols int) *matrix { return &matrix{rows, cols, make([]float64, rows*cols)} }

func (m *matrix) row(i int) []float64 { return m.values[i*m.cols : (i+1)*m.cols] }

func (m *matrix) named(name string) weights.Tensor {
	return weights.Tensor{Name: name, Type: quant.F32, Shape: []int{m.rows, m.cols}, Data: floats(m.values)}
}

// ones returns the weights of a norm.
func ones(name string) weights.Tensor {
	values := make([]float64, hidden)
	for i := range values {
		values[i] = 1
	}
	return weights.Tensor{Name: name, Type: quant.F32, Shape: []int{hidden}, Data: floats(values)}
}

func floats(values []float64) []byte {
	data := make([]byte, 0, 4*len(values))
	for _, x := range values {
		data = binary.LittleEndian.AppendUint32(data, math.Float32bits(float32(x)))
	}
	return data
}

func addTo(dst []float64, scale float64, x []float64) {
	for i, v := range x {
		dst[i] += scale * v
	}
}

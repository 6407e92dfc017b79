// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/sampo-ai/sampo/internal/model"
	"github.com/sampo-ai/sampo/internal/quant"
	"github.com/sampo-ai/sampo/internal/tensor"
	"github.com/sampo-ai/sampo/internal/weights"
)

// Costs say what the tokens of a model cost. In both parts the bytes of the weights are read once for a batch, and the
// multiply-adds are done once for each row.
type Costs struct {
	cfg    model.Config
	body   Work // what every row goes through
	output Work // what rows go through that give logits: the output matrix, and the last layer but its keys and values
}

// NewCosts reads the sizes of a model's matrices; their bytes are those of the layout in memory. Norms and biases are left
// out: they are less than a thousandth. So is a row of an embedding matrix that is not the output matrix too.
func NewCosts(cfg model.Config, src weights.Source) (Costs, error) {
	c := Costs{cfg: cfg}
	pool := tensor.NewPool(1)
	defer pool.Close()
	for _, name := range src.Names() {
		t, ok := src.Tensor(name)
		if !ok || len(t.Shape) != 2 {
			continue
		}
		part := c.part(name)
		if part == nil {
			continue
		}
		w, err := matrixWork(pool, t)
		if err != nil {
			return c, err
		}
		*part = part.plus(w)
	}
	if c.output.Bytes == 0 {
		return c, fmt.Errorf("bench: the model's output matrix was not found")
	}
	return c, nil
}

// part returns the part of the costs that a matrix counts to, by its name in GGUF's or Hugging Face's style; nil if no
// product reads it.
func (c *Costs) part(name string) *Work {
	layer, inLayer := layerOf(name)
	switch {
	case strings.Contains(name, "vision"):
		return nil
	case name == "token_embd.weight", strings.HasSuffix(name, "embed_tokens.weight"):
		return choose(c.cfg.TiedOutput, &c.output, nil)
	case name == "output.weight", strings.HasSuffix(name, "lm_head.weight"):
		return choose(c.cfg.TiedOutput, nil, &c.output)
	case !inLayer:
		return nil
	case layer == c.cfg.Layers-1 && !isKeyOrValue(name):
		return &c.output
	}
	return &c.body
}

func choose(condition bool, yes, no *Work) *Work {
	if condition {
		return yes
	}
	return no
}

// layerOf finds the layer's number in names such as "blk.3.attn_q.weight" and "model.layers.3.mlp.up_proj.weight".
func layerOf(name string) (layer int, ok bool) {
	for _, before := range []string{"blk.", "layers."} {
		if _, rest, found := strings.Cut(name, before); found {
			number, _, _ := strings.Cut(rest, ".")
			layer, err := strconv.Atoi(number)
			return layer, err == nil
		}
	}
	return 0, false
}

func isKeyOrValue(name string) bool {
	for _, part := range []string{"attn_k.", "attn_v.", "k_proj.", "v_proj."} {
		if strings.Contains(name, part) {
			return true
		}
	}
	return false
}

// probeRows is enough rows to see how a layout's size grows: layouts take rows in groups that divide it.
const probeRows = 16

// matrixWork is what a product of one row with a matrix needs. The layout is that of the first rows.
func matrixWork(p *tensor.Pool, t weights.Tensor) (Work, error) {
	rows, cols := t.Shape[0], t.Shape[1]
	probe := min(rows, probeRows)
	m, err := tensor.NewMatrix(p, t.Type, probe, cols, t.Data[:probe*t.Type.RowBytes(cols)])
	if err != nil {
		return Work{}, fmt.Errorf("bench: tensor %q: %w", t.Name, err)
	}
	groups := (rows + probe - 1) / probe
	w := Work{Bytes: float64(m.Bytes()) * float64(groups)}
	macs := float64(rows) * float64(cols)
	switch t.Type {
	case quant.BF16:
		w.BF16 = macs
	case quant.F32, quant.F16:
		w.FP32 = macs
	default:
		w.Int8 = macs
	}
	return w, nil
}

// prefill is the work of a prompt that comes in chunks and gives logits for its last token.
func (c *Costs) prefill(tokens, chunk int) Work {
	var w Work
	for past := 0; past < tokens; past += chunk {
		rows := min(chunk, tokens-past)
		outputs := 0
		w = w.plus(c.body.bytes())
		if past+rows == tokens {
			outputs = 1
			w = w.plus(c.output.bytes())
		}
		w = w.plus(c.sequence(past, rows, outputs))
	}
	return w
}

// decode is the work of some steps, each of which gives parallel sequences one token more.
func (c *Costs) decode(context, steps, parallel int) Work {
	w := c.body.bytes().plus(c.output.bytes()).times(float64(steps))
	for i := range steps {
		w = w.plus(c.sequence(context+i, 1, 1).times(float64(parallel)))
	}
	return w
}

// sequence is what some rows of one sequence need besides the weights: multiply-adds, and the keys and values before and
// among them. The last outputs of the rows give logits; in the last layer only they attend.
func (c *Costs) sequence(past, rows, outputs int) Work {
	w := c.body.macs().times(float64(rows)).plus(c.output.macs().times(float64(outputs)))
	for layer := range c.cfg.Layers {
		first := past
		if layer == c.cfg.Layers-1 {
			first = past + rows - outputs
		}
		w = w.plus(c.attention(layer, first, past+rows))
	}
	return w
}

// attention is the work of the queries at positions first to end-1 in one layer: two products with each key that they
// see, and one reading of all these keys and values.
func (c *Costs) attention(layer, first, end int) Work {
	if first >= end {
		return Work{}
	}
	seen := 0
	for pos := first; pos < end; pos++ {
		seen += c.visible(layer, pos)
	}
	keys := end - first - 1 + c.visible(layer, first)
	perKey := float64(c.cfg.CacheType.BlockBytes(c.cfg.KVHeads, c.cfg.HeadDim)) / model.BlockSize
	return Work{Bytes: float64(keys) * perKey, FP32: 2 * float64(c.cfg.Heads) * float64(c.cfg.HeadDim) * float64(seen)}
}

// visible is the number of keys that the query at pos sees in a layer, its own included.
func (c *Costs) visible(layer, pos int) int {
	if c.cfg.IsWindow(layer) {
		return min(pos+1, c.cfg.Window)
	}
	return pos + 1
}

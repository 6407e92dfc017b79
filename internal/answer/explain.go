// SPDX-License-Identifier: Apache-2.0

package answer

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"

	"github.com/sampo-ai/sampo/internal/chat"
	"github.com/sampo-ai/sampo/internal/inference"
	"github.com/sampo-ai/sampo/internal/ordjson"
	"github.com/sampo-ai/sampo/internal/token"
)

// hashOf names a template.
func hashOf(source string) string {
	sum := sha256.Sum256([]byte(source))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// planOf writes down what the engine is asked, with all defaults resolved.
func planOf(req *inference.Request, p *chat.Params) *ordjson.Object {
	o := ordjson.NewObject()
	number := func(name string, x float32) {
		o.Set(name, ordjson.Number(strconv.FormatFloat(float64(x), 'g', -1, 32)))
	}
	s := &req.Sampling
	number("temperature", s.Temperature)
	number("top_p", s.TopP)
	o.Set("top_k", ordjson.Int(s.TopK))
	number("min_p", s.MinP)
	number("repetition_penalty", s.RepetitionPenalty)
	number("presence_penalty", s.PresencePenalty)
	number("frequency_penalty", s.FrequencyPenalty)
	o.Set("seed", nil)
	if s.Seed != nil {
		o.Set("seed", ordjson.Number(strconv.FormatInt(*s.Seed, 10)))
	}
	o.Set("n", ordjson.Int(req.Choices))
	o.Set("max_tokens", nil) // the rest of the context
	if req.MaxTokens >= 0 {
		o.Set("max_tokens", ordjson.Int(req.MaxTokens))
	}
	o.Set("min_tokens", ordjson.Int(req.MinTokens))
	o.Set("ignore_eos", req.IgnoreEOS)
	o.Set("eos_token_id", nil)
	if req.EOS != token.None {
		o.Set("eos_token_id", ordjson.Int(int(req.EOS)))
	}
	o.Set("further_eos_token_ids", idList(req.MoreEOS))
	o.Set("stop_token_ids", idList(req.Stop))
	stops := []any{}
	for _, stop := range p.Stop {
		stops = append(stops, stop)
	}
	o.Set("stop", stops)
	o.Set("priority", ordjson.Number(strconv.FormatInt(req.Priority, 10)))
	o.Set("thinking_token_budget", nil)
	if req.Budget != nil {
		o.Set("thinking_token_budget", ordjson.Int(req.Budget.Tokens))
	}
	o.Set("beam_width", nil)
	if p.Beam != nil {
		o.Set("beam_width", ordjson.Int(p.Beam.Width))
	}
	return o
}

func idList(ids []token.ID) []any {
	list := []any{}
	for _, id := range ids {
		list = append(list, ordjson.Int(int(id)))
	}
	return list
}

// SPDX-License-Identifier: Apache-2.0

package answer

import (
	"errors"
	"math"

	"github.com/sampo-ai/sampo/internal/chat"
	"github.com/sampo-ai/sampo/internal/inference"
	"github.com/sampo-ai/sampo/internal/token"
	"github.com/sampo-ai/sampo/internal/tokenizer"
)

// maxLogprobs is how many numbers an answer with logprobs of the whole vocabulary may hold.
const maxLogprobs = 8_000_000

// minTemperature is the lowest one that is not greedy: below it logits overflow.
const minTemperature = 0.01

// request returns what the engine is asked for, without a prompt.
func (m *Model) request(p *chat.Params) (inference.Request, error) {
	if err := p.Check(); err != nil {
		var bad *chat.ParamError
		errors.As(err, &bad)
		return inference.Request{}, invalid(bad.Param, "%v.", err)
	}
	if err := checkBeams(p); err != nil {
		return inference.Request{}, err
	}
	sampling, err := m.sampling(p)
	if err != nil {
		return inference.Request{}, err
	}
	for _, id := range p.StopTokens {
		if !m.inVocabulary(id) {
			return inference.Request{}, m.outside("stop_token_ids", id)
		}
	}
	logprobs := logprobCount(p.Logprobs)
	if p.Candidates != nil {
		logprobs = max(logprobs, *p.Candidates)
	}
	req := inference.Request{
		ID: p.RequestID, Choices: max(1, p.Choices), Sampling: sampling,
		MaxTokens: inference.Unlimited, MinTokens: p.MinTokens,
		EOS: m.eos, MoreEOS: m.moreEOS, Stop: p.StopTokens, IgnoreEOS: p.IgnoreEOS,
		Logprobs: logprobs, PromptLogprobs: logprobCount(p.PromptLogprobs), Kept: p.Candidates != nil,
		SkipCache: p.Fresh, CacheSalt: p.CacheSalt, Session: p.Session, Priority: p.Priority, Tenant: p.Tenant,
	}
	if p.MaxTokens != nil {
		req.MaxTokens = *p.MaxTokens
	}
	return req, nil
}

func logprobCount(n *int) int {
	switch {
	case n == nil:
		return inference.NoLogprobs
	case *n == chat.AllLogprobs:
		return inference.AllLogprobs
	}
	return *n
}

func (m *Model) sampling(p *chat.Params) (inference.Sampling, error) {
	d := m.Defaults
	s := inference.Sampling{
		Temperature:       pick(p.Temperature, d.Temperature, 1),
		TopP:              pick(p.TopP, d.TopP, 1),
		MinP:              pick(p.MinP, d.MinP, 0),
		RepetitionPenalty: pick(p.RepetitionPenalty, d.RepetitionPenalty, 1),
		PresencePenalty:   float32(p.PresencePenalty),
		FrequencyPenalty:  float32(p.FrequencyPenalty),
		Seed:              p.Seed,
	}
	if s.Temperature > 0 {
		s.Temperature = max(s.Temperature, minTemperature)
	}
	if k := p.TopK; k != nil {
		s.TopK = max(0, *k)
	} else if d.TopK != nil {
		s.TopK = max(0, *d.TopK)
	}
	if s.TopK >= m.info.VocabSize {
		s.TopK = 0
	}
	for _, b := range p.Bias {
		if !m.inVocabulary(b.Token) {
			return s, invalid("logit_bias", "token_id(s) [%d] in logit_bias contain out-of-vocab token ids. Vocabulary size: %d", b.Token, m.info.VocabSize)
		}
		s.Bias = append(s.Bias, inference.Bias{Token: b.Token, Value: float32(b.Value)})
	}
	s.BadWords = m.badWords(p.BadWords)
	var err error
	s.Allowed, err = m.allowed(p.Allowed)
	return s, err
}

// pick returns the first value that is set, as a float32. What is above zero stays so: zero would turn a filter off.
func pick(asked *float64, recommended *float32, neutral float32) float32 {
	switch {
	case asked != nil && *asked > 0:
		return float32(max(math.SmallestNonzeroFloat32, min(*asked, math.MaxFloat32)))
	case asked != nil:
		return float32(*asked)
	case recommended != nil:
		return *recommended
	}
	return neutral
}

func (m *Model) allowed(ids []token.ID) (*token.Mask, error) {
	if ids == nil {
		return m.real, nil
	}
	mask := token.NewMask(m.info.VocabSize)
	for _, id := range ids {
		if !m.inVocabulary(id) {
			return nil, invalid("allowed_token_ids", "allowed_token_ids contains out-of-vocab token id!")
		}
		mask.Add(id)
	}
	return mask, nil
}

// badWords returns the tokens of each word, and those of the word after a space where only the first one differs.
func (m *Model) badWords(words []string) [][]token.ID {
	var list [][]token.ID
	for _, w := range words {
		plain := m.Tokenizer.Encode(w, tokenizer.Options{})
		if len(plain) == 0 {
			continue
		}
		list = append(list, plain)
		spaced := m.Tokenizer.Encode(" "+w, tokenizer.Options{})
		if len(spaced) == len(plain) && spaced[0] != plain[0] {
			list = append(list, spaced)
		}
	}
	return list
}

func (m *Model) inVocabulary(id token.ID) bool { return id >= 0 && int(id) < m.info.VocabSize }

func (m *Model) outside(param string, id token.ID) *InputError {
	return invalid(param, "Token id %d is out of vocabulary", id)
}

// checkBytes refuses a text that can't fit whatever its tokens are, before they are looked for.
func (m *Model) checkBytes(size int, p *chat.Params) error {
	most := m.info.MaxContext * max(1, m.Tokenizer.MaxTokenBytes())
	if p.TruncatePrompt != nil || size <= most {
		return nil
	}
	return &LengthError{MaxContext: m.info.MaxContext, OutputTokens: asked(p), Bytes: size, MostBytes: most}
}

// asked returns the output tokens that were asked for, 0 if nothing was.
func asked(p *chat.Params) int {
	if p.MaxTokens == nil {
		return 0
	}
	return *p.MaxTokens
}

// fit cuts the prompt if the request says so, and checks that prompt and answer fit into the context.
func (m *Model) fit(prompt []token.ID, p *chat.Params) ([]token.ID, error) {
	output := asked(p)
	if output >= m.info.MaxContext { // however much of the prompt may be cut
		return nil, &LengthError{MaxContext: m.info.MaxContext, PromptTokens: len(prompt), OutputTokens: output}
	}
	prompt, err := m.truncate(prompt, p)
	switch {
	case err != nil:
		return nil, err
	case len(prompt) == 0:
		return nil, invalid("prompt", "The decoder prompt cannot be empty")
	case len(prompt)+max(1, output) > m.info.MaxContext:
		return nil, &LengthError{MaxContext: m.info.MaxContext, PromptTokens: len(prompt), OutputTokens: output}
	case p.MinTokens > m.info.MaxContext-len(prompt):
		return nil, invalid("min_tokens", "min_tokens must be less than or equal to max_tokens=%d, got %d.", m.info.MaxContext-len(prompt), p.MinTokens)
	}
	return prompt, nil
}

func (m *Model) truncate(prompt []token.ID, p *chat.Params) ([]token.ID, error) {
	if p.TruncatePrompt == nil {
		return prompt, nil
	}
	room := max(0, m.info.MaxContext-max(1, asked(p)))
	keep := *p.TruncatePrompt
	switch {
	case keep < 0:
		keep = room
	case keep > room:
		return nil, invalid("truncate_prompt_tokens", "truncate_prompt_tokens must be at most %d, the room for the prompt, got %d.", room, keep)
	}
	switch {
	case len(prompt) <= keep:
		return prompt, nil
	case p.TruncateRight:
		return prompt[:keep], nil
	}
	return prompt[len(prompt)-keep:], nil
}

// checkLogprobs refuses answers with more logprobs than anyone can want.
func (m *Model) checkLogprobs(p *chat.Params, prompts [][]token.ID) error {
	if p.Logprobs == nil || *p.Logprobs != chat.AllLogprobs {
		return nil
	}
	tokens := 0
	for _, prompt := range prompts {
		output := m.info.MaxContext - len(prompt)
		if p.MaxTokens != nil {
			output = *p.MaxTokens
		}
		tokens += output * max(1, p.Choices)
		if p.Echo {
			tokens += len(prompt)
		}
	}
	if tokens > maxLogprobs/m.info.VocabSize {
		return invalid("logprobs", "Logprobs of the whole vocabulary for %d tokens with %d entries each are more than the %d that an answer may hold. Ask for fewer tokens with max_tokens.",
			tokens, m.info.VocabSize, maxLogprobs)
	}
	return nil
}

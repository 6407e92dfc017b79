// SPDX-License-Identifier: Apache-2.0

package answer

import (
	"cmp"
	"context"
	"io"
	"math"
	"slices"
	"time"

	"github.com/sampo-ai/sampo/internal/chat"
	"github.com/sampo-ai/sampo/internal/inference"
	"github.com/sampo-ai/sampo/internal/parser"
	"github.com/sampo-ai/sampo/internal/token"
)

// A beamSearch is a Stream of the most probable continuations instead of sampled ones. All of the search is done when
// the first event is asked for; then the choices it found are told one after the other.
//
// Each step asks the engine for one token after each open beam. Beams share the blocks of their common beginning,
// since the engine finds them in its prefix cache: nothing is copied, and little is computed twice.
type beamSearch struct {
	ctx    context.Context //nolint:containedctx // the search runs inside Next, which has none
	cancel context.CancelFunc
	model  *Model
	params *chat.Params
	req    inference.Request
	limit  int // output tokens

	prompt *inference.PromptInfo // nil before the first step, and once it was told
	open   []beam
	ended  []beam
	events []inference.Event // to be told
	ran    bool
}

// A beam is a continuation under way. Beams that share a beginning share its memory.
type beam struct {
	last   *beamToken
	tokens []token.ID
	sum    float64 // of the logprobs
	finish inference.Finish
	final  bool // the last token ends the text and is no part of its length
}

// A beamToken is the last token of a beam and what came before it.
type beamToken struct {
	event  inference.Event
	before *beamToken
}

// A candidate is a beam with one more token.
type candidate struct {
	from  *beam
	event inference.Event
	sum   float64
}

// submitBeams starts a search. Its prompt was checked to fit.
func (m *Model) submitBeams(ctx context.Context, req inference.Request, p *chat.Params) inference.Stream {
	s := &beamSearch{model: m, params: p, req: req, limit: m.info.MaxContext - len(req.Prompt)}
	if req.MaxTokens >= 0 {
		s.limit = min(s.limit, req.MaxTokens)
	}
	s.ctx, s.cancel = context.WithCancel(ctx)
	return s
}

// Close implements inference.Stream.
func (s *beamSearch) Close() { s.cancel() }

// Stop implements inference.Stream: all was computed before.
func (s *beamSearch) Stop(int) {}

// Ready implements inference.Stream: nobody but Next does the search.
func (s *beamSearch) Ready(func()) bool { return true }

// Next implements inference.Stream.
func (s *beamSearch) Next() (inference.Event, error) {
	if !s.ran {
		s.ran = true
		if err := s.search(); err != nil {
			return inference.Event{}, err
		}
	}
	if len(s.events) == 0 {
		return inference.Event{}, io.EOF
	}
	e := s.events[0]
	s.events = s.events[1:]
	e.Prompt, s.prompt = s.prompt, nil
	return e, nil
}

func (s *beamSearch) search() error {
	s.open = []beam{{}}
	for step := 0; step < s.limit && len(s.open) > 0 && s.canWin(s.open); step++ {
		candidates, err := s.extend(s.open)
		if err != nil {
			return err
		}
		s.open = s.choose(candidates)
	}
	best := s.best()
	if len(best) < s.req.Choices {
		return errFewBeams
	}
	s.open, s.ended = nil, nil
	for i, b := range best {
		s.tell(i, b)
	}
	return nil
}

// best returns the choices that the search has found so far. Beams that are open end here.
func (s *beamSearch) best() []beam {
	list := slices.Clone(s.ended)
	for _, b := range s.open {
		b.finish = inference.FinishLength
		list = append(list, b)
	}
	slices.SortStableFunc(list, func(a, b beam) int { return cmp.Compare(s.score(b), s.score(a)) })
	return list[:min(len(list), s.req.Choices)]
}

// untold counts the output tokens of the choices that a search which was cut off would have ended with.
func (s *beamSearch) untold() int {
	n := 0
	for _, b := range s.best() {
		n += len(b.tokens)
	}
	return n
}

// choose takes the best continuations: those that end are set aside, the best of the others go on.
func (s *beamSearch) choose(candidates []candidate) []beam {
	width := s.params.Beam.Width
	most := 2 * width
	if width == 1 {
		most = 1 // the best one alone, as greedy sampling has it
	}
	slices.SortStableFunc(candidates, func(a, b candidate) int { return cmp.Compare(b.sum, a.sum) })
	var open []beam
	for _, c := range candidates[:min(len(candidates), most)] {
		b := beam{
			last: &beamToken{c.event, c.from.last}, sum: c.sum,
			tokens: append(slices.Clip(c.from.tokens), c.event.Token),
		}
		switch finish := s.finish(&b); {
		case finish != inference.Running:
			b.finish = finish
			s.ended = append(s.ended, b)
		case len(open) < width:
			open = append(open, b)
		}
	}
	return open
}

// extend asks the engine what follows each beam.
func (s *beamSearch) extend(open []beam) ([]candidate, error) {
	streams := make([]inference.Stream, len(open))
	defer func() {
		for _, stream := range streams {
			if stream != nil {
				stream.Close()
			}
		}
	}()
	for i, b := range open {
		var err error
		if streams[i], err = s.model.Engine.Submit(s.ctx, s.question(b.tokens)); err != nil {
			return nil, err
		}
	}
	var list []candidate
	for i, stream := range streams {
		e, err := stream.Next()
		if err != nil {
			return nil, err
		}
		if s.prompt == nil && len(open[i].tokens) == 0 {
			s.prompt = e.Prompt
		}
		list = append(list, s.candidates(&open[i], e)...)
	}
	return list, nil
}

// question asks for the best tokens after an output.
func (s *beamSearch) question(output []token.ID) inference.Request {
	q := s.req
	q.Prompt = append(slices.Clip(s.req.Prompt), output...)
	q.Choices, q.MaxTokens, q.MinTokens = 1, 1, 0
	q.Sampling, q.EOS, q.MoreEOS, q.Stop = inference.Sampling{}, token.None, nil, nil
	if len(output) > 0 {
		q.PromptLogprobs = inference.NoLogprobs
	}
	q.Logprobs = max(2*s.params.Beam.Width, min(s.req.Logprobs, s.model.info.VocabSize))
	if s.masked(len(output)) || s.req.Logprobs == inference.AllLogprobs {
		q.Logprobs = inference.AllLogprobs
	}
	return q
}

// masked reports whether tokens may be forbidden at a position, so that the best ones alone are not enough.
func (s *beamSearch) masked(pos int) bool {
	return s.req.Sampling.Allowed != nil || len(s.req.Sampling.BadWords) > 0 || pos < s.req.MinTokens
}

// candidates returns the continuations of b by the tokens that are allowed.
func (s *beamSearch) candidates(b *beam, e inference.Event) []candidate {
	var list []candidate
	tell := s.told(e.Top)
	for _, t := range e.Top {
		if !s.allowed(b.tokens, t.Token) || math.IsInf(float64(t.Logprob), -1) {
			continue
		}
		event := inference.Event{Token: t.Token, Logprob: t.Logprob, Top: tell, Time: e.Time}
		list = append(list, candidate{b, event, b.sum + float64(t.Logprob)})
		if len(list) == 2*s.params.Beam.Width {
			break
		}
	}
	return list
}

// told returns the logprobs that the client asked for.
func (s *beamSearch) told(top []inference.TokenLogprob) []inference.TokenLogprob {
	n := min(max(0, s.req.Logprobs), len(top))
	return slices.Clone(top[:n])
}

// allowed applies the masks of sampling.
func (s *beamSearch) allowed(output []token.ID, id token.ID) bool {
	mask := s.req.Sampling.Allowed
	if mask != nil && !mask.Has(id) {
		return false
	}
	if len(output) < s.req.MinTokens && s.ends(id) {
		return false
	}
	for _, word := range s.req.Sampling.BadWords {
		n := len(word) - 1
		if word[n] == id && len(output) >= n && slices.Equal(output[len(output)-n:], word[:n]) {
			return false
		}
	}
	return true
}

// ends reports whether a token is one of those that may end the text.
func (s *beamSearch) ends(id token.ID) bool {
	return id == s.req.EOS || slices.Contains(s.req.MoreEOS, id) || slices.Contains(s.req.Stop, id)
}

// finish says whether a beam ends with its latest token.
func (s *beamSearch) finish(b *beam) inference.Finish {
	id := b.tokens[len(b.tokens)-1]
	b.final = true
	switch {
	case len(b.tokens) < s.req.MinTokens:
	case id == s.req.EOS && !s.req.IgnoreEOS:
		return inference.FinishEOS
	case slices.Contains(s.req.Stop, id), slices.Contains(s.req.MoreEOS, id) && !s.req.IgnoreEOS:
		return inference.FinishStop
	}
	b.final = false
	if len(b.tokens) > s.req.MinTokens && s.meetsStop(b.tokens) {
		return inference.FinishEOS
	}
	return inference.Running
}

// meetsStop reports whether a stop string ends in the text of the latest token.
func (s *beamSearch) meetsStop(output []token.ID) bool {
	if len(s.params.Stop) == 0 {
		return false
	}
	longest := 0
	for _, stop := range s.params.Stop {
		longest = max(longest, len(stop))
	}
	const hidden = 16 // tokens without text that may stand among the others
	window := output[max(0, len(output)-longest-hidden):]
	decoder := s.model.Tokenizer.NewDecoder(s.req.Prompt[max(0, len(s.req.Prompt)-8):], false)
	stops := parser.NewStops(s.params.Stop, false)
	for i, id := range window {
		if s.model.hidden(id) && !s.params.KeepSpecialTokens {
			continue
		}
		piece := decoder.Add(id)
		if i < len(window)-1 {
			stops.Pass(piece)
			continue
		}
		_, found := stops.Add(piece)
		return found != ""
	}
	return false
}

// score is what beams are compared by.
func (s *beamSearch) score(b beam) float64 {
	n := len(b.tokens)
	if b.final {
		n--
	}
	return b.sum / math.Pow(float64(max(1, n)), s.params.Beam.LengthPenalty)
}

// canWin reports whether an open beam may still come to be among the best: its sum can only fall, and its length is
// bounded.
func (s *beamSearch) canWin(open []beam) bool {
	if len(s.ended) < s.req.Choices {
		return true
	}
	scores := make([]float64, len(s.ended))
	for i, b := range s.ended {
		scores[i] = s.score(b)
	}
	slices.SortFunc(scores, func(a, b float64) int { return cmp.Compare(b, a) })
	least := scores[s.req.Choices-1]
	longest := math.Pow(float64(s.limit), s.params.Beam.LengthPenalty)
	return slices.ContainsFunc(open, func(b beam) bool { return max(s.score(b), b.sum/longest) > least })
}

// tell makes events of a beam, as if choice i had sampled it.
func (s *beamSearch) tell(i int, b beam) {
	events := make([]inference.Event, len(b.tokens))
	at := len(events)
	for t := b.last; t != nil; t = t.before {
		at--
		events[at] = t.event
		events[at].Choice = i
	}
	if b.final || b.finish == inference.FinishLength {
		events[len(events)-1].Finish = b.finish
	} else {
		// The stop string is found again by who reads this; an end follows for good.
		events = append(events, inference.Event{Choice: i, Token: token.None, Finish: inference.FinishEOS, Time: time.Now()})
	}
	s.events = append(s.events, events...)
}

// checkBeams refuses what a search has no use for.
func checkBeams(p *chat.Params) error {
	switch b := p.Beam; {
	case b == nil:
		return nil
	case b.Width < max(1, p.Choices):
		return invalid("beam_width", "beam_width must be at least n (%d), got %d.", max(1, p.Choices), b.Width)
	case p.PresencePenalty != 0, p.FrequencyPenalty != 0, p.RepetitionPenalty != nil && *p.RepetitionPenalty != 1:
		return invalid("use_beam_search", "Beam search takes no penalties.")
	case len(p.Bias) > 0:
		return invalid("logit_bias", "Beam search takes no logit_bias.")
	case p.MaxTokens != nil && *p.MaxTokens == 0:
		return invalid("max_tokens", "Beam search needs at least one output token.")
	}
	return nil
}

var _ inference.Stream = (*beamSearch)(nil)

// errFewBeams says that masks leave fewer continuations than choices were asked for.
var errFewBeams = invalid("n", "Fewer continuations are allowed than the choices that n asks for.")

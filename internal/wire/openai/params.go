// SPDX-License-Identifier: Apache-2.0

package openai

import (
	"math"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/sampo-ai/sampo/internal/chat"
	"github.com/sampo-ai/sampo/internal/ordjson"
	"github.com/sampo-ai/sampo/internal/token"
)

// Limits that the API states.
const (
	MaxChoices  = 64 // prompts × n
	maxStops    = 16
	maxStopSize = 1 << 10 // bytes of a stop string
	maxStopIDs  = 128
	maxBiases   = 1024
	maxBadWords = 1024
	maxTop      = 20
	maxSession  = 512 // characters
)

// Common is what the two generating endpoints share.
type Common struct {
	Model           string // "" if it was left out
	Stream          bool
	IncludeUsage    bool
	ContinuousUsage bool
	TokensAsIDs     bool // token strings become token_id:N
	ReturnTokenIDs  bool
	PromptText      bool   // the answer tells the rendered prompt
	LimitField      string // which field limits the output tokens
	Unknown         []string
	Refused         *Error // well formed, but not to be had; checked after the model's name
}

// readCommon reads the fields that both endpoints have, but for the token limit and logprobs.
func (f *fields) readCommon(c *Common, p *chat.Params) {
	c.Model = f.str("model")
	c.Stream = f.flag("stream")
	f.readStreamOptions(c)
	c.TokensAsIDs = f.flag("return_tokens_as_token_ids")
	c.ReturnTokenIDs = f.flag("return_token_ids")
	c.PromptText = f.flag("return_prompt_text")

	p.Choices = orOne(f.count("n", "between 1 and 64", 1, MaxChoices))
	f.readBestOf(p.Choices)
	f.readSampling(p)
	f.readBeam(c, p)
	f.readTokenLists(p)
	f.readStops(p)
	f.readPlacement(p)
	p.PromptLogprobs = f.readPromptLogprobs(c.Stream)
	f.refuseUnbuilt()
	f.ignore(ignoredAnywhere...)
}

func (f *fields) readStreamOptions(c *Common) {
	o := f.object("stream_options")
	if o == nil || o.obj.Len() == 0 {
		return
	}
	if !c.Stream {
		f.fail(CodeInvalidValue, "stream_options", "Stream options can only be defined when `stream=True`.")
		return
	}
	c.IncludeUsage = o.flag("include_usage")
	c.ContinuousUsage = o.flag("continuous_usage_stats") && c.IncludeUsage
	o.ignore("include_obfuscation")
	o.leftovers()
}

func (f *fields) readBestOf(n int) {
	best := f.count("best_of", "at least 1", 1, math.MaxInt64)
	if best != nil && *best != n {
		f.refuse(CodeUnsupportedValue, "best_of", "best_of must be equal to n (%d), got %d.", n, *best)
	}
}

func (f *fields) readSampling(p *chat.Params) {
	within := func(low, high float64) func(float64) bool {
		return func(x float64) bool { return x >= low && x <= high }
	}
	p.Temperature = f.numberWhere("temperature", "non-negative", within(0, math.MaxFloat64))
	p.TopP = f.numberWhere("top_p", "in (0, 1]", func(x float64) bool { return x > 0 && x <= 1 })
	p.MinP = f.numberWhere("min_p", "in [0, 1]", within(0, 1))
	p.TopK = f.count("top_k", "0 or -1 (disable), or at least 1", -1, math.MaxInt64)
	p.RepetitionPenalty = f.numberWhere("repetition_penalty", "greater than zero", func(x float64) bool { return x > 0 })
	p.PresencePenalty = orZero(f.numberWhere("presence_penalty", "in [-2, 2]", within(-2, 2)))
	p.FrequencyPenalty = orZero(f.numberWhere("frequency_penalty", "in [-2, 2]", within(-2, 2)))
	if p.Seed = f.integer("seed"); p.Seed != nil && *p.Seed == -1 {
		p.Seed = nil
	}
}

// readBeam reads what asks for a beam search; a width alone does. Without one the rest has no meaning.
func (f *fields) readBeam(c *Common, p *chat.Params) {
	width := f.count("beam_width", "between 1 and 64", 1, MaxChoices)
	penalty := f.number("length_penalty")
	early := f.raw("early_stopping")
	wanted := f.boolean("use_beam_search")
	switch {
	case width == nil && (wanted == nil || !*wanted):
		return
	case wanted != nil && !*wanted:
		f.fail(CodeInvalidValue, "use_beam_search", "use_beam_search is false, and beam_width (%d) asks for a beam search: leave one of them out.", *width)
		return
	}
	p.Beam = &chat.Beam{Width: p.Choices, LengthPenalty: 1}
	if width != nil {
		p.Beam.Width = *width
	}
	if penalty != nil {
		p.Beam.LengthPenalty = *penalty
	}
	switch {
	case p.Beam.Width < p.Choices:
		f.fail(CodeInvalidValue, "beam_width", "beam_width must be at least n (%d), got %d.", p.Choices, p.Beam.Width)
	case c.Stream:
		f.fail(CodeInvalidValue, "stream", "Beam search can't be streamed: which beam wins is known at the end.")
	case early != nil && early != false:
		f.fail(CodeInvalidValue, "early_stopping", "early_stopping is not supported: the search goes on while a beam can still win.")
	}
}

func (f *fields) readTokenLists(p *chat.Params) {
	p.Bias = f.readBias()
	p.Allowed = f.ids("allowed_token_ids")
	if p.Allowed != nil && len(p.Allowed) == 0 {
		f.fail(CodeInvalidValue, "allowed_token_ids", "allowed_token_ids must not be empty.")
	}
	p.BadWords = f.strings("bad_words")
	if len(p.BadWords) > maxBadWords {
		f.fail(CodeInvalidValue, "bad_words", "bad_words can have at most %d entries, got %d.", maxBadWords, len(p.BadWords))
	}
	for _, w := range p.BadWords {
		if w == "" {
			f.fail(CodeInvalidValue, "bad_words", "bad_words cannot contain an empty string.")
		}
	}
}

func (f *fields) readBias() []chat.TokenBias {
	const maxBias = 100
	o := f.object("logit_bias")
	if o == nil {
		return nil
	}
	if o.obj.Len() > maxBiases {
		f.fail(CodeInvalidValue, "logit_bias", "logit_bias can have at most %d entries, got %d.", maxBiases, o.obj.Len())
		return nil
	}
	var list []chat.TokenBias
	for key := range o.obj.All() {
		id, err := strconv.ParseInt(key, 10, 64)
		if err != nil {
			f.fail(CodeInvalidValue, "logit_bias", "logit_bias has the key %q, which is no token id.", shorten(key))
			return nil
		}
		if id < 0 || id > math.MaxInt32 {
			f.fail(CodeInvalidValue, "logit_bias", "logit_bias has the key %q, which is out of every vocabulary.", key)
			return nil
		}
		x := o.number(key)
		switch {
		case o.raw(key) == nil:
			o.wrongType(key, "a number", nil)
		case x != nil:
			// Two spellings of one id, "7" and "07": the last counts, as with any key. Both would exceed the bounds together.
			list = slices.DeleteFunc(list, func(b chat.TokenBias) bool { return b.Token == token.ID(id) })
			list = append(list, chat.TokenBias{Token: token.ID(id), Value: max(-maxBias, min(maxBias, *x))})
		}
	}
	return list
}

func (f *fields) readStops(p *chat.Params) {
	switch v := f.raw("stop").(type) {
	case string:
		p.Stop = []string{v}
	case nil, []any:
		p.Stop = f.strings("stop")
	default:
		f.wrongType("stop", "a string or an array of strings", v)
	}
	if len(p.Stop) > maxStops {
		f.fail(CodeInvalidValue, "stop", "stop can have at most %d strings, got %d.", maxStops, len(p.Stop))
	}
	for _, s := range p.Stop {
		switch {
		case s == "":
			f.fail(CodeInvalidValue, "stop", "stop cannot contain an empty string.")
		case len(s) > maxStopSize:
			f.fail(CodeInvalidValue, "stop", "stop cannot contain a string of more than %d bytes, got %d.", maxStopSize, len(s))
		}
	}
	p.StopTokens = f.ids("stop_token_ids")
	if len(p.StopTokens) > maxStopIDs {
		f.fail(CodeInvalidValue, "stop_token_ids", "stop_token_ids can have at most %d ids, got %d.", maxStopIDs, len(p.StopTokens))
	}
	p.IgnoreEOS = f.flag("ignore_eos")
	p.IncludeStop = f.flag("include_stop_str_in_output")
	if b := f.boolean("skip_special_tokens"); b != nil {
		p.KeepSpecialTokens = !*b
	}
	f.boolean("spaces_between_special_tokens")
}

// readPlacement reads what concerns the prompt's tokens, the cache and the queue.
func (f *fields) readPlacement(p *chat.Params) {
	p.Echo = f.flag("echo")
	p.AddSpecialTokens = f.boolean("add_special_tokens")
	p.TruncatePrompt = f.count("truncate_prompt_tokens", "at least -1", -1, math.MaxInt64)
	switch side := f.str("truncation_side"); {
	case side == "right":
		p.TruncateRight = true
	case side != "left" && f.raw("truncation_side") != nil:
		f.outOfRange("truncation_side", `"left" or "right"`)
	}
	p.CacheSalt = f.readSalt()
	if n := f.integer("priority"); n != nil {
		p.Priority = *n
	}
	p.RequestID = f.str("request_id")
	p.Session = f.str("session_id")
	if n := utf8.RuneCountInString(p.Session); n > maxSession {
		f.fail(CodeInvalidValue, "session_id", "session_id can have at most %d characters, got %d.", maxSession, n)
	}
}

func (f *fields) readSalt() string {
	salt := f.str("cache_salt")
	if salt == "" && f.raw("cache_salt") != nil {
		f.fail(CodeInvalidValue, "cache_salt", "cache_salt must be a non-empty string.")
	}
	return salt
}

func (f *fields) readPromptLogprobs(stream bool) *int {
	n := f.integer("prompt_logprobs")
	switch {
	case n == nil:
		return nil
	case *n < 0:
		f.outOfRange("prompt_logprobs", "at least 0")
	case *n > maxTop:
		f.fail(CodeInvalidValue, "prompt_logprobs", "Requested prompt logprobs of %d, which is greater than max allowed: %d", *n, maxTop)
	case *n > 0 && stream:
		f.fail(CodeInvalidValue, "prompt_logprobs", "`prompt_logprobs` are not available when `stream=True`.")
	}
	v := int(*n)
	return &v
}

// readTop reads a number of best tokens: -1 for all, else 0 to 20.
func (f *fields) readTop(name string) *int {
	n := f.integer(name)
	switch {
	case n == nil:
		return nil
	case *n < -1:
		f.outOfRange(name, "between 0 and 20, or -1 for the whole vocabulary")
	case *n > maxTop:
		f.fail(CodeInvalidValue, name, "Requested sample logprobs of %d, which is greater than max allowed: %d", *n, maxTop)
	}
	v := int(*n)
	return &v
}

// refuseUnbuilt refuses what would change an answer and is not built.
func (f *fields) refuseUnbuilt() {
	f.refuseField("logits_processors", "logits_processors is not supported.")
	f.refuseField("repetition_detection", "repetition_detection is not supported. Use repetition_penalty or frequency_penalty.")
	f.refuseField("logprob_token_ids", "logprob_token_ids is not supported. Use top_logprobs.")
	f.refuseField("prompt_embeds", "prompt_embeds is not supported. Send text or token ids.")
	f.refuseField("structured_outputs", "structured_outputs is not supported with this model.")
	for _, name := range []string{"guided_json", "guided_regex", "guided_choice", "guided_grammar", "guided_json_object", "guided_decoding_backend", "guided_whitespace_pattern"} {
		f.refuseField(name, name+" is not supported. Use response_format.")
	}
	f.readResponseFormat()
}

// readBudget returns the tokens that the thinking may have; nil: no limit.
func (f *fields) readBudget(name string) *int {
	v := f.raw(name)
	if v == nil {
		return nil
	}
	number, isNumber := v.(ordjson.Number)
	n, ok := number.Int64()
	if !isNumber || !ok || n < -1 {
		f.fail(CodeInvalidValue, f.param(name), "`%s` must be a non-negative integer or -1 for unlimited.", f.param(name))
		return nil
	}
	if n == -1 {
		return nil
	}
	budget := int(min(n, math.MaxInt32))
	return &budget
}

func (f *fields) readResponseFormat() {
	o := f.object("response_format")
	if o == nil {
		return
	}
	kind := o.str("type")
	switch kind {
	case "text":
		o.leftovers()
	case "":
		f.fail(CodeMissing, o.param("type"), "Missing required parameter: '%s'.", o.param("type"))
	case "json_schema":
		if o.raw("json_schema") == nil {
			f.fail(CodeMissing, "response_format", "When response_format type is 'json_schema', the 'json_schema' field must be provided.")
		}
		fallthrough
	case "json_object":
		f.refuse(CodeUnsupportedValue, "response_format", "'response_format' of type '%s' is not supported with this model.", kind)
	default:
		f.refuse(CodeUnsupportedValue, "response_format", "'response_format' of type '%s' is not supported.", shorten(kind))
	}
}

func orOne(n *int) int {
	if n == nil {
		return 1
	}
	return *n
}

func orZero(x *float64) float64 {
	if x == nil {
		return 0
	}
	return *x
}

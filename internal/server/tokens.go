// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"slices"

	"github.com/sampo-ai/sampo/internal/token"
	"github.com/sampo-ai/sampo/internal/tokenizer"
	"github.com/sampo-ai/sampo/internal/wire/openai"
)

// tokenize answers POST /tokenize. Nothing is refused for its length: it is there to be counted.
func (s *Server) tokenize(x *exchange) error {
	body, err := x.body()
	if err != nil {
		return err
	}
	req, bad := openai.DecodeTokenize(body)
	if bad != nil {
		return bad
	}
	if err := x.notice(req.Unknown); err != nil {
		return err
	}
	usable := Model.Chats
	if req.Chat == nil {
		usable = anyModel
	}
	m, err := s.model(req.Model, usable)
	if err != nil {
		return err
	}
	if req.Refused != nil {
		return req.Refused
	}
	if req.Chat != nil { // the answers in it are remembered under the salt of who got them
		req.Chat.CacheSalt = s.cacheSalt(x.tenant, req.Chat.CacheSalt)
	}
	ids, err := tokensOf(x.r.Context(), m, req)
	if err != nil {
		return renamed(err, "messages", "", "")
	}
	var pieces []string
	if req.Strings {
		pieces = make([]string, len(ids))
		for i, id := range ids {
			pieces[i] = m.Tokenizer.Piece(id)
		}
	}
	return x.sendJSON(openai.TokenizeBody(ids, pieces, m.MaxContext()))
}

func tokensOf(ctx context.Context, m Model, req *openai.TokenizeRequest) ([]token.ID, error) {
	if req.Chat == nil {
		ids := m.Tokenizer.Encode(*req.Text, tokenizer.Options{ParseSpecial: true, AddSpecial: req.AddSpecial, Stop: ctx.Done()})
		return ids, ctx.Err()
	}
	all := -1 // no check: what does not fit is counted too
	req.Chat.TruncatePrompt = &all
	prompt, err := m.Prompt(ctx, *req.Chat)
	return prompt.Tokens, err
}

// detokenize answers POST /detokenize.
func (s *Server) detokenize(x *exchange) error {
	body, err := x.body()
	if err != nil {
		return err
	}
	req, bad := openai.DecodeDetokenize(body)
	if bad != nil {
		return bad
	}
	if err := x.notice(req.Unknown); err != nil {
		return err
	}
	m, err := s.model(req.Model, anyModel)
	if err != nil {
		return err
	}
	size := m.Engine.Info().VocabSize
	if i := slices.IndexFunc(req.Tokens, func(id token.ID) bool { return int(id) >= size }); i >= 0 {
		return badRequest(openai.CodeInvalidValue, "tokens", "Token id %d is out of vocabulary", req.Tokens[i])
	}
	return x.sendJSON(openai.DetokenizeBody(m.Tokenizer.Decode(req.Tokens, false)))
}

// tokenizerInfo answers GET /tokenizer_info.
func (s *Server) tokenizerInfo(x *exchange) error {
	m, err := s.model(x.r.URL.Query().Get("model"), anyModel)
	if err != nil {
		return err
	}
	literal := func(id token.ID, ok bool) *string {
		if !ok {
			return nil
		}
		piece := m.Tokenizer.Piece(id)
		return &piece
	}
	t := m.Tokenizer
	info := openai.TokenizerInfo{
		Class: m.TokenizerClass, BOS: literal(t.BOS()), EOS: literal(t.EOS()), PAD: literal(t.PAD()), UNK: literal(t.UNK()),
		MaxLength: m.MaxContext(),
	}
	if info.Class == "" {
		info.Class = "PreTrainedTokenizerFast"
	}
	if bos, ok := t.BOS(); ok {
		around := t.Encode("a", tokenizer.Options{AddSpecial: true})
		info.AddBOS = len(around) > 0 && around[0] == bos
	}
	if m.Source != "" {
		info.ChatTemplate = &m.Source
	}
	return x.sendJSON(info.Body())
}

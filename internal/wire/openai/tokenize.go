// SPDX-License-Identifier: Apache-2.0

package openai

import (
	"github.com/sampo-ai/sampo/internal/chat"
	"github.com/sampo-ai/sampo/internal/token"
)

// A TokenizeRequest is the body of POST /tokenize: a text or a conversation.
type TokenizeRequest struct {
	Model      string
	Text       *string       // nil: Chat is set
	AddSpecial bool          // for a text
	Chat       *chat.Request // nil: Text is set
	Strings    bool          // the answer lists the vocabulary's spellings too
	Unknown    []string
	Refused    *Error
}

// DecodeTokenize reads and checks a body.
func DecodeTokenize(body []byte) (*TokenizeRequest, *Error) {
	f, err := parseBody(body)
	if err != nil {
		return nil, err
	}
	r := f.readTokenize()
	f.leftovers()
	r.Unknown, r.Refused = f.unknown, f.refused
	return r, f.err
}

func (f *fields) readTokenize() *TokenizeRequest {
	r := &TokenizeRequest{Model: f.str("model"), Strings: f.flag("return_token_strs")}
	salt := f.readSalt()
	f.ignore(ignoredByTokenize...)
	special := f.boolean("add_special_tokens")
	prompt, messages := f.raw("prompt") != nil, f.raw("messages") != nil
	switch {
	case prompt == messages:
		f.fail(CodeInvalidValue, "prompt", "Exactly one of prompt and messages must be given.")
	case prompt:
		text := f.str("prompt")
		r.Text, r.AddSpecial = &text, special == nil || *special
	default:
		r.Chat = &chat.Request{}
		r.Chat.AddSpecialTokens, r.Chat.CacheSalt = special, salt
		f.readConversation(r.Chat)
	}
	return r
}

// TokenizeBody returns the answer to POST /tokenize. pieces is nil if they were not asked for.
func TokenizeBody(tokens []token.ID, pieces []string, maxModelLen int) []byte {
	body := tokenizeBody{Count: len(tokens), MaxModelLen: maxModelLen, Tokens: *promptIDs(tokens)}
	if pieces != nil {
		body.TokenStrs = &pieces
	}
	return encode(body)
}

type tokenizeBody struct {
	Count       int        `json:"count"`
	MaxModelLen int        `json:"max_model_len"`
	Tokens      []token.ID `json:"tokens"`
	TokenStrs   *[]string  `json:"token_strs"`
}

// A DetokenizeRequest is the body of POST /detokenize.
type DetokenizeRequest struct {
	Model   string
	Tokens  []token.ID
	Unknown []string
}

// DecodeDetokenize reads and checks a body.
func DecodeDetokenize(body []byte) (*DetokenizeRequest, *Error) {
	f, err := parseBody(body)
	if err != nil {
		return nil, err
	}
	r := f.readDetokenize()
	f.leftovers()
	r.Unknown = f.unknown
	return r, f.err
}

func (f *fields) readDetokenize() *DetokenizeRequest {
	r := &DetokenizeRequest{Model: f.str("model"), Tokens: f.ids("tokens")}
	if r.Tokens == nil {
		f.fail(CodeMissing, "tokens", "Missing required parameter: 'tokens'.")
	}
	return r
}

// DetokenizeBody returns the answer to POST /detokenize.
func DetokenizeBody(text string) []byte {
	return encode(detokenizeBody{text})
}

type detokenizeBody struct {
	Prompt string `json:"prompt"`
}

// TokenizerInfo is the answer to GET /tokenizer_info. Nil is null.
type TokenizerInfo struct {
	Class        string  `json:"tokenizer_class"`
	BOS          *string `json:"bos_token"`
	EOS          *string `json:"eos_token"`
	PAD          *string `json:"pad_token"`
	UNK          *string `json:"unk_token"`
	AddBOS       bool    `json:"add_bos_token"`
	MaxLength    int     `json:"model_max_length"`
	ChatTemplate *string `json:"chat_template"`
}

// Body returns the JSON of t.
func (t TokenizerInfo) Body() []byte { return encode(t) }

// SPDX-License-Identifier: Apache-2.0

package answer

import (
	"errors"
	"fmt"
)

// ErrNoTemplate says that a conversation was sent to a base model.
var ErrNoTemplate = errors.New("answer: model has no chat template")

// An InputError says which parameter a model can't take. Parameters have the names of the OpenAI API.
type InputError struct {
	Param       string
	Message     string
	Unsupported bool // the model or the engine lacks it; no other value would do
}

func (e *InputError) Error() string { return "answer: " + e.Param + ": " + e.Message }

func invalid(param, format string, args ...any) *InputError {
	return &InputError{Param: param, Message: fmt.Sprintf(format, args...)}
}

// A TemplateError says that a template refused a conversation, or could not render it.
type TemplateError struct{ Err error }

func (e *TemplateError) Error() string { return "answer: " + e.Err.Error() }

// Unwrap returns what the template reported.
func (e *TemplateError) Unwrap() error { return e.Err }

// A LengthError says that a prompt and its answer don't fit into the context.
type LengthError struct {
	MaxContext   int
	PromptTokens int
	OutputTokens int // as asked for; 0 if nothing was
	// Bytes is the length of a prompt that was too long to be tokenised at all; PromptTokens is then 0.
	Bytes, MostBytes int
}

func (e *LengthError) Error() string {
	if e.Bytes > 0 {
		return fmt.Sprintf("answer: prompt of %d bytes exceeds context length %d", e.Bytes, e.MaxContext)
	}
	return fmt.Sprintf("answer: prompt of %d tokens and %d output tokens exceed context length %d", e.PromptTokens, e.OutputTokens, e.MaxContext)
}

// PromptFits reports whether the prompt alone would fit.
func (e *LengthError) PromptFits() bool { return e.Bytes == 0 && e.PromptTokens < e.MaxContext }

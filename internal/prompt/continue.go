// SPDX-License-Identifier: Apache-2.0

package prompt

import (
	"strings"
	"unicode"

	"github.com/sampo-ai/sampo/internal/prompt/jinja"
)

// A ContinueError says why the last message can't be left open for the model to go on with.
type ContinueError struct{ Reason string }

func (e *ContinueError) Error() string {
	return "prompt: can't continue the final message: " + e.Reason
}

// continueTag marks the end of the final message while the template prints it. The blank at its end tells whether
// the template trims contents. Name and method are those of transformers.
const continueTag = "CONTINUE_FINAL_MESSAGE_TAG "

// tagFinal puts the tag behind the content of the last message and returns that content.
func tagFinal(vars *jinja.Dict) (string, error) {
	list, _ := vars.Lookup("messages")
	messages, _ := list.(*jinja.List)
	if messages == nil || len(messages.Items()) == 0 {
		return "", &ContinueError{"there is no message"}
	}
	last, ok := messages.Items()[len(messages.Items())-1].(*jinja.Dict)
	if !ok {
		return "", &ContinueError{"it is not an object"}
	}
	content, _ := last.Lookup("content")
	switch c := content.(type) {
	case *jinja.Str:
		last.Set("content", c.Append(continueTag))
		return c.String(), nil
	case *jinja.List:
		for i := len(c.Items()) - 1; i >= 0; i-- {
			part, ok := c.Items()[i].(*jinja.Dict)
			if !ok {
				continue
			}
			text, _ := part.Lookup("text")
			if s, ok := text.(*jinja.Str); ok {
				part.Set("text", s.Append(continueTag))
				return s.String(), nil
			}
		}
		return "", &ContinueError{"it has no text"}
	}
	return "", &ContinueError{"it has no content"}
}

// cutAtTag ends the prompt where the tag stands.
func cutAtTag(segments []jinja.Segment, final string) ([]jinja.Segment, error) {
	var b strings.Builder
	for _, s := range segments {
		b.WriteString(s.Text)
	}
	text := b.String()
	tag := strings.TrimSpace(continueTag)
	at := strings.LastIndex(text, tag)
	if at < 0 || !strings.Contains(text, strings.TrimFunc(final, isSpace)) {
		return nil, &ContinueError{"the template doesn't print it as it is"}
	}
	if !strings.HasPrefix(text[at:], continueTag) {
		at = len(strings.TrimRightFunc(text[:at], isSpace))
	}
	return truncate(segments, at), nil
}

// truncate keeps the first n bytes.
func truncate(segments []jinja.Segment, n int) []jinja.Segment {
	for i, s := range segments {
		if n <= len(s.Text) {
			if n == 0 {
				return segments[:i]
			}
			s.Text = s.Text[:n]
			return append(segments[:i:i], s)
		}
		n -= len(s.Text)
	}
	return segments
}

// isSpace is what Python strips.
func isSpace(r rune) bool { return unicode.IsSpace(r) || r >= 0x1c && r <= 0x1f }

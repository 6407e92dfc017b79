// SPDX-License-Identifier: Apache-2.0

package answer

import (
	"slices"
	"strings"
	"sync"

	"github.com/sampo-ai/sampo/internal/token"
)

// What turns remembers at most.
const (
	maxTurns     = 256
	maxTurnBytes = 32 << 20
)

// turns remembers the token IDs of conversations that ended in an answer, so that their next turn continues with what
// the model wrote, not with another spelling of the same text: the blocks that it left in the cache then fit. A client
// finds answers under its own cache salt only.
//
// Two lists of tokens say the same if their bytes are equal and their control tokens stand at the same places; that is
// what spell writes down. Where text came from need not be compared: it shows in the control tokens.
type turns struct {
	// mu guards all below.
	mu    sync.Mutex
	list  []turn // oldest first
	bytes int
}

// A turn is a conversation up to an answer's end, without the token that ended it.
type turn struct {
	salt    string
	spelled string
	tokens  []token.ID
}

func (t *turn) size() int { return len(t.salt) + len(t.spelled) + 4*len(t.tokens) }

// add remembers a conversation, and forgets the oldest ones.
func (t *turns) add(n turn) {
	if n.size() > maxTurnBytes {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.list = append(t.list, n)
	t.bytes += n.size()
	first := 0
	for len(t.list)-first > maxTurns || t.bytes > maxTurnBytes {
		t.bytes -= t.list[first].size()
		first++
	}
	t.list = slices.Delete(t.list, 0, first)
}

// longest returns the tokens and the spelled length of the longest turn that a prompt begins with and that fits; of
// equal ones the latest.
func (t *turns) longest(salt, spelled string, fits func(length int) bool) (tokens []token.ID, length int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, n := range slices.Backward(t.list) {
		if len(n.spelled) > length && n.salt == salt && strings.HasPrefix(spelled, n.spelled) && fits(len(n.spelled)) {
			tokens, length = n.tokens, len(n.spelled)
		}
	}
	return tokens, length
}

// spell appends the bytes of tokens to dst. A byte that is in no text stands before a control token.
func (m *Model) spell(dst []byte, ids ...token.ID) []byte {
	for _, id := range ids {
		if m.Tokenizer.Kind(id) == token.Control {
			dst = append(dst, 0xff)
		}
		dst = append(dst, m.Tokenizer.Bytes(id)...)
	}
	return dst
}

// recall returns a prompt with the tokens of the model's own answers in it, as far as they are remembered.
func (m *Model) recall(prompt []token.ID, salt string) []token.ID {
	var spelled []byte
	ends := make([]int, len(prompt)) // of each token, in spelled
	for i, id := range prompt {
		spelled = m.spell(spelled, id)
		ends[i] = len(spelled)
	}
	// An answer ends where the template ends a message: before a control token.
	fits := func(length int) bool {
		i, ok := slices.BinarySearch(ends, length)
		return ok && i+1 < len(prompt) && m.Tokenizer.Kind(prompt[i+1]) == token.Control
	}
	known, length := m.turns.longest(salt, string(spelled), fits)
	if length == 0 {
		return prompt
	}
	i, _ := slices.BinarySearch(ends, length)
	return slices.Concat(known, prompt[i+1:])
}

// remember keeps the tokens of an answer to a prompt.
func (m *Model) remember(prompt, answer []token.ID, salt string) {
	if n := len(answer); n > 0 && m.Tokenizer.Kind(answer[n-1]) == token.Control {
		answer = answer[:n-1]
	}
	if len(answer) == 0 {
		return
	}
	ids := slices.Concat(prompt, answer)
	m.turns.add(turn{salt: salt, spelled: string(m.spell(nil, ids...)), tokens: ids})
}

// SPDX-License-Identifier: Apache-2.0

package bundle

import (
	"github.com/sampo-ai/sampo/internal/token"
	"github.com/sampo-ai/sampo/internal/tokenizer"
)

// knownEnds are texts of tokens that end a turn or a text in the models that have them.
var knownEnds = []string{
	"<|eot_id|>", "<|eom_id|>", "<|end_of_text|>", "<|im_end|>", "<|endoftext|>", "<|end|>", "<|end_of_turn|>", "<end_of_turn>",
	"<turn|>", "<|tool_response>", "<end_of_utterance>", "<|return|>", "<|call|>", "<|flush|>", "<|calls|>", "</s>", "<eos>", "<EOT>",
	"_<EOT>", "[EOT]", "[EOS]", "[e~[", "<｜end▁of▁sentence｜>",
}

// endsByText finds the control tokens of a GGUF file that end a generation. The file names three at most: Llama 3's leave out
// <|eom_id|>, Qwen's <|endoftext|>, and older ones the end of a turn.
func endsByText(t *tokenizer.Tokenizer) (ends []token.ID) {
	_, returns := t.ID("<|return|>")
	_, calls := t.ID("<|call|>")
	for _, text := range knownEnds {
		if text == "<|end|>" && returns && calls {
			continue // gpt-oss: it ends a message, and the next channel follows
		}
		if id, ok := t.ID(text); ok && t.Kind(id) == token.Control {
			ends = append(ends, id)
		}
	}
	return ends
}

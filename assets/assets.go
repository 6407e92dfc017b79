// SPDX-License-Identifier: Apache-2.0

// Package assets carries the small models that are part of the program, so that a first run needs no download.
//
// The bytes are whole GGUF files and must not be changed. tools/minimodels holds the recipe that made them, and what was
// measured. The folder beside each file holds its tokenizer and configuration in the form that other tools read.
package assets

import _ "embed" // for the directive below

// MiniChatName is the name under which the embedded chat model is listed and loaded.
const MiniChatName = "sampo/mini-chat"

//go:embed mini-chat.gguf
var miniChat []byte

// MiniChat returns the GGUF file of sampo/mini-chat. The caller must not write to it.
func MiniChat() []byte { return miniChat }

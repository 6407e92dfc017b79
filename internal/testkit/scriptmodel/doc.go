// SPDX-License-Identifier: Apache-2.0

// Package scriptmodel makes a tiny GGUF file whose weights write fixed scripts, so that tests can make a model say
// exact texts: tool calls, stop strings that lie across tokens, halves of characters. The file is read and served like
// any other; nothing knows that it is one of these.
//
// A script is a list of pieces. Each piece is a token of its own. A message that
// says "say:NAME" is answered with the script of that name; any other with the script "plain". Of several messages the
// last that is not the assistant's own counts, because the template changes the words of earlier ones. A message that names
// two scripts leaves it to sampling which of the two is written. After the end a script begins anew, so that a request
// that ignores the end fills any context.
//
// How the weights do that: every token has a code, a vector of length one that hardly meets the others. The embedding
// of a token is the code of what follows it, and the output of a token is its own code, so that a chain of tokens
// writes itself. Tokens without a place in a script have a weak hint at the default script; what says more is attention:
// its first head finds the token "say:NAME", and gives the code of the script's first piece. The second head finds
// </think>: where the reasoning is closed already, the script "think" goes on with its answer. The MLP is zero.
package scriptmodel

// SPDX-License-Identifier: Apache-2.0

// Package sampler turns a row of logits into a token, and into the log-probabilities that are reported with it.
//
// A State is one choice's parameters and what they need to remember of its tokens; a Sampler is scratch memory for one
// worker. Sample applies, in this order: the allowed tokens, bad words, the ends that minimum length forbids, biases,
// the repetition penalty, the frequency and presence penalties, and the token that a used-up thinking budget forces; then it
// takes the best token if the temperature is 0, else it applies temperature, min-p (arXiv:2407.01082), top-k and top-p
// (arXiv:1904.09751) and draws. Log-probabilities are those of the row as the model gave it.
//
// Always true: the token depends on the row, the parameters, the choice's tokens, the seed and the output position,
// on nothing else and on no machine. To that end probabilities are whole numbers: a token's weight is exp(z - max z),
// z being divided by the temperature, in units of 2^-44, rounded. Sums of whole numbers do not depend on their order, so
// the partial selections here give exactly what sorting everything would. Ties go to the lower ID.
//
// A row may hold -Inf (a token that cannot be), but not NaN or +Inf: ErrNotFinite. If no token is left: ErrNoToken.
//
// Shape letters: V vocabulary.
package sampler

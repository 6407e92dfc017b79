// SPDX-License-Identifier: Apache-2.0

// Package scheduler decides which sequence computes how many tokens in the next step.
//
// A Sequence is a list of tokens, of which some are computed: their keys and values lie in cache blocks. There is no
// prefill phase and no decode phase: every step brings running sequences closer to the end of their list, under one
// token budget. A sequence whose last token is computed gets a new one from its owner and goes on. Sequences wait
// until they are admitted, run, and may be preempted: their blocks are taken and they wait again, to be computed once
// more from the first token that the prefix cache no longer has.
//
// Who is admitted next: of the best priority, a sequence of the tenant that had least service (see shares); now and
// then, whoever waits longest. A running sequence that decodes may have a Draft: guesses that are computed with its
// latest token, and count only if its owner accepts them.
//
// Always true: both queues are in the order of priority, then of arrival, with those in front that were once admitted out
// of turn; who waits holds no blocks; who runs holds blocks for exactly the tokens computed and those of the current step;
// a step never has more tokens than the budget; every running sequence that needs one token gets it in every step, or is
// preempted. Scheduler.Check verifies this.
//
// Pure: no clock, no goroutine, no I/O; a sequence of calls gives one sequence of batches.
//
// After Orca (OSDI 2022) for batches that change every step, and Agrawal et al. 2024 (arXiv:2403.02310) for prompts
// cut into chunks that ride along with decoding.
package scheduler

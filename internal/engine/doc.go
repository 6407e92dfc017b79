// SPDX-License-Identifier: Apache-2.0

// Package engine is the native engine: it runs one model on this machine for many requests at once.
//
// A request has choices, and each choice is one sequence of the scheduler (equal greedy choices share one). One
// goroutine owns them all and repeats a step: take what arrived (requests, stops, aborts), schedule, copy blocks,
// Forward, Head and sample, emit. What comes from other goroutines comes through the inbox, what goes to clients goes
// through queues that nobody waits for.
//
// Always true: a choice's tokens depend on the model, the prompt, the parameters and the seed, never on company,
// chunks, threads, the cache, preemption or speculation. A request leaves through leave, whatever ended it, and a sequence's
// blocks are freed by retire alone. The engine never waits for a client. A failed step costs the requests that were
// in it, not the engine.
//
// Text, templates and stop strings are not its business; policy is the scheduler's, blocks are kvcache's, logits are
// the sampler's. See DESIGN.md.
package engine

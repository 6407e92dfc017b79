// SPDX-License-Identifier: Apache-2.0

// Package bench measures how fast a model runs, and how fast this machine could run it at all.
//
// The limits of the machine are measured, not looked up: bytes read from memory and multiply-adds of each kind of number,
// over all threads at once. From the model's weights follows what a piece of work needs of them at least (Work), and so
// the shortest time in which the machine could do it. A share is that time divided by the time measured.
//
// Main path: Run measures the limits, runs each case some times through model.Model as the engine does (prefill in chunks,
// decode with the output head and a greedy choice), measures the limits again, and puts medians and shares in a Report. What a
// context adds to a step is measured in turn with reading (ContextCost).
//
// Always true: a limit is the best of all loops of a run, so it rather makes a share too small than too large; a run during
// which other programs had more than a twentieth of the processors is marked noisy.
//
// What the numbers mean is written in docs/bench.md.
package bench

// SPDX-License-Identifier: Apache-2.0

// Package archtest holds the house rules as tests: which package may import which, how long a file or a function may
// be, what every package and every numeric docstring must say.
//
// A rule is broken for a reason or not at all: exceptions stand in the tables of this package, each with its reason.
// The package has no code outside its tests.
package archtest

// SPDX-License-Identifier: Apache-2.0

// Package registry finds the models that are on this machine, where they lie and without copying them: those inside
// the program, those pulled by it, the caches and stores of other programs, and plain folders.
//
// A model is named owner/name, owner/name:VARIANT where VARIANT is a file or a quantisation, by a path, or by an
// alias; "@backend" at the end chooses how it runs. Names are compared without regard to case.
//
// Always true: nothing is written, no weights are read to list models, a store that is missing has no models, and
// what the files of a store say never leads to a path outside of it.
//
// Where the stores are comes in as Locations: this package reads no environment.
package registry

// SPDX-License-Identifier: Apache-2.0

// Package jinja renders templates in the Jinja2 language as Python's jinja2 does when it is set up for chat templates:
// a sandbox, trim_blocks and lstrip_blocks on, no autoescape, break and continue, the block tag generation.
//
// Parse turns a source into a Template: the lexer cuts it into tokens, the parser builds a tree, and the resolver
// gives every name its slot with jinja2's own rules of scoping. Render walks the tree. A Template is immutable and
// may be rendered by many goroutines at once.
//
// Values are those of Python: None (nil), bool, int or *big.Int, float64, *Str, *List, *tuple, *Dict and a few
// objects. Every *Str knows which of its bytes came from the template and which are data, from the inputs; every
// operation on strings keeps that, so the output of Render is a list of segments, each template or data. Texts that the
// interpreter makes itself (digits, True, the punctuation of a printed list) count as template, except inside
// lists and mappings that came as data.
//
// Always true: rendering has no effect outside its result and reads nothing but its inputs; Limits bound its work.
// Inside the package a failing operation panics with an error of this package, which Parse and Render return: an
// expression has too many places that can fail for each to pass an error on.
//
// It doesn't load other templates: include, import and extends fail. Texts of error messages follow Python's
// where that is cheap, their kinds always.
//
// The language is that of https://jinja.palletsprojects.com/en/stable/templates/ with the methods of Python 3.11.
package jinja

// SPDX-License-Identifier: Apache-2.0

// Package prompt turns conversations into prompts with the chat template of a model.
//
// A Template is a parsed chat template with what probing found out about it: whether it prints tools, which form it
// wants of tool-call arguments and of contents, and which roles it knows. Render gives it a conversation in the form
// it can read; RenderJSON gives it a request as transformers' apply_chat_template would, for `sampo render`.
//
// Always true: text of users, tools and documents leaves as data segments, whatever the template does to it; roles of
// the known names, special tokens and the template's own text leave as template segments. What a template has no
// place for makes it raise, or is moved to where it has one. One thing is left out, as its maker wants: the text beside a
// call with reasoning where a template refuses the two together (gpt-oss).
//
// It does no I/O; the clock is an argument. The language itself is package jinja.
package prompt

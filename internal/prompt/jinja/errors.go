// SPDX-License-Identifier: Apache-2.0

package jinja

import (
	"fmt"
	"runtime"
)

// A SyntaxError says why a source is no template.
type SyntaxError struct {
	Name string // of the template
	Line int
	Msg  string
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("jinja: %s, line %d: %s", e.Name, e.Line, e.Msg)
}

// A RuntimeError is what Python would raise while rendering: an undefined value, a wrong type, a division by zero.
type RuntimeError struct {
	Name string // of the template
	Line int    // of the statement
	Type string // the exception's name in Python
	Msg  string
}

func (e *RuntimeError) Error() string {
	return fmt.Sprintf("jinja: %s, line %d: %s: %s", e.Name, e.Line, e.Type, e.Msg)
}

// A RaisedError is a call of raise_exception: the template itself refuses its input.
type RaisedError struct {
	Message string
}

func (e *RaisedError) Error() string { return "jinja: template raised: " + e.Message }

// A SecurityError is what the sandbox refuses.
type SecurityError struct {
	Name string
	Line int
	Msg  string
}

func (e *SecurityError) Error() string {
	return fmt.Sprintf("jinja: %s, line %d: %s", e.Name, e.Line, e.Msg)
}

// A LimitError says which of the Limits a rendering ran into.
type LimitError struct {
	Name string
	Line int
	What string // steps, bytes, output bytes, integer bits, stopped
	Max  int64  // 0 for stopped
}

func (e *LimitError) Error() string {
	if e.Max == 0 {
		return fmt.Sprintf("jinja: %s, line %d: rendering was stopped", e.Name, e.Line)
	}
	return fmt.Sprintf("jinja: %s, line %d: more than %d %s", e.Name, e.Line, e.Max, e.What)
}

// throw ends the rendering with the exception that Python would raise.
func throw(exception, format string, args ...any) {
	panic(&RuntimeError{Type: exception, Msg: fmt.Sprintf(format, args...)})
}

func typeError(format string, args ...any)  { throw("TypeError", format, args...) }
func valueError(format string, args ...any) { throw("ValueError", format, args...) }

// internalError is the Type of errors that only bugs make.
const internalError = "SystemError"

// caught turns a panic with an error of this package, or of Go's runtime, into an error; others go on.
func caught(p any, name string, line int) error {
	switch e := p.(type) {
	case *SyntaxError:
		e.Name = name
		return e
	case *RaisedError:
		return e
	case *RuntimeError:
		e.Name, e.Line = name, line
		return e
	case *SecurityError:
		e.Name, e.Line = name, line
		return e
	case *LimitError:
		e.Name, e.Line = name, line
		return e
	case runtime.Error:
		// A bug of the interpreter that some template has found. The process goes on.
		return &RuntimeError{Name: name, Line: line, Type: internalError, Msg: e.Error()}
	}
	panic(p)
}

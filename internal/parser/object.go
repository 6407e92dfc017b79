// SPDX-License-Identifier: Apache-2.0

package parser

import "encoding/json"

// An objectScan reads the JSON object of a call byte by byte, without waiting for its end. It knows just enough of
// JSON to find the name and to tell where the arguments begin and end.
type objectScan struct {
	stage     stage
	depth     int  // of arrays and objects inside a value
	quoted    bool // inside a string
	escaped   bool // after a backslash
	word      []byte
	key       string
	name      string
	committed bool // name and arguments were there: it is a call
}

// A stage is where in an object a scan stands.
type stage uint8

const (
	between     stage = iota // before the object
	beforeKey                // or the end of the object
	inKey                    // after its quotation mark
	beforeColon              //
	beforeValue              //
	inName                   // the string after "name"
	inValue                  // any other value that has an end of its own
	inScalar                 // a number or a word
	inArguments              // the object after "arguments"
	afterValue               //
)

// A signal says what a byte meant.
type signal uint8

const (
	scanOn           signal = iota // it may become a call, or is one
	scanCommits                    // it is a call, and this is the first byte of its arguments
	scanArgument                   // one more byte of them
	scanArgumentsEnd               // their last byte
	scanEnds                       // the last byte of the object
	scanFails                      // it is no JSON object; the byte was not taken
)

func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\r' || c == '\t' }

// next takes a byte.
func (s *objectScan) next(c byte) signal {
	switch {
	case s.stage == inKey || s.stage == inName:
		return s.nextInWord(c)
	case s.stage == inValue:
		return s.nextInValue(c, scanOn, scanOn)
	case s.stage == inArguments:
		return s.nextInValue(c, scanArgument, scanArgumentsEnd)
	case isSpace(c):
		return scanOn
	case s.stage == between:
		return s.when(c == '{', beforeKey)
	case s.stage == beforeKey && c == '}':
		return scanEnds
	case s.stage == beforeKey:
		s.word = s.word[:0]
		return s.when(c == '"', inKey)
	case s.stage == beforeColon:
		return s.when(c == ':', beforeValue)
	case s.stage == beforeValue:
		return s.openValue(c)
	}
	return s.nextAfterValue(c)
}

// when goes to a stage if ok, else the scan fails.
func (s *objectScan) when(ok bool, next stage) signal {
	if !ok {
		return scanFails
	}
	s.stage = next
	return scanOn
}

// nextAfterValue takes a byte after a value, or one of a number or a word, which have no end of their own.
func (s *objectScan) nextAfterValue(c byte) signal {
	if c == '}' {
		return scanEnds
	}
	if c == ',' {
		return s.when(true, beforeKey)
	}
	return s.when(s.stage == inScalar && c != '<', inScalar)
}

// nextInWord takes a byte of a key or of the name.
func (s *objectScan) nextInWord(c byte) signal {
	if s.escaped || c != '"' {
		s.escaped = !s.escaped && c == '\\'
		s.word = append(s.word, c)
		return scanOn
	}
	var text string
	if json.Unmarshal(append(append([]byte{'"'}, s.word...), '"'), &text) != nil {
		return scanFails
	}
	if s.stage == inKey {
		s.key, s.stage = text, beforeColon
		return scanOn
	}
	s.name, s.stage = text, afterValue
	return scanOn
}

// openValue takes the first byte of a value.
func (s *objectScan) openValue(c byte) signal {
	arguments := s.key == "arguments" || s.key == "parameters"
	s.depth, s.quoted = 0, false
	switch {
	case c == '{' && arguments && s.name != "" && !s.committed:
		s.stage, s.depth, s.committed = inArguments, 1, true
		return scanCommits
	case c == '"' && s.key == "name":
		s.word, s.stage = s.word[:0], inName
	case c == '"':
		s.stage, s.quoted = inValue, true
	case c == '{' || c == '[':
		s.stage, s.depth = inValue, 1
	default:
		return s.when(c != '}' && c != ',' && c != '<', inScalar)
	}
	return scanOn
}

// nextInValue takes a byte of a string, an array or an object. No JSON has "<" outside of its strings: it begins a
// marker, and the value is broken.
func (s *objectScan) nextInValue(c byte, inside, end signal) signal {
	switch {
	case s.escaped:
		s.escaped = false
	case s.quoted && c == '\\':
		s.escaped = true
	case c == '"':
		s.quoted = !s.quoted
	case s.quoted:
	case c == '<':
		return scanFails
	case c == '{' || c == '[':
		s.depth++
	case c == '}' || c == ']':
		s.depth--
	}
	if s.depth == 0 && !s.quoted {
		s.stage = afterValue
		return end
	}
	return inside
}

// SPDX-License-Identifier: Apache-2.0

package parser

import "strings"

// Stops looks for stop strings in a text that comes in pieces.
type Stops struct {
	stops   []string
	include bool   // a stop string that was met stays in the text
	held    string // may still become part of a stop string
	longest int    // length of the longest stop string
}

// NewStops returns a search for the given non-empty strings, which are valid UTF-8. If several end at the same place
// the first of the list counts.
func NewStops(stops []string, include bool) *Stops {
	s := &Stops{stops: stops, include: include}
	for _, stop := range stops {
		s.longest = max(s.longest, len(stop))
	}
	return s
}

// Add takes the next piece and returns the text that is now certain. If a stop string ends in the piece, found is
// that string, text is all that comes before it (or up to its end, if stop strings are kept), and the search is over.
func (s *Stops) Add(piece string) (text, found string) {
	if s.longest == 0 {
		return piece, ""
	}
	buf := s.held + piece
	if end, stop := s.find(buf, len(s.held)); stop != "" {
		s.held = ""
		if s.include {
			return buf[:end], stop
		}
		return buf[:end-len(stop)], stop
	}
	return s.hold(buf), ""
}

// Pass takes a piece in which no stop string may end yet; one may begin in it.
func (s *Stops) Pass(piece string) string {
	if s.longest == 0 {
		return piece
	}
	return s.hold(s.held + piece)
}

// Flush returns what is still held back, at the end of the text.
func (s *Stops) Flush() string {
	held := s.held
	s.held = ""
	return held
}

// Holding reports whether text is held back.
func (s *Stops) Holding() bool { return s.held != "" }

// find returns where the stop string that ends first ends, among those that end after from.
func (s *Stops) find(buf string, from int) (end int, stop string) {
	for _, candidate := range s.stops {
		start := max(0, from-len(candidate)+1)
		i := strings.Index(buf[start:], candidate)
		if i < 0 {
			continue
		}
		if e := start + i + len(candidate); stop == "" || e < end {
			end, stop = e, candidate
		}
	}
	return end, stop
}

// hold keeps the longest suffix of buf that a stop string may begin with and returns the rest.
func (s *Stops) hold(buf string) string {
	n := partial(buf, s.stops, s.longest)
	s.held = buf[len(buf)-n:]
	return buf[:len(buf)-n]
}

// partial returns the length of the longest suffix of buf that is a proper prefix of one of the words, of which the
// longest has so many bytes.
func partial(buf string, words []string, longest int) int {
	for n := min(len(buf), longest-1); n > 0; n-- {
		for _, w := range words {
			if n < len(w) && buf[len(buf)-n] == w[0] && buf[len(buf)-n:] == w[:n] {
				return n
			}
		}
	}
	return 0
}

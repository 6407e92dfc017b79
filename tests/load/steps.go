// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"cmp"
	"math/bits"
	"os"
	"slices"
	"strconv"
	"strings"
)

// steps are the steps of one batch size: of so many rows that decode, from Rows on.
type steps struct {
	Rows    int      `json:"decode_rows_from"`
	Guesses bool     `json:"guesses,omitempty"` // with guesses among the rows: steps of fewer sequences
	Steps   int      `json:"steps"`             // all
	Mixed   int      `json:"mixed"`             // of them, with prompt tokens
	Prompt  float64  `json:"prompt_tokens"`     // in a mixed step, on average
	Plain   float64  `json:"plain_p50_s"`       // median without prompts
	Noise   float64  `json:"plain_p99_to_p50"`  // what the machine does to steps that are all alike
	Seconds spreadOf `json:"all_s"`
	Ratio   float64  `json:"p99_to_plain_p50"`
}

// leastSteps is how many plain steps a median needs.
const leastSteps = 20

// bucketOf groups batch sizes: 1, 2, 3 to 4, 5 to 8 and so on. It returns the group's least.
func bucketOf(rows int) int {
	if rows == 1 {
		return 1
	}
	return 1<<(bits.Len(uint(rows-1))-1) + 1
}

// readSteps reads the durations of steps from a server's log.
func readSteps(path string) (list []steps, err error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	type kind struct {
		rows    int
		guesses bool
	}
	plain, all := map[kind][]float64{}, map[kind][]float64{}
	byKind := map[kind]*steps{}
	for lines := bufio.NewScanner(file); lines.Scan(); {
		l, ok := parseStep(lines.Text())
		if !ok || l.rows == 0 {
			continue
		}
		k := kind{bucketOf(l.rows), l.guesses > 0}
		if byKind[k] == nil {
			byKind[k] = &steps{Rows: k.rows, Guesses: k.guesses}
		}
		s := byKind[k]
		s.Steps++
		all[k] = append(all[k], l.seconds)
		if l.prompt == 0 {
			plain[k] = append(plain[k], l.seconds)
		} else {
			s.Mixed++
			s.Prompt += float64(l.prompt)
		}
	}
	for k, s := range byKind {
		if len(plain[k]) < leastSteps {
			continue
		}
		s.Prompt /= float64(max(1, s.Mixed))
		alike := spreadFrom(plain[k])
		s.Plain, s.Noise = alike.P50, alike.P99/alike.P50
		s.Seconds = spreadFrom(all[k])
		s.Ratio = s.Seconds.P99 / s.Plain
		list = append(list, *s)
	}
	slices.SortFunc(list, func(a, b steps) int {
		if a.Guesses != b.Guesses {
			if b.Guesses {
				return -1
			}
			return 1
		}
		return cmp.Compare(a.Rows, b.Rows)
	})
	return list, nil
}

// A line is what the log says of one step.
type line struct {
	rows, guesses, prompt int
	seconds               float64
}

// parseStep reads one line of the log; ok tells whether it is about a step.
func parseStep(text string) (l line, ok bool) {
	if !strings.Contains(text, `msg="engine: step"`) {
		return l, false
	}
	for field := range strings.FieldsSeq(text) {
		key, value, _ := strings.Cut(field, "=")
		switch key {
		case "decode":
			l.rows, _ = strconv.Atoi(value)
		case "guesses":
			l.guesses, _ = strconv.Atoi(value)
		case "prefill":
			l.prompt, _ = strconv.Atoi(value)
		case "seconds":
			l.seconds, _ = strconv.ParseFloat(value, 64)
		}
	}
	return l, true
}

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
	Steps   int      `json:"steps"`            // all
	Mixed   int      `json:"mixed"`            // of them, with prompt tokens
	Prompt  float64  `json:"prompt_tokens"`    // in a mixed step, on average
	Plain   float64  `json:"plain_p50_s"`      // median without prompts
	Noise   float64  `json:"plain_p99_to_p50"` // what the machine does to steps that are all alike
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
	plain, all := map[int][]float64{}, map[int][]float64{}
	byRows := map[int]*steps{}
	for lines := bufio.NewScanner(file); lines.Scan(); {
		rows, prompt, seconds, ok := parseStep(lines.Text())
		if !ok || rows == 0 {
			continue
		}
		b := bucketOf(rows)
		if byRows[b] == nil {
			byRows[b] = &steps{Rows: b}
		}
		s := byRows[b]
		s.Steps++
		all[b] = append(all[b], seconds)
		if prompt == 0 {
			plain[b] = append(plain[b], seconds)
		} else {
			s.Mixed++
			s.Prompt += float64(prompt)
		}
	}
	for b, s := range byRows {
		if len(plain[b]) < leastSteps {
			continue
		}
		s.Prompt /= float64(max(1, s.Mixed))
		alike := spreadFrom(plain[b])
		s.Plain, s.Noise = alike.P50, alike.P99/alike.P50
		s.Seconds = spreadFrom(all[b])
		s.Ratio = s.Seconds.P99 / s.Plain
		list = append(list, *s)
	}
	slices.SortFunc(list, func(a, b steps) int { return cmp.Compare(a.Rows, b.Rows) })
	return list, nil
}

// parseStep reads one line of the log; ok tells whether it is about a step.
func parseStep(line string) (rows, prompt int, seconds float64, ok bool) {
	if !strings.Contains(line, `msg="engine: step"`) {
		return 0, 0, 0, false
	}
	for field := range strings.FieldsSeq(line) {
		key, value, _ := strings.Cut(field, "=")
		switch key {
		case "decode":
			rows, _ = strconv.Atoi(value)
		case "prefill":
			prompt, _ = strconv.Atoi(value)
		case "seconds":
			seconds, _ = strconv.ParseFloat(value, 64)
		}
	}
	return rows, prompt, seconds, true
}

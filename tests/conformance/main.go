// SPDX-License-Identifier: Apache-2.0

// Command conformance checks a running server against the OpenAI-compatible API, case by case:
//
//	go run ./tests/conformance --base-url http://127.0.0.1:7267
//
// It prints a table and ends with status 1 if a case fails. A case that the server's model or configuration gives no
// occasion for is skipped, with the reason. It can be run against any server.
//
// With --mutations it checks the cases themselves: a proxy breaks one property after the other, and the property's case
// must fail.
//
// The cases hold for every model: where one needs a certain text, it takes it from what the model says. The model of
// tests/scripted says what it is asked to: with --scripted the questions are in its words, and cases that need an exact
// text are sure to find one.
//
// Some properties show only in a server that is set up for them: whose engine fails, whose queue is short, whose models do
// not fit. With --own the program starts such servers itself, of this repository's packages, and runs those cases on them.
package main

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A testCase is one numbered property of the API.
type testCase struct {
	number int
	title  string
	run    func(c *check)
}

// A check is a case that runs. Its methods end the case when something is wrong.
type check struct {
	*client
	details []string
}

// An ending is how fatal and skip leave a case.
type ending struct{ skipped bool }

// errorf notes a failure; the case goes on.
func (c *check) errorf(format string, args ...any) {
	c.details = append(c.details, fmt.Sprintf(format, args...))
}

// fatalf notes a failure and ends the case.
func (c *check) fatalf(format string, args ...any) {
	c.errorf(format, args...)
	panic(ending{})
}

// skipf ends the case without a verdict.
func (c *check) skipf(format string, args ...any) {
	c.errorf(format, args...)
	panic(ending{skipped: true})
}

// expect notes a failure unless ok.
func (c *check) expect(ok bool, format string, args ...any) {
	if !ok {
		c.errorf(format, args...)
	}
}

// perform runs a case and returns its verdict. A case that needs a server of its own gets one.
func perform(cl *client, tc testCase) (verdict, details string) {
	if start := ownServers[tc.title]; start != nil {
		s := start()
		defer s.close()
		cl = s.client()
	}
	return verdictOf(cl, tc)
}

func verdictOf(cl *client, tc testCase) (verdict, details string) {
	c := &check{client: cl}
	skipped := false
	func() {
		defer func() {
			switch v := recover().(type) {
			case nil:
			case ending:
				skipped = v.skipped
			default:
				c.errorf("panic: %v", v)
			}
		}()
		tc.run(c)
	}()
	details = strings.Join(c.details, "; ")
	switch {
	case skipped:
		return "skip", details
	case len(c.details) > 0:
		return "FAIL", details
	}
	return "ok", ""
}

// selected reports whether a list like "1,5-9" names n; an empty list names all.
func selected(list string, n int) bool {
	if list == "" {
		return true
	}
	for part := range strings.SplitSeq(list, ",") {
		low, high, isRange := strings.Cut(strings.TrimSpace(part), "-")
		first, err1 := strconv.Atoi(low)
		last, err2 := first, err1
		if isRange {
			last, err2 = strconv.Atoi(high)
		}
		if err1 == nil && err2 == nil && n >= first && n <= last {
			return true
		}
	}
	return false
}

func main() {
	baseURL := flag.String("base-url", "http://127.0.0.1:7267", "the server, with or without /v1")
	model := flag.String("model", "", "model to ask; by default the first of the list")
	key := flag.String("key", "", "API key")
	only := flag.String("only", "", "cases to run, such as 1,5-9")
	prove := flag.Bool("mutations", false, "check the cases instead: each must fail when its property is broken on the way")
	scripted := flag.Bool("scripted", false, "the model is that of tests/scripted: ask in its words")
	own := flag.Bool("own", false, "run the cases too that need servers of their own, on this repository's")
	flag.Parse()

	cl, err := newClient(*baseURL, *model, *key)
	if err != nil {
		fmt.Fprintln(os.Stderr, "conformance:", err)
		os.Exit(1)
	}
	cl.scripted = *scripted
	var list []testCase
	for _, tc := range cases() {
		if selected(*only, tc.number) && (ownServers[tc.title] == nil || *own) {
			list = append(list, tc)
		}
	}
	fmt.Printf("%s, model %s, context %d\n", cl.url, cl.model, cl.context)
	if *prove {
		if missed := proveCases(cl, list); missed > 0 {
			fmt.Printf("%d mutations went unnoticed\n", missed)
			os.Exit(1)
		}
		return
	}
	failed := 0
	for _, tc := range list {
		begun := time.Now()
		verdict, details := perform(cl, tc)
		if verdict == "FAIL" {
			failed++
		}
		fmt.Printf("%4d  %-4s  %-62s %6.1fs  %s\n", tc.number, verdict, tc.title, time.Since(begun).Seconds(), details)
	}
	if failed > 0 {
		fmt.Printf("%d cases failed\n", failed)
		os.Exit(1)
	}
}

// cases returns all cases in order.
func cases() []testCase {
	var list []testCase
	for _, part := range [][]testCase{plainCases, samplingCases, stopCases, streamCases, logprobCases, messageCases, thinkingCases, toolCases, completionCases, lengthCases, endpointCases, beamCases, exactCases, ownCases} {
		list = append(list, part...)
	}
	slices.SortStableFunc(list, func(a, b testCase) int { return a.number - b.number })
	return list
}

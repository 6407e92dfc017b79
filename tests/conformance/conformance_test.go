// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"

	"github.com/sampo-ai/sampo/internal/local"
	"github.com/sampo-ai/sampo/internal/server"
	"github.com/sampo-ai/sampo/internal/tensor"
	"github.com/sampo-ai/sampo/internal/testkit/scriptmodel"
)

// Cases that are a matter of time: a machine that is busy with other tests fails them.
var timed = map[int]bool{41: true, 43: true, 84: true}

func TestCasesHoldForTheScriptedModel(t *testing.T) {
	pool := tensor.NewPool(2)
	defer pool.Close()
	m, err := scriptmodel.Open(pool, local.Options{CacheBytes: 256 << 20})
	if err != nil {
		t.Fatal(err)
	}
	s := listen(server.Config{Models: []server.Model{{Model: m.Model}}}, m.Close)
	defer s.close()
	cl := s.client()
	cl.scripted = true
	ran := 0
	for _, tc := range cases() {
		if timed[tc.number] {
			continue
		}
		switch verdict, details := perform(cl, tc); verdict {
		case "FAIL":
			t.Errorf("case %d, %s: %s", tc.number, tc.title, details)
		case "ok":
			ran++
		}
	}
	if ran < 105 {
		t.Errorf("only %d cases ran", ran)
	}
}

// A case that nothing can break proves nothing, and a mutation without a case breaks nothing.
func TestEveryCaseHasAMutation(t *testing.T) {
	mutated, numbers := map[int]bool{}, map[int]bool{}
	for _, m := range mutations {
		mutated[m.number] = true
	}
	for _, tc := range cases() {
		numbers[tc.number] = true
		if !mutated[tc.number] {
			t.Errorf("case %d, %s, has no mutation", tc.number, tc.title)
		}
	}
	for _, m := range mutations {
		if !numbers[m.number] {
			t.Errorf("mutation %d, %s, has no case", m.number, m.what)
		}
	}
	for n := 1; n <= 105; n++ {
		if !numbers[n] {
			t.Errorf("no case has the number %d", n)
		}
	}
}

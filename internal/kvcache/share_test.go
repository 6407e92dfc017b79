// SPDX-License-Identifier: Apache-2.0

package kvcache

import (
	"testing"

	"github.com/sampo-ai/sampo/internal/token"
)

// A visitor lets tenants compute prompts of one block after the other, and asks what is still there.
type visitor struct {
	t    *testing.T
	pool *Pool
}

func newVisitor(t *testing.T, blocks int) visitor {
	pool, err := New(Config{BlockSize: 1, Groups: []Group{{}}, Blocks: []int{blocks}})
	if err != nil {
		t.Fatal(err)
	}
	return visitor{t, pool}
}

// visit computes a prompt that only this tenant has, and returns how many of its tokens the cache had.
func (v visitor) visit(tenant string, prompt token.ID) int {
	v.t.Helper()
	table := v.pool.NewTable(Root(tenant), 2)
	table.Belong(tenant)
	list := []token.ID{prompt, 0}
	found := v.pool.Match(table, list)
	if !v.pool.Grow(table, 2) {
		v.t.Fatal("no room")
	}
	v.pool.Commit(table, list)
	v.pool.Release(table)
	if err := v.pool.Check(); err != nil {
		v.t.Fatal(err)
	}
	return found
}

func TestATenantThatFloodsLeavesOthersTheirShare(t *testing.T) {
	v := newVisitor(t, 20)
	for i := range token.ID(4) {
		v.visit("small", i)
	}
	for i := range token.ID(100) {
		v.visit("flood", i)
	}
	for i := range token.ID(4) {
		if v.visit("small", i) != 1 {
			t.Errorf("prompt %d was driven out", i)
		}
	}
	if v.visit("flood", 99) != 1 || v.visit("flood", 0) != 0 {
		t.Errorf("of one tenant's blocks the oldest are not the first to go")
	}
}

func TestATenantThatComesLateGetsItsShare(t *testing.T) {
	v := newVisitor(t, 20)
	for i := range token.ID(100) {
		v.visit("first", i)
	}
	for i := range token.ID(5) { // two blocks each
		v.visit("late", i)
	}
	for i := range token.ID(5) {
		if v.visit("late", i) != 1 {
			t.Errorf("prompt %d of who came late is gone", i)
		}
	}
	if v.visit("first", 99) != 1 {
		t.Errorf("the latest prompt of who was there is gone")
	}
}

// The blocks of a request's further choices were nobody's, so a tenant that asked for several had two shares of the cache.
func TestForksFillTheShareOfTheirTenant(t *testing.T) {
	v := newVisitor(t, 20)
	for i := range token.ID(10) {
		v.visit("other", i)
	}
	for i := range token.ID(100) {
		parent := v.pool.NewTable(Root("flood"), 1)
		parent.Belong("flood")
		fork := v.pool.Fork(parent, 2)
		list := []token.ID{i, 0}
		if !v.pool.Grow(fork, 2) {
			t.Fatal("no room")
		}
		v.pool.Commit(fork, list)
		v.pool.Release(fork)
		v.visit("flood", 1000+i)
	}
	for i := 5; i < 10; i++ {
		if v.visit("other", token.ID(i)) != 1 {
			t.Errorf("prompt %d was driven out", i)
		}
	}
}

func TestTenantsWithoutBlocksAreForgotten(t *testing.T) {
	v := newVisitor(t, 2)
	for i := range token.ID(1000) {
		v.visit(string(rune('a'+i%20)), i)
	}
	if s := &v.pool.stores[0]; len(s.owners) != 1 || len(s.blocks) > 20 {
		t.Errorf("%d tenants and %d entries are left", len(s.owners), len(s.blocks))
	}
}

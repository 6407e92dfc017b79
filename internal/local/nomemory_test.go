// SPDX-License-Identifier: Apache-2.0

//go:build unix

package local

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/sampo-ai/sampo/internal/tensor"
	"golang.org/x/sys/unix"
)

// A server under "ulimit -v" ended with the stack of a goroutine.
func TestLackOfMemoryIsAnErrorOfTheModel(t *testing.T) {
	_, err := orNoMemory("big", func() (*Model, error) {
		tensor.NewKVs(tensor.KVF16, []int{math.MaxInt >> 15}, 2, 64) // more than any address space
		return &Model{}, nil
	})
	if !errors.Is(err, unix.ENOMEM) || !strings.HasPrefix(err.Error(), "local: model big: ") {
		t.Errorf("got %v, want an error of the model", err)
	}
	defer func() {
		if p := recover(); p != "something else" {
			t.Errorf("another panic became %v", p)
		}
	}()
	_, _ = orNoMemory("small", func() (*Model, error) { panic("something else") })
}

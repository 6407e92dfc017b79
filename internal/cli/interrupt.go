// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"os"
)

// errInterrupted says that a signal came before some work was done.
var errInterrupted = errors.New("interrupted")

// unlessInterrupted does what nothing stops, such as packing weights, which may take minutes. If a signal comes it is not
// waited for: the process is about to end. In case it goes on, what comes of it is given to drop.
func unlessInterrupted[T any](signals <-chan os.Signal, work func() (T, error), drop func(T)) (T, error) {
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	go func() {
		v, err := work()
		done <- result{v, err}
	}()
	select {
	case r := <-done:
		return r.value, r.err
	case <-signals:
		go func() { drop((<-done).value) }()
		var none T
		return none, errInterrupted
	}
}

// untilInterrupt returns a context that ends at the next signal. stop must be called.
func (e *Env) untilInterrupt(ctx context.Context) (_ context.Context, stop func()) {
	signals := e.signals()
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		select {
		case <-signals:
			cancel()
		case <-done:
		}
	}()
	return ctx, func() {
		close(done)
		cancel()
	}
}

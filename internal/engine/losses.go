// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"errors"
	"fmt"
	"sync"
	"syscall"
	"time"
)

// lossPause is how long the log is silent about a cause that it told of.
const lossPause = 5 * time.Minute

// losses are the blocks that could not be written to the disk. A full disk refuses all of them, hundreds in a second: the log
// tells of a cause at once, and then now and then, with the number of blocks.
//
// Methods may be called from any goroutine.
type losses struct {
	mu     sync.Mutex
	blocks int
	last   error
	causes map[syscall.Errno]*loss // 0: what the system has no number for
}

// A loss is what is known of one cause.
type loss struct {
	untold int // blocks
	told   time.Time
}

// add counts a block that was lost. It returns of how many the log is to tell now.
func (l *losses) add(err error, now time.Time) (tell int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.blocks++
	l.last = err
	var cause syscall.Errno
	_ = errors.As(err, &cause)
	known := l.causes[cause]
	if known == nil {
		if l.causes == nil {
			l.causes = map[syscall.Errno]*loss{}
		}
		known = &loss{told: now.Add(-lossPause)}
		l.causes[cause] = known
	}
	if known.untold++; now.Sub(known.told) < lossPause {
		return 0
	}
	tell, known.untold, known.told = known.untold, 0, now
	return tell
}

// err tells of all losses; it is nil if there are none.
func (l *losses) err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.blocks == 0 {
		return nil
	}
	return fmt.Errorf("engine: %d cache blocks could not be written to the disk, the last: %w", l.blocks, l.last)
}

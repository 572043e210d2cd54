// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
)

// progress prints steps and notes, from several goroutines.
type progress struct {
	mu  sync.Mutex
	out io.Writer
}

func newProgress(out io.Writer) *progress {
	if out == nil {
		out = io.Discard
	}
	return &progress{out: out}
}

// step prints the next step.
func (p *progress) step(format string, args ...any) {
	p.stepWith(fmt.Sprintf(format, args...))
}

// stepWith prints the next step and its notes, which no line of another goroutine divides.
func (p *progress) stepWith(title string, notes ...string) {
	p.print(strings.Join(append([]string{"==> " + title}, notes...), "\n    "))
}

// note adds a line to the current step.
func (p *progress) note(format string, args ...any) {
	p.print("    " + fmt.Sprintf(format, args...))
}

func (p *progress) print(lines string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	// A failed write of progress must not stop the system.
	_, _ = fmt.Fprintln(p.out, lines)
}

// round rounds a duration for output.
func round(d time.Duration) time.Duration {
	if d < 10*time.Second {
		return d.Round(100 * time.Millisecond)
	}
	return d.Round(time.Second)
}

package stack

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// progress prints one line for each step, from several goroutines.
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
	p.print("==> " + fmt.Sprintf(format, args...))
}

// note adds a line to the current step.
func (p *progress) note(format string, args ...any) {
	p.print("    " + fmt.Sprintf(format, args...))
}

func (p *progress) print(line string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	// A failed write of progress must not stop the system.
	_, _ = fmt.Fprintln(p.out, line)
}

// round rounds a duration for output.
func round(d time.Duration) time.Duration {
	if d < 10*time.Second {
		return d.Round(100 * time.Millisecond)
	}
	return d.Round(time.Second)
}

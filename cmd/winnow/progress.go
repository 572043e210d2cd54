package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"

	"github.com/winnow-dev/winnow/cmd/winnow/plaintext"
)

// progressPulse is the minimum time between two updates of the terminal.
const progressPulse = 100 * time.Millisecond

// progress shows the current step on a terminal, in one line that is erased afterwards. Without
// a terminal it shows nothing.
type progress struct {
	terminal io.Writer  // nil without a terminal
	columns  func() int // of the terminal, which users resize; nil: plaintext.MaxLine

	mu    sync.Mutex // the HTTP transport calls count on its own goroutines
	text  string
	shown time.Time
}

func newProgress(stderr io.Writer) *progress {
	if os.Getenv("TERM") == "dumb" || !isTerminal(stderr) {
		return &progress{}
	}
	return &progress{terminal: stderr, columns: func() int { return columnsOfTerminal(stderr) }}
}

// columnsOfTerminal returns the width of a terminal, plaintext.MaxLine if it has none.
func columnsOfTerminal(w io.Writer) int {
	if file, ok := w.(*os.File); ok {
		if columns, _, err := term.GetSize(int(file.Fd())); err == nil && columns > 0 {
			return columns
		}
	}
	return plaintext.MaxLine
}

func isTerminal(w io.Writer) bool {
	file, ok := w.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// step shows the text until the next step.
func (p *progress) step(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.text = text
	p.show(text)
}

// clear erases the line.
func (p *progress) clear() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.text != "" {
		p.show("")
	}
	p.text = ""
}

func (p *progress) show(text string) {
	if p.terminal == nil {
		return
	}
	p.shown = time.Now()
	width := plaintext.MaxLine
	if p.columns != nil {
		width = min(p.columns(), width)
	}
	// A terminal breaks a longer line, and erases only the last part of it.
	fmt.Fprint(p.terminal, "\r\x1b[K"+plaintext.Brief(text, width-1))
}

// count shows the bytes of a transfer that are done.
func (p *progress) count(done, total int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.text == "" || time.Since(p.shown) < progressPulse {
		return
	}
	p.show(fmt.Sprintf("%s: %s of %s", p.text, size(done), size(total)))
}

// observe returns a transport that counts the bytes of blobs.
func (p *progress) observe(next http.RoundTripper) http.RoundTripper {
	return &meter{progress: p, next: next}
}

// meter is a transport that counts the bytes of blobs.
type meter struct {
	progress *progress
	next     http.RoundTripper
}

// RoundTrip is part of http.RoundTripper.
func (m *meter) RoundTrip(req *http.Request) (*http.Response, error) {
	if m.progress.terminal == nil || !strings.Contains(req.URL.Path, "/blobs/") {
		return m.next.RoundTrip(req)
	}
	if req.Body != nil && req.ContentLength > 0 {
		counted := req.Clone(req.Context())
		counted.Body = &countedBody{ReadCloser: req.Body, progress: m.progress, total: req.ContentLength}
		req = counted
	}
	response, err := m.next.RoundTrip(req)
	if err == nil && response.ContentLength > 0 {
		response.Body = &countedBody{ReadCloser: response.Body, progress: m.progress, total: response.ContentLength}
	}
	return response, err
}

type countedBody struct {
	io.ReadCloser
	progress    *progress
	done, total int64
}

func (b *countedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.done += int64(n)
	b.progress.count(b.done, b.total)
	return n, err
}

// size formats a number of bytes for people.
func size(bytes int64) string {
	const kilo, mega = 1 << 10, 1 << 20
	switch {
	case bytes < kilo:
		return plaintext.Count(int(bytes), "byte")
	case bytes < mega:
		return fmt.Sprintf("%.1f KiB", float64(bytes)/kilo)
	}
	return fmt.Sprintf("%.1f MiB", float64(bytes)/mega)
}

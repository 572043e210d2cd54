// SPDX-License-Identifier: Apache-2.0

package output

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/winnow-dev/winnow/cmd/winnow/plaintext"
)

// Progress shows the current step on a terminal, in one line that is erased afterwards. Without
// a terminal it shows nothing.
type Progress struct {
	terminal io.Writer  // nil without a terminal
	columns  func() int // of the terminal, which users resize; nil: plaintext.MaxLine

	mu    sync.Mutex // the HTTP transport calls count on its own goroutines
	text  string
	shown time.Time
}

// progressPulse is the minimum time between two updates of the terminal.
const progressPulse = 100 * time.Millisecond

// NewProgress returns the progress of a verb on its standard error.
func NewProgress(stderr io.Writer) *Progress {
	if os.Getenv("TERM") == "dumb" || !IsTerminal(stderr) {
		return &Progress{}
	}
	return &Progress{terminal: stderr, columns: func() int { return columnsOfTerminal(stderr) }}
}

// Step shows the text until the next step.
func (p *Progress) Step(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.text = text
	p.show(text)
}

// Clear erases the line.
func (p *Progress) Clear() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.text != "" {
		p.show("")
	}
	p.text = ""
}

func (p *Progress) show(text string) {
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
func (p *Progress) count(done, total int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.text == "" || time.Since(p.shown) < progressPulse {
		return
	}
	p.show(fmt.Sprintf("%s: %s of %s", p.text, Size(done), Size(total)))
}

// Observe returns a transport that counts the bytes of blobs.
func (p *Progress) Observe(next http.RoundTripper) http.RoundTripper {
	return &meter{progress: p, next: next}
}

// meter is a transport that counts the bytes of blobs.
type meter struct {
	progress *Progress
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
	progress    *Progress
	done, total int64
}

func (b *countedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.done += int64(n)
	b.progress.count(b.done, b.total)
	return n, err
}

// Size formats a number of bytes for people.
func Size(bytes int64) string {
	const kilo, mega = 1 << 10, 1 << 20
	switch {
	case bytes < kilo:
		return plaintext.Count(int(bytes), "byte")
	case bytes < mega:
		return fmt.Sprintf("%.1f KiB", float64(bytes)/kilo)
	}
	return fmt.Sprintf("%.1f MiB", float64(bytes)/mega)
}

// SPDX-License-Identifier: Apache-2.0

package output

import (
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// The transport counts the bytes of both directions and does not change them.
func TestProgressCountsBlobs(t *testing.T) {
	const body = "0123456789"
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		_, _ = io.Copy(w, req.Body)
	}))
	defer server.Close()
	var terminal strings.Builder
	p := &Progress{terminal: &terminal, text: "pushing"}
	response, err := (&http.Client{Transport: p.Observe(http.DefaultTransport)}).Post(server.URL+"/v2/a/blobs/uploads/1", "", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	got, err := io.ReadAll(response.Body)
	if err != nil || string(got) != body {
		t.Fatalf("got %q, %v", got, err)
	}
	p.Clear()
	if shown := terminal.String(); !strings.HasPrefix(shown, "\r\x1b[Kpushing: 10 bytes of 10 bytes") || !strings.HasSuffix(shown, "\r\x1b[K") {
		t.Errorf("the terminal has %q", shown)
	}
}

func TestProgressIsALine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var terminal strings.Builder
		p := &Progress{terminal: &terminal}
		p.Step("pushing " + strings.Repeat("x", 100))
		p.Step("pulling")
		p.count(1<<20, 5<<20) // too soon
		time.Sleep(progressPulse)
		p.count(3<<20, 5<<20)
		p.count(4<<20, 5<<20) // too soon
		p.Clear()
		p.Clear()
		time.Sleep(progressPulse)
		p.count(1, 2) // of a connection that is being closed
		want := []string{"", "pushing " + strings.Repeat("x", 68) + "...", "pulling", "pulling: 3.0 MiB of 5.0 MiB", ""}
		if got := strings.Split(terminal.String(), "\r\x1b[K"); !slices.Equal(got, want) {
			t.Errorf("the terminal has %q, want %q", got, want)
		}
	})
}

// A line that the terminal breaks is not erased as a whole.
func TestProgressFitsANarrowTerminal(t *testing.T) {
	for columns, want := range map[int]string{
		40: "waiting for CatalogSelection flux-sy...", 200: "waiting for CatalogSelection flux-system/applications", 1: "...", 0: "...",
	} {
		var terminal strings.Builder
		p := &Progress{terminal: &terminal, columns: func() int { return columns }}
		p.Step("waiting for CatalogSelection flux-system/applications")
		if got := terminal.String(); got != "\r\x1b[K"+want {
			t.Errorf("a terminal of %d columns has %q", columns, got)
		}
	}
}

func TestProgressIsSilentWithoutATerminal(t *testing.T) {
	var out strings.Builder
	p := NewProgress(&out)
	p.Step("pushing")
	p.count(1, 2)
	p.Clear()
	if out.String() != "" {
		t.Errorf("wrote %q", out.String())
	}
}

func TestSize(t *testing.T) {
	for bytes, want := range map[int64]string{0: "0 bytes", 1: "1 byte", 1023: "1023 bytes", 1024: "1.0 KiB", 1 << 20: "1.0 MiB", 67108864: "64.0 MiB"} {
		if got := Size(bytes); got != want {
			t.Errorf("size(%d) = %q, want %q", bytes, got, want)
		}
	}
}

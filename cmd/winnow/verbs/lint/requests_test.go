// SPDX-License-Identifier: Apache-2.0

package lint_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/winnow-dev/winnow/cmd/winnow/root"
	"github.com/winnow-dev/winnow/test/clitest"
	"github.com/winnow-dev/winnow/test/clitest/hosttest"
)

// Of what a hostile repository answers, a bounded part is read, and nothing is written but to the cache.
func TestLintReadsABoundedPartOfAHostileRepository(t *testing.T) {
	chart := hosttest.WebChart(t)
	for _, test := range []struct {
		name    string
		handler http.HandlerFunc
		want    string
	}{
		{"an index without an end", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.Copy(w, endless("- x\n")) }, "it has more than 33554432 bytes"},
		{"an archive without an end", func(w http.ResponseWriter, r *http.Request) {
			if strings.HasSuffix(r.URL.Path, "index.yaml") {
				_, _ = io.WriteString(w, hosttest.ChartIndex("../../../x"))
				return
			}
			_, _ = io.Copy(w, endless("x"))
		}, "it has more than 33554432 bytes"},
		{"redirects without an end", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/a"+r.URL.Path, http.StatusFound)
		}, "it is redirected more than 10 times"},
		{"an index that names itself", func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, hosttest.ChartIndex("index.yaml"))
		}, "web"},
		{"an archive above the repository", func(w http.ResponseWriter, r *http.Request) {
			switch r.URL.Path {
			case "/stable/index.yaml":
				_, _ = io.WriteString(w, hosttest.ChartIndex("../../../../etc/passwd"))
			case "/etc/passwd":
				_, _ = w.Write(chart)
			default:
				w.WriteHeader(http.StatusNotFound)
			}
		}, "spec.description is missing"},
		{"a response that ends early", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "1000")
			_, _ = io.WriteString(w, "entries:")
		}, "unexpected EOF"},
	} {
		t.Run(test.name, func(t *testing.T) {
			authority := hosttest.ServePublic(t, test.handler)
			got := clitest.Execute(t.Context(), "lint", hosttest.ChartCatalog(t, "https://example.com/stable", "1.0.0"), "--charts", "--ca-file", authority)
			if out := got.Stdout + got.Stderr; !strings.Contains(out, test.want) || strings.Contains(out, "panic") {
				t.Errorf("%d: want %q\n%s", got.Code, test.want, out)
			}
		})
	}
}

// endless is a text that repeats without an end.
func endless(text string) io.Reader { return &repeated{bytes.Repeat([]byte(text), 1<<12)} }

type repeated struct{ text []byte }

func (r *repeated) Read(p []byte) (int, error) { return copy(p, r.text), nil }

// A repository that never answers does not keep an interrupted command line.
func TestLintIsInterruptedWhileARepositoryIsSilent(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	authority := hosttest.ServePublic(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "entries:\n")
		w.(http.Flusher).Flush()
		cancel()
		<-r.Context().Done()
	}))
	got := clitest.Execute(ctx, "lint", hosttest.ChartCatalog(t, "https://example.com/stable", "1.0.0"), "--charts", "--ca-file", authority)
	if got.Code != root.ExitFailed || got.Stderr != "winnow: interrupted\n" {
		t.Errorf("%d\n%s%s", got.Code, got.Stdout, got.Stderr)
	}
}

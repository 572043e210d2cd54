// SPDX-License-Identifier: Apache-2.0

package functions_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/opencontainers/go-digest"

	"github.com/winnow-dev/winnow/cmd/winnow/root"
	"github.com/winnow-dev/winnow/test/clitest"
	"github.com/winnow-dev/winnow/test/clitest/hosttest"
)

// A file of functions on a public web server is not fetched from this machine.
func TestADownloadIsDirectedNowhereInside(t *testing.T) {
	secure := hosttest.StartService(t, true, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "inside") })
	authority := hosttest.ServePublic(t, http.RedirectHandler(secure.URL+"/x", http.StatusFound))
	line := []string{"functions", "view", "https://example.com/catalog.yaml@" + digest.FromString("inside").String(), "--ca-file", authority}
	for _, test := range []struct {
		flags      []string
		want, seen string
	}{
		{nil, "internal address 127.0.0.1", ""},
		{[]string{"--plain-http"}, "internal address 127.0.0.1", ""},
		{[]string{"--allowed-token-hosts=" + secure.Host()}, "must be a mapping, not a string", "GET /x"},
	} {
		got := clitest.Execute(t.Context(), append(line, test.flags...)...)
		if found := secure.Seen(); found != test.seen || got.Code == root.ExitOK || !strings.Contains(got.Stderr, test.want) {
			t.Errorf("%v: the network received %q, want %q: %s", test.flags, found, test.seen, got.Stderr)
		}
	}
}

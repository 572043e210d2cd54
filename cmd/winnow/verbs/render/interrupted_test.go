// SPDX-License-Identifier: Apache-2.0

package render_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/winnow-dev/winnow/cmd/winnow/root"
	"github.com/winnow-dev/winnow/test/clitest"
)

// An interrupted pull leaves the output directory unchanged.
func TestRenderInterruptedWhilePulling(t *testing.T) {
	packed, err := clitest.Pack("../../../../examples/catalog")
	if err != nil {
		t.Fatal(err)
	}
	inner := clitest.NewRegistry(t, packed)
	for _, output := range []string{"-o", "--archive"} {
		t.Run(output, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
				if !strings.Contains(req.URL.Path, "/blobs/") {
					inner.ServeHTTP(w, req)
					return
				}
				cancel()
				<-req.Context().Done()
			}))
			defer server.Close()
			dir := t.TempDir()
			target := filepath.Join(dir, "out")
			if output == "--archive" {
				clitest.WriteFile(t, target, "last good")
			}
			source := "oci://" + strings.TrimPrefix(server.URL, "http://") + "/catalog"
			got := clitest.Execute(ctx, "render", "-f", "../../../../examples/gitops/selection.yaml", "--plain-http",
				"--source", source, output, target)
			want := clitest.Execution{Code: root.ExitFailed, Stderr: "winnow: interrupted\n"}
			if got != want {
				t.Errorf("got %+v, want %+v", got, want)
			}
			entries, err := os.ReadDir(dir)
			if err != nil {
				t.Fatal(err)
			}
			if output == "-o" && len(entries) != 0 {
				t.Errorf("left behind: %v", entries)
			}
			if output == "--archive" && (len(entries) != 1 || clitest.ReadFile(t, target) != "last good") {
				t.Errorf("the archive did not survive: %v", entries)
			}
		})
	}
}

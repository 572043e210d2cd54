// SPDX-License-Identifier: Apache-2.0

package get_test

import (
	"context"
	"io"
	"strings"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/cmd/winnow/root"
	"github.com/winnow-dev/winnow/test/clitest/livetest"
)

// testWatch follows the selections of a namespace, and interrupts that.
func testWatch(c *livetest.Cluster) {
	c.ApplyAll(livetest.InNamespace("watched", "{sources: [{name: catalog}]}"))
	ctx, cancel := context.WithCancel(c.T.Context())
	defer cancel()
	printed, out := io.Pipe()
	lines := make(chan string)
	go func() {
		defer close(lines)
		content := make([]byte, 64<<10)
		for rest := ""; ; {
			n, err := printed.Read(content)
			rest += string(content[:n])
			for before, after, found := strings.Cut(rest, "\n"); found; before, after, found = strings.Cut(rest, "\n") {
				lines <- before
				rest = after
			}
			if err != nil {
				return
			}
		}
	}()
	code := make(chan int, 1)
	var stderr strings.Builder
	go func() {
		code <- root.Run(ctx, []string{"get", "-w", "-n", "watched", "--kubeconfig", c.Kubeconfig()}, strings.NewReader(""), out, &stderr)
		out.Close()
	}()
	next := func(want string) {
		c.T.Helper()
		select {
		case got := <-lines:
			if got != want {
				c.T.Errorf("printed %q, want %q", got, want)
			}
		case <-time.After(20 * time.Second):
			c.T.Fatalf("no line %q: %s", want, stderr.String())
		}
	}
	next("NAME  READY  SOURCES  HELD  APPLIED  CATALOG  MESSAGE")
	next("apps  -      -        -     -        -        not reconciled yet: does winnow-controller run?")
	status := func(message string) map[string]any {
		return map[string]any{"sourceRevision": "v1", "conditions": []map[string]any{
			{"type": "Ready", "status": "True", "reason": "Succeeded", "message": "published", "lastTransitionTime": "2026-01-01T00:00:00Z"},
			{"type": "SourceReady", "status": "False", "reason": "FetchFailed", "message": message, "lastTransitionTime": "2026-01-01T00:00:00Z"}}}
	}
	report := func(message string) {
		if err := c.Report(c.T.Context(), livetest.SelectionGVK, c.Key("watched"), status(message)); err != nil {
			c.T.Fatal(err)
		}
	}
	report("no such host")
	next("apps  True   FAIL     -     -        v1       FetchFailed: no such host")
	object := c.Apps("watched")
	object.SetLabels(map[string]string{"no": "change"})
	if err := c.Client().Update(c.T.Context(), object); err != nil {
		c.T.Fatal(err)
	}
	report("timeout") // the line of the label, which changes nothing to see, does not come before
	next("apps  True   FAIL     -     -        v1       FetchFailed: timeout")
	if err := c.Client().Delete(c.T.Context(), object, client.GracePeriodSeconds(0)); err != nil {
		c.T.Fatal(err)
	}
	next("apps  True   FAIL     -     -        v1       deleted")
	cancel()
	if got := <-code; got != root.ExitOK || stderr.String() != "" {
		c.T.Errorf("exit code %d after an interrupt, %s", got, stderr.String())
	}
}

// testCompletion completes names of the cluster.
func testCompletion(c *livetest.Cluster) {
	if got := c.On("__complete", "get", "--kubeconfig", c.Kubeconfig(), "-n", ""); !strings.Contains(got.Stdout, "flux-system\nother\n") {
		c.T.Errorf("namespaces: %+v", got)
	}
	if got := c.On("__complete", "suspend", "--kubeconfig", c.Kubeconfig(), "-n", "flux-system", "a"); !strings.HasPrefix(got.Stdout, "applications\n") {
		c.T.Errorf("names: %+v", got)
	}
}

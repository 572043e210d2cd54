// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/cmd/winnow/root"
	"github.com/winnow-dev/winnow/test/clitest"
)

// testSeveral uses three selections of a namespace, one of which no controller answers for.
func testSeveral(c *cluster) {
	more := func(name string) string {
		return "---\napiVersion: catalog.winnow.dev/v1alpha1\nkind: CatalogSelection\nmetadata: {name: " + name + ", namespace: several}\nspec: {sources: [{name: catalog}]}\n"
	}
	c.apply(inNamespace("several", "{sources: [{name: catalog}]}") + more("mute") + more("other"))
	for _, name := range []string{"apps", "other"} {
		c.play(selectionGVK, "several", name, "True", nil)
	}
	c.expect(root.ExitFindings, "several/apps: done\nseveral/other: done\n", "CatalogSelection several/mute was not reconciled since the request",
		"reconcile", "apps", "mute", "nothing", "other", "-n", "several", "--timeout", "3s")
	if got := c.on("reconcile", "apps", "mute", "nothing", "-n", "several", "--timeout", "2s"); !strings.Contains(got.Stderr, "nothing not found") {
		c.t.Errorf("%+v", got)
	}
	c.expect(root.ExitOK, "several/mute: suspended\n", "", "suspend", "mute", "-n", "several")
	c.expect(root.ExitOK, "several/apps: done\nseveral/other: done\n", "1 CatalogSelection left out: suspended\n", "reconcile", "--all", "-n", "several")
	c.expect(root.ExitOK, "several/apps: suspended\nseveral/mute: already suspended\nseveral/other: suspended\n", "", "suspend", "--all", "-n", "several")
	c.expect(root.ExitFindings, "", "CatalogSelection several/other is suspended: winnow resume other -n several", "reconcile", "apps", "other", "-n", "several")
	c.play(selectionGVK, "several", "mute", "True", nil)
	c.expect(root.ExitOK, "several/apps: done\nseveral/mute: done\nseveral/other: done\n", "", "resume", "--all", "-n", "several")
	c.expect(root.ExitOK, "", "3 CatalogSelections left out: not suspended\n", "resume", "--all", "-n", "several")
	c.expect(root.ExitOK, "", "no CatalogSelections found in namespace nowhere; other namespaces have ", "suspend", "--all", "-n", "nowhere")
	for _, verb := range []string{"reconcile", "suspend", "resume"} {
		c.expect(root.ExitFailed, "", verb+" takes NAME or --all, not both", verb, "apps", "--all")
	}
}

// testWatch follows the selections of a namespace, and interrupts that.
func testWatch(c *cluster) {
	c.apply(inNamespace("watched", "{sources: [{name: catalog}]}"))
	ctx, cancel := context.WithCancel(c.t.Context())
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
		c.t.Helper()
		select {
		case got := <-lines:
			if got != want {
				c.t.Errorf("printed %q, want %q", got, want)
			}
		case <-time.After(20 * time.Second):
			c.t.Fatalf("no line %q: %s", want, stderr.String())
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
		if err := c.report(c.t.Context(), selectionGVK, c.key("watched"), status(message)); err != nil {
			c.t.Fatal(err)
		}
	}
	report("no such host")
	next("apps  True   FAIL     -     -        v1       FetchFailed: no such host")
	object := c.apps("watched")
	object.SetLabels(map[string]string{"no": "change"})
	if err := c.Client().Update(c.t.Context(), object); err != nil {
		c.t.Fatal(err)
	}
	report("timeout") // the line of the label, which changes nothing to see, does not come before
	next("apps  True   FAIL     -     -        v1       FetchFailed: timeout")
	if err := c.Client().Delete(c.t.Context(), object, client.GracePeriodSeconds(0)); err != nil {
		c.t.Fatal(err)
	}
	next("apps  True   FAIL     -     -        v1       deleted")
	cancel()
	if got := <-code; got != root.ExitOK || stderr.String() != "" {
		c.t.Errorf("exit code %d after an interrupt, %s", got, stderr.String())
	}
}

// testCompletion completes names of the cluster.
func testCompletion(c *cluster) {
	if got := c.on("__complete", "get", "--kubeconfig", c.Kubeconfig(), "-n", ""); !strings.Contains(got.Stdout, "flux-system\nother\n") {
		c.t.Errorf("namespaces: %+v", got)
	}
	if got := c.on("__complete", "suspend", "--kubeconfig", c.Kubeconfig(), "-n", "flux-system", "a"); !strings.HasPrefix(got.Stdout, "applications\n") {
		c.t.Errorf("names: %+v", got)
	}
}

func TestContextsAreCompleted(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	t.Setenv("KUBECONFIG", clitest.Kubeconfig(t, "http://127.0.0.1:1"))
	for _, verb := range [][]string{{"get"}, {"reconcile"}, {"approve"}, {"diff", "--live"}} {
		got := clitest.Execute(t.Context(), append(append([]string{"__complete"}, verb...), "--context", "")...)
		if got.Stdout != "c\n:4\n" {
			t.Errorf("%v completes %q, %s", verb, got.Stdout, got.Stderr)
		}
	}
	if got := clitest.Execute(t.Context(), "__complete", "get", "--kubeconfig", "/nowhere", "--context", ""); got.Stdout != ":4\n" {
		t.Errorf("without a kubeconfig: %q", got.Stdout)
	}
}

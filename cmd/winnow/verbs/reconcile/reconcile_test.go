// SPDX-License-Identifier: Apache-2.0

package reconcile_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/fluxcd/pkg/apis/meta"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"

	"github.com/winnow-dev/winnow/cmd/winnow/root"
	"github.com/winnow-dev/winnow/test/clitest"
	"github.com/winnow-dev/winnow/test/clitest/livetest"
)

// TestReconcileSuspendAndResume shares one API server: each subtest has selections of its own.
func TestReconcileSuspendAndResume(t *testing.T) {
	c := livetest.StartWithWinnow(t)
	c.Run("reconcile", testReconcile)
	c.Run("sources", testReconcileSources)
	c.Run("what is not ready", testNotReady)
	c.Run("twice at once", testOverlap)
	c.Run("several at once", testSeveral)
	c.Run("suspend and resume", testSuspendAndResume)
}

func testReconcile(c *livetest.Cluster) {
	c.ApplyAll(livetest.InNamespace("reconcile", "{sources: [{name: catalog}]}"))
	c.Play(livetest.SelectionGVK, "reconcile", "apps", "True", livetest.HeldStatus(livetest.HeldLine))
	c.Expect(root.ExitOK, "reconcile/apps: done\n  published from OCIRepository ns/catalog at v1@sha256:01\n"+strings.Replace(livetest.HeldOutput, "NS", "reconcile", 1), "",
		"reconcile", "apps", "-n", "reconcile")
	first := c.Apps("reconcile").GetAnnotations()[meta.ReconcileRequestAnnotation]
	if got := c.On("reconcile", "apps", "-n", "reconcile"); got.Code != root.ExitOK {
		c.T.Errorf("again: %+v", got)
	}
	if again := c.Apps("reconcile").GetAnnotations()[meta.ReconcileRequestAnnotation]; first == "" || again == first {
		c.T.Errorf("requested %q and then %q", first, again)
	}
	c.Expect(root.ExitFindings, "", "CatalogSelection nothing not found in namespace reconcile", "reconcile", "nothing", "-n", "reconcile")
	c.Expect(root.ExitFailed, "", "reconcile needs at least one NAME of a CatalogSelection, or --all", "reconcile")
}

// source returns the manifest of a source in the namespace sources.
func source(kind, name, spec string) string {
	return fmt.Sprintf("---\napiVersion: source.toolkit.fluxcd.io/v1\nkind: %s\nmetadata: {name: %s, namespace: sources}\nspec: %s\n", kind, name, spec)
}

func testReconcileSources(c *livetest.Cluster) {
	kind := sourcev1.GroupVersion.WithKind
	c.ApplyAll(livetest.InNamespace("sources", "{sources: [{name: catalog}, {name: catalog, path: a}, {name: b, kind: GitRepository}, {name: e, kind: ExternalArtifact}]}") +
		source("OCIRepository", "catalog", "{url: 'oci://registry.example.com/a', interval: 1m}") +
		source("GitRepository", "b", "{url: 'https://example.com/a', interval: 1m}"))
	artifact := func(revision string) map[string]any {
		return map[string]any{"artifact": map[string]any{"revision": revision, "digest": "sha256:" + strings.Repeat("5b", 32),
			"path": "x", "url": "http://x", "lastUpdateTime": "2026-01-01T00:00:00Z"}}
	}
	c.Play(kind("OCIRepository"), "sources", "catalog", "True", artifact("v2@sha256:03"))
	c.Play(kind("GitRepository"), "sources", "b", "True", artifact("main@sha1:04"))
	rendered := func(kind, name, revision string) map[string]any {
		return map[string]any{"kind": kind, "namespace": "sources", "name": name, "revision": revision, "digest": "sha256:05"}
	}
	stop := c.Play(livetest.SelectionGVK, "sources", "apps", "True", map[string]any{"sources": []map[string]any{
		rendered("OCIRepository", "catalog", "v2@sha256:03"), rendered("GitRepository", "b", "main@sha1:old"),
	}})
	got := c.On("reconcile", "apps", "-n", "sources", "--with-source", "--timeout", "3s")
	stop()
	if want := "CatalogSelection sources/apps was not rendered yet from main@sha1:04 of GitRepository sources/b"; got.Code != root.ExitFindings || !strings.Contains(got.Stderr, want) {
		c.T.Errorf("exit code %d: %s%s\nwant %s", got.Code, got.Stdout, got.Stderr, want)
	}
	status := map[string]any{"sources": []map[string]any{
		rendered("OCIRepository", "catalog", "v2@sha256:03"), rendered("GitRepository", "b", "main@sha1:04"),
	}}
	c.Play(livetest.SelectionGVK, "sources", "apps", "True", status)
	got = c.On("reconcile", "apps", "-n", "sources", "--with-source")
	if got.Code != root.ExitOK || !strings.HasPrefix(got.Stdout, "sources/apps: done\n") {
		c.T.Errorf("%+v", got)
	}
	for _, want := range []string{"ExternalArtifact sources/e: left out", "OCIRepository sources/catalog: v2@sha256:03\n", "GitRepository sources/b: main@sha1:04\n"} {
		if strings.Count(got.Stderr, want) != 1 {
			c.T.Errorf("no %q, or several, in %q", want, got.Stderr)
		}
	}
	c.ApplyAll("apiVersion: catalog.winnow.dev/v1alpha1\nkind: CatalogSelection\nmetadata: {name: late, namespace: sources}\nspec: {sources: [{name: gone}]}\n" +
		"---\napiVersion: catalog.winnow.dev/v1alpha1\nkind: CatalogSelection\nmetadata: {name: still, namespace: sources}\nspec: {sources: [{name: asleep}]}\n" +
		source("OCIRepository", "asleep", "{url: 'oci://registry.example.com/a', interval: 1m, suspend: true}"))
	c.Expect(root.ExitFindings, "", "OCIRepository gone not found in namespace sources", "reconcile", "late", "-n", "sources", "--with-source")
	c.Expect(root.ExitFindings, "", "OCIRepository sources/asleep is suspended: flux resume source oci asleep -n sources",
		"reconcile", "still", "-n", "sources", "--with-source")
}

// begin begins to reconcile the selection in a namespace, and returns once that is requested.
func begin(ctx context.Context, c *livetest.Cluster, namespace string) <-chan clitest.Execution {
	c.T.Helper()
	request := func() string { return c.Apps(namespace).GetAnnotations()[meta.ReconcileRequestAnnotation] }
	before := request()
	ended := make(chan clitest.Execution, 1)
	go func() {
		ended <- clitest.Execute(ctx, "reconcile", "apps", "-n", namespace, "--timeout", "20s", "--kubeconfig", c.Kubeconfig())
	}()
	for request() == before {
		if ctx.Err() != nil {
			c.T.Fatal(ctx.Err())
		}
	}
	return ended
}

func testOverlap(c *livetest.Cluster) {
	c.ApplyAll(livetest.InNamespace("overlap", "{sources: [{name: catalog}]}"))
	first := begin(c.T.Context(), c, "overlap")
	second := begin(c.T.Context(), c, "overlap") // it replaces the first request
	c.Play(livetest.SelectionGVK, "overlap", "apps", "True", nil)
	for _, ended := range []<-chan clitest.Execution{first, second} {
		if got := <-ended; got.Code != root.ExitOK {
			c.T.Errorf("%+v", got)
		}
	}
}

func testNotReady(c *livetest.Cluster) {
	c.ApplyAll(livetest.InNamespace("unready", "{sources: [{name: catalog}]}") + "---\n" +
		"apiVersion: source.toolkit.fluxcd.io/v1\nkind: OCIRepository\nmetadata: {name: catalog, namespace: unready}\n" +
		"spec: {url: 'oci://registry.example.com/a', interval: 1m}\n")
	got := c.On("reconcile", "apps", "-n", "unready", "--timeout", "1s")
	want := "winnow: after 1s: CatalogSelection unready/apps was not reconciled since the request: does its controller run?\n"
	if got.Code != root.ExitFindings || got.Stderr != want {
		c.T.Errorf("without a controller: %+v", got)
	}
	// One interrupt ends the wait.
	ctx, cancel := context.WithCancel(c.T.Context())
	ended := begin(ctx, c, "unready")
	cancel()
	if got := <-ended; got.Code != root.ExitFailed || got.Stderr != "winnow: interrupted\n" {
		c.T.Errorf("interrupted: %+v", got)
	}
	// Flux does not set the observed generation of a source that has failed since its last edit.
	c.Play(sourcev1.GroupVersion.WithKind("OCIRepository"), "unready", "catalog", "401 Unauthorized", map[string]any{"observedGeneration": -1})
	c.Expect(root.ExitFindings, "", "OCIRepository unready/catalog is not ready: Failed: 401 Unauthorized", "reconcile", "apps", "-n", "unready", "--with-source")
	c.Play(livetest.SelectionGVK, "unready", "apps", "no \x1b[31mcatalog", livetest.HeldStatus())
	got = c.On("reconcile", "apps", "-n", "unready")
	if got.Code != root.ExitFindings || !strings.Contains(got.Stdout, "This cannot be approved") || got.Stderr != "winnow: CatalogSelection unready/apps is not ready: Failed: no [31mcatalog\n" {
		c.T.Errorf("%+v", got)
	}
}

func testSuspendAndResume(c *livetest.Cluster) {
	c.ApplyAll(livetest.InNamespace("sleep", "{sources: [{name: catalog}]}") + "---\napiVersion: catalog.winnow.dev/v1alpha1\nkind: CatalogSelection\n" +
		"metadata:\n  name: git\n  namespace: sleep\n  labels: {kustomize.toolkit.fluxcd.io/name: clusters, kustomize.toolkit.fluxcd.io/namespace: flux-system}\n" +
		"spec: {sources: [{name: catalog}]}\n")
	c.Expect(root.ExitFindings, "sleep/apps: suspended\n", "nothing not found", "suspend", "nothing", "apps", "-n", "sleep")
	c.Expect(root.ExitOK, "sleep/apps: already suspended\n", "", "suspend", "apps", "-n", "sleep")
	c.Expect(root.ExitOK, "sleep/git: suspended\n", "the Kustomization flux-system/clusters applies this selection", "suspend", "git", "-n", "sleep")
	live := c.Apps("sleep")
	suspended := false
	for _, entry := range live.GetManagedFields() {
		suspended = suspended || entry.Manager == "winnow" && strings.Contains(entry.FieldsV1.GetRawString(), "f:suspend")
	}
	if !suspended {
		c.T.Errorf("spec.suspend is of no field manager winnow: %v", live.GetManagedFields())
	}
	c.Expect(root.ExitFindings, "", "CatalogSelection sleep/apps is suspended: winnow resume apps -n sleep", "reconcile", "apps", "-n", "sleep")

	c.Play(livetest.SelectionGVK, "sleep", "git", "True", nil)
	c.Play(livetest.SelectionGVK, "sleep", "apps", "broken", nil)
	c.Expect(root.ExitFindings, "sleep/git: done\n", "CatalogSelection sleep/apps is not ready: Failed: broken", "resume", "apps", "git", "apps", "-n", "sleep")
	if spec := c.Apps("sleep").Object["spec"].(map[string]any); spec["suspend"] != nil {
		c.T.Errorf("spec.suspend is %v", spec["suspend"])
	}
}

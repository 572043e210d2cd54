// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/fluxcd/pkg/apis/meta"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/cmd/winnow/root"
	"github.com/winnow-dev/winnow/test/clitest"
)

var selectionGVK = v1alpha1.GroupVersion.WithKind(v1alpha1.CatalogSelectionKind)

// inNamespace returns manifests of a namespace with a selection.
func inNamespace(namespace, spec string) string {
	return fmt.Sprintf("apiVersion: v1\nkind: Namespace\nmetadata: {name: %s}\n---\n"+
		"apiVersion: catalog.winnow.dev/v1alpha1\nkind: CatalogSelection\nmetadata: {name: apps, namespace: %s}\nspec: %s\n", namespace, namespace, spec)
}

// heldStatus is the status of a selection with a change that is held.
func heldStatus(approve ...string) map[string]any {
	return map[string]any{
		"sources": []map[string]any{{"kind": "OCIRepository", "namespace": "ns", "name": "catalog", "revision": "v1@sha256:01", "digest": "sha256:02"}},
		"held": map[string]any{
			"revision": "v2@sha256:" + strings.Repeat("5b", 32), "total": 1, "approve": approve,
			"reasons": []map[string]any{{"reason": "Removal", "application": "loki", "message": "would be removed, because no source has it"}},
		},
	}
}

const heldOutput = `NS/apps: HELD: 1 change, nothing of this revision is published:
  v2@sha256:5b5b5b5b5b5b5b5b5b5b5b5b5b5b5b5b5b5b5b5b5b5b5b5b5b5b5b5b5b5b5b5b
  Removal: loki: would be removed, because no source has it
To publish it all the same, add to the CatalogSelection in Git:
  spec:
    safeguards:
      approve:
      - loki/2.0.0:live
A line counts once in each cluster that has the selection from Git.
`

func testReconcile(c *cluster) {
	c.apply(inNamespace("reconcile", "{sources: [{name: catalog}]}"))
	c.play(selectionGVK, "reconcile", "apps", "True", heldStatus(heldLine))
	c.expect(root.ExitOK, "reconcile/apps: done\n  published from OCIRepository ns/catalog at v1@sha256:01\n"+strings.Replace(heldOutput, "NS", "reconcile", 1), "",
		"reconcile", "apps", "-n", "reconcile")
	first := c.apps("reconcile").GetAnnotations()[meta.ReconcileRequestAnnotation]
	if got := c.on("reconcile", "apps", "-n", "reconcile"); got.Code != root.ExitOK {
		c.t.Errorf("again: %+v", got)
	}
	if again := c.apps("reconcile").GetAnnotations()[meta.ReconcileRequestAnnotation]; first == "" || again == first {
		c.t.Errorf("requested %q and then %q", first, again)
	}
	c.expect(root.ExitFindings, "", "CatalogSelection nothing not found in namespace reconcile", "reconcile", "nothing", "-n", "reconcile")
	c.expect(root.ExitFailed, "", "reconcile needs at least one NAME of a CatalogSelection, or --all", "reconcile")
}

// source returns the manifest of a source in the namespace sources.
func source(kind, name, spec string) string {
	return fmt.Sprintf("---\napiVersion: source.toolkit.fluxcd.io/v1\nkind: %s\nmetadata: {name: %s, namespace: sources}\nspec: %s\n", kind, name, spec)
}

func testReconcileSources(c *cluster) {
	kind := sourcev1.GroupVersion.WithKind
	c.apply(inNamespace("sources", "{sources: [{name: catalog}, {name: catalog, path: a}, {name: b, kind: GitRepository}, {name: e, kind: ExternalArtifact}]}") +
		source("OCIRepository", "catalog", "{url: 'oci://registry.example.com/a', interval: 1m}") +
		source("GitRepository", "b", "{url: 'https://example.com/a', interval: 1m}"))
	artifact := func(revision string) map[string]any {
		return map[string]any{"artifact": map[string]any{"revision": revision, "digest": "sha256:" + strings.Repeat("5b", 32),
			"path": "x", "url": "http://x", "lastUpdateTime": "2026-01-01T00:00:00Z"}}
	}
	c.play(kind("OCIRepository"), "sources", "catalog", "True", artifact("v2@sha256:03"))
	c.play(kind("GitRepository"), "sources", "b", "True", artifact("main@sha1:04"))
	rendered := func(kind, name, revision string) map[string]any {
		return map[string]any{"kind": kind, "namespace": "sources", "name": name, "revision": revision, "digest": "sha256:05"}
	}
	stop := c.play(selectionGVK, "sources", "apps", "True", map[string]any{"sources": []map[string]any{
		rendered("OCIRepository", "catalog", "v2@sha256:03"), rendered("GitRepository", "b", "main@sha1:old"),
	}})
	got := c.on("reconcile", "apps", "-n", "sources", "--with-source", "--timeout", "3s")
	stop()
	if want := "CatalogSelection sources/apps was not rendered yet from main@sha1:04 of GitRepository sources/b"; got.Code != root.ExitFindings || !strings.Contains(got.Stderr, want) {
		c.t.Errorf("exit code %d: %s%s\nwant %s", got.Code, got.Stdout, got.Stderr, want)
	}
	status := map[string]any{"sources": []map[string]any{
		rendered("OCIRepository", "catalog", "v2@sha256:03"), rendered("GitRepository", "b", "main@sha1:04"),
	}}
	c.play(selectionGVK, "sources", "apps", "True", status)
	got = c.on("reconcile", "apps", "-n", "sources", "--with-source")
	if got.Code != root.ExitOK || !strings.HasPrefix(got.Stdout, "sources/apps: done\n") {
		c.t.Errorf("%+v", got)
	}
	for _, want := range []string{"ExternalArtifact sources/e: left out", "OCIRepository sources/catalog: v2@sha256:03\n", "GitRepository sources/b: main@sha1:04\n"} {
		if strings.Count(got.Stderr, want) != 1 {
			c.t.Errorf("no %q, or several, in %q", want, got.Stderr)
		}
	}
	c.apply("apiVersion: catalog.winnow.dev/v1alpha1\nkind: CatalogSelection\nmetadata: {name: late, namespace: sources}\nspec: {sources: [{name: gone}]}\n" +
		"---\napiVersion: catalog.winnow.dev/v1alpha1\nkind: CatalogSelection\nmetadata: {name: still, namespace: sources}\nspec: {sources: [{name: asleep}]}\n" +
		source("OCIRepository", "asleep", "{url: 'oci://registry.example.com/a', interval: 1m, suspend: true}"))
	c.expect(root.ExitFindings, "", "OCIRepository gone not found in namespace sources", "reconcile", "late", "-n", "sources", "--with-source")
	c.expect(root.ExitFindings, "", "OCIRepository sources/asleep is suspended: flux resume source oci asleep -n sources",
		"reconcile", "still", "-n", "sources", "--with-source")
}

// begin begins to reconcile the selection in a namespace, and returns once that is requested.
func (c *cluster) begin(ctx context.Context, namespace string) <-chan clitest.Execution {
	c.t.Helper()
	request := func() string { return c.apps(namespace).GetAnnotations()[meta.ReconcileRequestAnnotation] }
	before := request()
	ended := make(chan clitest.Execution, 1)
	go func() {
		ended <- clitest.Execute(ctx, "reconcile", "apps", "-n", namespace, "--timeout", "20s", "--kubeconfig", c.Kubeconfig())
	}()
	for request() == before {
		if ctx.Err() != nil {
			c.t.Fatal(ctx.Err())
		}
	}
	return ended
}

func testOverlap(c *cluster) {
	c.apply(inNamespace("overlap", "{sources: [{name: catalog}]}"))
	first := c.begin(c.t.Context(), "overlap")
	second := c.begin(c.t.Context(), "overlap") // it replaces the first request
	c.play(selectionGVK, "overlap", "apps", "True", nil)
	for _, ended := range []<-chan clitest.Execution{first, second} {
		if got := <-ended; got.Code != root.ExitOK {
			c.t.Errorf("%+v", got)
		}
	}
}

func testNotReady(c *cluster) {
	c.apply(inNamespace("unready", "{sources: [{name: catalog}]}") + "---\n" +
		"apiVersion: source.toolkit.fluxcd.io/v1\nkind: OCIRepository\nmetadata: {name: catalog, namespace: unready}\n" +
		"spec: {url: 'oci://registry.example.com/a', interval: 1m}\n")
	got := c.on("reconcile", "apps", "-n", "unready", "--timeout", "1s")
	want := "winnow: after 1s: CatalogSelection unready/apps was not reconciled since the request: does its controller run?\n"
	if got.Code != root.ExitFindings || got.Stderr != want {
		c.t.Errorf("without a controller: %+v", got)
	}
	// One interrupt ends the wait.
	ctx, cancel := context.WithCancel(c.t.Context())
	ended := c.begin(ctx, "unready")
	cancel()
	if got := <-ended; got.Code != root.ExitFailed || got.Stderr != "winnow: interrupted\n" {
		c.t.Errorf("interrupted: %+v", got)
	}
	// Flux does not set the observed generation of a source that has failed since its last edit.
	c.play(sourcev1.GroupVersion.WithKind("OCIRepository"), "unready", "catalog", "401 Unauthorized", map[string]any{"observedGeneration": -1})
	c.expect(root.ExitFindings, "", "OCIRepository unready/catalog is not ready: Failed: 401 Unauthorized", "reconcile", "apps", "-n", "unready", "--with-source")
	c.play(selectionGVK, "unready", "apps", "no \x1b[31mcatalog", heldStatus())
	got = c.on("reconcile", "apps", "-n", "unready")
	if got.Code != root.ExitFindings || !strings.Contains(got.Stdout, "This cannot be approved") || got.Stderr != "winnow: CatalogSelection unready/apps is not ready: Failed: no [31mcatalog\n" {
		c.t.Errorf("%+v", got)
	}
}

func testSuspendAndResume(c *cluster) {
	c.apply(inNamespace("sleep", "{sources: [{name: catalog}]}") + "---\napiVersion: catalog.winnow.dev/v1alpha1\nkind: CatalogSelection\n" +
		"metadata:\n  name: git\n  namespace: sleep\n  labels: {kustomize.toolkit.fluxcd.io/name: clusters, kustomize.toolkit.fluxcd.io/namespace: flux-system}\n" +
		"spec: {sources: [{name: catalog}]}\n")
	c.expect(root.ExitFindings, "sleep/apps: suspended\n", "nothing not found", "suspend", "nothing", "apps", "-n", "sleep")
	c.expect(root.ExitOK, "sleep/apps: already suspended\n", "", "suspend", "apps", "-n", "sleep")
	c.expect(root.ExitOK, "sleep/git: suspended\n", "the Kustomization flux-system/clusters applies this selection", "suspend", "git", "-n", "sleep")
	live := c.apps("sleep")
	suspended := false
	for _, entry := range live.GetManagedFields() {
		suspended = suspended || entry.Manager == "winnow" && strings.Contains(entry.FieldsV1.GetRawString(), "f:suspend")
	}
	if !suspended {
		c.t.Errorf("spec.suspend is of no field manager winnow: %v", live.GetManagedFields())
	}
	c.expect(root.ExitFindings, "", "CatalogSelection sleep/apps is suspended: winnow resume apps -n sleep", "reconcile", "apps", "-n", "sleep")

	c.play(selectionGVK, "sleep", "git", "True", nil)
	c.play(selectionGVK, "sleep", "apps", "broken", nil)
	c.expect(root.ExitFindings, "sleep/git: done\n", "CatalogSelection sleep/apps is not ready: Failed: broken", "resume", "apps", "git", "apps", "-n", "sleep")
	if spec := c.apps("sleep").Object["spec"].(map[string]any); spec["suspend"] != nil {
		c.t.Errorf("spec.suspend is %v", spec["suspend"])
	}
}

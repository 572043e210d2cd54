// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"sync"
	"testing"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/source"
)

func TestEveryKindOfSource(t *testing.T) {
	for kind := range source.Kinds() {
		t.Run(kind, func(t *testing.T) {
			e := newEnvironment(t)
			artifact := e.sourceOf(kind, e.key("catalog"), applications(t, "argocd"))
			e.selection("kkp", func(cs *v1alpha1.CatalogSelection) { cs.Spec.Sources[0].Kind = kind })
			cs, _ := e.publish("kkp")
			e.equal("sources", cs.Status.Sources, []v1alpha1.SourceStatus{{
				Kind: kind, Name: "catalog", Namespace: e.namespace, Revision: artifact.Revision, Digest: artifact.Digest,
			}})
		})
	}
}

func TestThePathInsideTheArtifact(t *testing.T) {
	e := newEnvironment(t)
	e.source(catalogArchive(t,
		"README.md", "not part of it",
		"prod/applications/argocd/application.yaml", definition("argocd", ""),
		"prod/stripped/nginx/application.yaml", definition("nginx", ""),
		"test/applications/broken/application.yaml", "",
	))
	for path, want := range map[string]string{"prod": "argocd", "prod/stripped": "nginx"} {
		name := want
		e.selection(name, func(cs *v1alpha1.CatalogSelection) { cs.Spec.Sources[0].Path = path })
		cs, _ := e.publish(name)
		e.equal("applications of "+path, cs.Status.Applications, []v1alpha1.ApplicationStatus{{Name: want, Source: "catalog", Versions: []string{"1.0.0"}}})
	}
}

func TestSeveralSourcesInOrder(t *testing.T) {
	e := newEnvironment(t)
	elsewhere := &corev1.Namespace{}
	elsewhere.GenerateName = "test-elsewhere-"
	if err := apiServer.Create(t.Context(), elsewhere); err != nil {
		t.Fatal(err)
	}
	own := e.sourceOf("GitRepository", e.key("own"), applications(t, "argocd:gold:9.0.0"))
	remote := e.key("remote")
	remote.Namespace = elsewhere.Name
	theirs := e.sourceOf("Bucket", remote, applications(t, "argocd:silver:1.0.0 nginx:silver:2.0.0"))
	e.selection("kkp", func(cs *v1alpha1.CatalogSelection) {
		cs.Spec.Sources = []v1alpha1.SourceReference{
			{Kind: "GitRepository", Name: "own"}, {Kind: "Bucket", Name: "remote", Namespace: elsewhere.Name},
		}
	})
	cs, announced := e.publish("kkp")
	e.equal("applications", cs.Status.Applications, []v1alpha1.ApplicationStatus{
		{Name: "argocd", Source: "own", Versions: []string{"9.0.0"}, Tier: "gold", Notes: []string{"also in remote"}},
		{Name: "nginx", Source: "remote", Versions: []string{"2.0.0"}, Tier: "silver"},
	})
	e.equal("summary", cs.Status.Summary, v1alpha1.Summary{Available: 2, Selected: 2, Shadowed: 1})
	e.equal("origin", announced.Status.Artifact.Metadata, map[string]string{
		"org.opencontainers.image.revision": "GitRepository/" + e.namespace + "/own=" + own.Revision +
			",Bucket/" + elsewhere.Name + "/remote=" + theirs.Revision,
	})

	e.edit(func(cs *v1alpha1.CatalogSelection) {
		cs.Spec.Sources[0], cs.Spec.Sources[1] = cs.Spec.Sources[1], cs.Spec.Sources[0]
	})
	swapped, _ := e.publish("kkp")
	e.equal("argocd", swapped.Status.Applications[0], v1alpha1.ApplicationStatus{
		Name: "argocd", Source: "remote", Versions: []string{"1.0.0"}, Tier: "silver", Notes: []string{"also in own"},
	})
}

func TestOwnNamespaceIsNotAnother(t *testing.T) {
	e := newEnvironment(t)
	e.reconciler.sources.NoCrossNamespaceRefs = true
	e.source(applications(t, "argocd"))
	e.selection("kkp", func(cs *v1alpha1.CatalogSelection) { cs.Spec.Sources[0].Namespace = cs.Namespace })
	e.publish("kkp")
}

func TestSelectionsShareADownload(t *testing.T) {
	e := newEnvironment(t)
	e.source(applications(t, "argocd nginx"))
	names := []string{"a", "b", "c", "d"}
	for _, name := range names {
		e.selection(name, func(cs *v1alpha1.CatalogSelection) {
			cs.Spec.CommonMetadata = &v1alpha1.CommonMetadata{Labels: map[string]string{"of": name}}
		})
	}
	e.reconciler.slots.limit = len(names)
	var reconciling sync.WaitGroup
	for _, name := range names {
		reconciling.Go(func() {
			if _, err := e.tryReconcile(name); err != nil {
				t.Errorf("Reconcile(%s) = %v", name, err)
			}
		})
	}
	reconciling.Wait()
	revisions := map[string]bool{}
	for _, name := range names {
		cs, _ := e.publish(name)
		revisions[cs.Status.Artifact.Revision] = true
	}
	if n := e.sources.Downloads(); n != 1 || len(revisions) != len(names) {
		t.Errorf("%d downloads, %d revisions", n, len(revisions))
	}
}

func TestSourcesAreIndexed(t *testing.T) {
	cs := &v1alpha1.CatalogSelection{}
	cs.Namespace = "ns"
	cs.Spec.Sources = []v1alpha1.SourceReference{{Name: "a"}, {Kind: "Bucket", Name: "b", Namespace: "other"}}
	e := environment{T: t}
	e.equal("keys", indexSources(cs), []string{"OCIRepository/ns/a", "Bucket/other/b"})
	artifact := &sourcev1.ExternalArtifact{}
	artifact.Name, artifact.Namespace = "a", "ns"
	e.equal("requests", sameName(t.Context(), artifact)[0].String(), "ns/a")
}

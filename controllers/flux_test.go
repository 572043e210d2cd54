// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/cluster/consumers"
	"github.com/winnow-dev/winnow/render/archive"
	"github.com/winnow-dev/winnow/render/guard"
	"github.com/winnow-dev/winnow/render/kustomized"
	"github.com/winnow-dev/winnow/render/loading"
)

// flux simulates kustomize-controller: it applies definitions with the owner labels of a Kustomization, writes
// its inventory, and prunes the objects that leave the inventory.
func (c *liveCluster) flux(kustomization, selection string, names ...string) {
	c.Helper()
	var entries []kustomizev1.ResourceRef
	kept := map[string]bool{}
	for _, name := range names {
		kept[name] = true
		c.apply(selection, name)
		c.own(kustomization, name)
		entries = append(entries, kustomizev1.ResourceRef{ID: fmt.Sprintf("_%s_%s_ApplicationDefinition", name, c.group), Version: "v1"})
	}
	ks := c.kustomization(kustomization)
	if ks.Status.Inventory != nil && ks.Spec.Prune {
		for _, entry := range ks.Status.Inventory.Entries {
			c.prune(kustomization, strings.Split(entry.ID, "_")[1], kept)
		}
	}
	revision := "main@sha1:1234"
	if ks.Spec.SourceRef.Kind == sourcev1.ExternalArtifactKind {
		revision = consumers.RevisionOf(c.get(ks.Spec.SourceRef.Name))
	}
	c.report(kustomization, func(ks *kustomizev1.Kustomization) {
		applied(ks, revision)
		ks.Status.Inventory = &kustomizev1.ResourceInventory{Entries: append([]kustomizev1.ResourceRef{}, entries...)}
		now := time.Now()
		ks.Status.History = meta.History{{
			Digest: "sha256:1234", FirstReconciled: metav1.NewTime(now), LastReconciled: metav1.NewTime(now),
			LastReconciledDuration: metav1.Duration{Duration: time.Second}, LastReconciledStatus: meta.ReconciliationSucceededReason, TotalReconciliations: 1,
		}}
	})
}

// prune deletes a definition under the conditions of Flux: with the owner labels of the Kustomization, and
// without a mark.
func (c *liveCluster) prune(kustomization, name string, kept map[string]bool) {
	c.Helper()
	u := c.live(name)
	if kept[name] || u == nil || u.GetLabels()["kustomize.toolkit.fluxcd.io/name"] != kustomization {
		return
	}
	if !guard.Kept(u) && !guard.Untouched(u) {
		c.remove(u)
	}
}

// fluxAlpha simulates how Flux applies what the ExternalArtifact of the selection "alpha" announces.
func (c *liveCluster) fluxAlpha() {
	c.Helper()
	c.flux("alpha", "alpha", c.contents("alpha")...)
}

// contents returns the names of the objects in the announced archive of a selection.
func (c *liveCluster) contents(name string) (applied []string) {
	c.Helper()
	for _, u := range c.objects(name) {
		applied = append(applied, u.GetName())
	}
	slices.Sort(applied)
	return applied
}

// objects returns what Flux applies of a publication.
func (c *liveCluster) objects(name string) (applied []*unstructured.Unstructured) {
	c.Helper()
	announced := c.announced(name)
	if announced == nil || announced.Status.Artifact == nil {
		c.Fatalf("%s announces nothing", name)
	}
	files, err := archive.Read(c.Context(), bytes.NewReader(c.download(announced)), loading.LimitsOf(v1alpha1.FormatApplications))
	if err != nil {
		c.Fatal(err)
	}
	stream, err := kustomized.YAML(files)
	if err != nil {
		c.Fatal(err)
	}
	for document := range strings.SplitSeq(string(stream), "\n---\n") {
		u := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(document), &u.Object); err != nil {
			c.Fatal(err)
		}
		applied = append(applied, u)
	}
	return applied
}

func pruning(ks *kustomizev1.Kustomization) { ks.Spec.Prune = true }

func gitFed(ks *kustomizev1.Kustomization) {
	ks.Spec.Prune, ks.Spec.SourceRef.Kind, ks.Spec.SourceRef.Name = true, sourcev1.GitRepositoryKind, "repo"
}

func compared(cs *v1alpha1.CatalogSelection) { cs.Spec.Cluster.Serve = v1alpha1.ServeCompared }

// moving returns two selections of argocd and of nginx, which their Kustomizations have applied.
func moving(t *testing.T) *liveCluster { return movingOf(t, "argocd") }

// movingOf is moving with another definition in the place of argocd.
func movingOf(t *testing.T, name string) *liveCluster {
	t.Helper()
	c := newCluster(t)
	c.catalog(name, "nginx", "falco")
	c.selection("alpha", compared, without("nginx", "falco"))
	c.selection("beta", compared, without(name, "falco"))
	c.consumer("alpha", "alpha", pruning)
	c.consumer("beta", "beta", pruning)
	c.settle("alpha", "beta")
	c.flux("alpha", "alpha", name)
	c.flux("beta", "beta", "nginx")
	c.settle("alpha", "beta")
	c.ready("alpha", "beta")
	return c
}

// handOver moves argocd from alpha, which publishes falco in its place, to beta, up to the point where their
// Kustomizations have to apply it.
func (c *liveCluster) handOver() {
	c.Helper()
	c.change("alpha", without("argocd", "nginx"))
	c.change("beta", without("falco"))
	c.rounds("alpha", "beta")
}

// rounds reconciles selections often enough to reach a stable state.
func (c *liveCluster) rounds(names ...string) {
	c.Helper()
	for range 4 {
		c.settle(names...)
	}
}

func (c *liveCluster) ready(names ...string) {
	c.Helper()
	for _, name := range names {
		c.equal("conditions of "+name, conditionsOf(c.get(name)), []string{"Ready=True Succeeded"})
	}
}

// kept lists the marks of a definition that keep Flux from deleting it.
func (c *liveCluster) kept(name string) string {
	c.Helper()
	u := c.live(name)
	if u == nil {
		return "gone"
	}
	return u.GetAnnotations()[pruneAnnotation]
}

func (c *liveCluster) message(name string) string {
	c.Helper()
	return conditions.GetMessage(c.get(name), meta.ReadyCondition)
}

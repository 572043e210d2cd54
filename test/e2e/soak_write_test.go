// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

// write applies the selections and the Kustomizations of parts in the model, by one commit.
func (k *soak) write(parts ...*modelPart) {
	k.t.Helper()
	var manifests []string
	for _, p := range parts {
		manifest := selectionManifest(p)
		if manifest != p.written {
			p.written, p.doubt, p.changed = manifest, false, time.Now()
			p.generation++
		}
		manifests = append(manifests, manifest)
	}
	for _, p := range parts {
		manifests = append(manifests, k.consuming(p))
	}
	k.commit(manifests)
}

func (k *soak) delete(name string) {
	k.t.Helper()
	if err := system.Client().Delete(k.t.Context(), k.selectionOf(name)); err != nil {
		k.t.Fatal(err)
	}
}

func selectionManifest(p *modelPart) string {
	named := func(names []string) string {
		all := make([]string, len(names))
		for i, name := range names {
			all[i] = catalogName(p.catalog, name)
		}
		return strings.Join(all, ", ")
	}
	return fmt.Sprintf(`---
apiVersion: catalog.winnow.dev/v1alpha1
kind: CatalogSelection
metadata: {name: %s, namespace: %s}
spec:
  interval: 24h
  suspend: %t
  deletionPolicy: Delete
  sources: [{name: %s}]
  limit: {nameSelector: [%s], metadataSelector: {tierRefs: [%s]}}
  exclude: [%s]
  safeguards: {approve: [%s]}
`, p.name, soakName, p.suspended, p.catalog, named(p.spec.names), strings.Join(p.spec.tiers, ", "),
		named(p.spec.excluded), quoted(p.spec.approved))
}

// quoted quotes entries, because a # would start a comment.
func quoted(entries []string) string {
	all := make([]string, len(entries))
	for i, entry := range entries {
		all[i] = strconv.Quote(entry)
	}
	return strings.Join(all, ", ")
}

// consuming returns the manifest of the Kustomization of a part.
func (k *soak) consuming(p *modelPart) string {
	spec := []string{fmt.Sprintf("suspend: %t", p.paused)}
	if p.catalog == "second" {
		spec = append(spec, "namePrefix: "+soakName+"-")
	}
	return k.applying(p.applier, p.name, spec...)
}

func (k *soak) repositoryOf(catalog string) *sourcev1.OCIRepository {
	repository := k.repository()
	repository.ObjectMeta = k.metaOf(catalog)
	repository.Spec.URL += "-" + catalog
	repository.Spec.Interval = metav1.Duration{Duration: day}
	return repository
}

// pointTo changes the tag that an OCIRepository follows.
func (k *soak) pointTo(catalog string, revision catalogRevision) {
	k.t.Helper()
	repository := k.repositoryOf(catalog)
	k.update(repository, func() { repository.Spec.Reference = &sourcev1.OCIRepositoryRef{Tag: revision.tag} })
}

// awaitPulled waits until Flux serves the revision of the model.
func (k *soak) awaitPulled(catalog string) {
	k.t.Helper()
	revision := k.model.catalogs[catalog]
	k.poll("pulled "+revision.tag, func(ctx context.Context) error {
		repository := k.repositoryOf(catalog)
		if err := system.Client().Get(ctx, keyOf(repository), repository); err != nil {
			return err
		}
		if a := repository.Status.Artifact; a == nil || a.Revision != revision.String() {
			return fmt.Errorf("it is at %+v", a)
		}
		return nil
	})
}

// awaitSuspended waits until the controller has observed that a selection is suspended, which only a
// metric reports.
func (k *soak) awaitSuspended(p *modelPart) {
	k.t.Helper()
	want := fmt.Sprintf("gotk_suspend_status{kind=%q,name=%q,namespace=%q} 1\n", v1alpha1.CatalogSelectionKind, p.name, soakName)
	k.poll("suspended", func(ctx context.Context) error {
		metrics, err := get(ctx, "http://"+system.controller.MetricsAddr+"/metrics")
		if err == nil && !strings.Contains(metrics, want) {
			err = errors.New("the metric does not say so")
		}
		return err
	})
}

// requestReconcile requests a reconciliation of a Kustomization.
func (k *soak) requestReconcile(p *modelPart) {
	k.t.Helper()
	ks := k.kustomizationOf(p.applier)
	k.update(ks, func() {
		ks.Annotations = map[string]string{meta.ReconcileRequestAnnotation: strconv.Itoa(k.requests)}
	})
}

// setBypass sets the bypass label of a live definition to the state in the model.
func (k *soak) setBypass(name string) {
	k.t.Helper()
	var value any
	if k.model.live[name].bypassed {
		value = "true"
	}
	k.label(k.t.Context(), soakName+"-"+name, v1alpha1.BypassLabel, value)
}

// heldLines returns the entries of status.held that approve a part.
func (k *soak) heldLines(p *modelPart) []string {
	k.t.Helper()
	cs := k.selectionOf(p.name)
	if err := system.Client().Get(k.t.Context(), keyOf(cs), cs); err != nil {
		k.t.Fatal(err)
	}
	if cs.Status.Held == nil {
		k.t.Fatalf("seed %d: %s is not held any more", k.seed, p.name)
	}
	return cs.Status.Held.Approve
}

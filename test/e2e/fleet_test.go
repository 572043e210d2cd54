// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"github.com/fluxcd/pkg/runtime/conditions"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/test/stack"
)

// fleet is examples/fleet: the system of all tests is the hub, and each spoke a cluster of its own.
type fleet struct {
	*scenario // of the selection datacenter
	dir       string
	catalog   string // directory of the catalog that the hub's tag refers to
	registry  *stack.SecureRegistry

	staging, production, edge *spoke
}

// TestExampleFleetWorksAsIs runs the life of a fleet. The steps depend on their order.
func TestExampleFleetWorksAsIs(t *testing.T) {
	f := newFleet(t)
	first := f.rollOut()
	second := f.upgrade(first)
	f.promote(f.production, second)
	f.promote(f.production, first) // reverts the pull request
	f.promote(f.production, second)
	f.production.assertHas("datacenter")
	f.receipts(f.production, first, second)
	f.changeNothingSelected(second)
	f.takeAway(second)
	f.exclude(second)
}

// rollOut deploys the first revision to all clusters, to the stages by its digest.
func (f *fleet) rollOut() *v1alpha1.CatalogSelection {
	f.t.Helper()
	origin := f.release("v1.0.0", "", "", "")
	cs, edge := f.awaitPushed("datacenter", origin), f.awaitPushed("edge", origin)
	for _, s := range []*spoke{f.staging, f.production} {
		f.pin(s, strings.Repeat("0", 64), cs)
	}
	for _, s := range []*spoke{f.staging, f.production, f.edge} {
		s.assertPlainFlux()
		s.deploy()
	}
	f.staging.awaitApplied(cs)
	f.production.awaitApplied(cs)
	f.edge.awaitApplied(edge)
	f.staging.assertHas("datacenter")
	f.production.assertHas("datacenter")
	f.edge.assertHas("edge")
	return cs
}

// upgrade changes an application of both fleets. The change reaches the cluster that follows a tag, and the first stage once
// that is pinned to it.
func (f *fleet) upgrade(first *v1alpha1.CatalogSelection) *v1alpha1.CatalogSelection {
	f.t.Helper()
	origin := f.release("v1.1.0", "argocd", "replicas: 1", "replicas: 2")
	cs, edge := f.awaitPushed("datacenter", origin), f.awaitPushed("edge", origin)
	if cs.Status.Push.URL == first.Status.Push.URL {
		f.t.Fatalf("nothing new was pushed: %+v", cs.Status.Push)
	}
	f.promote(f.staging, cs)
	f.staging.assertHas("datacenter")
	f.edge.reconcileSource()
	f.edge.awaitApplied(edge)
	f.edge.assertHas("edge")

	f.production.reconcileSource()
	f.production.awaitApplied(first)
	if got := f.production.values("argocd"); !strings.Contains(got, "replicas: 1") {
		f.t.Errorf("production, which is pinned, has the values\n%s", got)
	}
	return cs
}

// promote pins a stage to a digest that cs has pushed, now or before.
func (f *fleet) promote(s *spoke, cs *v1alpha1.CatalogSelection) *kustomizev1.Kustomization {
	f.t.Helper()
	f.pin(s, s.revision(), cs)
	s.deploy()
	return s.awaitApplied(cs)
}

// changeNothingSelected changes an application that no fleet selects.
func (f *fleet) changeNothingSelected(before *v1alpha1.CatalogSelection) {
	f.t.Helper()
	edge := f.selected("edge")
	origin := f.release("v1.2.0", "metallb", "Gives services", "Gives all services")
	for _, want := range []*v1alpha1.CatalogSelection{before, edge} {
		now := f.awaitSource(want.Name, origin)
		if got := now.Status.Push; got == nil || got.URL != want.Status.Push.URL || got.Sources != want.Status.Push.Sources ||
			!conditions.IsTrue(now, v1alpha1.PushedCondition) {
			f.t.Errorf("%s: pushed %+v, want %+v: %+v", want.Name, got, want.Status.Push, now.Status.Conditions)
		}
	}
	f.assertStays(before)
}

// takeAway removes an application from the catalog. The hub holds the change until the line is merged that winnow approve
// writes in the pull request.
func (f *fleet) takeAway(before *v1alpha1.CatalogSelection) {
	f.t.Helper()
	g := gitOps{f.scenario, f.dir}
	commit := func(message string) {
		g.run("git", "add", ".")
		g.run("git", "-c", "user.name=somebody", "-c", "user.email=somebody@example.com", "commit", "-q", "-m", message)
	}
	g.run("git", "init", "-q")
	commit("v1.2.0")
	origin := f.release("v2.0.0", "loki", "", "")
	commit("v2.0.0")
	f.awaitSelection("held", func(cs *v1alpha1.CatalogSelection) error {
		held := cs.Status.Held
		if held == nil || !strings.HasPrefix(held.Revision, "v2.0.0@") || held.Reasons[0].Reason != v1alpha1.RemovalReason {
			return fmt.Errorf("not held: %+v", held)
		}
		if cs.Status.Push.URL != before.Status.Push.URL {
			f.t.Fatalf("pushed %s, want %s", cs.Status.Push.URL, before.Status.Push.URL)
		}
		return nil
	})
	f.assertStays(before)

	g.run(system.winnow, "approve", "--git", "HEAD~1..HEAD", "--write", "--plain-http")
	_, digest, _ := strings.Cut(origin, "@")
	if file := f.read("hub/datacenter.yaml"); !strings.Contains(file, "approve:\n    - "+digest+"\n") {
		f.t.Errorf("the file with the approval is\n%s", file)
	}
	f.deployHub()
	cs := f.awaitPushed("datacenter", origin)
	if !slices.Equal(cs.Status.UsedApprovals, []string{digest}) || cs.Status.Withheld != v1alpha1.NoConsumerReason {
		f.t.Errorf("used are %v, withheld is %q", cs.Status.UsedApprovals, cs.Status.Withheld)
	}
	f.assertStays(before)
}

// assertStays checks that a reconciliation of the sources finds no new revision, and that both clusters
// have the revision that was pushed with before.
func (f *fleet) assertStays(before *v1alpha1.CatalogSelection) {
	f.t.Helper()
	for _, s := range []*spoke{f.staging, f.production} {
		was, definitions := s.revision(), resourceVersions(s.definitions())
		s.reconcileSource()
		s.awaitApplied(before)
		if now := s.revision(); now != was {
			f.t.Errorf("%s moved from %s to %s", s.name, was, now)
		}
		if now := resourceVersions(s.definitions()); fmt.Sprint(now) != fmt.Sprint(definitions) {
			f.t.Errorf("%s wrote definitions: %v, then %v", s.name, definitions, now)
		}
	}
}

// exclude restores the former catalog, and excludes an application by an edit of the selection. Its
// definition remains on the spoke although the Kustomization prunes, because the selection does not.
func (f *fleet) exclude(before *v1alpha1.CatalogSelection) {
	f.t.Helper()
	f.replace("hub/catalog.yaml", "tag: v2.0.0", "tag: v1.1.0")
	f.deployHub()
	f.awaitSource("datacenter", before.Status.Push.Sources)
	f.replace("hub/datacenter.yaml", "  - falco\n", "  - falco\n  - velero\n")
	f.deployHub()
	cs := f.awaitPushed("datacenter", before.Status.Push.Sources)
	ks := f.promote(f.staging, cs)
	if slices.ContainsFunc(ks.Status.Inventory.Entries, func(e kustomizev1.ResourceRef) bool { return strings.Contains(e.ID, "velero") }) {
		f.t.Errorf("velero is still applied: %+v", ks.Status.Inventory)
	}
	velero, ok := f.staging.definitions()["velero"]
	if got := velero.GetAnnotations()["kustomize.toolkit.fluxcd.io/prune"]; !ok || got != "disabled" {
		f.t.Errorf("velero is there: %v, with prune: %q", ok, got)
	}
}

// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/fluxcd/pkg/runtime/conditions"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/test/stack"
)

// fleet is examples/fleet: the system of all tests is the hub, and each spoke a cluster of its own.
type fleet struct {
	*scenario // of the selection datacenter
	// work has the repository, dir, and the catalog that the hub's tag refers to.
	work, dir, catalog string
	registry           *stack.SecureRegistry
	guide              guideWalk

	staging, edge *spoke
	production    []*spoke
}

func (f *fleet) spokes() []*spoke { return append([]*spoke{f.staging, f.edge}, f.production...) }

// TestExampleFleetWorksAsIs runs the commands of the guide with a hub and five spokes, and then what it does not show. The
// steps depend on their order.
func TestExampleFleetWorksAsIs(t *testing.T) {
	f := newFleet(t)
	first := f.begin()
	f.breakStaging()
	fixed := f.fix()
	f.receipts(first, fixed)
	f.loseOne(fixed)
	f.changeNothingSelected()
	f.takeAway()
	f.exclude()
}

// begin deploys the first revision to all clusters, to the stages by its digest.
func (f *fleet) begin() *v1alpha1.CatalogSelection {
	f.t.Helper()
	for _, s := range f.spokes() {
		s.assertPlainFlux()
	}
	f.step("The hub renders")
	f.step("Begin")
	f.awaitAll("datacenter", append(f.production, f.staging)...)
	f.awaitAll("edge", f.edge)
	return f.selected("datacenter")
}

// awaitAll waits until spokes have what a selection has pushed, and checks that they have exactly that.
func (f *fleet) awaitAll(selection string, all ...*spoke) {
	f.t.Helper()
	cs := f.selected(selection)
	for _, s := range all {
		s.awaitApplied(cs)
		s.assertHas(selection)
	}
}

// breakStaging releases a change that breaks an application. It reaches the cluster that follows a tag, and the first stage.
func (f *fleet) breakStaging() {
	f.t.Helper()
	first := f.selected("datacenter").Status.Push.URL
	f.step("A bad release stays in staging")
	if now := f.selected("datacenter").Status.Push.URL; now == first {
		f.t.Fatalf("nothing new was pushed: %s", now)
	}
	f.edge.reconcileSource()
	f.awaitAll("datacenter", f.staging)
	f.awaitAll("edge", f.edge)
	for _, s := range f.production {
		s.reconcileSource()
		s.awaitApplied(s.applied)
		if got := s.values("argocd"); !strings.Contains(got, "replicas: 1") {
			f.t.Errorf("%s, which is pinned, has the values\n%s", s.name, got)
		}
	}
}

// fix releases the fix, and promotes it to all stages.
func (f *fleet) fix() *v1alpha1.CatalogSelection {
	f.t.Helper()
	f.step("The fix")
	f.awaitAll("datacenter", f.staging)
	f.step("To production")
	f.awaitAll("datacenter", f.production...)
	return f.selected("datacenter")
}

// loseOne names a removal on the hub and in each stage. Production takes it back.
func (f *fleet) loseOne(fixed *v1alpha1.CatalogSelection) {
	f.t.Helper()
	f.step("A removal is held")
	cs := f.selected("datacenter")
	used := func(a v1alpha1.ApprovalStatus) bool { return a.Line == "loki" && a.Used != nil }
	if len(cs.Status.Approvals) != 1 || !used(cs.Status.Approvals[0]) || cs.Status.Withheld != v1alpha1.NoConsumerReason {
		f.t.Errorf("the lines are %+v, withheld is %q", cs.Status.Approvals, cs.Status.Withheld)
	}
	for _, s := range append(f.production, f.staging) {
		s.awaitApplied(cs)
		s.assertApplies("loki", false)
	}
	f.step("Rollback")
	for _, s := range f.production {
		s.awaitApplied(fixed)
		s.assertApplies("loki", true)
	}
}

// promote pins a stage to a digest that cs has pushed, now or before.
func (f *fleet) promote(s *spoke, cs *v1alpha1.CatalogSelection) {
	f.t.Helper()
	f.pin(s, s.revision(), cs)
	s.deploy()
	s.awaitApplied(cs)
}

// changeNothingSelected changes an application that no fleet selects.
func (f *fleet) changeNothingSelected() {
	f.t.Helper()
	before := []*v1alpha1.CatalogSelection{f.selected("datacenter"), f.selected("edge")}
	origin := f.release("v2.1.0", "metallb", "Gives services", "Gives all services")
	for _, want := range before {
		now := f.awaitSource(want.Name, origin)
		if got := now.Status.Push; got == nil || got.URL != want.Status.Push.URL || got.Sources != want.Status.Push.Sources ||
			!conditions.IsTrue(now, v1alpha1.PushedCondition) {
			f.t.Errorf("%s: pushed %+v, want %+v: %+v", want.Name, got, want.Status.Push, now.Status.Conditions)
		}
	}
	f.assertStays()
}

// takeAway removes an application from the catalog. The hub holds the change.
func (f *fleet) takeAway() {
	f.t.Helper()
	before := f.selected("datacenter")
	f.release("v3.0.0", "velero", "", "")
	f.awaitSelection("held", func(cs *v1alpha1.CatalogSelection) error {
		held := cs.Status.Held
		if held == nil || !strings.HasPrefix(held.Revision, "v3.0.0@") || held.Reasons[0].Reason != v1alpha1.RemovalReason {
			return fmt.Errorf("not held: %+v", held)
		}
		if cs.Status.Push.URL != before.Status.Push.URL {
			f.t.Fatalf("pushed %s, want %s", cs.Status.Push.URL, before.Status.Push.URL)
		}
		return nil
	})
	f.assertStays()
}

// assertStays checks that a reconciliation of the sources finds no new revision, and that the stages have what they had.
func (f *fleet) assertStays() {
	f.t.Helper()
	for _, s := range []*spoke{f.staging, f.production[0]} {
		was, definitions := s.revision(), resourceVersions(s.definitions())
		s.reconcileSource()
		s.awaitApplied(s.applied)
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
func (f *fleet) exclude() {
	f.t.Helper()
	origin := f.selected("datacenter").Status.Push.Sources
	f.replace("hub/catalog.yaml", "tag: v3.0.0", "tag: v2.0.0")
	f.deployHub()
	f.awaitSource("datacenter", origin)
	f.replace("hub/datacenter.yaml", "  - falco\n", "  - falco\n  - velero\n")
	f.deployHub()
	f.promote(f.staging, f.awaitPushed("datacenter", origin))
	f.staging.assertApplies("velero", false)
}

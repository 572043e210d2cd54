// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

// nudge requests a reconciliation of a selection, and waits for its end.
func (s *scenario) nudge(request string) {
	s.t.Helper()
	cs := s.selection.DeepCopy()
	s.update(cs, func() { cs.Annotations = map[string]string{meta.ReconcileRequestAnnotation: request} })
	s.awaitSelection("reconciled for "+request, func(cs *v1alpha1.CatalogSelection) error {
		if cs.Status.LastHandledReconcileAt != request {
			return fmt.Errorf("last was %q", cs.Status.LastHandledReconcileAt)
		}
		return nil
	})
}

// someIntervals is the number of reconciliations in tests that nothing changes.
const someIntervals = 5

func TestATenantThatIgnoresTheBypassDoesNotTakeTheMarkOff(t *testing.T) {
	platform := newEstate(t, "bplord", catalogOf("bplord"))
	platform.commit([]string{platform.selecting("apps"), platform.applying("apps", "apps")})
	platform.awaitParts(part{"apps", "apps", []string{"bplord-a", "bplord-b", "bplord-c"}})
	platform.bypass("bplord-a")
	platform.patchDefinition(t.Context(), "bplord-a", `{"spec":{"defaultValuesBlock":"note: an admin was here\n"}}`)
	before := platform.get(t.Context(), definitionOf("bplord-a"))

	tenant := newEstate(t, "bptenant", catalogOf("bplord"))
	tenant.commit([]string{tenant.selecting("apps", "cluster: {bypass: Ignore}")})
	tenant.of("apps").awaitSelection("has rendered", func(cs *v1alpha1.CatalogSelection) error {
		if cs.Status.Artifact == nil {
			return errors.New("not yet")
		}
		return nil
	})
	for i := range someIntervals {
		tenant.of("apps").nudge(fmt.Sprint("tenant ", i))
		platform.of("apps").nudge(fmt.Sprint("platform ", i))
		platform.reapply("apps", fmt.Sprint(i))
		if now := platform.get(t.Context(), definitionOf("bplord-a")); now.GetResourceVersion() != before.GetResourceVersion() {
			t.Fatalf("the bypassed definition was touched: %v", now)
		}
	}
}

// reapply requests a reconciliation of a Kustomization, and waits for its end.
func (e *estate) reapply(name, request string) {
	e.t.Helper()
	ks := e.kustomizationOf(name)
	e.update(ks, func() { ks.Annotations = map[string]string{meta.ReconcileRequestAnnotation: request} })
	e.await(name+" reconciled for "+request, func(ctx context.Context) error {
		if err := system.Client().Get(ctx, keyOf(ks), ks); err != nil {
			return err
		}
		if ks.Status.LastHandledReconcileAt != request || conditions.IsReconciling(ks) {
			return fmt.Errorf("the status is %+v", ks.Status)
		}
		return nil
	})
}

// A tenant was first to publish the definitions, but cannot apply them.
func TestATenantWhoseKustomizationFailsDoesNotBlockThePlatform(t *testing.T) {
	tenant := newEstate(t, "blocker", catalogOf("blocked"))
	tenant.commit([]string{tenant.selecting("apps"), tenant.applying("apps", "apps", "serviceAccountName: nobody")})
	tenant.of("apps").awaitAppliedCondition("False ApplyFailed")

	platform := newEstate(t, "blocked", catalogOf("blocked"))
	platform.commit([]string{platform.selecting("apps"), platform.applying("apps", "apps")})
	before := platform.awaitParts(part{"apps", "apps", []string{"blocked-a", "blocked-b", "blocked-c"}})
	tenant.of("apps").nudge("after the platform")
	tenant.of("apps").awaitStalled(v1alpha1.ConflictReason)
	platform.assertSameObjects(before, platform.awaitParts(part{"apps", "apps", []string{"blocked-a", "blocked-b", "blocked-c"}}))
}

func TestWhatAnotherSourceHasAppliedIsAConflictThatNamesItsKustomization(t *testing.T) {
	e := newEstate(t, "gitfed", catalogOf("gitfed"))
	e.plain("repo", map[string]string{"a.yaml": definitionManifest("gitfed-a", "1.0.0")})
	e.commit([]string{e.applying("byhand", "OCIRepository/repo")})
	e.await("applied by hand", func(ctx context.Context) error {
		if live, err := e.definitions(ctx); err != nil || len(live) != 1 {
			return fmt.Errorf("live are %d (%w)", len(live), err)
		}
		return nil
	})
	before := e.get(t.Context(), definitionOf("gitfed-a"))

	e.commit([]string{e.selecting("apps"), e.applying("apps", "apps")})
	cs := e.of("apps").awaitStalled(v1alpha1.ConflictReason)
	message := conditions.GetMessage(cs, meta.ReadyCondition)
	for _, part := range []string{"Kustomization gitfed/byhand", "OCIRepository", "gitfed-a"} {
		if !strings.Contains(message, part) {
			t.Errorf("%q is not in %q", part, message)
		}
	}
	for i := range someIntervals {
		e.of("apps").nudge(fmt.Sprint(i))
		e.reapply("byhand", fmt.Sprint(i))
	}
	if now := e.get(t.Context(), definitionOf("gitfed-a")); now.GetResourceVersion() != before.GetResourceVersion() {
		t.Errorf("it was changed: %v, before %v", now, before)
	}
	e.commit([]string{e.selecting("apps", "exclude: [gitfed-a]")})
	e.of("apps").awaitAppliedCondition("True Succeeded")
}

// Both selections exist from the start, and both Kustomizations reconcile continuously.
func TestTwoSelectionsOverOneDefinitionDoNotTakeTurns(t *testing.T) {
	e := newEstate(t, "turns", catalogOf("turns"))
	e.commit([]string{e.selecting("one"), e.selecting("two"), e.applying("one", "one"), e.applying("two", "two")})
	names := []string{"turns-a", "turns-b", "turns-c"}
	winner, loser := e.awaitWinner("one", "two")
	before := e.awaitParts(part{winner, winner, names})
	for i := range someIntervals {
		for _, name := range []string{loser, winner} {
			e.of(name).nudge(fmt.Sprint(i))
			e.reapply(name, fmt.Sprint(i))
		}
		e.of(loser).awaitStalled(v1alpha1.ConflictReason)
	}
	e.assertSameObjects(before, e.awaitParts(part{winner, winner, names}))
	live, err := e.definitions(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range slices.Sorted(maps.Keys(live)) {
		if d := live[name]; d.GetGeneration() != 1 || d.GetLabels()[v1alpha1.NameLabel] != winner {
			t.Errorf("%s flapped: %v", name, d.Object["metadata"])
		}
	}
}

// awaitWinner waits until one of two selections is applied and the other one is in conflict with it. An
// earlier claim may still be revoked.
func (e *estate) awaitWinner(one, two string) (winner, loser string) {
	e.t.Helper()
	e.await("one of the two has won", func(ctx context.Context) error {
		for _, names := range [][2]string{{one, two}, {two, one}} {
			first, second := e.selectionOf(names[0]), e.selectionOf(names[1])
			if err := system.Client().Get(ctx, keyOf(first), first); err != nil {
				return err
			}
			if err := system.Client().Get(ctx, keyOf(second), second); err != nil {
				return err
			}
			if conditions.IsReady(first) && conditions.IsTrue(first, v1alpha1.AppliedCondition) &&
				conditions.GetReason(second, meta.ReadyCondition) == v1alpha1.ConflictReason {
				winner, loser = names[0], names[1]
				return nil
			}
		}
		return errors.New("none has")
	})
	return winner, loser
}

// configMap returns a ConfigMap in the namespace of the estate.
func (e *estate) configMap(name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: e.metaOf(name)}
}

// awaitHeldFor waits until a selection is held for the removal of exactly these applications, and
// returns the lines that name it.
func (e *estate) awaitHeldFor(selection string, removed ...string) []string {
	e.t.Helper()
	cs := e.of(selection).awaitSelection("held for "+strings.Join(removed, ", "), func(cs *v1alpha1.CatalogSelection) error {
		if cs.Status.Held == nil || !conditions.IsTrue(cs, v1alpha1.HeldCondition) {
			return errors.New("not held")
		}
		var got []string
		for _, r := range cs.Status.Held.Reasons {
			if r.Reason != v1alpha1.RemovalReason {
				return fmt.Errorf("held for %+v", r)
			}
			got = append(got, r.Application)
		}
		slices.Sort(got)
		if got = slices.Compact(got); !slices.Equal(got, removed) {
			return fmt.Errorf("held for %q", got)
		}
		return nil
	})
	return cs.Status.Held.Approve
}

func TestAKustomizationThatIsRePointedDeletesNothingThatWasNotApproved(t *testing.T) {
	e := newEstate(t, "repoint", catalogOf("repoint"))
	e.plain("repo", map[string]string{
		"a.yaml":     definitionManifest("repoint-a", "1.0.0"),
		"extra.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: extra, namespace: repoint}\ndata: {a: b}\n",
	})
	e.commit([]string{e.applying("apps", "OCIRepository/repo")})
	extra := e.configMap("extra")
	e.await("applied from the other source", func(ctx context.Context) error {
		return system.Client().Get(ctx, keyOf(extra), extra)
	})
	before := e.uids()

	e.commit([]string{e.selecting("apps", limitedTo("repoint-a"))})
	e.of("apps").awaitSelection("rendered, and not served", func(cs *v1alpha1.CatalogSelection) error {
		if !conditions.IsReady(cs) || cs.Status.Withheld != v1alpha1.NoConsumerReason {
			return fmt.Errorf("withheld is %q", cs.Status.Withheld)
		}
		return nil
	})
	e.commit([]string{e.applying("apps", "apps")})
	lines := e.awaitHeldFor("apps", "repoint/extra")
	e.reapplyWithoutArtifact("apps")
	if err := system.Client().Get(t.Context(), keyOf(extra), extra); err != nil {
		t.Fatal(err)
	}
	e.assertSameObjects(before, e.uids())
	e.commit([]string{e.selecting("apps", limitedTo("repoint-a"), naming(lines...))})
	e.assertSameObjects(before, e.awaitParts(part{"apps", "apps", []string{"repoint-a"}}))
	e.awaitGone(t.Context(), extra)
}

// reapplyWithoutArtifact requests a reconciliation of a Kustomization whose source has no artifact.
func (e *estate) reapplyWithoutArtifact(name string) {
	e.t.Helper()
	ks := e.kustomizationOf(name)
	e.update(ks, func() { ks.Annotations = map[string]string{meta.ReconcileRequestAnnotation: "without artifact"} })
	e.await(name+" missed its artifact", func(ctx context.Context) error {
		if err := system.Client().Get(ctx, keyOf(ks), ks); err != nil {
			return err
		}
		if ks.Status.LastHandledReconcileAt != "without artifact" || conditions.GetReason(ks, meta.ReadyCondition) != meta.ArtifactFailedReason {
			return fmt.Errorf("the status is %+v", ks.Status)
		}
		return nil
	})
}

func TestASelectionThatIsCreatedAgainHoldsWhatItsKustomizationWouldDelete(t *testing.T) {
	e := newEstate(t, "again", catalogOf("again"))
	e.commit([]string{e.selecting("apps"), e.applying("apps", "apps")})
	before := e.awaitParts(part{"apps", "apps", []string{"again-a", "again-b", "again-c"}})
	e.remove(e.selectionOf("apps"))
	e.awaitGone(t.Context(), &sourcev1.ExternalArtifact{ObjectMeta: e.metaOf("apps")})
	narrow := limitedTo("again-a")
	e.commit([]string{e.selecting("apps", narrow)})
	lines := e.awaitHeldFor("apps", "again-b", "again-c")
	e.reapplyWithoutArtifact("apps")
	e.assertSameObjects(before, e.uids())
	e.commit([]string{e.selecting("apps", narrow, naming(lines...))})
	e.awaitParts(part{"apps", "apps", []string{"again-a"}})
}

func TestAStatusThatIsWipedReleasesNothing(t *testing.T) {
	s := newScenario(t, "wiped", catalogOf("wiped"), nil)
	s.awaitApplied("wiped-a", "wiped-b", "wiped-c")
	unchanged := s.unchanged()
	digest := s.release("v2", append(catalogOf("wiped")[:1], catalogOf("wiped")[2]))
	s.awaitHeld(digest, "Removal wiped-b [2.0.0]")
	for i := range someIntervals {
		s.wipeStatus()
		s.nudge(fmt.Sprint("wiped ", i))
		s.awaitHeld(digest, "Removal wiped-b [2.0.0]")
		s.requestReconciliation()
		unchanged()
	}
	s.approve(s.awaitHeld(digest, "Removal wiped-b [2.0.0]").Status.Held.Approve...)
	s.awaitApplied("wiped-a", "wiped-c")
}

// wipeStatus removes the whole status, as a restore from a backup does.
func (s *scenario) wipeStatus() {
	s.t.Helper()
	patch := client.RawPatch(types.MergePatchType, []byte(`{"status":null}`))
	if err := system.Client().Status().Patch(s.t.Context(), s.selection.DeepCopy(), patch); err != nil {
		s.t.Fatal(err)
	}
}

// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"fmt"
	"slices"
	"testing"

	"github.com/fluxcd/pkg/runtime/conditions"
	"k8s.io/apimachinery/pkg/types"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/test/stack"
)

// holdWhileAnotherWaits removes the second of three applications from the catalog. The Kustomization "one"
// has applied them, so that the selection is held, while the selection "two" selects the first one.
// It returns the UIDs of the definitions.
func (e *estate) holdWhileAnotherWaits(selection string) map[string]types.UID {
	e.t.Helper()
	apps := catalogOf(e.name)
	e.commit([]string{e.selecting(selection), e.applying("one", selection)})
	before := e.awaitParts(part{selection, "one", []string{apps[0].name, apps[1].name, apps[2].name}})
	e.commit([]string{e.selecting("two", limitedTo(apps[0].name)), e.applying("two", "two")})
	e.of("two").awaitStalled(v1alpha1.ConflictReason)
	e.of(selection).release("v2", []app{apps[0], apps[2]})
	e.awaitHeldFor(selection, apps[1].name)
	return before
}

// assertOneWins waits until one of two selections holds the definition that both select, and checks that
// the other one still serves its former artifact.
func (e *estate) assertOneWins(one, two string) {
	e.t.Helper()
	winner, loser := e.awaitWinner(one, two)
	for i := range someIntervals {
		e.of(winner).nudge(fmt.Sprint(i))
		e.of(loser).nudge(fmt.Sprint(i))
		if cs := e.of(loser).awaitStalled(v1alpha1.ConflictReason); cs.Status.Withheld != "" || len(cs.Status.Applications) != 1 {
			e.t.Fatalf("%s does not serve what it served before: %+v", loser, cs.Status)
		}
	}
}

// A selection keeps the definitions that it has applied while its status is lost and a change is held:
// another selection of the same definitions waits.
func TestAWipedStatusGivesNothingToAnotherSelection(t *testing.T) {
	e := newEstate(t, "claimless", catalogOf("claimless"))
	before := e.holdWhileAnotherWaits("one")
	for i := range someIntervals {
		e.of("one").wipeStatus()
		e.of("one").nudge(fmt.Sprint(i))
		e.of("two").nudge(fmt.Sprint(i))
		e.awaitHeldFor("one", "claimless-b")
		e.of("two").awaitStalled(v1alpha1.ConflictReason)
	}
	e.assertSameObjects(before, e.uids())
}

// The renamed selection publishes nothing before its hold is released, and still owns the definitions
// that its Kustomization has applied.
func TestARenamedSelectionThatIsHeldGivesNothingToAnotherOne(t *testing.T) {
	e := newEstate(t, "heldname", catalogOf("heldname"))
	before := e.holdWhileAnotherWaits("old")
	e.commit([]string{e.selecting("new"), e.applying("one", "new")}, e.selectionOf("old"))
	e.awaitHeldFor("new", "heldname-b")
	for i := range someIntervals {
		e.of("two").nudge(fmt.Sprint(i))
		e.of("new").nudge(fmt.Sprint(i))
		e.of("two").awaitStalled(v1alpha1.ConflictReason)
	}
	e.assertSameObjects(before, e.uids())
}

// Without the archive as well, the last publication is unknown: another render than the announced one is held for that
// reason.
func TestAWipedStatusWithoutArchiveHoldsWhatNobodyKnows(t *testing.T) {
	e := newEstate(t, "baseless", catalogOf("baseless"))
	e.commit([]string{e.selecting("apps"), e.applying("apps", "apps")})
	before := e.awaitParts(part{"apps", "apps", []string{"baseless-a", "baseless-b", "baseless-c"}})
	if err := system.controller.Stop(); err != nil {
		t.Fatal(err)
	}
	e.of("apps").wipeStatus()
	e.release("v2", catalogOf("baseless")[:2])
	restartWith(t, stack.ControllerOptions{}) // with an empty data directory
	e.of("apps").awaitSelection("held", func(cs *v1alpha1.CatalogSelection) error {
		if conditions.GetReason(cs, v1alpha1.HeldCondition) != v1alpha1.BaselineLostReason {
			return fmt.Errorf("held by %+v", cs.Status.Held)
		}
		return nil
	})
	e.assertSameObjects(before, e.uids())
}

// A definition that its holder gives up goes to one waiting selection, and the others do not change.
func TestOnlyOneOfTwoThatWaitGetsWhatIsGivenUp(t *testing.T) {
	e := newEstate(t, "heirs", catalogOf("heirs"))
	a, b, c := "heirs-a", "heirs-b", "heirs-c"
	holder := []part{{"holder", "holder", []string{a}}}
	e.commit(e.manifests(holder))
	e.awaitParts(holder...)
	heirs := []part{{"left", "left", []string{b}}, {"right", "right", []string{c}}}
	e.commit(e.manifests(heirs))
	before := e.awaitParts(slices.Concat(holder, heirs)...)
	e.commit([]string{e.selecting("left", limitedTo(a, b)), e.selecting("right", limitedTo(a, c))})
	e.of("left").awaitStalled(v1alpha1.ConflictReason)
	e.of("right").awaitStalled(v1alpha1.ConflictReason)

	e.commit(nil, e.selectionOf("holder"), e.kustomizationOf("holder"))
	e.awaitGone(t.Context(), e.kustomizationOf("holder"))
	e.assertOneWins("left", "right")
	after := e.uids()
	delete(before, a) // Flux deleted it with its Kustomization
	e.assertSameObjects(before, after)
}

// The same for a holder that remains and excludes the definition.
func TestOnlyOneOfTwoThatWaitGetsWhatIsExcluded(t *testing.T) {
	e := newEstate(t, "legacy", catalogOf("legacy"))
	a, b, c := "legacy-a", "legacy-b", "legacy-c"
	apps := append(catalogOf("legacy"), app{name: "legacy-d", tier: "gold", versions: []string{"1.0.0"}})
	e.release("v2", apps)
	parts := []part{{"holder", "holder", []string{a, "legacy-d"}}, {"left", "left", []string{b}}, {"right", "right", []string{c}}}
	e.commit(e.manifests(parts))
	before := e.awaitParts(parts...)
	e.commit([]string{e.selecting("left", limitedTo(a, b)), e.selecting("right", limitedTo(a, c))})
	e.of("left").awaitStalled(v1alpha1.ConflictReason)
	e.of("right").awaitStalled(v1alpha1.ConflictReason)

	e.commit([]string{e.selecting("holder", limitedTo(a, "legacy-d"), "exclude: ["+a+"]")})
	e.assertOneWins("left", "right")
	e.assertSameObjects(before, e.uids())
}

// A definition that one selection has given up and another one has published belongs to the other one,
// although its labels are still those of the first Kustomization.
func TestWhatMovedButIsNotAppliedYetIsNotTakenBack(t *testing.T) {
	e := newEstate(t, "midway", catalogOf("midway"))
	a, b, c := "midway-a", "midway-b", "midway-c"
	parts := []part{{"one", "one", []string{a, b}}, {"two", "two", []string{c}}}
	e.commit(e.manifests(parts))
	before := e.awaitParts(parts...)
	e.commit([]string{e.applying("two", "two", "suspend: true")})
	e.commit([]string{e.selecting("one", limitedTo(a), naming(b)), e.selecting("two", limitedTo(b, c))})
	e.of("two").awaitSelection("publishes what moved", func(cs *v1alpha1.CatalogSelection) error {
		if !conditions.IsReady(cs) || len(cs.Status.Applications) != 2 {
			return fmt.Errorf("published are %+v", cs.Status.Applications)
		}
		return nil
	})
	e.of("one").awaitSelection("publishes without what moved, and has it applied", func(cs *v1alpha1.CatalogSelection) error {
		if c := cs.Status.Consumers; len(cs.Status.Applications) != 1 || len(c) != 1 || c[0].Revision != cs.Status.Artifact.Revision {
			return fmt.Errorf("published are %+v, applied %+v", cs.Status.Applications, c)
		}
		return nil
	})
	e.assertSameObjects(before, e.uids())

	e.commit([]string{e.selecting("one", limitedTo(a, b))})
	for i := range someIntervals {
		e.of("one").awaitStalled(v1alpha1.ConflictReason)
		e.of("one").nudge(fmt.Sprint(i))
		e.of("two").nudge(fmt.Sprint(i))
		e.assertSameObjects(before, e.uids())
	}
	e.commit([]string{e.selecting("one", limitedTo(a)), e.applying("two", "two", "suspend: false")})
	after := e.awaitParts(part{"one", "one", []string{a}}, part{"two", "two", []string{b, c}})
	e.assertSameObjects(before, after)
}

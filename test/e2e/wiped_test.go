//go:build e2e

package e2e

import (
	"fmt"
	"testing"

	"github.com/fluxcd/pkg/runtime/conditions"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/test/stack"
)

// What a selection has applied stays its own while its status is lost and a change is held: another
// one that wants the same waits.
func TestAWipedStatusGivesNothingToAnotherSelection(t *testing.T) {
	e := newEstate(t, "claimless", catalogOf("claimless"))
	names := []string{"claimless-a", "claimless-b", "claimless-c"}
	e.commit([]string{e.selecting("one"), e.applying("one", "one")})
	before := e.awaitParts(part{"one", "one", names})
	e.commit([]string{e.selecting("two", "limit: {nameSelector: [claimless-a]}"), e.applying("two", "two")})
	e.of("two").awaitStalled(v1alpha1.ConflictReason)

	e.of("one").release("v2", append(catalogOf("claimless")[:1], catalogOf("claimless")[2]))
	e.awaitHeldFor("one", "claimless-b")
	for i := range someIntervals {
		e.of("one").wipeStatus()
		e.of("one").nudge(fmt.Sprint(i))
		e.of("two").nudge(fmt.Sprint(i))
		e.awaitHeldFor("one", "claimless-b")
		e.of("two").awaitStalled(v1alpha1.ConflictReason)
	}
	e.assertSameObjects(before, e.uids())
}

// The new name publishes nothing before its hold is released, and still owns what its Kustomization
// has applied.
func TestARenamedSelectionThatIsHeldGivesNothingToAnotherOne(t *testing.T) {
	e := newEstate(t, "heldname", catalogOf("heldname"))
	names := []string{"heldname-a", "heldname-b", "heldname-c"}
	e.commit([]string{e.selecting("old"), e.applying("one", "old")})
	before := e.awaitParts(part{"old", "one", names})
	e.commit([]string{e.selecting("two", "limit: {nameSelector: [heldname-a]}"), e.applying("two", "two")})
	e.of("two").awaitStalled(v1alpha1.ConflictReason)
	e.of("old").release("v2", append(catalogOf("heldname")[:1], catalogOf("heldname")[2]))
	e.awaitHeldFor("old", "heldname-b")

	e.commit([]string{e.selecting("new"), e.applying("one", "new")}, e.selectionOf("old"))
	e.awaitHeldFor("new", "heldname-b")
	for i := range someIntervals {
		e.of("two").nudge(fmt.Sprint(i))
		e.of("new").nudge(fmt.Sprint(i))
		e.of("two").awaitStalled(v1alpha1.ConflictReason)
	}
	e.assertSameObjects(before, e.uids())
}

// With the archive lost as well, nobody knows what was published: that is held, and says so.
func TestAWipedStatusWithoutArchiveHoldsWhatNobodyKnows(t *testing.T) {
	e := newEstate(t, "baseless", catalogOf("baseless"))
	e.commit([]string{e.selecting("apps"), e.applying("apps", "apps")})
	before := e.awaitParts(part{"apps", "apps", []string{"baseless-a", "baseless-b", "baseless-c"}})
	if err := system.controller.Stop(); err != nil {
		t.Fatal(err)
	}
	e.of("apps").wipeStatus()
	restartWith(t, stack.ControllerOptions{}) // with an empty data directory
	e.of("apps").awaitSelection("held", func(cs *v1alpha1.CatalogSelection) error {
		if conditions.GetReason(cs, v1alpha1.HeldCondition) != v1alpha1.BaselineLostReason {
			return fmt.Errorf("held by %+v", cs.Status.Held)
		}
		return nil
	})
	e.assertSameObjects(before, e.uids())
}

package cluster

import (
	"fmt"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/winnow-dev/winnow/render/safeguard"
)

// What a selection does not serve any more stays reserved: a catalog with other names in each revision fills the memory.
func TestReservationsGoWithWhatIsServed(t *testing.T) {
	c := &claims{}
	uid := types.UID("x")
	for revision := range 3 {
		keys := Keys{}
		for i := range 1000 {
			keys[safeguard.Key{Kind: "ApplicationDefinition", Name: fmt.Sprintf("r%d-%d", revision, i)}] = true
		}
		for key := range keys { // as Claim does
			put(&c.reserved, key, reservation{uid: uid})
		}
		c.serve(uid, keys) // as Commit does
		c.withdraw(uid, types.NamespacedName{Name: "x"})
	}
	if len(c.reserved) > 1000 {
		t.Errorf("%d keys are reserved, 1000 are served", len(c.reserved))
	}
}

func TestWhoIsDeletedWaitsNoMore(t *testing.T) {
	c := &claims{}
	put(&c.waiting, types.NamespacedName{Name: "x"}, wait{pending: map[types.UID]bool{"other": true}})
	c.forget("x-uid", types.NamespacedName{Name: "x"})
	if names := c.evaluate("other"); len(names) > 0 {
		t.Errorf("%v is deleted and enqueued at each evaluation", names)
	}
}

// The lock of the claims is everybody's: a tenant with many large selections must not keep it for long.
func TestTheLockIsNotKeptForLong(t *testing.T) {
	c := &claims{}
	giver := types.UID("giver")
	c.serve(giver, Keys{})
	k := func(name string) safeguard.Key { return safeguard.Key{Kind: "ApplicationDefinition", Name: name} }
	for i := range 100 {
		keys := Keys{}
		for j := range 5000 {
			keys[k(fmt.Sprintf("s%d-%d", i, j))] = true
		}
		p := proposal{keys: keys, holders: map[safeguard.Key]holder{}}
		if i >= 50 { // these want one key of the same giver, who has just given it up
			keys[k("wanted")] = true
			p.holders[k("wanted")] = holder{uid: giver}
		}
		c.propose(types.UID(fmt.Sprint("u", i)), p)
	}
	start := time.Now()
	admitted := c.admissible()
	if took := time.Since(start); took > time.Second {
		t.Errorf("one question takes %s under the lock (%d admitted)", took, len(admitted))
	} else {
		t.Log(took, len(admitted))
	}
}

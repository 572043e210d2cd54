// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/winnow-dev/winnow/controllers/cluster/evidence"
	"github.com/winnow-dev/winnow/controllers/cluster/inventory"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// A catalog may have other names in each revision. Reservations end with the definitions, or they would fill
// the memory.
func TestReservationsEndWithTheDefinitions(t *testing.T) {
	c := &Ledger{}
	uid := types.UID("x")
	for revision := range 3 {
		keys := inventory.Keys{}
		for i := range 1000 {
			keys[safeguard.Key{Kind: "ApplicationDefinition", Name: fmt.Sprintf("r%d-%d", revision, i)}] = true
		}
		for key := range keys { // as Claim does
			put(&c.reserved, key, reservation{uid: uid})
		}
		c.Serve(uid, keys) // as Commit does
		c.Withdraw(uid, types.NamespacedName{Name: "x"})
	}
	if len(c.reserved) > 1000 {
		t.Errorf("%d keys are reserved, 1000 are served", len(c.reserved))
	}
}

func TestADeletedSelectionIsNotEnqueued(t *testing.T) {
	c := &Ledger{}
	put(&c.waiting, types.NamespacedName{Name: "x"}, wait{pending: map[types.UID]bool{"other": true}})
	c.Forget("x-uid", types.NamespacedName{Name: "x"})
	if names := c.Evaluate("other"); len(names) > 0 {
		t.Errorf("%v is deleted and enqueued at each evaluation", names)
	}
}

// All selections share the lock of the claims: a tenant with many large selections that claim the same key must
// not hold it for one round through all of them for each. The test counts in rounds, because machines differ.
func TestTheLockOfTheClaimsIsHeldBriefly(t *testing.T) {
	c := &Ledger{}
	holderUID := types.UID("holder")
	c.Serve(holderUID, inventory.Keys{})
	k := func(name string) safeguard.Key { return safeguard.Key{Kind: "ApplicationDefinition", Name: name} }
	for i := range 100 {
		keys := inventory.Keys{}
		for j := range 5000 {
			keys[k(fmt.Sprintf("s%d-%d", i, j))] = true
		}
		p := proposal{keys: keys, holders: map[safeguard.Key]Holder{}}
		if i >= 50 { // these claim one key that the same holder has just released
			keys[k("shared")] = true
			p.holders[k("shared")] = Holder{UID: holderUID}
		}
		c.propose(types.UID(fmt.Sprint("u", i)), p, time.Time{})
	}
	start := time.Now()
	c.late(c.unblocked(c.proposed))
	once := time.Since(start)
	start = time.Now()
	admitted := c.admissible()
	if took := time.Since(start); took > 10*once {
		t.Errorf("admissible holds the lock for %s, one round through all proposals takes %s", took, once)
	}
	if len(admitted) != 51 {
		t.Errorf("%d proposals are admitted, want those that share no key, and one of the others", len(admitted))
	}
}

// The earlier proposal waits for what the later one gives up, and claims what that one takes: both cannot be published.
func TestOneOfTwoProposalsThatShareAKeyIsAdmitted(t *testing.T) {
	k := func(name string) safeguard.Key { return safeguard.Key{Kind: "ApplicationDefinition", Name: name} }
	for name, test := range map[string]struct {
		earlierHolds map[safeguard.Key]Holder
		admitted     string
	}{
		"the earlier one waits for the later one":     {map[safeguard.Key]Holder{k("b"): {UID: "later"}}, "later"},
		"the earlier one waits for a stranger":        {map[safeguard.Key]Holder{k("b"): {UID: "stranger"}}, "later"},
		"the earlier one waits for what was given up": {map[safeguard.Key]Holder{k("b"): {UID: "third"}}, "earlier"},
		"the earlier one waits for nothing":           {nil, "earlier"},
	} {
		l := &Ledger{}
		l.Serve("later", inventory.Keys{k("b"): true})
		l.Serve("third", inventory.Keys{})
		l.propose("earlier", proposal{keys: inventory.Keys{k("b"): true, k("c"): true}, holders: test.earlierHolds}, time.Time{})
		l.propose("later", proposal{keys: inventory.Keys{k("c"): true, k("d"): true}}, time.Time{})
		if got, want := l.admissible(), (map[types.UID]bool{types.UID(test.admitted): true}); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: admitted are %v, want %v", name, got, want)
		}
	}
}

// Whoever may write an object in its own namespace can set the owner labels of that object, and may apply no definition.
func TestAnObjectOfAnotherKindTakesNoReservation(t *testing.T) {
	definition := safeguard.KeyOf("apps.kubermatic.k8c.io", "ApplicationDefinition", "", "nginx")
	release := safeguard.KeyOf("helm.toolkit.fluxcd.io", "HelmRelease", "tenant", "nginx")
	now := time.Now()
	for name, applied := range map[string]safeguard.Key{"a definition": definition, "a release": release} {
		c := &Ledger{Now: func() time.Time { return now }}
		tenant := Claimant{UID: "tenant", Seen: evidence.Evidence{Owns: true, Applied: inventory.Keys{applied: true}}}
		platform := Rival{UID: "platform", Keys: inventory.Keys{definition: true}}
		took := c.revoke(tenant, definition, reservation{uid: "platform", since: now}, platform)
		if want := applied == definition; took != want {
			t.Errorf("one that owns %s takes the reservation of one that owns nothing: %t, want %t", name, took, want)
		}
	}
}

// Claim lists the rivals before it takes the lock: one that renders, reserves and publishes in between is not among them.
func TestAReservationOfTheMeantimeCounts(t *testing.T) {
	definition := safeguard.KeyOf("apps.kubermatic.k8c.io", "ApplicationDefinition", "", "nginx")
	now := time.Now()
	c := &Ledger{Now: func() time.Time { return now }}
	put(&c.reserved, definition, reservation{uid: "one", since: now})
	for name, listed := range map[string]time.Time{"before": now.Add(-time.Nanosecond), "after": now.Add(time.Nanosecond)} {
		two := Claimant{UID: "two", Listed: listed, Seen: evidence.Evidence{Owns: true, Applied: inventory.Keys{definition: true}}}
		if _, reserved := c.reservedBy(two, definition, nil); reserved != (name == "before") {
			t.Errorf("with rivals that were listed %s the reservation, the key is reserved: %t", name, reserved)
		}
	}
}

// A holder that has published without a key has given it up, whatever keeps its next render waiting.
func TestWhatWasGivenUpIsReleasedDuringAnotherConflict(t *testing.T) {
	k := func(name string) safeguard.Key { return safeguard.Key{Kind: "ApplicationDefinition", Name: name} }
	for name, test := range map[string]struct {
		served, proposed inventory.Keys
		contested        bool
	}{
		"published without it":                {inventory.Keys{k("a"): true}, inventory.Keys{k("a"): true, k("b"): true}, false},
		"published with it":                   {inventory.Keys{k("g"): true}, inventory.Keys{k("b"): true}, true},
		"published without it, and wants it":  {inventory.Keys{k("a"): true}, inventory.Keys{k("b"): true, k("g"): true}, true},
		"nobody knows what it has published":  {nil, inventory.Keys{k("b"): true}, true},
		"published without it, wants nothing": {inventory.Keys{k("a"): true}, nil, false},
	} {
		c := &Ledger{}
		if test.served != nil {
			c.Serve("two", test.served)
		}
		if test.proposed != nil { // another one keeps b
			c.propose("two", proposal{keys: test.proposed, holders: map[safeguard.Key]Holder{k("b"): {UID: "three"}}}, time.Time{})
		}
		c.Serve("three", inventory.Keys{k("b"): true})
		err := c.Contest("one", types.NamespacedName{Name: "one"}, map[safeguard.Key]Holder{k("g"): {UID: "two"}})
		if contested := err != nil; contested != test.contested {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A status that was read before a publication says nothing new.
func TestAStatusTeachesOnlyWhatIsNotKnown(t *testing.T) {
	older, newer := inventory.Keys{{Name: "a"}: true}, inventory.Keys{{Name: "b"}: true}
	l := &Ledger{}
	if got := l.Learn("one", older); !reflect.DeepEqual(got, older) {
		t.Errorf("Learn() = %v, want %v", got, older)
	}
	l.Serve("one", newer)
	if got := l.Learn("one", older); !reflect.DeepEqual(got, newer) {
		t.Errorf("Learn() = %v, want %v", got, newer)
	}
}

// A selection that serves what it renders has its keys once in memory, in whatever order they become known.
func TestKeysAreSharedOnceTheyAreEqual(t *testing.T) {
	keys := func() inventory.Keys { return inventory.Keys{{Kind: "ApplicationDefinition", Name: "argocd"}: true} }
	for name, publish := range map[string]func(*Ledger){
		"rendered, then served": func(l *Ledger) { l.NoteRender("uid", 1, keys(), false); l.Serve("uid", keys()) },
		"rendered, then learnt": func(l *Ledger) { l.NoteRender("uid", 1, keys(), false); l.Learn("uid", keys()) },
		"served, then rendered": func(l *Ledger) { l.Serve("uid", keys()); l.NoteRender("uid", 2, keys(), false) },
		"learnt, then served": func(l *Ledger) {
			l.NoteRender("uid", 1, keys(), false)
			l.Learn("uid", keys())
			l.Serve("uid", keys())
		},
	} {
		l := &Ledger{}
		publish(l)
		served, _ := l.ServedBy("uid")
		if reflect.ValueOf(served).Pointer() != reflect.ValueOf(l.RenderedBy("uid")).Pointer() {
			t.Errorf("%s: the keys are there twice", name)
		}
	}
}

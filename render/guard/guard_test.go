// SPDX-License-Identifier: Apache-2.0

package guard_test

import (
	"slices"
	"testing"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/guard"
	"github.com/winnow-dev/winnow/render/safeguard"
)

func TestTheMostHarmfulIsHeldFirst(t *testing.T) {
	older := []safeguard.Definition{
		{APIVersion: "g/v1", Kind: "ApplicationDefinition", Name: "a", Versions: []string{"1", "2"}},
		{APIVersion: "g/v1", Kind: "ApplicationDefinition", Name: "b", Identity: map[string]string{"kind": "B"}},
		{APIVersion: "g/v1", Kind: "ApplicationDefinition", Name: "c"},
	}
	newer := []safeguard.Definition{older[0], older[1]}
	newer[0].Versions, newer[1].Identity = []string{"2"}, map[string]string{"kind": "C"}
	var got []string
	for _, c := range guard.Decide(older, guard.Next{Definitions: newer}, guard.Named{}).Held {
		got = append(got, c.Reason)
	}
	if want := []string{v1alpha1.RemovalReason, v1alpha1.IdentityChangeReason, v1alpha1.VersionRemovalReason}; !slices.Equal(got, want) {
		t.Errorf("it holds %v, want %v", got, want)
	}
}

func TestASafeguardHoldsWhatItIsFor(t *testing.T) {
	publish := v1alpha1.Safeguards{
		OnRemoval: "Publish", OnVersionRemoval: "Publish", OnMajorUpgrade: "Publish", OnIdentityChange: "Publish", OnSourceChange: "Publish",
	}
	hold := v1alpha1.Safeguards{OnRemoval: "Hold", OnVersionRemoval: "Hold", OnMajorUpgrade: "Hold", OnIdentityChange: "Hold", OnSourceChange: "Hold"}
	for _, test := range []struct {
		reason                   string
		defaults, publish, holds bool
	}{
		{v1alpha1.RemovalReason, true, false, true},
		{v1alpha1.IdentityChangeReason, true, false, true},
		{v1alpha1.VersionRemovalReason, true, false, true},
		{v1alpha1.AdoptionReason, true, false, true},
		{v1alpha1.SourceChangeReason, false, false, true},
		{v1alpha1.MajorUpgradeReason, false, false, true},
	} {
		t.Run(test.reason, func(t *testing.T) {
			change := safeguard.Change{Reason: test.reason}
			got := []bool{guard.Holds(v1alpha1.Safeguards{}, change), guard.Holds(publish, change), guard.Holds(hold, change)}
			if want := []bool{test.defaults, test.publish, test.holds}; !slices.Equal(got, want) {
				t.Errorf("held by default, by Publish and by Hold: %v, want %v", got, want)
			}
		})
	}
}

// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"errors"
	"testing"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/record"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/cluster/access"
)

// A selection of another shard is not deleted, so nothing else ends what is noted of it.
func TestNothingIsNotedOfASelectionThatIsGone(t *testing.T) {
	key, uid := types.NamespacedName{Namespace: "ns", Name: "a"}, types.UID("x")
	events := record.NewFakeRecorder(10)
	c := New(nil, nil, &access.Access{Events: events})
	warn := func() int {
		for _, of := range []types.UID{uid, "other"} {
			cs := &v1alpha1.CatalogSelection{}
			cs.UID = of
			c.ReportForbidden(t.Context(), cs, errors.New("no"), "nothing is marked")
		}
		return len(events.Events)
	}
	warn()
	for _, of := range []types.UID{uid, "other"} {
		c.applied.Store(of, "apps/one=v1,")
	}
	c.seen.Store(key, uid)
	c.Gone(key)
	left := 0
	c.applied.Range(func(of, _ any) bool {
		if of == uid {
			t.Error("applied has the selection")
		}
		left++
		return true
	})
	if left != 1 {
		t.Errorf("applied has %d entries, want that of the other selection", left)
	}
	if got := warn(); got != 3 {
		t.Errorf("%d warnings are sent, want that of the selection again, and none of the other one", got)
	}
}

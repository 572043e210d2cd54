package cluster

import (
	"sync"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/winnow-dev/winnow/controllers/cluster/access"
)

// A selection of another shard is not deleted, so nothing else ends what is noted of it.
func TestNothingIsNotedOfASelectionThatIsGone(t *testing.T) {
	key, uid := types.NamespacedName{Namespace: "ns", Name: "a"}, types.UID("x")
	c := New(Options{Access: &access.Access{}})
	for _, of := range []types.UID{uid, "other"} {
		c.acted.Store(of, true)
	}
	c.seen.Store(key, uid)
	c.Gone(key)
	for name, noted := range map[string]*sync.Map{"acted": &c.acted} {
		left := 0
		noted.Range(func(of, _ any) bool {
			if of == uid {
				t.Errorf("%s has the selection", name)
			}
			left++
			return true
		})
		if left != 1 {
			t.Errorf("%s has %d entries, want that of the other selection", name, left)
		}
	}
}

package live

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/cluster/consumers"
	"github.com/winnow-dev/winnow/render/guard"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// A loss that may reach a definition anywhere is held.
func TestWhatABypassKeepsFromADefinition(t *testing.T) {
	const group, kind = "apps.kubermatic.k8c.io", "ApplicationDefinition"
	here, there := consumers.Consumer{}, consumers.Consumer{ConsumerStatus: v1alpha1.ConsumerStatus{Remote: true}}
	for _, test := range []struct {
		name      string
		consumers []consumers.Consumer
		edit      func(cs *v1alpha1.CatalogSelection, object *guard.Live, s *State)
		want      bool
	}{
		{"bypassed here, and nowhere else", []consumers.Consumer{here}, nil, true},
		{"two consumers of this cluster", []consumers.Consumer{here, here}, nil, true},
		{"no consumer that is known", nil, nil, false},
		{"a cluster elsewhere", []consumers.Consumer{here, there}, nil, false},
		{"a registry, with whatever pulls it", []consumers.Consumer{here}, func(cs *v1alpha1.CatalogSelection, _ *guard.Live, _ *State) {
			cs.Spec.Push = &v1alpha1.Push{}
		}, false},
		{"no label", []consumers.Consumer{here}, func(_ *v1alpha1.CatalogSelection, object *guard.Live, _ *State) { object.Labels = nil }, false},
		{"a label that is ignored", []consumers.Consumer{here}, func(cs *v1alpha1.CatalogSelection, _ *guard.Live, _ *State) {
			cs.Spec.Cluster.Bypass = v1alpha1.BypassIgnore
		}, false},
		{"another definition", []consumers.Consumer{here}, func(_ *v1alpha1.CatalogSelection, object *guard.Live, _ *State) { object.Name = "b" }, false},
		{"one that could not be marked", []consumers.Consumer{here}, func(_ *v1alpha1.CatalogSelection, object *guard.Live, s *State) {
			s.Unmarked = map[types.UID]bool{object.UID: true}
		}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			object := &guard.Live{}
			object.SetGroupVersionKind(schema.GroupVersionKind{Group: group, Version: "v1", Kind: kind})
			object.Name, object.UID, object.Labels = "a", "1", map[string]string{v1alpha1.BypassLabel: ""}
			cs := &v1alpha1.CatalogSelection{}
			s := &State{Consumers: consumers.Consumers{Known: true, Items: test.consumers}, Live: []*guard.Live{object}}
			if test.edit != nil {
				test.edit(cs, object, s)
			}
			if got := s.Unreached(cs, safeguard.Key{Group: group, Kind: kind, Name: "a"}); got != test.want {
				t.Errorf("unreached is %t, want %t", got, test.want)
			}
		})
	}
}

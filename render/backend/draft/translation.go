// SPDX-License-Identifier: Apache-2.0

package draft

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/winnow-dev/winnow/render/backend"
)

// Translation is a backend that consists of a function.
type Translation struct {
	// Name is the type of the backend.
	Name string
	// Kinds are the targets of the backend.
	Kinds []schema.GroupVersionKind
	// Fill adds the objects, or problems, to the draft.
	Fill func(*Draft)
}

// Type implements [Backend].
func (t Translation) Type() string { return t.Name }

// Targets implements [Backend].
func (t Translation) Targets() []schema.GroupVersionKind { return slices.Clone(t.Kinds) }

// Build implements [Backend].
func (t Translation) Build(instance backend.Instance) ([]backend.Object, error) {
	d := New(t.Name, instance)
	if d.check(); len(d.Problems) == 0 {
		t.Fill(d)
	}
	if len(d.Problems) == 0 {
		d.finish()
	}
	if err := d.Problems.Err(d.Name); err != nil {
		return nil, err
	}
	return d.objects, nil
}

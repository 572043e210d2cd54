// SPDX-License-Identifier: Apache-2.0

package draft

import (
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/winnow-dev/winnow/render/backend"
)

// Backend translates instances into objects of certain kinds.
type Backend struct {
	// Type is the name of the backend in a spec.
	Type string
	// Targets are the kinds that the cluster must serve, besides the kinds of the core group. An empty
	// Kind stands for the kinds that definitions name.
	Targets []schema.GroupVersionKind
	// Fill adds the objects, or problems, to the draft of an instance.
	Fill func(*Draft)
}

// Build returns the objects of the instance, sorted by kind, namespace and name. Exactly one of them is
// Main. The error joins all problems, each one a *backend.Error.
func (b Backend) Build(instance backend.Instance) ([]backend.Object, error) {
	d := New(b.Type, instance)
	if d.check(); len(d.Problems) == 0 {
		b.Fill(d)
	}
	if len(d.Problems) == 0 {
		d.finish()
	}
	if err := d.Problems.Err(d.Name); err != nil {
		return nil, err
	}
	return d.objects, nil
}

// SPDX-License-Identifier: Apache-2.0

package draft

import (
	"github.com/winnow-dev/winnow/render/backend"
	"github.com/winnow-dev/winnow/render/backend/kinds"
)

// Destination is the namespace that an application runs in.
type Destination struct {
	Name                string
	Create              bool
	Labels, Annotations map[string]string
}

// AddNamespace adds the namespace that an application runs in. The selection's own exists.
func (d *Draft) AddNamespace(namespace Destination) {
	if !namespace.Create || namespace.Name == d.Namespace {
		return
	}
	object := d.Add(backend.Namespace, kinds.Namespace, "", namespace.Name, map[string]any{})
	if len(namespace.Labels) > 0 {
		object.SetLabels(namespace.Labels)
	}
	if len(namespace.Annotations) > 0 {
		object.SetAnnotations(namespace.Annotations)
	}
}

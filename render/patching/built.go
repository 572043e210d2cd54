// SPDX-License-Identifier: Apache-2.0

package patching

import (
	"slices"

	"sigs.k8s.io/kustomize/api/resmap"
	"sigs.k8s.io/kustomize/api/resource"
	"sigs.k8s.io/kustomize/kyaml/resid"

	"github.com/winnow-dev/winnow/render/each"
)

// Objects are the objects of an artifact, in parts.
type Objects []resmap.ResMap

// All returns the objects of all parts.
func (o Objects) All() []*resource.Resource {
	return slices.Concat(each.Map(o, resmap.ResMap.Resources)...)
}

// normal returns an identity that is equal to others where kustomize takes them for the same.
func normal(id resid.ResId) resid.ResId {
	return resid.NewResIdWithNamespace(resid.NewGvk(id.Group, id.Version, id.Kind), id.Name, id.EffectiveNamespace())
}

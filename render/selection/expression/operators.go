// SPDX-License-Identifier: Apache-2.0

package expression

import (
	"slices"

	"github.com/winnow-dev/winnow/render/catalog/filebased"
	"github.com/winnow-dev/winnow/render/krmfunctions"
)

// provided returns the APIs that the bundles of a package of operators provide, as mappings of strings, sorted and each
// once.
func (r *record) provided() []any {
	var apis []filebased.GVK
	if of := r.application.Package(); of != nil {
		for _, bundle := range of.Bundles {
			apis = append(apis, bundle.Provides...)
		}
	}
	slices.SortFunc(apis, filebased.GVK.Compare)
	all := []any{}
	for _, api := range slices.Compact(apis) {
		all = append(all, map[string]string{"group": api.Group, "version": api.Version, "kind": api.Kind})
	}
	return all
}

// required returns what the bundles of a package of operators depend on, as mappings of strings, each once, in the order
// of the bundles: a version of a package, an API, or what a constraint says.
func (r *record) required() []any {
	all := []any{}
	of := r.application.Package()
	if of == nil {
		return all
	}
	seen := map[filebased.Dependency]bool{}
	for _, bundle := range of.Bundles {
		for _, on := range bundle.Dependencies {
			if seen[on] {
				continue
			}
			seen[on] = true
			all = append(all, map[string]string{
				"type": on.Type, "package": on.Package, "versionRange": on.VersionRange,
				"group": on.API.Group, "version": on.API.Version, "kind": on.API.Kind, "message": on.Message,
			})
		}
	}
	return all
}

// function returns the function of kustomize that the application is; an empty one for another application.
func (r *record) function() *krmfunctions.Function {
	if of := r.application.Function(); of != nil {
		return of
	}
	return &krmfunctions.Function{}
}

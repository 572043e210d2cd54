// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/catalog/metadata"
	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/selection"
	"github.com/winnow-dev/winnow/render/transform"
)

// SpecOf returns the spec of a definition, or the entry of a function.
func SpecOf(a *catalog.Application) (map[string]any, error) {
	if of := a.Function(); of != nil {
		return of.Plain()
	}
	return a.Spec()
}

// Everything returns decisions on all applications of a catalog, with all versions.
func Everything(c *catalog.Catalog) []selection.Decision {
	return each.Map(c.Applications, func(a *catalog.Application) selection.Decision {
		return selection.Decision{Application: a, Versions: a.Versions}
	})
}

// ListsByMember maps the names of applications to the named lists that have them, sorted.
func ListsByMember(c *catalog.Catalog) map[string][]string {
	lists := map[string][]string{}
	for _, list := range slices.Sorted(maps.Keys(c.Lists)) {
		for _, member := range c.Lists[list] {
			lists[member] = append(lists[member], list)
		}
	}
	return lists
}

// ChartOf returns the chart of an entry of spec.versions, nil without one.
func ChartOf(all render.Addresses, index int) *Chart {
	prefix := fmt.Sprintf("spec.versions[%d].", index)
	for _, host := range all.Hosts {
		if strings.HasPrefix(host.Path, prefix) && (host.Kind == transform.KindChart || host.Kind == transform.KindGit) {
			return &NewReferences(render.Addresses{Hosts: []transform.Host{host}}).Charts[0]
		}
	}
	return nil
}

// AllFactsOf returns all keys that the metadata.yaml has about a version, also keys without a meaning.
func AllFactsOf(a *catalog.Application, version string) map[string]any {
	all, _ := a.Metadata.Extra[metadata.VersionsKey].(map[string]any)
	facts, _ := all[version].(map[string]any)
	return facts
}

// OtherMetadata returns the keys of a metadata.yaml without a field of their own, and without the facts about versions.
func OtherMetadata(a *catalog.Application) map[string]any {
	if _, ok := a.Metadata.Extra[metadata.VersionsKey].(map[string]any); !ok {
		return a.Metadata.Extra
	}
	others := maps.Clone(a.Metadata.Extra)
	delete(others, metadata.VersionsKey)
	return others
}

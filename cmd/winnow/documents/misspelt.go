// SPDX-License-Identifier: Apache-2.0

package documents

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/guard"
	"github.com/winnow-dev/winnow/render/selectionrule"
	"github.com/winnow-dev/winnow/render/spelling"
)

// Misspelt returns the references between a selection and the documents beside it whose name no document has, and one
// almost has.
func (r *Set) Misspelt(cs Selection) []Warning {
	var all []Warning
	for i, ref := range cs.Spec.Sources {
		kind, key := guard.SourceKey(cs.CatalogSelection, ref)
		if len(r.Nearest(cs.Origin, kind, key)) > 0 {
			continue
		}
		beside := map[string]string{}
		for _, s := range r.Sources {
			if s.Kind == kind && !r.isSourceOfOthers(cs, s) {
				beside[s.Name] = Qualified(kind, s.Namespace, s.Name)
			}
		}
		if meant := spelling.Typo(key.Name, slices.Collect(maps.Keys(beside))); meant != "" {
			all = append(all, Warning{selectionrule.Reference, fmt.Sprintf("spec.sources[%d]", i),
				fmt.Sprintf("there is no %s beside the selection: did you mean %s?", Qualified(kind, key.Namespace, key.Name), beside[meant])})
		}
	}
	if len(r.ConsumersOf(&cs)) > 0 {
		return all
	}
	for _, k := range r.Consumers {
		if k.Kind != sourcev1.ExternalArtifactKind {
			continue
		}
		name := k.SourceName.Name
		isOther := slices.ContainsFunc(r.Selections, func(s Selection) bool { return s.Name == name && name != cs.Name })
		if !isOther && spelling.Typo(name, []string{cs.Name}) != "" {
			all = append(all, Warning{selectionrule.Reference, "metadata.name", fmt.Sprintf("the Kustomization %s in %s applies the ExternalArtifact %s, which no selection beside it publishes: did you mean %s?",
				strings.TrimPrefix(k.Name, "/"), k.File, strings.TrimPrefix(k.SourceName.String(), "/"), strings.TrimPrefix(cs.Namespace+"/"+cs.Name, "/"))})
		}
	}
	return all
}

// isSourceOfOthers reports whether another selection than cs has the source.
func (r *Set) isSourceOfOthers(cs Selection, source Source) bool {
	return slices.ContainsFunc(r.Selections, func(other Selection) bool {
		return other.Name != cs.Name && other.CatalogSelection != nil && slices.ContainsFunc(other.Spec.Sources, func(ref v1alpha1.SourceReference) bool {
			kind, key := guard.SourceKey(other.CatalogSelection, ref)
			return kind == source.Kind && key.Name == source.Name
		})
	})
}

// SPDX-License-Identifier: Apache-2.0

package selections

import (
	"fmt"
	"slices"
	"strings"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"

	"github.com/winnow-dev/winnow/cmd/winnow/documents"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops"
	"github.com/winnow-dev/winnow/render/each"
)

// stages compares all of a stage but its artifact: the rules on the consumers of a selection hold for the Kustomization of an
// OCIRepository as well. external are the Kustomizations of clusters that may differ. differing are the ones on which unknown
// has no sentence yet, and Kustomizations in files that nothing builds.
func (c *comparison) stages(external []gitops.External) (unknown []string, differing []gitops.External) {
	for _, older := range c.base.Consumers {
		if older.Kind != sourcev1.OCIRepositoryKind {
			continue
		}
		place := older.In()
		var out consumerChanges
		i := slices.IndexFunc(c.head.Consumers, older.Continues)
		switch {
		case i >= 0 && c.head.Consumers[i].Kind == older.Kind:
			newer := c.head.Consumers[i]
			out.differ(older, newer)
			if len(out.unknown) > 0 {
				external = slices.DeleteFunc(external, func(e gitops.External) bool { return !e.VariablesDiffer && e.Is(place, newer.Name) })
			}
			out.reapplied(older, newer, true)
			if older.Cluster == "" {
				differing = append(differing, c.compareSource(&out, older, newer)...)
			}
		case older.Cluster != "": // gitops reports one that is gone, or has another source
		case i >= 0:
			newer := c.head.Consumers[i]
			out.unknown = append(out.unknown, fmt.Sprintf("Kustomization %s applies %s instead of %s: what that has is not compared", newer.Name, newer.Source(), older.Source()))
		default:
			out.removed(older, true)
		}
		for _, sentence := range append(out.unknown, c.deletedContainers(older.Cluster, older.Cluster, older.Namespaces())...) {
			unknown = each.Union(unknown, place+": "+sentence)
		}
	}
	return unknown, append(external, differing...)
}

// compareSource compares the OCIRepository of a Kustomization in a file that nothing builds.
func (c *comparison) compareSource(out *consumerChanges, older, newer documents.Consumer) []gitops.External {
	before, after := c.base.Nearest(older.Origin, older.Kind, older.SourceName), c.head.Nearest(newer.Origin, newer.Kind, newer.SourceName)
	several := func(all []documents.Source) bool { return len(all) > 1 && documents.SameDocument(all) != nil }
	if slices.EqualFunc(before, after, documents.Source.IsSame) || several(before) || several(after) {
		return nil // several are reported with the promotions
	}
	if len(before) > 0 && len(after) > 0 {
		was, _ := before[0].Reference()
		is, _ := after[0].Reference() // what is not known of it is compared
		if was.Suspended && !is.Suspended || was.Untouched && !is.Untouched {
			out.unknown = append(out.unknown, newer.Source()+" is resumed: what was applied last is older than the commit before, so that more may change than this report shows")
		}
		if slices.EqualFunc(before, after, documents.Source.HasSameContent) {
			return nil
		}
	}
	return []gitops.External{{
		Cluster: newer.File, Name: strings.TrimPrefix(newer.Name, "/"),
		Sentence: fmt.Sprintf("%s: %s, which Kustomization %s applies, differs: what Flux takes from it is known in the cluster only", newer.File, newer.Source(), newer.Name),
	}}
}

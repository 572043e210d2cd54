// SPDX-License-Identifier: Apache-2.0

package diffview

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/winnow-dev/winnow/cmd/winnow/plaintext"
	"github.com/winnow-dev/winnow/render/backend"
	"github.com/winnow-dev/winnow/render/diff"
	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// instanceCounts returns the numbers of instances by their changes.
func instanceCounts(all []diff.Instance) []string {
	n := map[diff.Change]int{}
	for _, in := range all {
		n[in.Change]++
	}
	return counts([]counted{
		{n[diff.Removed], "removed"}, {n[diff.Updated], "updated"}, {n[diff.Added], "added"}, {n[diff.Unresolved], "that cannot be installed"},
	}, "instance")
}

// instanceHeadline summarizes the changes of an instance.
func instanceHeadline(in diff.Instance) string {
	switch in.Change {
	case diff.Removed:
		return "removed, because " + in.Reason + "; " + removedInstance(in.Backend, *in.Deleted)
	case diff.Unresolved:
		return "not installed: " + in.Reason
	case diff.Added:
		return fmt.Sprintf("added, %s by %s", strings.TrimSpace(in.Application+" "+in.Version), in.Backend)
	}
	var parts plaintext.Texts
	const none = "no version"
	if u := in.Upgrade; u != nil {
		parts = append(parts, fmt.Sprintf("%s -> %s, %s", cmp.Or(u.From, none), cmp.Or(u.To, none), u.Kind))
	} else if in.Version != "" {
		parts = append(parts, in.Version)
	}
	parts.Add(len(in.Identity) > 0, "IDENTITY: %s", identityChange(in))
	parts.Add(in.SourceChanged, "another chart")
	if in.Requested != nil {
		parts = append(parts, "requested "+fromTo(*in.Requested))
	}
	if v := in.Values; v != nil {
		parts = append(parts, "values: "+plaintext.Count(v.Added+v.Removed, "line"))
	}
	fields := len(in.Fields) + in.FieldsOmitted
	parts.Add(fields > 0, "%s", plaintext.Count(fields, "field"))
	return strings.Join(parts, "; ")
}

// identityChange describes another identity. What becomes of an operator depends on the field, and is said with what is held.
func identityChange(in diff.Instance) string {
	switch {
	case in.Backend == backend.Subscription || in.Backend == backend.ClusterExtension:
		return "another operator, or other namespaces"
	case len(in.Identity) == 1 && in.Identity[0].Path == safeguard.ChartField:
		return "another chart, to which what runs is upgraded in place"
	}
	return "what runs is uninstalled, and installed anew"
}

// removedInstance describes what becomes of an instance that leaves the artifact.
func removedInstance(by string, deleted bool) string {
	switch {
	case deleted && by == backend.Subscription:
		return "Flux deletes its object, and the operator runs on until its ClusterServiceVersion is deleted"
	case deleted && by == backend.CozystackApplication:
		return "Flux deletes its object, which uninstalls it, and many charts of Cozystack delete its storage with it"
	case deleted:
		return "Flux deletes its object, which uninstalls it"
	}
	return "Flux keeps its object: it runs on, and is updated no more"
}

// instanceChanges returns the changes of the instances, by severity.
func instanceChanges(s *diff.Selection) []change {
	sorted := bySeverity(s.Instances, func(in diff.Instance) diff.Change { return in.Change })
	return each.Map(sorted, func(in diff.Instance) change {
		list := append(fieldEntries(wording{"IDENTITY ", "**identity** "}, in.Identity, 0), fieldEntries(wording{}, in.Fields, in.FieldsOmitted)...)
		details := block{indent: "    ", whole: true, list: list, values: in.Values}
		return change{name: in.Name, noun: "instance", sign: sign(in.Change), headline: instanceHeadline(in), details: details, public: details}
	})
}

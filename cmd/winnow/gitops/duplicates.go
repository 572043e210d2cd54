// SPDX-License-Identifier: Apache-2.0

package gitops

import (
	"slices"
	"strings"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/cmd/winnow/documents"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/inputs"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/manifest"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/repository"
	"github.com/winnow-dev/winnow/render/each"
)

// duplicate is one of several objects with the same name.
type duplicate struct {
	// digest is of the object and, where others differ from it, of what it leads to.
	by, digest string
	// untouched reports that Flux does not update it.
	untouched bool
}

// duplicates reports objects that several Kustomizations apply to one cluster with different content: which
// of them wins is known in the cluster only.
func (r reporter) duplicates() {
	older, newer := duplicatesOf(r.base), duplicatesOf(r.head)
	for _, name := range namesIn(older, newer) {
		before, after := older[name], newer[name]
		untouched := func(t duplicate) bool { return t.untouched }
		if slices.ContainsFunc(before, untouched) && len(after) > 0 && !slices.ContainsFunc(after, untouched) {
			r.unknown("the %s is applied again: its live state is not in the commit before", name)
		}
		if !differ(before) && !differ(after) {
			continue
		}
		by := each.Map(append(slices.Clone(before), after...), func(t duplicate) string { return t.by })
		slices.Sort(by)
		applied := strings.Join(slices.Compact(by), ", ")
		if slices.Equal(before, after) {
			r.note("the %s is there several times, the same in both commits, and only one is compared: by %s; "+
				"pass the directory of one cluster", name, applied)
			continue
		}
		r.unknown("the %s is there several times, and which one wins is known in the cluster only: by %s; "+
			"pass the directory of one cluster, or leave one", name, applied)
	}
}

// differ reports whether the content of the duplicates differs.
func differ(all []duplicate) bool {
	return slices.ContainsFunc(all, func(t duplicate) bool { return t.digest != all[0].digest })
}

// duplicatesOf maps names to objects that are CatalogSelections or lead to catalogs.
func duplicatesOf(w *walk) map[string][]duplicate {
	used := map[string]bool{}
	for _, n := range w.order {
		for _, ref := range n.References() {
			used[n.cluster+" "+ref.Kind+" "+n.Object.GetNamespace()+"/"+ref.Name] = true
		}
	}
	found, objects := map[string][]duplicate{}, map[string][]manifest.Object{}
	for _, n := range w.order {
		if n.isUnknown() {
			continue // it has the objects of the other commit
		}
		for _, o := range n.objects {
			name := o.GetKind() + " " + strings.Trim(o.GetNamespace()+"/"+o.GetName(), "/")
			looked := slices.Contains([]string{manifest.SourceGroup, manifest.KustomizationGroup, v1alpha1.GroupVersion.Group}, o.Group())
			if looked || used[o.Cluster+" "+name] {
				name += strings.TrimPrefix(o.Cluster, w.cluster)
				objects[name] = append(objects[name], o)
				found[name] = append(found[name], duplicate{n.label(), o.Digest(), documents.IsUntouched(o)})
			}
		}
	}
	for name, all := range found {
		if !differ(all) {
			continue
		}
		for i := range all {
			all[i].digest = inputs.Digest(all[i].digest, w.leadsTo(objects[name][i]))
		}
	}
	return found
}

// leadsTo returns a digest of the sources of a CatalogSelection, or of the files at the path of a Kustomization: only one
// of several copies is evaluated.
func (w *walk) leadsTo(o manifest.Object) string {
	var parts []string
	for _, m := range o.Sources() {
		if source := w.find(m); source != nil {
			parts = append(parts, source.Digest())
		}
	}
	if manifest.Follows(o.Unstructured) {
		parts = append(parts, inputs.NewClosure(w.whole(), repository.CleanPath(manifest.StringAt(o.Unstructured, "spec", "path")), nil).Digest())
	}
	return inputs.Digest(parts...)
}

// resumed reports a Kustomization that is no longer suspended, or whose source is not, and so applies all earlier commits,
// too.
func (r reporter) resumed(before, after *node) {
	if before == nil || after == nil || after.outcome == skipped {
		return
	}
	source := r.base.source(before)
	switch {
	case before.Spec.Suspend && !after.Spec.Suspend:
		r.unknown("%s is resumed: its live objects are not in the commit before, "+
			"and it applies all commits since its suspension", after.label())
	case source.IsSuspended() && !r.head.source(after).IsSuspended():
		r.unknown("%s is applied again, because its source is resumed: its live objects are not in the commit before", after.label())
	}
}

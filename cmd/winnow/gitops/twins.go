package gitops

import (
	"maps"
	"slices"
	"strings"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/guard"
)

// twin is one of the objects of a name.
type twin struct {
	by, digest string
	// alone says that Flux does not update it.
	alone bool
}

// twins reports what several Kustomizations apply to one cluster, and not in the same way: which of them
// wins is known in the cluster only.
func (r reporter) twins() {
	older, newer := twinsOf(r.base), twinsOf(r.head)
	names := maps.Clone(older)
	maps.Copy(names, newer)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		before, after := older[name], newer[name]
		alone := func(t twin) bool { return t.alone }
		if slices.ContainsFunc(before, alone) && len(after) > 0 && !slices.ContainsFunc(after, alone) {
			r.unknown("the %s is applied again: what the cluster has of it is not in the commit before", name)
		}
		if !differ(before) && !differ(after) {
			continue
		}
		var by []string
		for _, t := range append(slices.Clone(before), after...) {
			by = append(by, t.by)
		}
		slices.Sort(by)
		applied := strings.Join(slices.Compact(by), ", ")
		if slices.Equal(before, after) {
			r.note("the %s is there several times, the same in both commits, and only one is looked at: by %s; "+
				"pass the directory of one cluster", name, applied)
			continue
		}
		r.unknown("the %s is there several times, and which one wins is known in the cluster only: by %s; "+
			"pass the directory of one cluster, or leave one", name, applied)
	}
}

// differ reports whether there are several, which are not the same.
func differ(all []twin) bool {
	return slices.ContainsFunc(all, func(t twin) bool { return t.digest != all[0].digest })
}

// twinsOf maps names to the objects that lead to catalogs, or are one.
func twinsOf(w *walk) map[string][]twin {
	used := map[string]bool{}
	for _, n := range w.order {
		for _, ref := range n.references() {
			used[n.cluster+" "+ref.Kind+" "+n.object.GetNamespace()+"/"+ref.Name] = true
		}
	}
	found := map[string][]twin{}
	for _, n := range w.order {
		for _, o := range n.objects {
			name := o.GetKind() + " " + strings.Trim(o.GetNamespace()+"/"+o.GetName(), "/")
			looked := slices.Contains([]string{sourceGroup, kustomizationGroup, v1alpha1.GroupVersion.Group}, o.group())
			if looked || used[o.Cluster+" "+name] {
				name += strings.TrimPrefix(o.Cluster, w.cluster)
				found[name] = append(found[name], twin{n.label(), o.digest(), leftAlone(o)})
			}
		}
	}
	return found
}

// leftAlone reports whether the annotations of an object have Flux leave it as it is in the cluster.
func leftAlone(o Object) bool {
	mode := o.GetAnnotations()[kustomizationGroup+"/ssa"]
	return guard.Untouched(o) || strings.EqualFold(mode, "Ignore") || strings.EqualFold(mode, "IfNotPresent")
}

// resumed reports a Kustomization that begins to apply what was committed while it was suspended.
func (r reporter) resumed(before, after *node) {
	if before == nil || after == nil || !before.spec.Suspend || after.spec.Suspend || after.outcome == skipped {
		return
	}
	r.unknown("%s is resumed: what the cluster has of it is not in the commit before, "+
		"and all that was committed meanwhile is applied", after.label())
}

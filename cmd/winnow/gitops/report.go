package gitops

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/winnow-dev/winnow/render/excerpt"
)

// maxListed bounds the names in a note.
const maxListed = 20

// reporter says what of a cluster differs and what is unknown.
type reporter struct {
	base, head *walk
	out        *Comparison
}

func (r reporter) note(format string, args ...any) {
	r.out.Notes = append(r.out.Notes, r.head.cluster+": "+fmt.Sprintf(format, args...))
}

func (r reporter) unknown(format string, args ...any) {
	r.out.Unknown = append(r.out.Unknown, r.head.cluster+": "+fmt.Sprintf(format, args...))
}

func (r reporter) report() {
	selves := maps.Clone(r.base.selves)
	maps.Copy(selves, r.head.selves)
	for _, name := range slices.Sorted(maps.Keys(selves)) {
		// All clusters share it, as a rule.
		if note := fmt.Sprintf("the %s is taken for this repository: %s", name, selves[name]); !slices.Contains(r.out.Notes, note) {
			r.out.Notes = append(r.out.Notes, note)
		}
	}
	names := map[string]bool{}
	for name := range r.base.nodes {
		names[name] = true
	}
	for name := range r.head.nodes {
		names[name] = true
	}
	var same, different []string
	for _, name := range slices.Sorted(maps.Keys(names)) {
		before, after := r.base.nodes[name], r.head.nodes[name]
		r.node(before, after)
		r.remotes(before, after)
		shown := listed(before, after)
		switch {
		case shown == "":
		case equal(before, after):
			same = append(same, shown)
		default:
			different = append(different, shown)
			if after != nil && after.spec.Suspend {
				r.note("%s is suspended: what it applies reaches the cluster once it is resumed", after.label())
			}
		}
		r.resumed(before, after)
	}
	r.twins()
	r.list("Kustomizations that differ", different)
	r.list("unchanged Kustomizations", same)
	r.sets()
}

// list notes names.
func (r reporter) list(what string, names []string) {
	if len(names) == 0 {
		return
	}
	r.note("%s: %s", what, excerpt.Names(names, maxListed))
}

// listed is the name of a node in lists, empty for a directory that no Kustomization applies.
func listed(before, after *node) string {
	n := after
	if n == nil {
		n = before
	}
	if n.name == "" {
		return strings.Trim(n.object.GetNamespace()+"/"+n.object.GetName(), "/")
	}
	return n.name
}

// equal reports whether a node is the same in both commits. One that was built on demand in one of them
// is as well.
func equal(before, after *node) bool {
	return before != nil && after != nil && before.state == after.state
}

// node reports one that could not be evaluated: a note if it is the same in both commits, and unknown
// otherwise.
func (r reporter) node(before, after *node) {
	lost := after
	if !lost.isLost() {
		lost = before
	}
	if !lost.isLost() {
		return
	}
	what := "cannot be built here"
	if lost.outcome == elsewhere {
		what = "is not of this repository"
	}
	switch {
	case equal(before, after):
		r.note("%s %s, and is the same in both commits: %s", lost.label(), what, lost.reason)
	case lost == before:
		r.unknown("%s %s before the change: %s", lost.label(), what, lost.reason)
	default:
		r.unknown("%s %s, and differs: %s", lost.label(), what, lost.reason)
	}
}

// remotes reports what is built without its remote bases.
func (r reporter) remotes(before, after *node) {
	older, newer := before.remote(), after.remote()
	if len(older.names)+len(newer.names) == 0 {
		return
	}
	n := after
	if n == nil || n.closure == nil {
		n = before
	}
	names := slices.Compact(slices.Sorted(slices.Values(append(slices.Clone(older.names), newer.names...))))
	list := excerpt.Names(names, maxListed)
	if older.state == newer.state {
		r.note("%s has what is not in this repository, and nothing is fetched; it is the same in both commits: %s", n.label(), list)
		return
	}
	r.unknown("%s has what is not in this repository, and nothing is fetched; it differs, or what is done to it: %s", n.label(), list)
}

// remote are the remote bases of a node, and everything that is done to their objects.
type remote struct {
	names []string
	state string
}

func (n *node) remote() remote {
	if n == nil || n.closure == nil || len(n.closure.remotes) == 0 {
		return remote{}
	}
	names := n.closure.remotes
	parts := append(append([]string{n.content(), n.vars.digest()}, names...), n.closure.shape...)
	return remote{names, digest(parts...)}
}

// sets reports ResourceSets, which flux-operator makes objects of in the cluster.
func (r reporter) sets() {
	older, newer := setsOf(r.base), setsOf(r.head)
	names := map[string]bool{}
	leading := false
	for _, sets := range []map[string]Object{older, newer} {
		for name, o := range sets {
			names[name] = true
			leading = leading || o.leads()
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		before, after := older[name], newer[name]
		switch {
		case !leading:
			// Nothing that any of them makes leads to a CatalogSelection.
		case before.Unstructured != nil && after.Unstructured != nil && before.digest() == after.digest():
			r.note("the %s is not evaluated, and is the same in both commits", name)
		default:
			r.unknown("the %s differs, and what it makes is known in the cluster only", name)
		}
	}
}

func setsOf(w *walk) map[string]Object {
	found := map[string]Object{}
	for _, o := range w.objects() {
		if o.group() == operatorGroup && strings.HasPrefix(o.GetKind(), "ResourceSet") {
			found[o.GetKind()+" "+strings.TrimPrefix(o.GetNamespace()+"/"+o.GetName(), "/")] = o
		}
	}
	return found
}

// leads reports whether a ResourceSet may make what matters: by the groups in its templates.
func (o Object) leads() bool {
	text := textOf(o.Object["spec"])
	return leads.MatchString(text) || strings.Contains(text, sourceGroup)
}

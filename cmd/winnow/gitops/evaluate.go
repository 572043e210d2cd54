// SPDX-License-Identifier: Apache-2.0

package gitops

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/cmd/winnow/documents"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/inputs"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/manifest"
	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/excerpt"
)

// evaluate evaluates a cluster in both commits, or an overlay, which is nil for a cluster.
func (c *comparer) evaluate(ctx context.Context, dir string, alone *overlay) error {
	base := &walk{cluster: dir, tree: c.base, self: c.self, builds: c.builds, sync: c.syncs[0][dir]}
	if err := base.run(ctx); err != nil {
		return err
	}
	head := &walk{cluster: dir, tree: c.head, self: c.self, builds: c.builds, sync: c.syncs[1][dir], older: base}
	if err := head.run(ctx); err != nil {
		return err
	}
	if err := buildDiffering(ctx, base, head); err != nil {
		return err
	}
	if alone != nil && alone.included && slices.EqualFunc(base.objects(), head.objects(), func(a, b manifest.Object) bool { return a.Digest() == b.Digest() }) {
		return nil
	}
	head.markUnknownBefore(base)
	done := evaluation{dir, alone != nil, map[string]bool{}}
	base.finish(done.files)
	head.finish(done.files)
	c.evaluated = append(c.evaluated, done)
	c.out.Clusters = append(c.out.Clusters, dir)
	for _, side := range []struct {
		state *State
		walk  *walk
	}{{&c.out.Base, base}, {&c.out.Head, head}} {
		for _, o := range side.walk.applied() {
			o.Alone = alone != nil
			side.state.Objects = append(side.state.Objects, o)
		}
		side.state.addUnbuilt(side.walk.order)
	}
	r := reporter{base: base, head: head, alone: alone, out: c.out}
	if err := r.between(ctx); err != nil {
		return err
	}
	r.report()
	return nil
}

// buildDiffering builds the directories that were skipped by their text and that differ between the commits: what a change
// adds may be composed, so that the text does not have its kind.
func buildDiffering(ctx context.Context, base, head *walk) error {
	for {
		found := false
		for _, side := range []struct{ walk, other *walk }{{base, head}, {head, base}} {
			for _, n := range slices.Clone(side.walk.order) {
				if n.outcome != skipped || equal(n, side.other.nodes[n.name]) || n.closure.Refused || head.refuses(n.name) {
					continue
				}
				found = true
				if err := side.walk.build(ctx, n, n.closure.Tree); err != nil {
					return err
				}
			}
			if err := side.walk.follow(ctx); err != nil {
				return err
			}
		}
		if !found {
			break
		}
	}
	for _, w := range []*walk{base, head} {
		for _, n := range w.order {
			if n.outcome == external {
				n.state = w.externalState(n) // it depends on what was built since
			}
		}
	}
	return nil
}

// refuses reports whether Flux does not build a node.
func (w *walk) refuses(name string) bool {
	n := w.nodes[name]
	return n != nil && n.closure != nil && n.closure.Refused
}

// addUnbuilt adds the files of nodes that cannot be built.
func (s *State) addUnbuilt(nodes []*node) {
	for _, n := range nodes {
		if n.outcome != failed || n.closure == nil {
			continue
		}
		if s.Unbuilt == nil {
			s.Unbuilt = map[string]bool{}
		}
		for name := range n.closure.Files {
			s.Unbuilt[name] = true
		}
	}
}

// finish sets what is not known of the objects, and adds the files that they are built of.
func (w *walk) finish(files map[string]bool) {
	for _, n := range w.order {
		for i := range n.objects {
			w.hide(&n.objects[i])
		}
		if n.closure != nil {
			for name := range n.closure.Files {
				files[name] = files[name] || n.hasObjectsOf(name)
			}
		}
	}
}

// hasObjectsOf reports whether a node is built of a file as objects, or as patches of them: not as the text of a generator, nor
// without the CatalogSelections in it, which a patch may delete.
func (n *node) hasObjectsOf(file string) bool {
	if n.closure.Texts[file] || n.outcome != evaluated {
		return !n.closure.Texts[file]
	}
	content, err := n.closure.Tree.Read(file)
	if err != nil || !documents.Mentions(content, v1alpha1.CatalogSelectionKind) {
		return true
	}
	whole := func(o *unstructured.Unstructured) bool {
		return o.GetKind() == v1alpha1.CatalogSelectionKind && len(manifest.MapsAt(o, "spec", "sources")) > 0
	}
	of := func(o manifest.Object) bool { return o.File == file && o.GetKind() == v1alpha1.CatalogSelectionKind }
	return !slices.ContainsFunc(manifest.Documents(content), whole) || slices.ContainsFunc(n.objects, of)
}

// markUnknownBefore marks the objects of nodes that could not be evaluated in the base.
func (w *walk) markUnknownBefore(base *walk) {
	for _, n := range w.order {
		if n.outcome != evaluated {
			continue
		}
		for _, name := range append(slices.Clone(n.parents), n.name) {
			old := base.nodes[name]
			if !old.isUnknown() {
				continue
			}
			for i := range n.objects {
				n.objects[i].Lost = "before: " + old.cause().fault()
			}
			break
		}
	}
}

func (r reporter) report() {
	recognized := maps.Clone(r.base.recognized)
	maps.Copy(recognized, r.head.recognized)
	for _, name := range slices.Sorted(maps.Keys(recognized)) {
		// Clusters usually share the source.
		r.out.Notes = each.Union(r.out.Notes, fmt.Sprintf("the %s is taken for this repository: %s", name, recognized[name]))
	}
	var same, different []string
	for _, name := range namesIn(r.base.nodes, r.head.nodes) {
		before, after := r.base.nodes[name], r.head.nodes[name]
		if r.isReported(before) || r.isReported(after) {
			continue
		}
		r.node(before, after)
		r.remotes(before, after)
		r.branch(before, after)
		shown := listed(before, after)
		switch {
		case shown == "":
		case equal(before, after):
			same = append(same, shown)
		default:
			different = append(different, shown)
			if after != nil && after.Spec.Suspend {
				r.note("%s is suspended: its objects reach the cluster once it is resumed", after.label())
			}
		}
		r.resumed(before, after)
	}
	r.roots()
	r.objects()
	r.duplicates()
	r.list("Kustomizations that differ", different)
	r.list("unchanged Kustomizations", same)
	r.makers()
}

// between reports objects that both commits have, and that the cluster lacks, or has in a third state, in between: Flux gets the
// newer commit by the fields on files that its source has in the older one, and builds it with the former fields of a
// Kustomization before, or while, it applies the newer ones.
func (r reporter) between(ctx context.Context) error {
	for _, after := range r.head.order {
		before := r.base.nodes[after.name]
		if before == nil || before.outcome != evaluated || after.outcome != evaluated {
			continue
		}
		older, newer := r.base.source(before), r.head.source(after)
		filters := older != nil && newer != nil && !reflect.DeepEqual(filterOf(older), filterOf(newer))
		fields := before.Content() != after.Content()
		if after.name == "" {
			fields = len(r.base.roots) > 0 && before.Transforms() != after.Transforms()
		}
		if !filters && !fields {
			continue
		}
		passing, err := r.passing(ctx, before, older)
		if err != nil {
			return err
		}
		r.passed(before, passing, after)
	}
	return nil
}

// passed reports what a node lacks in between, and a root that cannot be built there, and so never gets its newer fields.
func (r reporter) passed(before, passing, after *node) {
	if passing.outcome != evaluated {
		if after.name == "" {
			r.unknown("%s is built as before the change first, and cannot: the cluster follows Git no more: %s", after.label(), passing.reason)
		}
		return
	}
	if lost := lostBetween(before.objects, passing.objects, after.objects); len(lost) > 0 {
		r.unknown("%s is built as before the change first, in which these are gone or have another state: %s; move the files, or rename variables, in a commit of their own",
			after.label(), excerpt.Names(lost, maxListed))
	}
}

// lostBetween returns the objects of both commits that are not among the ones in between, in either state.
func lostBetween(before, passing, after []manifest.Object) (lost []string) {
	for _, o := range before {
		is := func(other manifest.Object) bool { return other.Ref() == o.Ref() }
		to, in := slices.IndexFunc(after, is), slices.IndexFunc(passing, is)
		if to >= 0 && (in < 0 || passing[in].Digest() != o.Digest() && passing[in].Digest() != after[to].Digest()) {
			lost = append(lost, o.GetKind()+" "+nameOf(o.Unstructured))
		}
	}
	return lost
}

// passing builds a node of the base from the files of the newer commit that its source leaves.
func (r reporter) passing(ctx context.Context, before *node, source *manifest.Object) (*node, error) {
	files := r.head.artifact(source)
	n := &node{Kustomization: before.Kustomization, cluster: before.cluster, name: before.name, dir: before.dir, vars: before.vars}
	n.closure = inputs.NewClosure(files, n.dir, n.Components(files, n.dir))
	n.state = n.inputs()
	return n, r.head.buildObjects(ctx, n, files)
}

// SPDX-License-Identifier: Apache-2.0

package gitops

import (
	"context"
	"reflect"
	"slices"

	"github.com/winnow-dev/winnow/cmd/winnow/gitops/inputs"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/manifest"
	"github.com/winnow-dev/winnow/render/excerpt"
)

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
		is := func(other manifest.Object) bool { return isSame(o, other) }
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

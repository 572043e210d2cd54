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

// between reports objects that both commits have, and that the cluster lacks in between: a source gets the newer commit by the
// fields on files that it has in the older one, before Flux applies the newer ones.
func (r reporter) between(ctx context.Context) error {
	for _, after := range r.head.order {
		before := r.base.nodes[after.name]
		if before == nil || before.outcome != evaluated || after.outcome != evaluated {
			continue
		}
		older, newer := r.base.source(before), r.head.source(after)
		if older == nil || newer == nil || reflect.DeepEqual(filterOf(older), filterOf(newer)) {
			continue
		}
		passing, err := r.passing(ctx, before, older)
		if err != nil {
			return err
		}
		var gone []string
		for _, o := range before.objects {
			is := func(other manifest.Object) bool { return isSame(o, other) }
			if passing.outcome == evaluated && slices.ContainsFunc(after.objects, is) && !slices.ContainsFunc(passing.objects, is) {
				gone = append(gone, o.GetKind()+" "+nameOf(o.Unstructured))
			}
		}
		if len(gone) > 0 {
			r.unknown("the %s %s leaves out other files, but gets the newer commit before it does: Flux deletes, and makes again, what that lacks: %s; "+
				"move the files in a commit of their own", after.Spec.SourceRef.Kind, manifest.NameOf(after.Source()), excerpt.Names(gone, maxListed))
		}
	}
	return nil
}

// passing builds a node of the base from the files of the newer commit that its source leaves.
func (r reporter) passing(ctx context.Context, before *node, source *manifest.Object) (*node, error) {
	files := r.head.tree.Artifact(filterOf(source))
	n := &node{Kustomization: before.Kustomization, cluster: before.cluster, name: before.name, dir: before.dir, vars: before.vars}
	n.closure = inputs.NewClosure(files, n.dir, n.Components(files, n.dir))
	n.state = n.inputs()
	return n, r.head.buildObjects(ctx, n, files)
}

// isSame reports whether both are the same object of a cluster.
func isSame(a, b manifest.Object) bool {
	return a.Cluster == b.Cluster && a.Group() == b.Group() && a.GetKind() == b.GetKind() && nameOf(a.Unstructured) == nameOf(b.Unstructured)
}

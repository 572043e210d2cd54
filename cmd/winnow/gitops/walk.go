// SPDX-License-Identifier: Apache-2.0

package gitops

import (
	"cmp"
	"slices"

	"github.com/winnow-dev/winnow/cmd/winnow/gitops/building"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/manifest"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/repository"
	"github.com/winnow-dev/winnow/render/each"
)

// walk follows the Kustomizations of a cluster in one commit. It holds what is known so far: run adds to it.
type walk struct {
	cluster string
	tree    *repository.Tree // all files of the commit
	self    repository.Identity
	builds  *building.Builder
	// sync is of the FluxInstance, nil for none, and synced has its objects: the cluster's objects need not include them.
	sync   *manifest.Sync
	synced []manifest.Object
	// older is the walk in the base, nil in the base.
	older *walk

	nodes map[string]*node
	order []*node
	// roots are the Kustomizations that apply the directory of the cluster. It is built as the first of them.
	roots []root
	// recognized maps sources that resolve to this repository to the reason.
	recognized map[string]string
}

// whole returns the files of the commit in the artifact of a source that has no fields on files.
func (w *walk) whole() *repository.Tree { return w.tree.Artifact(repository.Filter{Submodules: true}) }

// root is a Kustomization that applies the directory of a cluster, with the files of its source.
type root struct {
	*manifest.Kustomization
	files *repository.Tree
	// applied reports that it applies itself, as opposed to one in a file that is not built, which was applied by hand.
	applied bool
}

// find returns an object of a cluster, or nil.
func (w *walk) find(m manifest.Ref) *manifest.Object {
	var found *manifest.Object
	for _, n := range w.order {
		for i, o := range n.objects {
			if o.Cluster != m.Cluster || !o.Is(m) {
				continue
			}
			if o.GetNamespace() == m.Name.Namespace {
				return &n.objects[i]
			}
			found = cmp.Or(found, &n.objects[i])
		}
	}
	if found != nil {
		return found
	}
	for i, o := range w.synced {
		if m.Cluster == w.cluster && o.Is(m) {
			return &w.synced[i]
		}
	}
	for _, n := range w.order {
		for _, o := range n.objects {
			if sync := manifest.SyncOf(o.Unstructured); o.Cluster == m.Cluster && sync != nil {
				if made := (manifest.Object{Unstructured: sync.Source}); made.Is(m) {
					return &made
				}
			}
		}
	}
	return nil
}

// source returns the source of a node, nil if it is not in the repository.
func (w *walk) source(n *node) *manifest.Object { return w.find(n.sourceRef()) }

// objects returns the objects of all nodes.
func (w *walk) objects() []manifest.Object {
	return slices.Concat(each.Map(w.order, func(n *node) []manifest.Object { return n.objects })...)
}

// applied returns the objects of all nodes. It leaves out an object that is kept for a node that cannot be evaluated if another
// node has it.
func (w *walk) applied() []manifest.Object {
	isKept := func(o manifest.Object) bool { return w.nodes[o.Kustomization].isUnknown() }
	had := map[manifest.Ref]bool{}
	all := w.objects()
	for _, o := range all {
		had[o.Ref()] = had[o.Ref()] || !isKept(o)
	}
	return slices.DeleteFunc(all, func(o manifest.Object) bool { return isKept(o) && had[o.Ref()] })
}

// sources returns references to the sources of the CatalogSelections.
func (w *walk) sources() []manifest.Ref {
	return slices.Concat(each.Map(w.objects(), manifest.Object.Sources)...)
}

// isBuilt reports whether a node is built from a file, and not as the text of a generator.
func (w *walk) isBuilt(file string) bool {
	return slices.ContainsFunc(w.order, func(n *node) bool {
		return (n.outcome == evaluated || n.outcome == skipped) && n.closure != nil && n.closure.Files[file] != "" && !n.closure.Texts[file]
	})
}

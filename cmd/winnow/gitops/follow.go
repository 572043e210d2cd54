// SPDX-License-Identifier: Apache-2.0

package gitops

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/building"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/inputs"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/manifest"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/repository"
)

// follow evaluates the pending nodes, and the nodes that they lead to.
func (w *walk) follow(ctx context.Context) error {
	for {
		n, err := w.next(ctx)
		if n == nil && err == nil {
			n, err = w.nextOfArtifacts()
		}
		if n == nil || err != nil {
			return err
		}
		if err := w.evaluate(ctx, n); err != nil {
			return err
		}
	}
}

// maxKustomizations bounds the Kustomizations of a cluster.
const maxKustomizations = 5_000

// isFollowed reports whether an object is a Kustomization whose source is pulled.
func isFollowed(o manifest.Object) bool { return manifest.Follows(o.Unstructured) }

// nextOfArtifacts adds a node for each Kustomization of an ExternalArtifact that no selection publishes, and returns the
// first that is new. It runs last, when all selections are known.
func (w *walk) nextOfArtifacts() (*node, error) {
	known := len(w.order)
	for _, n := range slices.Clone(w.order) {
		if err := w.addChildren(n, w.takesArtifact); err != nil {
			return nil, err
		}
	}
	if len(w.order) == known {
		return nil, nil
	}
	return w.order[known], nil
}

// addChildren adds a node for each object of a node that is a Kustomization to follow.
func (w *walk) addChildren(n *node, isChild func(manifest.Object) bool) error {
	itself := nameOf(n.Object)
	for _, o := range n.objects {
		if !isChild(o) {
			continue
		}
		name := nameOf(o.Unstructured)
		if n.name == "" && name == itself {
			continue
		}
		name += strings.TrimPrefix(o.Cluster, w.cluster)
		if w.nodes[name] != nil {
			continue // the reporter reports duplicates
		}
		if len(w.nodes) >= maxKustomizations {
			return fmt.Errorf("%s: there are more than %d Kustomizations", w.cluster, maxKustomizations)
		}
		k, err := manifest.NewKustomization(o.Unstructured)
		child := &node{Kustomization: k, name: name, cluster: o.Cluster, parents: append(slices.Clone(n.parents), n.name), suspended: o.Suspended, unknown: o.Unknown}
		if err != nil {
			child.Kustomization = &manifest.Kustomization{Object: o.Unstructured}
			child.outcome, child.reason, child.state = failed, err.Error(), o.Digest()
		} else if above := w.itself(child); above != "" {
			child.outcome, child.reason, child.state = failed, "it applies itself, again and again, to the cluster of its kubeConfig: "+above+" -> "+name, o.Digest()
		}
		w.nodes[name] = child
		w.order = append(w.order, child)
	}
	return nil
}

// itself returns the name of the same Kustomization in another cluster, among the parents of a node; empty for none.
func (w *walk) itself(n *node) string {
	for _, name := range n.parents {
		if above := w.nodes[name]; above.cluster != n.cluster && nameOf(above.Object) == nameOf(n.Object) && above.Content() == n.Content() {
			return above.label()
		}
	}
	return ""
}

// next returns a pending node, preferably one whose source and variables are known. It returns nil for none.
func (w *walk) next(ctx context.Context) (*node, error) {
	for {
		var waiting *node
		for _, n := range w.order {
			if n.outcome != pending {
				continue
			}
			if w.isReady(n) {
				return n, nil
			}
			if waiting == nil {
				waiting = n
			}
		}
		found, err := w.buildUsed(ctx, waiting)
		if err != nil || !found {
			return waiting, err
		}
	}
}

// isReady reports whether the source and the variables of a node are known.
func (w *walk) isReady(n *node) bool {
	if w.source(n) == nil {
		if _, found := w.self.Find(n.Source()); !found {
			return false
		}
	}
	return len(w.missingVariables(n)) == 0
}

// evaluate determines the objects of a node.
func (w *walk) evaluate(ctx context.Context, n *node) error {
	n.vars = building.NewVariables(n.Kustomization, n.cluster, w.find)
	from, dir, err := w.locate(n)
	if n.lostWith = w.withSource(n); n.lostWith != nil {
		err = errors.New(n.lostWith.fault())
	}
	if err != nil {
		n.outcome, n.reason = external, err.Error()
		if n.Spec.SourceRef.Kind == sourcev1.ExternalArtifactKind {
			return nil // what an artifact lacks is pruned
		}
		return w.keepObjects(n)
	}
	n.dir = dir
	n.closure = inputs.NewClosure(from, dir, n.Components(from, dir))
	n.state = n.inputs()
	if !w.mayLeadToSelection(n) {
		n.outcome = skipped
		return nil
	}
	return w.build(ctx, n, from)
}

// build builds a node whose directory is known, and adds the nodes that it leads to.
func (w *walk) build(ctx context.Context, n *node, from *repository.Tree) error {
	err := w.buildObjects(ctx, n, from)
	switch {
	case err != nil:
		return err
	case n.outcome == failed:
		return w.keepObjects(n)
	}
	return w.addChildren(n, isFollowed)
}

// buildObjects sets the outcome and the objects of a node. It returns the error of the context.
func (w *walk) buildObjects(ctx context.Context, n *node, from *repository.Tree) error {
	if n.closure == nil || n.name == "" {
		n.vars = building.NewVariables(n.Kustomization, n.cluster, w.find)
		n.closure = inputs.NewClosure(from, n.dir, n.Components(from, n.dir))
		n.state = n.inputs()
	}
	objects, err := w.builds.Build(ctx, n.closure, n.dir, n.Kustomization, n.vars)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	n.state = n.inputs()
	if err != nil {
		n.outcome, n.reason = failed, err.Error()
		return nil
	}
	n.outcome = evaluated
	n.setObjects(objects)
	return nil
}

// withSource returns the node that cannot be evaluated and has the source of a node, or may have it; nil for none.
func (w *walk) withSource(n *node) *node {
	ref, source := n.sourceRef(), w.source(n)
	_, named := w.self.Find(ref.Name)
	switch {
	case named || source != nil && source.Lost == "":
		return nil
	case source != nil:
		return w.nodes[source.Kustomization].cause()
	}
	makers := []manifest.Ref{ref}
	if ref.Kind == sourcev1.ExternalArtifactKind {
		makers = []manifest.Ref{ref, ref}
		makers[0].Kind, makers[1].Kind = v1alpha1.CatalogSelectionKind, manifest.GeneratorKind
	}
	for _, other := range w.order {
		if other.outcome == failed && other.closure != nil && other.applies() == ref.Cluster && slices.ContainsFunc(makers, other.mayContain) {
			return other
		}
	}
	return nil
}

// keepObjects sets the objects of a node that cannot be evaluated to those in the base, marked as lost:
// Flux keeps the objects that it has applied.
func (w *walk) keepObjects(n *node) error {
	if w.older == nil {
		return nil
	}
	old := w.older.nodes[n.name]
	if old == nil || old.outcome != evaluated {
		return nil
	}
	n.setObjects(old.objects)
	for i := range n.objects {
		n.objects[i].Lost = n.cause().fault()
	}
	return w.addChildren(n, isFollowed)
}

// mayLeadToSelection reports whether the files of the node may lead to a CatalogSelection, or did so in
// the base.
func (w *walk) mayLeadToSelection(n *node) bool {
	if len(n.closure.Remotes) > 0 || n.closure.Incomplete {
		return true
	}
	if w.older != nil && w.older.nodes[n.name] != nil && w.older.nodes[n.name].outcome == evaluated {
		return true
	}
	return n.closure.Has(manifest.MayLeadToSelection) || manifest.MayLeadToSelection(n.Text())
}

// takesArtifact reports whether an object is a Kustomization of an ExternalArtifact that no CatalogSelection of its cluster
// publishes in either commit.
func (w *walk) takesArtifact(o manifest.Object) bool {
	if !manifest.IsKustomization(o.Unstructured) || manifest.Follows(o.Unstructured) {
		return false
	}
	k, err := manifest.NewKustomization(o.Unstructured)
	if err != nil {
		return true
	}
	objects := w.objects()
	if w.older != nil {
		objects = append(objects, w.older.objects()...)
	}
	published := manifest.Ref{Group: v1alpha1.GroupVersion.Group, Kind: v1alpha1.CatalogSelectionKind, Name: k.Source()}
	return k.Spec.SourceRef.Kind != "" && !slices.ContainsFunc(objects, func(s manifest.Object) bool {
		return s.Cluster == o.Cluster && s.Is(published)
	})
}

// buildUsed builds a skipped node that may contain a missing object of a node that waits, or, if none does, a source of a
// selection, or another copy of any object that is used. It reports whether it found one.
func (w *walk) buildUsed(ctx context.Context, waiting *node) (bool, error) {
	var used []manifest.Ref
	if waiting != nil {
		used = slices.DeleteFunc(waiting.uses(), func(m manifest.Ref) bool { return w.find(m) != nil })
	} else {
		used = w.sources()
		for _, n := range w.order {
			if n.outcome != skipped {
				used = append(used, n.uses()...)
			}
		}
	}
	for i := range used {
		if used[i].Kind == sourcev1.ExternalArtifactKind {
			used[i].Kind = manifest.GeneratorKind
		}
	}
	known := map[manifest.Ref]bool{}
	used = slices.DeleteFunc(used, func(m manifest.Ref) bool {
		done := known[m] || m.Kind == "" || m.Name.Name == ""
		known[m] = true
		return done
	})
	for _, m := range used {
		for _, n := range w.order {
			if n.outcome == skipped && n.applies() == m.Cluster && n.mayContain(m) {
				return true, w.build(ctx, n, n.closure.Tree)
			}
		}
	}
	return false, nil
}

// SPDX-License-Identifier: Apache-2.0

package gitops

import (
	"context"
	"slices"
	"strings"

	"github.com/winnow-dev/winnow/cmd/winnow/documents"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/building"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/manifest"
)

// run evaluates all Kustomizations that are reachable from the directory of the cluster.
func (w *walk) run(ctx context.Context) error {
	w.nodes, w.recognized = map[string]*node{}, map[string]string{}
	w.setSync(ctx, w.sync)
	if err := w.evaluateRoot(ctx); err != nil {
		return err
	}
	if err := w.follow(ctx); err != nil {
		return err
	}
	const rounds = 4 // variables may come from objects with variables
	for range rounds {
		changed, err := w.evaluateAgain(ctx)
		if err != nil || !changed {
			return err
		}
	}
	return nil
}

// evaluateAgain builds the nodes whose variables have become known since they were built. It reports whether there were any.
func (w *walk) evaluateAgain(ctx context.Context) (changed bool, err error) {
	for _, n := range slices.Clone(w.order) {
		if n.outcome != evaluated {
			continue
		}
		if roots := w.findRoots(n, n.objects); n.name == "" && len(roots) > 0 && roots[0].files != n.closure.Tree {
			changed, w.roots = true, roots
			if err := w.build(ctx, n, roots[0].files); err != nil {
				return false, err
			}
		}
		if len(n.References()) == 0 {
			continue
		}
		if vars := building.NewVariables(n.Kustomization, n.cluster, w.find); vars.Digest() != n.vars.Digest() {
			changed, n.vars = true, vars
			n.state = n.inputs()
			if err := w.build(ctx, n, n.closure.Tree); err != nil {
				return false, err
			}
		}
	}
	return changed, w.follow(ctx)
}

// setSync sets the sync of the FluxInstance, nil for none, and its objects.
func (w *walk) setSync(ctx context.Context, sync *manifest.Sync) {
	if w.sync, w.synced = sync, nil; sync == nil {
		return
	}
	var err error
	if w.synced, err = w.builds.BuildSync(ctx, w.tree, sync); err != nil {
		w.synced = []manifest.Object{{Unstructured: sync.Source, Origin: documents.Origin{Unknown: []string{"the patches of its FluxInstance: " + err.Error()}}}}
	}
}

// findSync returns the sync of a FluxInstance among objects, which may be another one than in its file; nil for none.
func findSync(objects []manifest.Object) *manifest.Sync {
	for _, o := range objects {
		if sync := manifest.SyncOf(o.Unstructured); sync != nil {
			return sync
		}
	}
	return nil
}

// evaluateRoot evaluates the directory of the cluster, with the fields and the source of its root: the Kustomization in it that
// applies the directory itself, as flux bootstrap writes one.
func (w *walk) evaluateRoot(ctx context.Context) error {
	n := &node{Kustomization: manifest.DirectoryKustomization(w.cluster), cluster: w.cluster, dir: w.cluster}
	w.nodes[""] = n
	w.order = append(w.order, n)
	from := w.whole()
	if !from.IsDir(w.cluster) {
		n.outcome, n.state = evaluated, "no cluster"
		return nil
	}
	const rounds = 5 // the root may patch itself, and its source
	for round := range rounds {
		if err := w.buildObjects(ctx, n, from); err != nil {
			return err
		}
		if n.outcome == failed {
			if found := w.findRoots(n, w.documents()); round == 0 && len(found) > 0 && found[0].files != from {
				from = found[0].files // the source may leave out what does not build
				continue
			}
			return w.keepObjects(n)
		}
		settled := true
		if sync := findSync(n.objects); sync != nil && (w.sync == nil || sync.Digest() != w.sync.Digest()) {
			w.setSync(ctx, sync)
			settled = false
		}
		w.roots = w.allRoots(n)
		if len(w.roots) > 0 {
			root := w.roots[0]
			settled = settled && root.Transforms() == n.Transforms() && root.files == from
			n.Kustomization, from = root.Kustomization, root.files
		}
		if settled {
			n.state = n.inputs()
			return w.addChildren(n, isFollowed)
		}
	}
	n.outcome, n.reason = failed, "each build of it changes the Kustomization that applies it, or its source"
	return w.keepObjects(n)
}

// allRoots returns the roots among the objects of the directory, or else in files of it, which were applied by hand.
func (w *walk) allRoots(n *node) []root {
	found := w.findRoots(n, n.objects)
	if len(found) == 0 {
		found = w.findRoots(n, w.documents())
		for i := range found {
			found[i].applied = false
		}
	}
	return found
}

// findRoots returns the Kustomizations that apply the directory of the cluster: first the first one of the base. It skips
// Kustomizations of the same path of another repository.
func (w *walk) findRoots(n *node, objects []manifest.Object) (found []root) {
	defer func(built []manifest.Object) { n.objects = built }(n.objects)
	n.objects = objects // has the sources as well
	for _, o := range slices.Concat(w.synced, objects) {
		if !manifest.Follows(o.Unstructured) {
			continue
		}
		k, err := manifest.NewKustomization(o.Unstructured)
		if err != nil || k.Spec.KubeConfig != nil || k.Path() != "." && !strings.HasSuffix("/"+w.cluster, "/"+k.Path()) {
			continue
		}
		self := &node{Kustomization: k, cluster: w.cluster, vars: &building.Variables{}}
		files, dir, err := w.locate(self)
		if w.source(self) == nil { // the installer of Flux creates it
			files, dir, err = w.whole(), k.Path(), nil
		}
		if err != nil || dir != w.cluster {
			continue
		}
		if found = append(found, root{k, files, true}); w.older != nil && len(w.older.roots) > 0 && nameOf(o.Unstructured) == nameOf(w.older.roots[0].Object) {
			found[0], found[len(found)-1] = found[len(found)-1], found[0]
		}
	}
	return found
}

// documents returns the objects of the files in the directory of the cluster that may have its root, as they stand.
func (w *walk) documents() (all []manifest.Object) {
	for _, file := range w.whole().YAMLs(w.cluster) {
		for _, o := range leading(w.whole(), file) {
			all = append(all, manifest.Object{Unstructured: o, Origin: documents.Origin{Cluster: w.cluster}})
		}
	}
	return all
}

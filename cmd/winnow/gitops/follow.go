package gitops

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// maxKustomizations bounds the Kustomizations of a cluster.
const maxKustomizations = 5_000

// selectionPattern matches content that may lead to a CatalogSelection, directly or by another Kustomization:
// their API groups, and groups that are composed, escaped or in another encoding.
var selectionPattern = regexp.MustCompile(`\\[uUx][0-9a-fA-F]|\x00|catalog\.winnow\.dev/|kustomize\.toolkit\.fluxcd\.io/v|fluxcd\.controlplane\.io/` +
	`|apiVersion["']?\s*:\s*\S*[^\w./"'\s,}\]-]|/apiVersion`)

// walk follows the Kustomizations of a cluster in one commit.
type walk struct {
	cluster string
	tree    *tree
	self    identity
	builds  *builder
	// sync is the source that flux-operator creates, which the objects need not include; nil for none.
	sync *unstructured.Unstructured
	// older is the walk in the base, nil in the base.
	older *walk

	nodes map[string]*node
	order []*node
	// recognized maps sources that resolve to this repository to the reason.
	recognized map[string]string
	trees      map[string]*tree
}

// run evaluates all Kustomizations that are reachable from the directory of the cluster.
func (w *walk) run(ctx context.Context) error {
	w.nodes, w.recognized, w.trees = map[string]*node{}, map[string]string{}, map[string]*tree{"": w.tree.ignoring("")}
	if err := w.evaluateRoot(ctx); err != nil {
		return err
	}
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

// evaluateRoot evaluates the directory of the cluster, with the fields of a Kustomization in it that applies
// the directory itself, such as that of flux bootstrap.
func (w *walk) evaluateRoot(ctx context.Context) error {
	n := &node{kustomization: directoryKustomization(w.cluster), cluster: w.cluster}
	w.nodes[""] = n
	w.order = append(w.order, n)
	if !w.trees[""].isDir(w.cluster) {
		n.outcome, n.state = evaluated, "no cluster"
		return nil
	}
	const rounds = 3 // the Kustomization may patch itself
	for range rounds {
		n.dir, n.outcome = w.cluster, pending
		if err := w.build(ctx, n, w.trees[""]); err != nil {
			return err
		}
		again := w.rootKustomization(n)
		if again == nil {
			break
		}
		settled := again.transforms() == n.transforms()
		n.kustomization = again
		if settled {
			n.state = n.inputs()
			break
		}
	}
	return w.addChildren(n, isFollowed)
}

// rootKustomization returns the Kustomization that applies the directory of the cluster. It skips those that
// apply the same path of another repository.
func (w *walk) rootKustomization(n *node) *kustomization {
	for _, o := range n.objects {
		if !follows(o.Unstructured) {
			continue
		}
		k, err := newKustomization(o.Unstructured)
		if err != nil || k.path() != w.cluster || k.spec.KubeConfig != nil {
			continue
		}
		self := &node{kustomization: k, cluster: w.cluster, vars: &variables{}}
		if w.source(self) == nil {
			return k // the installer of Flux creates the source
		}
		if _, _, err := w.locate(self); err == nil {
			return k
		}
	}
	return nil
}

// isFollowed reports whether an object is a Kustomization whose source is pulled.
func isFollowed(o Object) bool { return follows(o.Unstructured) }

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
func (w *walk) addChildren(n *node, isChild func(Object) bool) error {
	itself := nameOf(types.NamespacedName{Namespace: n.object.GetNamespace(), Name: n.object.GetName()})
	for _, o := range n.objects {
		if !isChild(o) {
			continue
		}
		name := nameOf(types.NamespacedName{Namespace: o.GetNamespace(), Name: o.GetName()})
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
		k, err := newKustomization(o.Unstructured)
		child := &node{kustomization: k, name: name, cluster: o.Cluster, parents: append(slices.Clone(n.parents), n.name), unknown: o.Unknown}
		if err != nil {
			child.kustomization = &kustomization{object: o.Unstructured}
			child.outcome, child.reason, child.state = failed, err.Error(), o.digest()
		}
		w.nodes[name] = child
		w.order = append(w.order, child)
	}
	return nil
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
		if _, found := w.self.find(n.source()); !found {
			return false
		}
	}
	for _, ref := range n.references() {
		if w.find(n.cluster, "", ref.Kind, types.NamespacedName{Namespace: n.object.GetNamespace(), Name: ref.Name}) == nil {
			return false
		}
	}
	return true
}

// source returns the source of a node, nil if it is not in the repository.
func (w *walk) source(n *node) *Object {
	return w.find(n.cluster, sourceGroup, n.spec.SourceRef.Kind, n.source())
}

// finder returns find for one cluster.
func (w *walk) finder(cluster string) func(group, kind string, name types.NamespacedName) *Object {
	return func(group, kind string, name types.NamespacedName) *Object { return w.find(cluster, group, kind, name) }
}

// find returns an object of a cluster, or nil.
func (w *walk) find(cluster, group, kind string, name types.NamespacedName) *Object {
	for _, n := range w.order {
		for i, o := range n.objects {
			if o.Cluster != cluster {
				continue
			}
			if o.is(group, kind, name) {
				return &n.objects[i]
			}
			if made := (Object{Unstructured: syncOf(o.Unstructured)}); made.Unstructured != nil && made.is(group, kind, name) {
				return &made
			}
		}
	}
	if made := (Object{Unstructured: w.sync}); w.sync != nil && cluster == w.cluster && made.is(group, kind, name) {
		return &made
	}
	return nil
}

// evaluate determines the objects of a node.
func (w *walk) evaluate(ctx context.Context, n *node) error {
	n.vars = newVariables(n.kustomization, w.finder(n.cluster))
	from, dir, err := w.locate(n)
	if err != nil {
		n.outcome, n.reason = external, err.Error()
		if n.spec.SourceRef.Kind == sourcev1.ExternalArtifactKind {
			return nil // what an artifact lacks is pruned
		}
		return w.keepObjects(n)
	}
	n.dir = dir
	n.closure = newClosure(from, dir, n.components(from, dir))
	n.state = n.inputs()
	if !w.mayLeadToSelection(n) {
		n.outcome = skipped
		return nil
	}
	return w.build(ctx, n, from)
}

// build builds a node whose directory is known.
func (w *walk) build(ctx context.Context, n *node, from *tree) error {
	if n.closure == nil || n.name == "" {
		n.vars = newVariables(n.kustomization, w.finder(n.cluster))
		n.closure = newClosure(from, n.dir, n.components(from, n.dir))
		n.state = n.inputs()
	}
	objects, err := w.builds.build(ctx, n.state, n.closure, n.dir, n.kustomization, n.vars)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	n.state = n.inputs()
	if err != nil {
		n.outcome, n.reason = failed, err.Error()
		return w.keepObjects(n)
	}
	n.outcome = evaluated
	n.setObjects(objects)
	if n.name != "" {
		return w.addChildren(n, isFollowed)
	}
	return nil
}

// setObjects sets the objects of a node to copies with its cluster and name.
func (n *node) setObjects(objects []Object) {
	n.objects = cloned(objects)
	for i := range n.objects {
		n.objects[i].Cluster, n.objects[i].Kustomization = n.applies(), n.name
		n.objects[i].Appliers = append(slices.Clone(n.parents), n.name)
		if common := n.spec.CommonMetadata; common != nil {
			annotations := map[string]string{}
			maps.Copy(annotations, n.objects[i].GetAnnotations())
			maps.Copy(annotations, common.Annotations)
			n.objects[i].SetAnnotations(annotations)
		}
	}
}

func cloned(objects []Object) []Object {
	all := slices.Clone(objects)
	for i := range all {
		all[i].Unstructured = all[i].DeepCopy()
		all[i].Unknown = slices.Clone(all[i].Unknown)
	}
	return all
}

// keepObjects sets the objects of a node that cannot be evaluated to those in the base, marked as unknown:
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
		n.objects[i].Unknown = append(n.objects[i].Unknown, n.label()+": "+n.reason)
	}
	return w.addChildren(n, isFollowed)
}

// mayLeadToSelection reports whether the files of the node may lead to a CatalogSelection, or did so in
// the base.
func (w *walk) mayLeadToSelection(n *node) bool {
	if len(n.closure.remotes) > 0 || n.closure.incomplete {
		return true
	}
	if w.older != nil && w.older.nodes[n.name] != nil && w.older.nodes[n.name].outcome == evaluated {
		return true
	}
	return selectionPattern.MatchString(n.content()) || n.closure.has(selectionPattern.Match)
}

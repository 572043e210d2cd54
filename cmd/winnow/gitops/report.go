// SPDX-License-Identifier: Apache-2.0

package gitops

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/cmd/winnow/documents"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/inputs"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/manifest"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/repository"
	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/excerpt"
)

// reporter reports the differences and the unknown parts of a cluster, or of an overlay.
type reporter struct {
	base, head *walk
	// alone is the overlay, nil for a cluster.
	alone *overlay
	out   *Comparison
}

func (r reporter) note(format string, args ...any) {
	r.out.Notes = append(r.out.Notes, r.head.cluster+": "+fmt.Sprintf(format, args...))
}

func (r reporter) unknown(format string, args ...any) {
	r.out.Unknown = append(r.out.Unknown, r.head.cluster+": "+fmt.Sprintf(format, args...))
}

// list adds a note with names.
func (r reporter) list(what string, names []string) {
	if len(names) == 0 {
		return
	}
	r.note("%s: %s", what, excerpt.Names(names, maxListed))
}

// namesIn returns the names that either commit has, sorted.
func namesIn[T any](base, head map[string]T) []string {
	names := slices.AppendSeq(slices.Collect(maps.Keys(base)), maps.Keys(head))
	slices.Sort(names)
	return slices.Compact(names)
}

// listed returns the name of a node in lists, empty for a directory that no Kustomization applies.
func listed(before, after *node) string {
	n := cmp.Or(after, before)
	return cmp.Or(n.name, strings.Trim(n.Object.GetNamespace()+"/"+n.Object.GetName(), "/"))
}

// equal reports whether a node has the same state in both commits. Its outcomes may differ: a node may be
// built on demand in one of them.
func equal(before, after *node) bool {
	return before != nil && after != nil && before.state == after.state
}

// isReported reports whether a node is lost with another one, about which there is a sentence in Unknown: what would need its files
// is part of that fact.
func (r reporter) isReported(n *node) bool {
	return n != nil && n.lostWith != nil && !equal(r.base.nodes[n.lostWith.name], r.head.nodes[n.lostWith.name])
}

// node reports a node that could not be evaluated: as a note if it is the same in both commits, and
// otherwise as unknown. A directory
// of a cluster, and a path, are unknown in any case: nothing below them was compared.
func (r reporter) node(before, after *node) {
	lost := after
	if !lost.isUnknown() {
		lost = before
	}
	if !lost.isUnknown() {
		return
	}
	fault := lost.fault()
	r.declares(before, after)
	switch {
	case isDeclared(before) && isDeclared(after):
		r.note("%s, by its annotation %s: %s", fault, v1alpha1.NoCatalogsAnnotation, excerpt.Of(declared(before.Object)))
	case equal(before, after) && lost.name == "" && (r.alone == nil || r.alone.named):
		r.unknown("%s, in either commit: %s", fault, lost.reason)
	case equal(before, after) && r.differing(before, after) != "":
		r.unknown("%s, and differs: %s; it may have %s", fault, lost.reason, r.differing(before, after))
	case equal(before, after):
		r.note("%s, and is the same in both commits: %s", fault, lost.reason)
	case lost == before:
		r.unknown("%s before the change: %s", fault, lost.reason)
	default:
		r.differs(before, after, fmt.Sprintf("%s, and differs: %s", fault, lost.reason))
	}
}

// declares reports a node that gets the declaration.
func (r reporter) declares(before, after *node) {
	if before != nil && !isDeclared(before) && isDeclared(after) {
		r.unknown("%s gets the annotation %s, which counts from the next change on", after.label(), v1alpha1.NoCatalogsAnnotation)
	}
}

// differs reports a node that could not be evaluated in the newer commit. A node of an OCIRepository may be compared by its
// artifacts.
func (r reporter) differs(before, after *node, sentence string) {
	if after.outcome != external || after.Spec.SourceRef.Kind != sourcev1.OCIRepositoryKind {
		r.unknown("%s", sentence)
		return
	}
	r.out.External = append(r.out.External, External{
		Cluster: after.cluster, Name: nameOf(after.Object),
		Sentence:        r.head.cluster + ": " + sentence,
		VariablesDiffer: before != nil && before.vars.Digest() != after.vars.Digest(),
	})
}

// differing returns a file that differs between the commits, that a node may be built from, by the URL of this repository for
// example, and that no other node of the cluster is built from; empty for none.
func (r reporter) differing(before, after *node) string {
	dirs := append(slices.Clone(before.reads), after.reads...)
	for side, n := range []*node{before, after} {
		if n.closure == nil {
			continue
		}
		for file := range n.closure.Files {
			for _, o := range leading([]*walk{r.base, r.head}[side].whole(), file) {
				if n.outcome == failed && manifest.Follows(o) {
					dirs = append(dirs, repository.CleanPath(manifest.StringAt(o, "spec", "path")))
				}
			}
		}
		for _, entry := range append(slices.Clone(n.closure.Remotes), n.closure.Missing...) {
			if dir, found := r.head.self.Within(entry); found {
				dirs = append(dirs, dir)
			}
		}
	}
	for _, dir := range dirs {
		files := []map[string]string{r.base.filesAt(dir), r.head.filesAt(dir)}
		for _, name := range namesIn(files[0], files[1]) {
			if files[0][name] != files[1][name] && !r.base.isBuilt(name) && !r.head.isBuilt(name) {
				return name
			}
		}
	}
	return ""
}

// filesAt maps the YAML files below a directory, and all that it is built from, to their identifiers.
func (w *walk) filesAt(dir string) map[string]string {
	c := inputs.NewClosure(w.whole(), dir, nil)
	for _, name := range w.whole().YAMLs(dir) {
		c.File(name)
	}
	return c.Files
}

// remotes reports a node that was built without its remote bases.
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
	if older.state == newer.state && r.differing(before, after) == "" {
		r.note("%s has resources outside of this repository, which are not fetched, and are the same in both commits: %s", n.label(), list)
		return
	}
	r.unknown("%s has resources outside of this repository, which are not fetched; these, or the changes to them, differ: %s", n.label(), list)
}

// roots reports a directory of a cluster that is gone, and the roots of the base that do not apply it any more.
func (r reporter) roots() {
	if r.alone == nil && r.base.whole().IsDir(r.base.cluster) && !r.head.whole().IsDir(r.head.cluster) {
		r.unknown("the directory is gone, and what applies it finds nothing there: the cluster keeps all that it has, and follows Git no more")
		return
	}
	for _, k := range r.base.roots {
		name := nameOf(k.Object)
		isRoot := func(other root) bool { return nameOf(other.Object) == name && (other.applied || !k.applied) }
		if i := slices.IndexFunc(r.head.roots, isRoot); i >= 0 {
			r.stops(k, r.head.roots[i])
			continue
		}
		after := r.head.nodes[name]
		external := after != nil && after.outcome == external && after.Path() == k.Path() && after.Spec.KubeConfig == nil // which is reported
		if k.applied && !external && r.head.nodes[""].outcome != failed {
			r.unknown("the Kustomization %s, which applies this directory, is renamed or removed, or has another path or a kubeConfig: "+
				"Flux deletes all that it has applied, or follows Git no more", name)
		}
	}
}

// objects reports FluxInstances that leave, and owners of objects.
func (r reporter) objects() {
	older := r.base.objects()
	newer := r.head.objects()
	for _, o := range older {
		gone := !slices.ContainsFunc(newer, func(other manifest.Object) bool { return other.Ref() == o.Ref() })
		if gone && manifest.SyncOf(o.Unstructured) != nil && r.head.whole().IsDir(r.head.cluster) {
			r.unknown("the FluxInstance %s is gone: flux-operator uninstalls Flux, or follows Git no more", nameOf(o.Unstructured))
		}
	}
	for _, o := range newer {
		same := func(other manifest.Object) bool {
			return other.Ref() == o.Ref() && reflect.DeepEqual(o.GetOwnerReferences(), other.GetOwnerReferences())
		}
		if len(o.GetOwnerReferences()) > 0 && !slices.ContainsFunc(older, same) {
			r.unknown("the %s %s has other ownerReferences: Kubernetes deletes it where its owners are gone", o.GetKind(), nameOf(o.Unstructured))
		}
	}
}

// stops reports fields of a root and its source that may end that the cluster follows Git, and are not evaluated.
func (r reporter) stops(before, after root) {
	var differing []string
	compare := func(older, newer *unstructured.Unstructured, fields ...string) {
		for _, field := range fields {
			was, _, _ := unstructured.NestedFieldNoCopy(older.Object, "spec", field)
			is, _, _ := unstructured.NestedFieldNoCopy(newer.Object, "spec", field)
			if resumed := field == "suspend" && is != true; !resumed && !reflect.DeepEqual(was, is) {
				differing = append(differing, "spec."+field)
			}
		}
	}
	compare(before.Object, after.Object, "suspend", "dependsOn", "serviceAccountName", "decryption")
	mark := func(o *unstructured.Unstructured) [2]any {
		const shard, mode = "sharding.fluxcd.io/key", manifest.KustomizationGroup + "/reconcile"
		return [2]any{o.GetLabels()[shard], o.GetAnnotations()[mode]}
	}
	if mark(before.Object) != mark(after.Object) {
		differing = append(differing, "its shard or the annotation reconcile")
	}
	older, newer := r.base.source(&node{Kustomization: before.Kustomization, cluster: r.base.cluster}), r.head.source(&node{Kustomization: after.Kustomization, cluster: r.head.cluster})
	if older != nil && newer != nil {
		compare(older.Unstructured, newer.Unstructured, "suspend", "secretRef", "verify", "provider", "proxySecretRef", "serviceAccountName", "certSecretRef")
	}
	if newer == nil && !reflect.DeepEqual(before.Spec.SourceRef, after.Spec.SourceRef) {
		differing = append(differing, "spec.sourceRef")
	}
	if len(differing) > 0 {
		r.unknown("the Kustomization %s, which applies this directory, or its source, differs in %s: whether the cluster follows Git from then on is known there only",
			nameOf(after.Object), strings.Join(differing, ", "))
	}
}

// branch reports a Kustomization of this repository that gets another branch of it: what that has is in neither commit.
func (r reporter) branch(before, after *node) {
	if before == nil || after == nil || before.outcome == external || after.outcome == external || before.Spec.SourceRef.Kind == "" || after.Spec.SourceRef.Kind == "" {
		return
	}
	what := "has another spec.url or spec.ref"
	older, newer := r.base.source(before), r.head.source(after)
	isReported := (before.isUnknown() || after.isUnknown()) && !equal(before, after) || newer != nil && newer.Lost != ""
	switch {
	case isReported, branchOf(older) == branchOf(newer):
		return
	case older == nil:
		what = "was not in this repository"
	case newer == nil:
		what = "is not in this repository any more"
	}
	r.out.Unknown = each.Union(r.out.Unknown, fmt.Sprintf("%s: the %s %s %s: what the cluster gets from then on is not compared; "+
		"compare what both refer to, and change this alone", r.head.cluster, after.Spec.SourceRef.Kind, manifest.NameOf(after.Source()), what))
}

// branchOf returns what a source follows as JSON, empty for none.
func branchOf(source *manifest.Object) string {
	if source == nil {
		return ""
	}
	spec, _ := source.Object["spec"].(map[string]any)
	return documents.JSONOf([]any{spec["url"], spec["ref"]})
}

// remote holds the remote bases of a node, and a digest of them and all changes to their objects.
type remote struct {
	names []string
	state string
}

func (n *node) remote() remote {
	if n == nil || n.closure == nil || len(n.closure.Remotes) == 0 {
		return remote{}
	}
	names := n.closure.Remotes
	parts := append(append([]string{n.Content(), n.vars.Digest()}, names...), n.closure.Transforms...)
	return remote{names, inputs.Digest(parts...)}
}

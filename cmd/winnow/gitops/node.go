// SPDX-License-Identifier: Apache-2.0

package gitops

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/cmd/winnow/documents"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/building"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/inputs"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/manifest"
)

// outcome is the result of the evaluation of a Kustomization.
type outcome int

const (
	pending outcome = iota
	// evaluated: its objects are known.
	evaluated
	// skipped: its files do not lead to a CatalogSelection, and are the same in both commits, so that it was not built.
	skipped
	// external: its files are not in this repository.
	external
	// failed: it cannot be built.
	failed
)

// node is a Kustomization of a cluster.
type node struct {
	*manifest.Kustomization
	// name is <namespace>/<name>, followed by the kubeConfig of another cluster; empty for the directory.
	name string
	// cluster contains the Kustomization. Its kubeConfig may name another cluster for its objects.
	cluster string
	// parents are the nodes that apply the node, from the cluster's directory on.
	parents []string
	// suspended reports that one of these is.
	suspended bool

	outcome outcome
	// reason of an outcome other than evaluated.
	reason string
	// lostWith is the failed node that has, or may have, the source of an external one; nil for others.
	lostWith *node
	// state is a digest of everything that determines the objects of the node.
	state   string
	closure *inputs.Closure
	dir     string
	vars    *building.Variables
	objects []manifest.Object
	// reads are directories of this repository that an external node may be built from, and unknown are sentences on unknown
	// parts of the Kustomization.
	reads, unknown []string
	// contains caches mayContain.
	contains map[manifest.Ref]bool
}

// inputs returns the state of a node that is built from files.
func (n *node) inputs() string {
	return inputs.Digest(n.Content(), n.vars.Digest(), n.closure.Digest())
}

// declared returns the reason for which an object makes nothing of catalogs, empty for none.
func declared(o *unstructured.Unstructured) string {
	return strings.TrimSpace(o.GetAnnotations()[v1alpha1.NoCatalogsAnnotation])
}

// isDeclared reports whether a node of files elsewhere is declared to apply nothing of catalogs.
func isDeclared(n *node) bool { return n != nil && n.outcome == external && declared(n.Object) != "" }

// isUnknown reports whether the objects of a node are unknown and may be relevant; false for nil.
func (n *node) isUnknown() bool {
	return n != nil && (n.outcome == failed || n.outcome == external)
}

// label returns the name of a node for messages.
func (n *node) label() string {
	if n.name == "" {
		return "the directory"
	}
	return "Kustomization " + n.name
}

// fault returns what is wrong with a node that is unknown, without the cause.
func (n *node) fault() string {
	if n.outcome == external {
		return n.label() + " applies files that are not read here"
	}
	return n.label() + " cannot be built here"
}

// cause returns the unknown node that an unknown one is lost with, which may be itself.
func (n *node) cause() *node { return cmp.Or(n.lostWith, n) }

// applies returns the cluster that the node applies its objects to.
func (n *node) applies() string {
	name := ""
	switch ref := n.Spec.KubeConfig; {
	case ref == nil:
		return n.cluster
	case ref.SecretRef != nil:
		name = strings.TrimSuffix(ref.SecretRef.Name+" "+ref.SecretRef.Key, " ")
	case ref.ConfigMapRef != nil:
		name = "of ConfigMap " + ref.ConfigMapRef.Name
	default:
		return n.cluster
	}
	return strings.TrimSuffix(n.cluster+documents.ByKubeConfig+name+" in "+n.Object.GetNamespace(), " in ")
}

// setObjects sets the objects of a node to copies with its cluster and name.
func (n *node) setObjects(objects []manifest.Object) {
	n.objects = slices.Clone(objects)
	var files []string
	if n.outcome == evaluated && n.closure != nil {
		files = slices.Sorted(maps.Keys(n.closure.Files))
	}
	for i := range n.objects {
		if files != nil {
			n.objects[i].Inputs, n.objects[i].Dir = files, n.dir
		}
		n.objects[i].Cluster, n.objects[i].Kustomization = n.applies(), n.name
		n.objects[i].Appliers, n.objects[i].Suspended = append(slices.Clone(n.parents), n.name), n.suspended || n.Spec.Suspend
		if common := n.Spec.CommonMetadata; common != nil {
			n.objects[i].Unstructured = n.objects[i].DeepCopy() // a build is shared
			n.objects[i].SetLabels(merge(n.objects[i].GetLabels(), common.Labels))
			n.objects[i].SetAnnotations(merge(n.objects[i].GetAnnotations(), common.Annotations))
		}
	}
}

func merge(metadata, common map[string]string) map[string]string {
	all := map[string]string{}
	maps.Copy(all, metadata)
	maps.Copy(all, common)
	return all
}

// sourceRef returns a reference to the source.
func (n *node) sourceRef() manifest.Ref {
	return manifest.Ref{Cluster: n.cluster, Group: manifest.SourceGroup, Kind: n.Spec.SourceRef.Kind, Name: n.Source()}
}

// uses returns references to the source and the variables of a node.
func (n *node) uses() []manifest.Ref {
	return append([]manifest.Ref{n.sourceRef()}, n.Variables(n.cluster)...)
}

// mayContain reports whether a skipped node may contain the object: its files contain the kind, and they or
// the Kustomization contain the name.
func (n *node) mayContain(m manifest.Ref) bool {
	found, known := n.contains[m]
	if !known {
		patches := n.Text()
		found = (m.HasKind(patches) || n.closure.Has(m.HasKind)) && (manifest.RenamesObjects(patches) || n.closure.Has(m.HasName))
		if n.contains == nil {
			n.contains = map[manifest.Ref]bool{}
		}
		n.contains[m] = found
	}
	return found
}

// nameOf returns <namespace>/<name> of a Kustomization.
func nameOf(k *unstructured.Unstructured) string {
	return manifest.NameOf(types.NamespacedName{Namespace: k.GetNamespace(), Name: k.GetName()})
}

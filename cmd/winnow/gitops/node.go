package gitops

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// outcome is what became of a Kustomization.
type outcome int

const (
	pending outcome = iota
	// evaluated: its objects are known.
	evaluated
	// skipped: nothing in it leads to a CatalogSelection, so that it was not built.
	skipped
	// elsewhere: what it applies is not in this repository.
	elsewhere
	// failed: it cannot be built.
	failed
)

// node is a Kustomization of a cluster.
type node struct {
	*kustomization
	// name is <namespace>/<name>, empty for the directory of the cluster, and of another cluster says so.
	name string
	// cluster has the Kustomization. What it applies may be of another one, by its kubeConfig.
	cluster string
	// parents are the nodes that apply the node, from the cluster's directory on.
	parents []string

	outcome outcome
	// reason of an outcome that is not evaluated.
	reason string
	// state is that of everything that decides what the node applies.
	state   string
	closure *closure
	dir     string
	vars    *variables
	objects []Object
}

// isLost reports whether what a node applies is not known, though it may matter; false for no node.
func (n *node) isLost() bool {
	return n != nil && (n.outcome == failed || n.outcome == elsewhere)
}

// label is what messages call a node.
func (n *node) label() string {
	if n.name == "" {
		return "the directory of the cluster"
	}
	return "Kustomization " + n.name
}

// applies returns the cluster of what the node applies.
func (n *node) applies() string {
	ref := n.spec.KubeConfig
	switch {
	case ref == nil:
		return n.cluster
	case ref.SecretRef != nil:
		return n.cluster + " by kubeConfig " + ref.SecretRef.Name
	case ref.ConfigMapRef != nil:
		return n.cluster + " by kubeConfig " + ref.ConfigMapRef.Name
	}
	return n.cluster
}

// unstructuredSlice returns a list of an object, in texts.
func unstructuredSlice(o *unstructured.Unstructured, fields ...string) []string {
	all, _, _ := unstructured.NestedSlice(o.Object, fields...)
	var texts []string
	for _, one := range all {
		texts = append(texts, fmt.Sprint(one))
	}
	return texts
}

// unstructuredString returns a field of an object.
func unstructuredString(o *unstructured.Unstructured, fields ...string) string {
	value, _, _ := unstructured.NestedString(o.Object, fields...)
	return value
}

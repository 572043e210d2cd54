package gitops

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// outcome is the result of the evaluation of a Kustomization.
type outcome int

const (
	pending outcome = iota
	// evaluated: its objects are known.
	evaluated
	// skipped: its files do not lead to a CatalogSelection, so that it was not built.
	skipped
	// external: its files are not in this repository.
	external
	// failed: it cannot be built.
	failed
)

// node is a Kustomization of a cluster.
type node struct {
	*kustomization
	// name is <namespace>/<name>, followed by the kubeConfig of another cluster; empty for the directory.
	name string
	// cluster contains the Kustomization. Its kubeConfig may name another cluster for its objects.
	cluster string
	// parents are the nodes that apply the node, from the cluster's directory on.
	parents []string

	outcome outcome
	// reason of an outcome other than evaluated.
	reason string
	// state is a digest of everything that determines the objects of the node.
	state   string
	closure *closure
	dir     string
	vars    *variables
	objects []Object
	// reads are directories of this repository that an external node may be built from, and unknown are sentences on unknown
	// parts of the Kustomization.
	reads, unknown []string
	// contains caches mayContain.
	contains map[objectRef]bool
}

// inputs returns the state of a node that is built from files.
func (n *node) inputs() string {
	return digest(n.content(), n.vars.digest(), n.closure.digest())
}

// isUnknown reports whether the objects of a node are unknown and may be relevant; false for nil.
func (n *node) isUnknown() bool {
	return n != nil && (n.outcome == failed || n.outcome == external)
}

// readContainers adds the objects whose deletion deletes others, as the files of a node that is not built have them.
func (n *node) readContainers() {
	if n == nil || n.outcome != skipped {
		return
	}
	var found []Object
	for name := range n.closure.files {
		content, err := n.closure.tree.read(name)
		if err != nil || !isYAML(name) {
			continue
		}
		for _, o := range documentsOf(content) {
			if isContainer(o) {
				found = append(found, Object{Unstructured: o, File: name})
			}
		}
	}
	n.setObjects(found)
}

// label returns the name of a node for messages.
func (n *node) label() string {
	if n.name == "" {
		return "the directory"
	}
	return "Kustomization " + n.name
}

// applies returns the cluster that the node applies its objects to.
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

// unstructuredSlice returns a list of an object, with its items as strings.
func unstructuredSlice(o *unstructured.Unstructured, fields ...string) []string {
	all, _, _ := unstructured.NestedSlice(o.Object, fields...)
	var texts []string
	for _, one := range all {
		texts = append(texts, fmt.Sprint(one))
	}
	return texts
}

// unstructuredString returns a string field of an object.
func unstructuredString(o *unstructured.Unstructured, fields ...string) string {
	value, _, _ := unstructured.NestedString(o.Object, fields...)
	return value
}

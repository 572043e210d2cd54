// SPDX-License-Identifier: Apache-2.0

package importing

import (
	"bytes"
	"context"
	"fmt"

	"go.yaml.in/yaml/v3"
	corev1 "k8s.io/api/core/v1"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/catalog/objectmeta"
	"github.com/winnow-dev/winnow/render/transform"
	"github.com/winnow-dev/winnow/render/yamlnode"
)

const (
	// maxDefinition bounds a definition in bytes, as the catalog does, before it is converted.
	maxDefinition = 1 << 20
	// maxRemoved bounds the fields to remove: each is looked for among all.
	maxRemoved = 1000
)

// addDefinition takes a definition without the fields, labels and annotations that the cluster, Flux and Winnow set. One
// without these stays as it is.
func (i *Importer) addDefinition(ctx context.Context, at position, text []byte) error {
	if len(text) > maxDefinition {
		return at.refuse("", fmt.Sprintf("the definition is larger than %d bytes", maxDefinition))
	}
	root, err := yamlnode.First(text)
	if err != nil {
		return at.syntaxError(err, text)
	}
	if problem := at.unbounded(root); problem != "" {
		return at.refuse("", problem)
	}
	name, metadata := nameOf(root), metadataOf(root)
	fields := clusterFields(root)
	if len(fields) > maxRemoved {
		return at.refuse(name, fmt.Sprintf("it has more than %d labels and annotations to leave out", maxRemoved))
	}
	definition, err := transform.Without(text, fields...)
	if err != nil {
		return at.refuse(name, err.Error())
	}
	at.exact = at.exact && bytes.Equal(definition, text)
	return i.take(ctx, at, definition, metadata, name)
}

// unbounded returns the first reason why a document must not be read further, or cannot be edited; empty without one.
func (p position) unbounded(root *yaml.Node) (problem string) {
	size, _ := yamlnode.Check(root, yamlnode.MaxAliased, func(line int, format string, args ...any) {
		if problem == "" {
			problem = p.line(line) + "it " + fmt.Sprintf(format, args...)
		}
	})
	if problem == "" && size.Nodes > yamlnode.MaxNodes {
		problem = fmt.Sprintf("it has more than %d nodes", yamlnode.MaxNodes)
	}
	return problem
}

// clusterFields returns the paths of the fields that do not belong into a catalog.
func clusterFields(root *yaml.Node) [][]string {
	paths := [][]string{{"status"}}
	metadata := yamlnode.Lookup(root, "metadata")
	for _, field := range []string{
		"uid", "resourceVersion", "managedFields", "generation", "selfLink", "creationTimestamp", "deletionTimestamp",
		"deletionGracePeriodSeconds", "ownerReferences", "finalizers",
	} {
		paths = append(paths, []string{"metadata", field})
	}
	for _, field := range []string{"labels", "annotations"} {
		var removed [][]string
		entries := yamlnode.Entries(yamlnode.Lookup(metadata, field))
		for _, entry := range entries {
			if isSetByCluster(entry) {
				removed = append(removed, []string{"metadata", field, entry.Name})
			}
		}
		if len(removed) > 0 && len(removed) == len(entries) {
			removed = [][]string{{"metadata", field}}
		}
		paths = append(paths, removed...)
	}
	return paths
}

// isSetByCluster reports whether kubectl apply, Flux or Winnow sets a label or annotation, or whether it is the bypass,
// or the tier, which metadata.yaml has.
func isSetByCluster(entry yamlnode.Entry) bool {
	value, _ := yamlnode.Text(entry.Value)
	return entry.Name == corev1.LastAppliedConfigAnnotation || entry.Name == v1alpha1.TierLabel || objectmeta.IsReserved(entry.Name) ||
		entry.Name == v1alpha1.ManagedByLabel && value == v1alpha1.ManagedByValue
}

// metadataOf converts the labels of a definition to the metadata of the application. Without a label for the tier, the
// tier is empty, and the author fills it in.
func metadataOf(root *yaml.Node) metadataFields {
	var metadata metadataFields
	for _, entry := range yamlnode.Entries(yamlnode.Lookup(yamlnode.Lookup(root, "metadata"), "labels")) {
		value, ok := yamlnode.Text(entry.Value)
		switch {
		case !ok:
		case entry.Name == v1alpha1.TierLabel:
			metadata.Tier = value
		case !isSetByCluster(entry):
			if metadata.Labels == nil {
				metadata.Labels = map[string]string{}
			}
			metadata.Labels[entry.Name] = value
		}
	}
	return metadata
}

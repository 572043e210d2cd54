// SPDX-License-Identifier: Apache-2.0

package importing

import (
	"context"
	"slices"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/winnow-dev/winnow/render/yamlnode"
)

// isIndex reports whether a document is the index of a Helm repository.
func isIndex(root *yaml.Node) bool {
	entries := yamlnode.Written(root, "entries")
	return entries != nil && entries.Kind == yaml.MappingNode && yamlnode.Written(root, "kind") == nil && yamlnode.Written(root, "apiVersion") != nil
}

// addIndex takes the charts of an index as applications.
func (i *Importer) addIndex(ctx context.Context, at position, root *yaml.Node) error {
	i.indexes++
	switch {
	case !yamlnode.IsExpanded(root):
		return at.refuse("", errAliases.Error())
	case i.indexes > 1:
		return at.refuse("", "it is the index of another Helm repository: import one at a time")
	}
	entries := yamlnode.Entries(yamlnode.Lookup(root, "entries"))
	if len(entries) == 0 {
		i.refuse(at.String(), "the index has no charts")
	}
	if i.helm.URL == "" && slices.ContainsFunc(entries, hasRepositoryURL) {
		return at.refuse("", "the index does not have the address of its repository: pass --helm-url URL")
	}
	at.exact = false
	for _, entry := range entries {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err := i.record(i.addChart(ctx, at, entry)); err != nil {
			return err
		}
	}
	return nil
}

// hasRepositoryURL reports whether a version of a chart is found through the repository, and not in an OCI registry.
func hasRepositoryURL(entry yamlnode.Entry) bool {
	if entry.Value.Kind != yaml.SequenceNode {
		return false
	}
	return slices.ContainsFunc(entry.Value.Content, func(version *yaml.Node) bool { return ociURL(version) == "" })
}

// badName is the reason for a chart whose name cannot be an application's.
const badName = "KKP can install no chart of this name: want lower case letters, digits and -, at most 63"

func (i *Importer) addChart(ctx context.Context, at position, entry yamlnode.Entry) error {
	if len(validation.IsDNS1123Label(entry.Name)) > 0 {
		return at.refuse(entry.Name, badName)
	}
	if entry.Value.Kind != yaml.SequenceNode {
		return at.refuse(entry.Name, "the versions of the chart are "+yamlnode.Describe(entry.Value)+", not a list")
	}
	c := chart{name: entry.Name, helm: i.helm}
	versions := c.versions(entry.Value.Content)
	for _, one := range c.skipped {
		i.skip(Skipped{Place: at.String(), Name: entry.Name, Reason: one.String()})
	}
	switch {
	case len(versions) > 0:
		return i.takeApplication(ctx, at, c.application(versions), entry.Name)
	case len(c.skipped) == 0:
		return at.refuse(entry.Name, "it has no version, or none in the range of --versions")
	}
	return nil
}

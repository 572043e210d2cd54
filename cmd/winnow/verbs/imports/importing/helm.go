// SPDX-License-Identifier: Apache-2.0

package importing

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"
	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/winnow-dev/winnow/cmd/winnow/plaintext"
	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/excerpt"
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
	for _, same := range each.Group(c.skipped, func(s skippedVersion) string { return s.reason }) {
		listed := excerpt.List(same, maxListed, func(s skippedVersion) string { return excerpt.Of(s.version) })
		i.skip(Skipped{Place: at.String(), Name: entry.Name, Reason: same[0].reason + ": " + listed})
	}
	switch {
	case len(versions) > 0:
		return i.takeApplication(ctx, at, c.application(versions))
	case len(c.skipped) == 0:
		return at.refuse(entry.Name, "it has no version, or none in the range of --versions")
	}
	return nil
}

// ParseURL returns the address of a Helm repository as definitions have it.
func ParseURL(text string) (string, error) {
	parsed, err := url.Parse(text)
	switch {
	case err != nil:
		return "", errors.New("it is not a URL")
	case parsed.User != nil:
		return "", errors.New("it has a user or a password, which a definition must not show: set credentials in the definitions")
	case parsed.Scheme != "https" && parsed.Scheme != "http" || parsed.Host == "" || parsed.RawQuery != "" || parsed.Fragment != "":
		return "", errors.New("want the address of a Helm repository such as https://charts.example.com/stable")
	}
	return strings.TrimSuffix(strings.TrimSuffix(text, "index.yaml"), "/"), nil
}

// chart is a chart of an index.
type chart struct {
	name string
	helm Helm
	// skipped are the versions that cannot be taken, in the order of the index.
	skipped []skippedVersion
}

// skippedVersion is a version of a chart that cannot be taken.
type skippedVersion struct{ reason, version string }

// maxListed bounds the versions that a message lists.
const maxListed = 5

func (c *chart) skip(reason, version string) {
	c.skipped = append(c.skipped, skippedVersion{reason, cmp.Or(version, "(none)")})
}

// chartVersion is a version of a chart that can be taken.
type chartVersion struct {
	number *semver.Version
	source helmSource
	node   *yaml.Node
}

// maxVersions of an application, as a catalog may have.
const maxVersions = 1000

// versions returns the versions that are wanted and can be taken, from the lowest to the highest.
func (c *chart) versions(nodes []*yaml.Node) []chartVersion {
	var all []chartVersion
	known := map[string]bool{}
	for _, node := range nodes {
		one, reason := c.version(node)
		version := one.source.ChartVersion
		switch {
		case reason != "":
			c.skip(reason, version)
		case known[version]:
			c.skip("versions that the index has twice", version)
		case c.helm.Versions == nil || c.helm.Versions.Check(one.number):
			known[version] = true
			all = append(all, one)
		}
	}
	slices.SortStableFunc(all, func(a, b chartVersion) int {
		return cmp.Or(a.number.Compare(b.number), cmp.Compare(a.source.ChartVersion, b.source.ChartVersion))
	})
	if c.helm.Latest > 0 {
		all = all[max(0, len(all)-c.helm.Latest):]
	}
	older := max(0, len(all)-maxVersions)
	for _, one := range all[:older] {
		c.skip(fmt.Sprintf("a catalog takes %d versions of an application, and these are older", maxVersions), one.source.ChartVersion)
	}
	return all[older:]
}

// version returns a version of the index, or the reason why it cannot be taken.
func (c *chart) version(node *yaml.Node) (one chartVersion, reason string) {
	text := scalar(node, "version")
	number, err := semver.NewVersion(text)
	one = chartVersion{number: number, node: node, source: helmSource{URL: c.helm.URL, ChartName: c.name, ChartVersion: text}}
	switch {
	case err != nil:
		return one, "no semantic versions"
	case scalar(node, "deprecated") == "true":
		return one, "deprecated versions"
	case scalar(node, "type") == "library":
		return one, "libraries, which cannot be installed"
	}
	if address := ociURL(node); address != "" {
		repository, name, ok := splitOCI(address, text)
		if !ok {
			return one, "versions whose oci:// URL is not oci://host/path/chart:version"
		}
		one.source.URL, one.source.ChartName = repository, name
	}
	return one, ""
}

// ociURL returns the first URL of a version that is in an OCI registry, empty without one.
func ociURL(version *yaml.Node) string {
	urls := yamlnode.Written(version, "urls")
	if urls == nil || urls.Kind != yaml.SequenceNode {
		return ""
	}
	for _, node := range urls.Content {
		if text, _ := yamlnode.Text(node); strings.HasPrefix(text, "oci://") {
			return text
		}
	}
	return ""
}

// splitOCI splits the address of a version of a chart into the repository and the name of the chart.
func splitOCI(address, version string) (repository, chart string, ok bool) {
	parsed, err := url.Parse(address)
	if err != nil || parsed.Host == "" || parsed.User != nil || parsed.RawQuery != "" || parsed.Fragment != "" {
		return "", "", false
	}
	slash := strings.LastIndex(address, "/")
	chart, tag, _ := strings.Cut(address[slash+1:], ":")
	// A tag has no +; Helm writes _ for it.
	ok = chart != "" && parsed.Path != "" && (tag == "" || tag == strings.ReplaceAll(version, "+", "_"))
	return address[:slash], chart, ok
}

// application returns the definition of a chart. Its texts come from the highest version, which is the last one.
func (c *chart) application(versions []chartVersion) application {
	latest := versions[len(versions)-1].node
	spec := helmSpec{
		Description:      cmp.Or(plaintext.Line(scalar(latest, "description")), "Helm chart "+c.name), // KKP requires one
		DocumentationURL: webURL(scalar(latest, "home")),
	}
	if sources := yamlnode.Written(latest, "sources"); sources != nil && len(sources.Content) > 0 {
		first, _ := yamlnode.Text(sources.Content[0])
		spec.SourceURL = webURL(first)
	}
	for _, one := range versions {
		spec.add(one.source.ChartVersion, one.source)
	}
	return newApplication(c.name, spec)
}

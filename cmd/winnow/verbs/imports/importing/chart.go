// SPDX-License-Identifier: Apache-2.0

package importing

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"
	"go.yaml.in/yaml/v3"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/yamlnode"
)

// Helm describes what to take of the index of a Helm repository. The zero value takes all versions of charts in OCI
// registries.
type Helm struct {
	// URL of the repository, which its index does not have.
	URL string
	// Versions is the constraint of the versions to take; nil takes all.
	Versions *semver.Constraints
	// Latest is the number of the highest versions to take of each chart; 0 takes all.
	Latest int
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
	// skipped are the versions that cannot be taken, by reason, in the order of the index.
	skipped []skippedVersions
}

// skippedVersions are versions of a chart that cannot be taken for the same reason.
type skippedVersions struct {
	reason   string
	versions []string
}

// maxListed bounds the versions that a message lists.
const maxListed = 5

func (s skippedVersions) String() string {
	return fmt.Sprintf("%s: %s", s.reason, excerpt.List(s.versions, maxListed, excerpt.Of))
}

func (c *chart) skip(reason, version string) {
	at := slices.IndexFunc(c.skipped, func(s skippedVersions) bool { return s.reason == reason })
	if at < 0 {
		at = len(c.skipped)
		c.skipped = append(c.skipped, skippedVersions{reason: reason})
	}
	c.skipped[at].versions = append(c.skipped[at].versions, cmp.Or(version, "(none)"))
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

type helmSource struct {
	URL          string `yaml:"url"`
	ChartName    string `yaml:"chartName"`
	ChartVersion string `yaml:"chartVersion"`
	// Credentials are keys of Secrets.
	Credentials map[string]v1alpha1.SecretKey `yaml:"credentials,omitempty"`
}

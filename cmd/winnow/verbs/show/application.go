// SPDX-License-Identifier: Apache-2.0

package show

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/winnow-dev/winnow/cmd/winnow/output"
	"github.com/winnow-dev/winnow/cmd/winnow/report"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/catalog/metadata"
	"github.com/winnow-dev/winnow/render/selection"
	"github.com/winnow-dev/winnow/render/transform"
)

// shownApplication is the output of show: the application of a catalog.
type shownApplication struct {
	output.Document
	Name       string          `json:"name"`
	Catalog    string          `json:"catalog"`
	Digest     string          `json:"digest,omitempty"`
	Lists      []string        `json:"lists,omitempty"`
	Definition shownDefinition `json:"definition"`
	report.Referring
}

// shownDefinition is the definition of an application, with its metadata.
type shownDefinition struct {
	Path              string            `json:"path"`
	APIVersion        string            `json:"apiVersion"`
	Kind              string            `json:"kind"`
	Tier              string            `json:"tier,omitempty"`
	Deprecated        string            `json:"deprecated,omitempty"`
	Labels            map[string]string `json:"labels,omitempty"`
	Annotations       map[string]string `json:"annotations,omitempty"`
	Metadata          map[string]any    `json:"metadata,omitempty"`
	ObjectLabels      map[string]string `json:"objectLabels,omitempty"`
	ObjectAnnotations map[string]string `json:"objectAnnotations,omitempty"`
	Method            string            `json:"method,omitempty"`
	DefaultVersion    string            `json:"defaultVersion,omitempty"`
	Versions          []shownVersion    `json:"versions"`
	DefaultValues     string            `json:"defaultValues,omitempty"`
	Fields            map[string]any    `json:"fields,omitempty"`
	Package           *shownPackage     `json:"package,omitempty"`
}

// shownVersion is an entry of spec.versions.
type shownVersion struct {
	Version string        `json:"version"`
	Chart   *report.Chart `json:"chart,omitempty"`
	// Facts are what the metadata.yaml has about the version.
	Facts map[string]any `json:"facts,omitempty"`
	// Number is the semantic version of a version of a package of operators, Channels are those that have it, and
	// Deprecated is its message.
	Number     string   `json:"number,omitempty"`
	Channels   []string `json:"channels,omitempty"`
	Deprecated string   `json:"deprecated,omitempty"`
}

// newReport returns what a catalog has about an application.
func newReport(ctx context.Context, a *catalog.Application) (*shownApplication, error) {
	spec, err := fieldsOf(a)
	if err != nil {
		return nil, err
	}
	hosts, err := render.Refer(ctx, []selection.Decision{{Application: a, Versions: a.Versions}}, render.Options{})
	if err != nil {
		return nil, err
	}
	d := shownDefinition{
		Path: a.Path, APIVersion: a.APIVersion, Kind: a.Kind, Tier: a.Metadata.Tier, Deprecated: a.Metadata.Deprecated,
		Labels: a.Metadata.Labels, Annotations: a.Metadata.Annotations, Metadata: otherMetadata(a),
		ObjectLabels: a.Labels, ObjectAnnotations: a.Annotations, Method: a.Method, Versions: []shownVersion{},
	}
	for i, version := range a.Versions {
		shown := shownVersion{Version: version, Chart: chartOf(hosts[0], i), Facts: allFactsOf(a, version)}
		if facts := a.Metadata.Versions.Of(version); facts.Label != "" {
			shown.Number, shown.Channels, shown.Deprecated = facts.Label, facts.Channels, facts.Deprecated
		}
		d.Versions = append(d.Versions, shown)
	}
	d.Package = showPackage(a)
	d.DefaultVersion, d.DefaultValues = defaultsOf(spec)
	if a.IsObject() {
		delete(spec, "versions")
	}
	for _, shown := range []string{"method", "defaultVersion", "defaultValues", "defaultValuesBlock"} {
		delete(spec, shown)
	}
	d.Fields, _ = shortened(spec).(map[string]any)
	return &shownApplication{
		Document: output.NewDocument("ApplicationReport"), Name: a.Name, Definition: d,
		Referring: report.Referring{References: report.NewReferences(hosts...), Unsearched: hosts[0].Unreadable},
	}, nil
}

// fieldsOf returns the spec of a definition, or the entry of a function.
func fieldsOf(a *catalog.Application) (map[string]any, error) {
	if of := a.Function(); of != nil {
		return of.Plain()
	}
	return a.Spec()
}

// listsOf returns the named lists that have an application, sorted.
func listsOf(c *catalog.Catalog, name string) []string {
	var lists []string
	for list, members := range c.Lists {
		if slices.Contains(members, name) {
			lists = append(lists, list)
		}
	}
	slices.Sort(lists)
	return lists
}

// chartOf returns the chart of an entry of spec.versions, nil without one.
func chartOf(all render.Addresses, index int) *report.Chart {
	prefix := fmt.Sprintf("spec.versions[%d].", index)
	for _, host := range all.Hosts {
		if strings.HasPrefix(host.Path, prefix) && (host.Kind == transform.KindChart || host.Kind == transform.KindGit) {
			return &report.NewReferences(render.Addresses{Hosts: []transform.Host{host}}).Charts[0]
		}
	}
	return nil
}

// otherMetadata returns the keys of a metadata.yaml without a field of their own, and without the facts about versions.
func otherMetadata(a *catalog.Application) map[string]any {
	if _, ok := a.Metadata.Extra[metadata.VersionsKey].(map[string]any); !ok {
		return a.Metadata.Extra
	}
	others := maps.Clone(a.Metadata.Extra)
	delete(others, metadata.VersionsKey)
	return others
}

// allFactsOf returns all keys that the metadata.yaml has about a version, those without a meaning as well.
func allFactsOf(a *catalog.Application, version string) map[string]any {
	all, _ := a.Metadata.Extra[metadata.VersionsKey].(map[string]any)
	facts, _ := all[version].(map[string]any)
	return facts
}

// defaultsOf returns the default version and the default values of a spec, the latter as YAML.
func defaultsOf(spec map[string]any) (version, values string) {
	version, _ = spec["defaultVersion"].(string)
	if block, _ := spec["defaultValuesBlock"].(string); block != "" {
		return version, block
	}
	if mapping, _ := spec["defaultValues"].(map[string]any); len(mapping) > 0 {
		content, err := yaml.Marshal(mapping)
		if err == nil {
			return version, string(content)
		}
	}
	return version, ""
}

// maxField bounds a text among the fields of a definition, in bytes: logos are longer.
const maxField = 300

// shortened returns a value with the lengths of long texts instead of these.
func shortened(value any) any {
	switch v := value.(type) {
	case string:
		if len(v) > maxField {
			return fmt.Sprintf("(%d bytes)", len(v))
		}
	case map[string]any:
		for key, below := range v {
			v[key] = shortened(below)
		}
	case []any:
		for i, below := range v {
			v[i] = shortened(below)
		}
	}
	return value
}

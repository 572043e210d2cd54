// SPDX-License-Identifier: Apache-2.0

package show

import (
	"context"
	"fmt"

	"github.com/winnow-dev/winnow/cmd/winnow/output"
	"github.com/winnow-dev/winnow/cmd/winnow/report"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/definition"
	"github.com/winnow-dev/winnow/render/selection"
	"github.com/winnow-dev/winnow/render/value"
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
	// Number is the semantic version of a version of a package of operators, Channels have the version, and Deprecated is its
	// message.
	Number     string   `json:"number,omitempty"`
	Channels   []string `json:"channels,omitempty"`
	Deprecated string   `json:"deprecated,omitempty"`
}

// newReport returns what a catalog has about an application.
func newReport(ctx context.Context, a *catalog.Application) (*shownApplication, error) {
	spec, err := report.SpecOf(a)
	if err != nil {
		return nil, err
	}
	hosts, err := render.Refer(ctx, []selection.Decision{{Application: a, Versions: a.Versions}}, render.Options{})
	if err != nil {
		return nil, err
	}
	d := shownDefinition{
		Path: a.Path, APIVersion: a.APIVersion, Kind: a.Kind, Tier: a.Metadata.Tier, Deprecated: a.Metadata.Deprecated,
		Labels: a.Metadata.Labels, Annotations: a.Metadata.Annotations, Metadata: report.OtherMetadata(a),
		ObjectLabels: a.Labels, ObjectAnnotations: a.Annotations, Method: a.Method, Versions: []shownVersion{},
	}
	for i, version := range a.Versions {
		shown := shownVersion{Version: version, Chart: report.ChartOf(hosts[0], i), Facts: report.AllFactsOf(a, version)}
		if facts := a.Metadata.Versions.Of(version); facts.Label != "" {
			shown.Number, shown.Channels, shown.Deprecated = facts.Label, facts.Channels, facts.Deprecated
		}
		d.Versions = append(d.Versions, shown)
	}
	d.Package = showPackage(a)
	of := value.Of(spec)
	d.DefaultVersion = definition.DefaultVersion(of)
	_, d.DefaultValues = definition.ValuesText(of)
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

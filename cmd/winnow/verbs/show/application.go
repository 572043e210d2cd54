// SPDX-License-Identifier: Apache-2.0

package show

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/winnow-dev/winnow/cmd/winnow/output"
	"github.com/winnow-dev/winnow/cmd/winnow/plaintext"
	"github.com/winnow-dev/winnow/cmd/winnow/report"
	"github.com/winnow-dev/winnow/registry/redact"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/catalog/filebased"
	"github.com/winnow-dev/winnow/render/definition"
	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/excerpt"
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

// shownPackage is what show has of a package of operators beside its versions.
type shownPackage struct {
	Title       string   `json:"title,omitempty"`
	Description string   `json:"description,omitempty"`
	Provider    string   `json:"provider,omitempty"`
	Maintainers []string `json:"maintainers,omitempty"`
	Keywords    []string `json:"keywords,omitempty"`
	report.Package
	// The rest is of the head of the default channel. InstallModes are null where they are not known.
	InstallModes  []string        `json:"installModes"`
	Provides      []filebased.GVK `json:"provides"`
	Requires      []string        `json:"requires"`
	RelatedImages int             `json:"relatedImages"`
}

// maxDescription bounds a description in such output, in bytes.
const maxDescription = 300

// showPackage returns what the catalog has of a package of operators; nil of other applications.
func showPackage(a *catalog.Application) *shownPackage {
	of := a.Package()
	if of == nil {
		return nil
	}
	about := of.About()
	shown := &shownPackage{
		Title: about.DisplayName, Description: about.Description, Provider: about.Provider, Maintainers: about.Maintainers,
		Keywords: about.Keywords, Package: *report.SummarizePackage(a.Content), Provides: []filebased.GVK{}, Requires: []string{},
	}
	head := of.Heads()[of.DefaultChannel]
	if head == nil {
		return shown
	}
	shown.InstallModes = head.InstallModes
	shown.Provides = append(shown.Provides, head.Provides...)
	shown.Requires = append(shown.Requires, each.Map(head.Dependencies, filebased.Dependency.String)...)
	shown.RelatedImages = len(head.RelatedImages)
	return shown
}

// facts are labels, each with its text.
func (p *shownPackage) facts() []string {
	if p == nil {
		return nil
	}
	apis := each.Map(p.Provides, func(api filebased.GVK) string { return api.Group + "/" + api.Version + " " + api.Kind })
	modes := strings.Join(p.InstallModes, ", ")
	if p.InstallModes == nil {
		modes = "not known"
	}
	images := ""
	if p.RelatedImages > 0 {
		images = fmt.Sprint(p.RelatedImages)
	}
	all := []string{
		"title", p.Title, "description", excerpt.To(strings.Join(strings.Fields(p.Description), " "), maxDescription), "provider", p.Provider,
		"maintainers", excerpt.Names(p.Maintainers, report.MaxListed), "install modes", modes, "provides", excerpt.Names(apis, report.MaxListed),
		"requires", excerpt.Names(p.Requires, report.MaxListed), "related images", images,
	}
	for _, line := range p.Lines() {
		label, text, _ := strings.Cut(line, ": ")
		all = append(all, label, text)
	}
	return all
}

// Table is part of output.Table.
func (s *shownApplication) Table(w io.Writer) {
	fmt.Fprintf(w, "%s\n\n%s\n", plaintext.Line(s.Name), plaintext.Wrap(s.Catalog, ""))
	if s.Digest != "" {
		fmt.Fprintf(w, "  digest: %s\n", plaintext.Line(s.Digest)) // in one line, for copying
	}
	d := s.Definition
	output.PrintFacts(w, "  ", "path", d.Path, "object", strings.TrimSuffix(d.Kind+" of "+d.APIVersion, " of "),
		"tier", d.Tier, "deprecated", d.Deprecated, "labels", pairsOf(d.Labels),
		"annotations", pairsOf(d.Annotations), "lists", strings.Join(s.Lists, ", "),
		"object labels", pairsOf(d.ObjectLabels), "object annotations", pairsOf(d.ObjectAnnotations),
		"method", d.Method, "default version", d.DefaultVersion)
	output.PrintFacts(w, "  ", d.Package.facts()...)
	for _, others := range []struct {
		label string
		all   map[string]any
	}{{"metadata", d.Metadata}, {"spec", d.Fields}} {
		for _, key := range slices.Sorted(maps.Keys(others.all)) {
			output.PrintFacts(w, "  ", others.label+"."+key, textOf(others.all[key]))
		}
	}
	output.PrintFacts(w, "  ", "images", strings.Join(imagesOf(s.References), ", "), "values", s.Unsearched)
	if len(d.Versions) > 0 {
		g := output.Grid{Header: []string{"VERSION", "CHART", "FACTS"}}
		for _, v := range d.Versions {
			g.Rows = append(g.Rows, []string{v.Version, output.OrDash(chartText(v.Chart)), output.OrDash(textOf(v.Facts))})
		}
		if d.Package != nil {
			g = d.packageVersions()
		}
		var text strings.Builder
		g.Print(&text)
		fmt.Fprintln(w)
		for line := range strings.Lines(text.String()) {
			fmt.Fprint(w, "  "+line)
		}
	}
	if strings.TrimSpace(d.DefaultValues) == "" {
		return
	}
	fmt.Fprint(w, "\n  default values:\n")
	for line := range strings.Lines(d.DefaultValues) {
		fmt.Fprintln(w, strings.TrimRight("    "+plaintext.Printable(line), " "))
	}
}

func imagesOf(r *report.References) []string {
	var all []string
	for _, image := range r.Images {
		all = append(all, image.From)
	}
	return all
}

// chartText returns a chart in a few words.
func chartText(c *report.Chart) string {
	if c == nil {
		return ""
	}
	parts := []string{c.From, c.Name, c.Version, c.Tag, c.Branch, c.Commit}
	return redact.Users(strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" }), " "))
}

func pairsOf(all map[string]string) string {
	pairs := each.Map(slices.Sorted(maps.Keys(all)), func(key string) string { return key + "=" + all[key] })
	return strings.Join(pairs, ", ")
}

// textOf returns a value in one line: a text as it is, and everything else as JSON; empty for an empty mapping.
func textOf(value any) string {
	if text, ok := value.(string); ok {
		return text
	}
	if mapping, ok := value.(map[string]any); ok && len(mapping) == 0 {
		return ""
	}
	content, err := json.Marshal(value)
	if err != nil {
		return ""
	}
	return string(content)
}

// packageVersions returns the versions of a package of operators with the names of their bundles.
func (d shownDefinition) packageVersions() output.Grid {
	g := output.Grid{Header: []string{"VERSION", "NAME", "CHANNELS", "DEPRECATED"}}
	for _, v := range d.Versions {
		g.Rows = append(g.Rows, []string{v.Number, v.Version, output.OrDash(strings.Join(v.Channels, ", ")), output.OrDash(plaintext.Brief(v.Deprecated, 30))})
	}
	return g
}

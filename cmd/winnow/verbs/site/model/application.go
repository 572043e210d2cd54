// SPDX-License-Identifier: Apache-2.0

package model

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/sets"
	"sigs.k8s.io/yaml"

	"github.com/winnow-dev/winnow/cmd/winnow/report"
	"github.com/winnow-dev/winnow/cmd/winnow/verbs/site/logo"
	"github.com/winnow-dev/winnow/registry/redact"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/catalog/metadata"
	"github.com/winnow-dev/winnow/render/catalog/violation"
	"github.com/winnow-dev/winnow/render/definition"
	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/parallel"
	"github.com/winnow-dev/winnow/render/selection/numbered"
	"github.com/winnow-dev/winnow/render/value"
)

// Application is an application of a catalog.
type Application struct {
	Catalog *Catalog
	// Title and Description are empty where the definition has none.
	Name, Title, Description, Kind, APIVersion, Path, Tier, Deprecated string
	Labels                                                             []Pair
	Lists                                                              []string
	// Facts are the other metadata, and fields of the definition.
	Facts []Pair
	Links []Link
	// Logo is nil without one. LogoRefused is why the one of the catalog is not shown.
	Logo        *logo.Logo
	LogoRefused string
	// Versions are the highest first, and those that are not semantic last, in the order of the catalog. Latest is the label of the
	// highest one, and LatestNumber its semantic version.
	Versions             []Version
	Latest, LatestNumber string
	Images               []string
	// DefaultValues are YAML, and cut where ValuesCut is true.
	DefaultValues string
	ValuesCut     bool
	// Channels of a package of operators.
	Channels []Channel
	// Snippet is a CatalogSelection that selects the application.
	Snippet string
}

// Bounds of what a page shows of an application, in bytes.
const (
	maxValues      = 128 << 10
	maxDescription = 32 << 10
	maxImages      = 200
)

func newApplication(a *catalog.Application, addresses render.Addresses, source string) (*Application, error) {
	spec, err := report.SpecOf(a)
	if err != nil {
		return nil, err
	}
	shown := &Application{
		Name: a.Name, Kind: a.Kind, APIVersion: a.APIVersion, Path: a.Path, Tier: a.Metadata.Tier, Deprecated: a.Metadata.Deprecated,
		Labels: pairs("", a.Metadata.Labels), Snippet: snippet(a.Name, source),
	}
	of := value.Of(spec)
	_, values := definition.ValuesText(of)
	shown.DefaultValues = excerpt.To(redact.Users(values), maxValues)
	shown.ValuesCut = len(values) > maxValues
	for i, name := range a.Versions {
		shown.Versions = append(shown.Versions, newVersion(a, addresses, i, name == definition.DefaultVersion(of)))
	}
	slices.SortStableFunc(shown.Versions, func(a, b Version) int {
		of := numbered.Of([]string{a.Label, b.Label})
		return numbered.Descending(of[0], of[1])
	})
	shown.Latest, shown.LatestNumber = latestOf(a, a.Versions)
	for _, image := range report.NewReferences(addresses).Images {
		if len(shown.Images) < maxImages {
			shown.Images = append(shown.Images, redact.Users(image.From))
		}
	}
	shown.describe(a, of)
	shown.addFacts(a, spec)
	return shown, nil
}

// latestOf returns the label of the highest of some versions of an application, and its number; both are empty for none, and
// the number for one that is not semantic.
func latestOf(a *catalog.Application, versions []string) (label, number string) {
	var best numbered.Version
	for _, name := range versions {
		facts := a.Metadata.Versions.Of(name)
		one := numbered.Of([]string{facts.Numbered()})[0]
		if label == "" || numbered.Descending(one, best) < 0 {
			best, label = one, cmp.Or(facts.Label, name)
		}
	}
	if best.Parsed != nil {
		number = best.Text
	}
	return label, number
}

// describe adds what the definition states to people, from the fields of its kind.
func (shown *Application) describe(a *catalog.Application, spec value.Value) {
	var picture []byte
	switch {
	case a.Package() != nil:
		about := a.Package().About()
		shown.Title, shown.Description = about.DisplayName, about.Description
		shown.addFact("provider", about.Provider)
		shown.addFact("maintainers", strings.Join(about.Maintainers, ", "))
		shown.addFact("keywords", strings.Join(about.Keywords, ", "))
		shown.Channels = channelsOf(a.Package())
		picture, _ = a.Package().Icon()
	case a.Function() != nil:
		of := a.Function()
		shown.Description = of.Description
		shown.addFact("publisher", of.Publisher)
		shown.addFact("maintainers", strings.Join(of.Maintainers, ", "))
		shown.addFact("tags", strings.Join(of.Tags, ", "))
		shown.addLink("home", of.Home)
	case a.OfCozystack():
		dashboard := spec.Get("dashboard")
		shown.Title, shown.Description = dashboard.Get("singular").Text(), dashboard.Get("description").Text()
		picture, _ = base64.StdEncoding.DecodeString(dashboard.Get("icon").Text())
	default:
		shown.Title, shown.Description = spec.Get("displayName").Text(), spec.Get("description").Text()
		shown.addLink("documentation", spec.Get("documentationURL").Text())
		shown.addLink("source", spec.Get("sourceURL").Text())
		picture, _ = base64.StdEncoding.DecodeString(spec.Get("logo").Text())
	}
	shown.Description = excerpt.To(redact.Users(shown.Description), maxDescription)
	if len(picture) > 0 {
		accepted, err := logo.Accept(picture)
		if shown.Logo = accepted; err != nil {
			shown.LogoRefused = err.Error()
		}
	}
}

// addFacts adds the metadata and the fields of the definition that nothing else shows.
func (shown *Application) addFacts(a *catalog.Application, spec map[string]any) {
	shown.Facts = append(shown.Facts, pairs("annotation ", a.Metadata.Annotations)...)
	others := report.OtherMetadata(a)
	for _, key := range slices.Sorted(maps.Keys(others)) {
		shown.addFact(key, textOf(others[key]))
	}
	shown.Facts = append(shown.Facts, pairs("label of the object ", a.Labels)...)
	shown.Facts = append(shown.Facts, pairs("annotation of the object ", a.Annotations)...)
	elsewhere := []string{"versions", "defaultValues", "defaultValuesBlock", "displayName", "description", "documentationURL", "sourceURL", "logo", "logoFormat", "dashboard", "application"}
	for _, key := range slices.Sorted(maps.Keys(spec)) {
		if a.IsObject() && !slices.Contains(elsewhere, key) {
			shown.addFact("spec."+key, textOf(spec[key]))
		}
	}
}

func (shown *Application) addFact(name, text string) {
	if text = redact.Users(text); text != "" {
		shown.Facts = append(shown.Facts, Pair{excerpt.Of(name), excerpt.To(text, maxFact)})
	}
}

func (shown *Application) addLink(name, address string) {
	if address != "" {
		shown.Links = append(shown.Links, newLink(name, address))
	}
}

// snippet returns a CatalogSelection that selects an application of a source.
func snippet(application, source string) string {
	type names struct {
		NameSelector []string `json:"nameSelector"`
	}
	limit, _ := yaml.Marshal(map[string]any{"limit": names{[]string{application}}})              // texts are always YAML
	sources, _ := yaml.Marshal(map[string]any{"sources": []map[string]string{{"name": source}}}) // as above
	return "apiVersion: catalog.winnow.dev/v1alpha1\nkind: CatalogSelection\nmetadata:\n  name: applications\n  namespace: flux-system\nspec:\n  interval: 10m\n" +
		indented(string(sources)) + indented(string(limit))
}

func indented(text string) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		out.WriteString("  " + line)
	}
	return out.String()
}

// Version is a version of an application.
type Version struct {
	// Name is from the catalog, and Label the one that people see.
	Name, Label string
	// Chart names the chart and its version, and Source has its address; both are empty without one.
	Chart  string
	Source Link
	// Channels that have it, Requires of the platform, the message of its deprecation, and other facts on it.
	Channels, Requires []string
	Deprecated         string
	Facts              []Pair
	// Default reports that it is the default version.
	Default bool
}

func newVersion(a *catalog.Application, addresses render.Addresses, index int, isDefault bool) Version {
	name := a.Versions[index]
	facts := a.Metadata.Versions.Of(name)
	v := Version{
		Name: name, Label: cmp.Or(facts.Label, name), Channels: facts.Channels, Requires: each.Map(facts.Requires, metadata.Requirement.String),
		Deprecated: facts.Deprecated, Default: isDefault,
	}
	others := report.AllFactsOf(a, name)
	for _, key := range slices.Sorted(maps.Keys(others)) {
		if !slices.Contains([]string{"channels", "requires", "deprecated"}, key) {
			v.Facts = append(v.Facts, Pair{key, excerpt.To(redact.Users(textOf(others[key])), maxFact)})
		}
	}
	if chart := report.ChartOf(addresses, index); chart != nil {
		v.Source = newLink("source", chart.From)
		parts := []string{chart.Name, chart.Version, chart.Tag, chart.Branch, chart.Commit}
		v.Chart = redact.Users(strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" }), " "))
	}
	return v
}

// Catalog is a catalog with its applications.
type Catalog struct {
	// Name for people, Address without passwords, and Digest of its manifest; the last is empty for files.
	Name, Address, Digest string
	// Source is the name of its OCIRepository, or one for a snippet.
	Source       string
	Applications []*Application
	// Tiers, Labels as key=value, and Lists of its applications, sorted.
	Tiers, Labels, Lists []string
	// Warnings are what it should state and does not.
	Warnings []string

	byKey map[Key]*Application
}

// Key tells applications of a catalog, and of a fleet, apart.
type Key struct{ Kind, Name string }

// KeyOf returns the key of an application.
func KeyOf(a *catalog.Application) Key { return Key{a.Kind, a.Name} }

// NewCatalog returns a loaded catalog. name is its OCIRepository.
func NewCatalog(ctx context.Context, name, address, digest string, loaded *catalog.Catalog) (*Catalog, error) {
	c := &Catalog{
		Name: name, Address: redact.Users(address), Digest: digest, Source: name, Warnings: each.Map(loaded.Warnings, violation.Violation.String),
		Applications: make([]*Application, len(loaded.Applications)), byKey: map[Key]*Application{},
	}
	addresses, err := render.Refer(ctx, report.Everything(loaded), render.Options{})
	if err != nil {
		return nil, err
	}
	lists := report.ListsByMember(loaded)
	failures := make([]error, len(loaded.Applications))
	err = parallel.For(ctx, len(loaded.Applications), func(i int) {
		c.Applications[i], failures[i] = newApplication(loaded.Applications[i], addresses[i], name)
	})
	if err = cmp.Or(err, errors.Join(failures...)); err != nil {
		return nil, err
	}
	tiers, labels := sets.New[string](), sets.New[string]()
	for _, a := range c.Applications {
		a.Catalog, a.Lists, c.byKey[Key{a.Kind, a.Name}] = c, lists[a.Name], a
		if a.Tier != "" {
			tiers.Insert(a.Tier)
		}
		labels.Insert(each.Map(a.Labels, Pair.String)...)
	}
	c.Tiers, c.Labels, c.Lists = slices.Sorted(maps.Keys(tiers)), slices.Sorted(maps.Keys(labels)), slices.Sorted(maps.Keys(loaded.Lists))
	return c, nil
}

// Find returns an application; nil if the catalog does not have it.
func (c *Catalog) Find(key Key) *Application {
	if c == nil {
		return nil
	}
	return c.byKey[key]
}

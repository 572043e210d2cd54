// SPDX-License-Identifier: Apache-2.0

package takeover

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/backend/kinds"
	"github.com/winnow-dev/winnow/render/backend/kkp"
	"github.com/winnow-dev/winnow/render/definition"
	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/instance"
	"github.com/winnow-dev/winnow/render/safeguard"
	"github.com/winnow-dev/winnow/render/selection"
	"github.com/winnow-dev/winnow/render/value"
)

// chart is a chart that a release runs, or that a version of an application installs.
type chart struct {
	// repository is the address of the chart's repository in a registry, or of the Helm repository.
	repository string
	// name in a Helm repository, empty in a registry.
	name string
	// version of the chart, and how exactly it is known.
	version string
	known   precision
}

// precision is how exactly the version of a chart is known.
type precision int

const (
	// byVersion ignores a leading v, as Helm does when it looks for a version.
	byVersion precision = iota
	// byTag is the name of a tag.
	byTag
	// byHistory lacks the build metadata, into which helm-controller writes a digest.
	byHistory
)

// registryScheme begins the address of a chart in a registry.
const registryScheme = "oci://"

// newChart returns the chart of a definition of KKP, or of a HelmRepository.
func newChart(address, name, version string) chart {
	address = strings.TrimRight(address, "/")
	if strings.HasPrefix(address, registryScheme) {
		return chart{repository: address + "/" + name, version: version, known: byVersion}
	}
	return chart{repository: address, name: name, version: version, known: byVersion}
}

// is reports whether both charts are the same, of the same version.
func (c chart) is(published chart) bool {
	if c.repository != published.repository || c.name != published.name {
		return false
	}
	tag := tagOf(published.version)
	switch c.known {
	case byTag:
		return c.version == tag
	case byHistory:
		tag, _, _ = strings.Cut(tag, "_")
	}
	return strings.TrimPrefix(tagOf(c.version), "v") == strings.TrimPrefix(tag, "v")
}

// tagOf returns the tag that Helm gives to a version.
func tagOf(version string) string { return strings.ReplaceAll(version, "+", "_") }

// String returns the address without parts that may be secret.
func (c chart) String() string {
	address, err := url.Parse(c.repository)
	if err != nil {
		return "its address"
	}
	address.User, address.RawQuery, address.Fragment = nil, "", ""
	return excerpt.To(strings.TrimSpace(address.String()+" "+c.name), 2*maxPath)
}

// offer is a version of an application that installs a chart.
type offer struct {
	application, version string
	chart                chart
}

// published are the definitions of KKP that a selection publishes.
type published struct {
	offers []offer
	// versions of the selected applications.
	versions map[string][]string
	// defaults are the default values of the applications, with templates.
	defaults map[string]map[string]any
	// releases of Helm of the instances that the selection has, with their names.
	releases map[safeguard.Key]string
}

// publish renders the definitions and the instances of a selection. A patch may be for what is imported, so it renders
// without them.
func publish(ctx context.Context, cs *v1alpha1.CatalogSelection, sources []selection.Source) (*published, error) {
	bare := cs.DeepCopy()
	bare.Spec.Patches, bare.Spec.Definitions = nil, ""
	options, err := render.FromSpec(bare)
	if err != nil {
		return nil, err
	}
	result, err := render.Render(ctx, sources, options)
	if err != nil {
		return nil, err
	}
	p := &published{versions: map[string][]string{}, defaults: map[string]map[string]any{}, releases: map[safeguard.Key]string{}}
	for _, instance := range result.Instances {
		for _, release := range instance.Main.Releases() {
			p.releases[release] = instance.Name
		}
	}
	for _, decision := range result.Selection.Applications() {
		document, ok := result.Tree.Content(path.Join(render.ApplicationsDir, decision.Application.Name+".yaml"))
		if !ok || decision.Application.Group != kinds.KKPGroup {
			continue
		}
		application := *decision.Application
		application.Document, application.Merged = document, nil
		spec, err := application.Spec()
		if err != nil {
			return nil, err
		}
		p.add(application.Name, decision.Versions, spec)
	}
	return p, nil
}

func (p *published) add(application string, versions []string, spec map[string]any) {
	p.versions[application] = versions
	p.defaults[application], _ = kkp.DefaultValues(spec) // values that KKP cannot read are none
	for _, version := range definition.Versions(value.Of(spec)) {
		if c := version.Chart(); slices.Contains(versions, version.Name) && c.URL != "" {
			p.offers = append(p.offers, offer{application, version.Name, newChart(c.URL, c.Name, c.Version)})
		}
	}
}

// find returns the version of an application that installs the chart of a release.
func (p *published) find(name string, of chart) (offer, error) {
	found := slices.DeleteFunc(slices.Clone(p.offers), func(o offer) bool { return !of.is(o.chart) })
	if len(found) == 0 {
		return offer{}, p.missing(of)
	}
	// Of several, prefer the application with the release's name, and the version with the chart's.
	rank := func(o offer) (n int) {
		if o.application != name {
			n += 2
		}
		if o.version != of.version {
			n++
		}
		return n
	}
	slices.SortStableFunc(found, func(a, b offer) int { return rank(a) - rank(b) })
	first := found[0]
	for _, other := range found {
		switch {
		case other.application != first.application && first.application != name:
			return offer{}, fmt.Errorf("the applications %s and %s both have its chart: write the instance yourself", first.application, other.application)
		case other.application == first.application && other.chart.version != first.chart.version:
			return offer{}, fmt.Errorf("the versions %s and %s of the application %s may both be the version of its chart: write the instance yourself",
				first.version, other.version, first.application)
		}
	}
	return first, nil
}

// missing returns what the selection has instead of a chart.
func (p *published) missing(of chart) error {
	var versions []string
	elsewhere := ""
	for _, o := range p.offers {
		switch {
		case o.chart.repository == of.repository && o.chart.name == of.name:
			versions = append(versions, o.version)
		case o.chart.base() == of.base() && elsewhere == "":
			elsewhere = fmt.Sprintf("; the application %s installs %s", o.application, o.chart)
		}
	}
	if len(versions) > 0 {
		return fmt.Errorf("the selection has its chart, but not in the version %s, only in %s", excerpt.Of(of.version), excerpt.Names(versions, maxNamed))
	}
	return fmt.Errorf("no selected application has its chart, %s%s", of, elsewhere)
}

// base returns the last part of the name.
func (c chart) base() string {
	repository, _, _ := strings.Cut(c.repository, "?")
	return cmp.Or(c.name, path.Base(repository))
}

// chartOf returns the chart that a HelmRelease runs, and its source.
func (all objectsByKey) chartOf(release object) (chart, object, error) {
	if ref := release.text("chartRef", "kind"); ref != "" {
		return all.referred(release, ref)
	}
	if source, isMade := made(release); isMade {
		c, err := ofRegistry(release, source)
		return c, source, err
	}
	kind := release.text("chart", "spec", "sourceRef", "kind")
	if kind == "" {
		return chart{}, object{}, errors.New("it names no source of its chart")
	}
	if kind != kinds.HelmRepository.Kind {
		return chart{}, object{}, fmt.Errorf("its chart is of the kind %s of source, and instances take charts of Helm repositories and registries", excerpt.Of(kind))
	}
	source, err := all.source(kind, cmp.Or(release.text("chart", "spec", "sourceRef", "namespace"), release.GetNamespace()), release.text("chart", "spec", "sourceRef", "name"))
	if err != nil {
		return chart{}, object{}, err
	}
	c := newChart(source.text("url"), release.text("chart", "spec", "chart"), release.text("chart", "spec", "version"))
	if !instance.IsExact(c.version) {
		err = c.setDeployed(release, "spec.chart.spec.version")
	}
	return c, source, err
}

// referred returns the chart of an OCIRepository.
func (all objectsByKey) referred(release object, kind string) (chart, object, error) {
	if kind != kinds.OCIRepository.Kind {
		return chart{}, object{}, fmt.Errorf("its chart is of a source of the kind %s, and instances take charts of Helm repositories and registries", excerpt.Of(kind))
	}
	source, err := all.source(kind, cmp.Or(release.text("chartRef", "namespace"), release.GetNamespace()), release.text("chartRef", "name"))
	if err != nil {
		return chart{}, object{}, err
	}
	c, err := ofRegistry(release, source)
	return c, source, err
}

// made returns the OCIRepository that helm-controller makes of a template of that kind, since 1.7. It reports false without one.
func made(release object) (source object, ok bool) {
	spec, isMapping := release.value("chart", "spec").(map[string]any)
	if release.text("chart", "kind") != kinds.OCIRepository.Kind || !isMapping {
		return object{}, false
	}
	return object{&unstructured.Unstructured{Object: map[string]any{"kind": kinds.OCIRepository.Kind, "spec": spec}}}, true
}

// ofRegistry returns the chart that a release takes from an OCIRepository.
func ofRegistry(release object, source object) (c chart, err error) {
	c = chart{repository: strings.TrimRight(source.text("url"), "/"), version: source.text("ref", "tag"), known: byTag}
	switch {
	case source.text("ref", "digest") != "":
		return chart{}, errors.New("its OCIRepository names a digest, which an instance cannot")
	case source.text("ref", "semver") != "" || !instance.IsExact(strings.ReplaceAll(c.version, "_", "+")):
		err = c.setDeployed(release, "the ref of its OCIRepository")
	}
	return c, err
}

// setDeployed sets the version of the last release, for a field that does not name one.
func (c *chart) setDeployed(release object, field string) error {
	if history := value.Of(release.Object).Get("status", "history").Items(); len(history) > 0 {
		if version := history[0].Get("chartVersion").Text(); instance.IsExact(version) {
			c.version, _, _ = strings.Cut(version, "+")
			c.known = byHistory
			return nil
		}
	}
	return fmt.Errorf("%s names no version, and its status.history has none", field)
}

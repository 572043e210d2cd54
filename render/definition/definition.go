// SPDX-License-Identifier: Apache-2.0

package definition

import (
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/value"
)

// Kind is the kind of the definitions of all platforms.
const Kind = "ApplicationDefinition"

// Version is an entry of spec.versions.
type Version[F Form[F]] struct {
	// Name is the version.
	Name string
	// Entry is the element of the list.
	Entry F
}

// Versions returns the entries of spec.versions that have a version, in their order. Loading refuses a definition with
// another entry, and so do the platforms.
func Versions[F Form[F]](spec F) (all []Version[F]) {
	for _, element := range spec.Get("versions").Items() {
		if version := element.Get("version"); version.IsText() {
			all = append(all, Version[F]{version.Text(), element})
		}
	}
	return all
}

// Names returns the versions of entries.
func Names[F Form[F]](versions []Version[F]) []string {
	return each.Map(versions, func(v Version[F]) string { return v.Name })
}

// Helm returns the source of a version that is a chart in a Helm repository, or in a registry.
func (v Version[F]) Helm() F { return v.Entry.Get("template", "source", "helm") }

// Git returns the source of a version that is a Git repository.
func (v Version[F]) Git() F { return v.Entry.Get("template", "source", "git") }

// Chart names a chart in a Helm repository, or in a registry.
type Chart struct{ URL, Name, Version string }

// Chart returns the chart of a version. Fields are empty that Helm does not have.
func (v Version[F]) Chart() Chart {
	helm := v.Helm()
	return Chart{URL: helm.Get("url").Text(), Name: helm.Get("chartName").Text(), Version: helm.Get("chartVersion").Text()}
}

// DefaultVersion returns spec.defaultVersion; empty without one.
func DefaultVersion[F Form[F]](spec F) string { return spec.Get("defaultVersion").Text() }

// Fields of a spec with default values.
const (
	ValuesBlock   = "defaultValuesBlock"
	ValuesMapping = "defaultValues"
)

// DefaultValues returns the field with the default values, and their text if that is the block of YAML: a blank one has none.
func DefaultValues[F Form[F]](spec F) (field string, at F, block string) {
	at = spec.Get(ValuesBlock)
	if block = at.Text(); strings.TrimSpace(block) != "" {
		return ValuesBlock, at, block
	}
	return ValuesMapping, spec.Get(ValuesMapping), ""
}

// ValuesText returns the field with the default values, and these as YAML; both are empty without any.
func ValuesText(spec value.Value) (field, text string) {
	field, at, block := DefaultValues(spec)
	mapping := at.Mapping()
	switch {
	case block != "":
		return field, block
	case len(mapping) == 0:
		return "", ""
	}
	content, _ := yaml.Marshal(mapping) // values of JSON are always YAML
	return field, string(content)
}

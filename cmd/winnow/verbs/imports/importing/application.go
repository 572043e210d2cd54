// SPDX-License-Identifier: Apache-2.0

package importing

import (
	"cmp"
	"net/url"

	"github.com/winnow-dev/winnow/cmd/winnow/plaintext"
	"github.com/winnow-dev/winnow/render/definition"
	"github.com/winnow-dev/winnow/render/yamlnode"
)

// application is an ApplicationDefinition of KKP, with the fields in the order of the examples.
type application struct {
	APIVersion string `yaml:"apiVersion"`
	Kind       string `yaml:"kind"`
	Metadata   struct {
		Name string `yaml:"name"`
	} `yaml:"metadata"`
	Spec helmSpec `yaml:"spec"`
}

type helmSpec struct {
	DisplayName          string         `yaml:"displayName,omitempty"`
	Description          string         `yaml:"description"`
	DocumentationURL     string         `yaml:"documentationURL,omitempty"`
	SourceURL            string         `yaml:"sourceURL,omitempty"`
	Logo                 string         `yaml:"logo,omitempty"`
	LogoFormat           string         `yaml:"logoFormat,omitempty"`
	Method               string         `yaml:"method"`
	DefaultDeployOptions map[string]any `yaml:"defaultDeployOptions,omitempty"`
	DefaultValuesBlock   string         `yaml:"defaultValuesBlock,omitempty"`
	Versions             []helmVersion  `yaml:"versions"`
}

func newApplication(name string, spec helmSpec) application {
	made := application{APIVersion: "apps.kubermatic.k8c.io/v1", Kind: definition.Kind, Spec: spec}
	made.Metadata.Name = name
	return made
}

type helmVersion struct {
	Version  string `yaml:"version"`
	Template struct {
		Source struct {
			Helm helmSource `yaml:"helm"`
		} `yaml:"source"`
	} `yaml:"template"`
}

// add adds a version.
func (s *helmSpec) add(version string, source helmSource) {
	added := helmVersion{Version: version}
	added.Template.Source.Helm = source
	s.Versions = append(s.Versions, added)
}

// application returns the definition of a chart. Its texts come from the highest version, which is the last one.
func (c *chart) application(versions []chartVersion) application {
	latest := versions[len(versions)-1].node
	spec := helmSpec{
		Description:      cmp.Or(plaintext.Line(scalar(latest, "description")), "Helm chart "+c.name), // KKP requires one
		DocumentationURL: webURL(scalar(latest, "home")),
		Method:           "helm",
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

// webURL returns a URL that people can open, empty for anything else.
func webURL(text string) string {
	parsed, err := url.Parse(text)
	if err != nil || parsed.Host == "" || parsed.User != nil || parsed.Scheme != "https" && parsed.Scheme != "http" {
		return ""
	}
	return text
}

// SPDX-License-Identifier: Apache-2.0

package importing

import (
	"context"
	"net/url"

	"github.com/winnow-dev/winnow/api/v1alpha1"
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
	spec.Method = "helm"
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

type helmSource struct {
	URL          string `yaml:"url"`
	ChartName    string `yaml:"chartName"`
	ChartVersion string `yaml:"chartVersion"`
	// Credentials are keys of Secrets.
	Credentials map[string]v1alpha1.SecretKey `yaml:"credentials,omitempty"`
}

// add adds a version.
func (s *helmSpec) add(version string, source helmSource) {
	added := helmVersion{Version: version}
	added.Template.Source.Helm = source
	s.Versions = append(s.Versions, added)
}

// webURL returns a URL that people can open, empty for anything else.
func webURL(text string) string {
	parsed, err := url.Parse(text)
	if err != nil || parsed.Host == "" || parsed.User != nil || parsed.Scheme != "https" && parsed.Scheme != "http" {
		return ""
	}
	return text
}

// takeApplication adds an application, without a tier, if it makes a valid catalog by itself.
func (i *Importer) takeApplication(ctx context.Context, at position, definition application) error {
	text, err := yamlnode.Encode(definition)
	if err != nil {
		return err
	}
	return i.take(ctx, at, text, metadataFields{}, definition.Metadata.Name)
}

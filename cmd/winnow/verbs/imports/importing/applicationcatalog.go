// SPDX-License-Identifier: Apache-2.0

package importing

import (
	"cmp"
	"context"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/cmd/winnow/plaintext"
	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/yamlnode"
)

// applicationCatalogKind is the kind of Kubermatic's application-catalog-manager, which makes a definition of each chart.
const applicationCatalogKind = "ApplicationCatalog"

// ChartsOfKKP is the OCI registry of the charts in KKP's own catalog, and of charts that name no repository.
const ChartsOfKKP = "quay.io/kubermatic-mirror/helm-charts"

// applicationCatalog has the fields of an ApplicationCatalog that the manager reads.
type applicationCatalog struct {
	Spec struct {
		Helm struct {
			Repository      *chartRepository `yaml:"repositorySettings"`
			Charts          []catalogChart   `yaml:"charts"`
			IncludeDefaults bool             `yaml:"includeDefaults"`
		} `yaml:"helm"`
	} `yaml:"spec"`
}

type chartRepository struct {
	BaseURL     string                        `yaml:"baseURL"`
	Credentials map[string]v1alpha1.SecretKey `yaml:"credentials"`
}

type catalogChart struct {
	ChartName string `yaml:"chartName"`
	Metadata  struct {
		AppName          string `yaml:"appName"`
		DisplayName      string `yaml:"displayName"`
		Description      string `yaml:"description"`
		DocumentationURL string `yaml:"documentationURL"`
		SourceURL        string `yaml:"sourceURL"`
		Logo             string `yaml:"logo"`
		LogoFormat       string `yaml:"logoFormat"`
	} `yaml:"metadata"`
	Repository           *chartRepository `yaml:"repositorySettings"`
	DefaultValuesBlock   string           `yaml:"defaultValuesBlock"`
	DefaultDeployOptions map[string]any   `yaml:"defaultDeployOptions"`
	Versions             []struct {
		ChartVersion string           `yaml:"chartVersion"`
		AppVersion   string           `yaml:"appVersion"`
		Repository   *chartRepository `yaml:"repositorySettings"`
	} `yaml:"chartVersions"`
}

// addApplicationCatalog takes the charts of an ApplicationCatalog as applications.
func (i *Importer) addApplicationCatalog(ctx context.Context, at position, root *yaml.Node) error {
	var c applicationCatalog
	switch err := root.Decode(&c); {
	case !yamlnode.IsExpanded(root):
		return at.refuse("", errAliases.Error())
	case err != nil:
		return at.refuse("", "it is no "+applicationCatalogKind+" of applicationcatalog.k8c.io/v1alpha1") // err may quote values
	case len(c.Spec.Helm.Charts) == 0 && c.Spec.Helm.IncludeDefaults:
		return at.refuse("", "spec.helm.charts is missing, which the cluster adds for includeDefaults: import what kubectl get applicationcatalogs -o yaml prints")
	case len(c.Spec.Helm.Charts) == 0:
		return at.refuse("", "it has no charts")
	}
	at.exact = false
	for _, chart := range c.Spec.Helm.Charts {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		name := cmp.Or(chart.Metadata.AppName, chart.ChartName)
		if len(validation.IsDNS1123Label(name)) > 0 {
			i.skip(Skipped{Place: at.String(), Name: name, Reason: badName})
			continue
		}
		if err := i.record(i.takeApplication(ctx, at, chart.application(name, c.Spec.Helm.Repository))); err != nil {
			return err
		}
	}
	return nil
}

// application returns the definition that the manager makes of a chart. The nearest repository with an address counts.
func (c *catalogChart) application(name string, global *chartRepository) application {
	spec := helmSpec{
		Description: plaintext.Line(cmp.Or(c.Metadata.Description, "Helm chart "+excerpt.Of(c.ChartName))), DisplayName: c.Metadata.DisplayName,
		DocumentationURL: webURL(c.Metadata.DocumentationURL), SourceURL: webURL(c.Metadata.SourceURL),
		Logo: c.Metadata.Logo, LogoFormat: c.Metadata.LogoFormat,
		DefaultDeployOptions: c.DefaultDeployOptions, DefaultValuesBlock: c.DefaultValuesBlock,
	}
	for _, one := range c.Versions {
		from := &chartRepository{BaseURL: "oci://" + ChartsOfKKP}
		for _, r := range []*chartRepository{global, c.Repository, one.Repository} {
			if r != nil && r.BaseURL != "" {
				from = r
			}
		}
		spec.add(one.AppVersion, helmSource{
			URL: from.BaseURL, ChartName: c.ChartName, ChartVersion: one.ChartVersion, Credentials: from.Credentials,
		})
	}
	return newApplication(name, spec)
}

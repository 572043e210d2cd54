// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2"
	"oras.land/oras-go/v2/registry/remote"
	"sigs.k8s.io/yaml"
)

// Media types of a Helm chart in a registry.
const (
	ChartConfigMediaType = "application/vnd.cncf.helm.config.v1+json"
	ChartLayerMediaType  = "application/vnd.cncf.helm.chart.content.v1.tar+gzip"
)

// chartFile describes a chart and makes its directory one.
const chartFile = "Chart.yaml"

// PushCharts pushes every chart in a directory and below it by PushChart: each version of a chart is a directory.
func (s *Stack) PushCharts(ctx context.Context, dir, repository string) error {
	found := false
	err := filepath.WalkDir(fromRoot(s.root, dir), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.Name() != chartFile {
			return err
		}
		found = true
		if _, err := s.PushChart(ctx, filepath.Dir(path), repository); err != nil {
			return err
		}
		return fs.SkipDir // its other files, and the charts that are part of it
	})
	if err == nil && !found {
		err = fmt.Errorf("pushing the charts in %s: no directory has a %s", dir, chartFile)
	}
	return err
}

// PushChart pushes the chart in a directory to the registry as "repository/NAME:VERSION", with the name and the
// version of its Chart.yaml, and returns the manifest's digest. It does what `helm package` and `helm push` do,
// without .helmignore, and the same files have the same digest. A relative path starts at the root of the repository.
func (s *Stack) PushChart(ctx context.Context, dir, repository string) (digest.Digest, error) {
	dir = fromRoot(s.root, dir)
	c, err := readChart(dir)
	if err != nil {
		return "", fmt.Errorf("packing the chart in %s: %w", dir, err)
	}
	return s.push(ctx, repository+"/"+c.name+":"+c.tag(), func(to *remote.Repository) (ocispec.Descriptor, error) {
		return c.push(ctx, to)
	})
}

// chart is a packed chart.
type chart struct {
	name, version string
	config        []byte // Chart.yaml as JSON
	layer         tarball
}

func readChart(dir string) (c chart, err error) {
	content, err := os.ReadFile(filepath.Join(dir, chartFile))
	if err != nil {
		return chart{}, err
	}
	var metadata struct{ Name, Version string }
	if err := yaml.Unmarshal(content, &metadata); err != nil {
		return chart{}, err
	}
	if metadata.Name == "" || metadata.Version == "" {
		return chart{}, errors.New("name or version is missing in " + chartFile)
	}
	c.name, c.version = metadata.Name, metadata.Version
	if c.config, err = yaml.YAMLToJSON(content); err != nil {
		return chart{}, err
	}
	c.layer, err = packDirectory(dir, c.name)
	return c, err
}

// tag returns the version as Helm writes it, since a tag has no "+".
func (c chart) tag() string { return strings.ReplaceAll(c.version, "+", "_") }

func (c chart) push(ctx context.Context, to *remote.Repository) (ocispec.Descriptor, error) {
	config, err := pushBlob(ctx, to, ChartConfigMediaType, c.config)
	if err != nil {
		return ocispec.Descriptor{}, err
	}
	layer, err := pushBlob(ctx, to, ChartLayerMediaType, c.layer.gzip)
	if err != nil {
		return ocispec.Descriptor{}, err
	}
	annotations := fixedCreation()
	annotations[ocispec.AnnotationTitle], annotations[ocispec.AnnotationVersion] = c.name, c.version
	return oras.PackManifest(ctx, to, oras.PackManifestVersion1_1, "", oras.PackManifestOptions{
		ConfigDescriptor: &config, Layers: []ocispec.Descriptor{layer}, ManifestAnnotations: annotations,
	})
}

// SPDX-License-Identifier: Apache-2.0

package blobs

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"

	"github.com/blang/semver/v4"
	"sigs.k8s.io/yaml"

	"github.com/winnow-dev/winnow/cmd/winnow/verbs/imports/bundle"
	"github.com/winnow-dev/winnow/render/catalog/filebased"
	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/tree"
)

// Source is a bundle with the address of its image, which is empty for a directory.
type Source struct {
	*bundle.Bundle
	Image string
}

// version is checked by the reader of bundles.
func (s Source) version() semver.Version {
	v, _ := semver.Parse(s.CSV.Spec.Version)
	return v
}

type packageDocument struct {
	Schema         string       `json:"schema"`
	Name           string       `json:"name"`
	DefaultChannel string       `json:"defaultChannel"`
	Description    string       `json:"description,omitempty"`
	Icon           *bundle.Icon `json:"icon,omitempty"`
}

type channelDocument struct {
	Schema  string  `json:"schema"`
	Package string  `json:"package"`
	Name    string  `json:"name"`
	Entries []entry `json:"entries"`
}

type entry struct {
	Name      string   `json:"name"`
	Replaces  string   `json:"replaces,omitempty"`
	Skips     []string `json:"skips,omitempty"`
	SkipRange string   `json:"skipRange,omitempty"`
}

// skipRangeAnnotation of a ClusterServiceVersion is a range of versions that the bundle replaces.
const skipRangeAnnotation = "olm.skipRange"

// Bundles returns the documents of bundles as YAML, in their order.
func Bundles(all []Source) ([]byte, error) {
	var out bytes.Buffer
	for _, one := range all {
		if err := write(&out, Of(one.Bundle, one.Image)); err != nil {
			return nil, err
		}
	}
	return out.Bytes(), nil
}

func write(out *bytes.Buffer, document any) error {
	content, err := yaml.Marshal(document)
	out.WriteString("---\n")
	out.Write(content)
	return err
}

// Catalog returns a catalog of bundles: a directory for each package, with the package, its channels as the annotations of
// the bundles have them, and the bundles. It is not checked, and so may be invalid.
func Catalog(all []Source) (*tree.Tree, error) {
	packages := map[string][]Source{}
	for _, one := range all {
		packages[one.Package] = append(packages[one.Package], one)
	}
	files := tree.New()
	for _, name := range slices.Sorted(maps.Keys(packages)) {
		bundles := packages[name]
		slices.SortStableFunc(bundles, func(x, y Source) int {
			return cmp.Or(y.version().Compare(x.version()), cmp.Compare(y.CSV.Spec.Release, x.CSV.Spec.Release))
		})
		content, err := packageFile(name, bundles)
		if err != nil {
			return nil, err
		}
		if err := files.Add(path.Join(name, "catalog.yaml"), content); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// packageFile returns the documents of a package, whose bundles come from the highest version to the lowest.
func packageFile(name string, bundles []Source) ([]byte, error) {
	channels := map[string][]entry{}
	for _, one := range bundles {
		for _, channel := range one.Channels {
			spec := one.CSV.Spec
			channels[channel] = append(channels[channel], entry{one.CSV.Metadata.Name, spec.Replaces, spec.Skips, one.CSV.Metadata.Annotations[skipRangeAnnotation]})
		}
	}
	names := slices.Sorted(maps.Keys(channels))
	defaultChannel, err := defaultOf(name, bundles, names)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if err := write(&out, describe(name, defaultChannel, bundles)); err != nil {
		return nil, err
	}
	for _, channel := range names {
		if err := write(&out, channelDocument{filebased.SchemaChannel, name, channel, channels[channel]}); err != nil {
			return nil, err
		}
	}
	content, err := Bundles(bundles)
	return append(out.Bytes(), content...), err
}

// defaultOf returns the default channel of the highest version that names one, or the only channel.
func defaultOf(name string, bundles []Source, channels []string) (string, error) {
	for _, one := range bundles {
		if one.DefaultChannel != "" {
			return one.DefaultChannel, nil
		}
	}
	if len(channels) == 1 {
		return channels[0], nil
	}
	return "", fmt.Errorf("the package %s has the channels %s, and no bundle with the annotation %s: add it to metadata/annotations.yaml",
		excerpt.Of(name), excerpt.List(channels, 5, excerpt.Quoted), bundle.DefaultChannelAnnotation)
}

// describe returns the document of a package, with the description and the icon of the highest version in its default channel.
func describe(name, channel string, bundles []Source) packageDocument {
	document := packageDocument{Schema: filebased.SchemaPackage, Name: name, DefaultChannel: channel}
	i := slices.IndexFunc(bundles, func(s Source) bool { return slices.Contains(s.Channels, channel) })
	if i < 0 {
		return document
	}
	spec := bundles[i].CSV.Spec
	document.Description = spec.Description
	if len(spec.Icon) > 0 && spec.Icon[0].Data != "" {
		document.Icon = &spec.Icon[0]
	}
	return document
}

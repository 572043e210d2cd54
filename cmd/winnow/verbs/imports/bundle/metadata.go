// SPDX-License-Identifier: Apache-2.0

package bundle

import (
	"errors"
	"io/fs"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/winnow-dev/winnow/render/catalog/document"
	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/yamlnode"
)

// The annotations of a bundle.
const (
	annotationPrefix         = "operators.operatorframework.io.bundle."
	mediaTypeAnnotation      = annotationPrefix + "mediatype.v1"
	manifestsAnnotation      = annotationPrefix + "manifests.v1"
	metadataAnnotation       = annotationPrefix + "metadata.v1"
	PackageAnnotation        = annotationPrefix + "package.v1" // also a label of its image
	channelsAnnotation       = annotationPrefix + "channels.v1"
	DefaultChannelAnnotation = annotationPrefix + "channel.default.v1"
)

// mediaType is the format of the bundles that can be read.
const mediaType = "registry+v1"

// readMetadata reads the files of the metadata.
func (r *reader) readMetadata(b *Bundle) error {
	if err := r.checkNames(); err != nil {
		return err
	}
	f, err := r.read(annotationsFile)
	if err != nil {
		return err
	}
	if f != nil {
		f.readAnnotations(b)
		r.report.Merge(f.Findings)
	} else if _, err := fs.Stat(r.fsys, annotationsFile); errors.Is(err, fs.ErrNotExist) {
		r.report.Add(annotationsFile, "is missing: it names the package and the channels of the bundle")
	}
	if b.Dependencies, err = r.readProperties(dependenciesFile, "dependencies", checkDependency); err != nil {
		return err
	}
	b.Properties, err = r.readProperties(propertiesFile, "properties", checkProperty)
	return err
}

// checkNames reports files that opm reads as metadata and OLM v1 does not.
func (r *reader) checkNames() error {
	names, err := r.names(MetadataDirectory)
	if err != nil {
		return err
	}
	for _, name := range names {
		if slices.Contains([]string{annotationsFile, dependenciesFile, propertiesFile}, name) || !yamlnode.IsYAMLOrJSON(name) {
			continue
		}
		f, err := r.read(name)
		if err != nil {
			return err
		}
		for _, field := range []string{"annotations", "dependencies", "properties"} {
			if f != nil && f.at(field) != nil {
				r.report.Add(name, "has %s, which OLM v1 reads only in %s/%s.yaml: move them there", field, MetadataDirectory, field)
			}
		}
	}
	return nil
}

func (f *file) readAnnotations(b *Bundle) {
	annotations := f.at("annotations")
	if !document.RequiredMapping(f.root, annotations, "annotations", &f.Findings) {
		return
	}
	text := func(name string) (string, int, bool) {
		node := yamlnode.Lookup(annotations, name)
		value, ok := document.RequiredText(annotations, node, name, &f.Findings)
		return value, f.line("annotations", name), ok
	}
	if value, line, ok := text(mediaTypeAnnotation); ok && value != mediaType {
		f.Add(line, "%s must be %s, not %s: bundles of other formats cannot be read", mediaTypeAnnotation, mediaType, excerpt.Quoted(value))
	}
	for _, one := range []struct{ name, directory string }{{manifestsAnnotation, ManifestsDirectory}, {metadataAnnotation, MetadataDirectory}} {
		if value, line, ok := text(one.name); ok && strings.Trim(value, "/") != one.directory {
			f.Add(line, "%s must be %s/, not %s", one.name, one.directory, excerpt.Quoted(value))
		}
	}
	if value, line, ok := text(PackageAnnotation); ok {
		b.Package = value
		for _, problem := range validation.IsDNS1123Label(value) {
			f.Add(line, "%s: %s is no name of a package: %s", PackageAnnotation, excerpt.Quoted(value), problem)
		}
	}
	if value, line, ok := text(channelsAnnotation); ok {
		b.Channels = f.channels(value, line)
	}
	if yamlnode.Lookup(annotations, DefaultChannelAnnotation) != nil {
		b.DefaultChannel, _, _ = text(DefaultChannelAnnotation)
	}
}

// channels returns the names in a list that commas separate.
func (f *file) channels(value string, line int) (channels []string) {
	for one := range strings.SplitSeq(value, ",") {
		switch one = strings.TrimSpace(one); {
		case one == "":
			f.Add(line, "%s has an empty name: want channels with commas in between", channelsAnnotation)
		case slices.Contains(channels, one):
			f.Add(line, "%s has %s twice", channelsAnnotation, excerpt.Quoted(one))
		default:
			channels = append(channels, one)
		}
	}
	return channels
}

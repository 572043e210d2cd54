// SPDX-License-Identifier: Apache-2.0

package bundle

import (
	"encoding/json"
	"errors"
	"io/fs"
	"slices"
	"strings"

	"github.com/blang/semver/v4"
	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/winnow-dev/winnow/render/catalog/document"
	"github.com/winnow-dev/winnow/render/each"
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

// readProperties returns the list in a file that may be missing. check returns what is wrong with an item.
func (r *reader) readProperties(name, field string, check func(Property) string) ([]Property, error) {
	f, err := r.read(name)
	if f == nil {
		return nil, err
	}
	defer func() { r.report.Merge(f.Findings) }()
	for _, item := range f.items(field) {
		f.checkItem(field, yamlnode.Resolve(item))
	}
	var content map[string]json.RawMessage
	if len(f.Kept) > 0 || !f.decode(&content) {
		return nil, nil
	}
	var properties []Property
	if err := json.Unmarshal(content[field], &properties); err != nil {
		f.Add(f.line(field), "%s cannot be read: %s", field, err)
		return nil, nil
	}
	for i, one := range properties {
		if problem := check(one); problem != "" {
			f.Add(f.itemLine(i, field), "%s: %s: %s", field, excerpt.Of(one.Type), problem)
		}
	}
	return properties, nil
}

// checkItem reports an item without a type or a value.
func (f *file) checkItem(field string, item *yaml.Node) {
	if item.Kind != yaml.MappingNode {
		f.Add(item.Line, "%s: an item must be a mapping, not %s", field, yamlnode.Describe(item))
		return
	}
	document.RequiredText(item, yamlnode.Lookup(item, "type"), field+": type", &f.Findings)
	switch value := yamlnode.Lookup(item, "value"); {
	case value == nil:
		f.Add(item.Line, "%s: value is missing", field)
	case yamlnode.IsNull(value):
		f.Add(value.Line, "%s: value must not be null", field)
	}
}

// checkDependency returns what is wrong with a dependency, empty for one that OLM can resolve.
func checkDependency(one Property) string {
	switch one.Type {
	case TypeGVK:
		return checkAPI(one.Value)
	case TypePackage:
		var value struct{ PackageName, Version string }
		if json.Unmarshal(one.Value, &value) != nil || value.PackageName == "" || value.Version == "" {
			return mappingWith("packageName", "version")
		}
		if _, err := semver.ParseRange(value.Version); err != nil {
			return "version " + excerpt.Quoted(value.Version) + " is no range of versions, such as >=1.2.0 <2.0.0"
		}
	case "olm.label":
		var value struct{ Label string }
		if json.Unmarshal(one.Value, &value) != nil || value.Label == "" {
			return mappingWith("label")
		}
	case "olm.constraint":
		return checkConstraint(one.Value)
	default:
		return "is no type of a dependency: want olm.package, olm.gvk, olm.label or olm.constraint"
	}
	return ""
}

// checkConstraint returns what is wrong with a constraint, whose expressions only OLM evaluates.
func checkConstraint(value []byte) string {
	var members map[string]json.RawMessage
	if json.Unmarshal(value, &members) != nil {
		return "value must be a mapping"
	}
	found := each.Where([]string{"cel", "package", "gvk", "all", "any", "not"}, func(one string) bool { return len(members[one]) > 0 })
	if len(found) != 1 {
		return "value must have one of cel, package, gvk, all, any and not"
	}
	var cel struct{ Rule string }
	if found[0] == "cel" && (json.Unmarshal(members["cel"], &cel) != nil || cel.Rule == "") {
		return "cel must have a rule"
	}
	return ""
}

// checkProperty returns what is wrong with a property that a bundle adds to the properties of its manifests.
func checkProperty(one Property) string {
	switch one.Type {
	case TypePackage:
		return "the package and its version come from " + annotationsFile + " and the ClusterServiceVersion: leave it out"
	case TypeGVK:
		return checkAPI(one.Value)
	}
	return ""
}

func checkAPI(value []byte) string {
	var api API
	if json.Unmarshal(value, &api) != nil || api.Group == "" || api.Version == "" || api.Kind == "" {
		return mappingWith("group", "version", "kind")
	}
	return ""
}

func mappingWith(fields ...string) string {
	return "value must be a mapping with the strings " + strings.Join(fields, " and ") + ", none of them empty"
}

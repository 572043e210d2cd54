// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"cmp"
	"maps"
	"path"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/winnow-dev/winnow/render/catalog/filebased"
	"github.com/winnow-dev/winnow/render/catalog/filebased/graph"
	"github.com/winnow-dev/winnow/render/catalog/metadata"
	"github.com/winnow-dev/winnow/render/each"
)

// PackageKind is the kind of applications that are packages of operators.
const PackageKind = filebased.SchemaPackage

// PackagesDir is the directory of an artifact that has the packages, as the image of a catalog has them.
const PackagesDir = "configs"

// packageContent is a package of operators.
type packageContent struct{ *filebased.Package }

// Package returns the package of operators that the application is; nil for others.
func (a *Application) Package() *filebased.Package { return PackageOf(a.Content) }

// PackageOf returns the package of operators that a content is; nil for others.
func PackageOf(content Content) *filebased.Package {
	one, _ := content.(packageContent)
	return one.Package
}

// newPackage returns a package as an application.
func newPackage(of *filebased.Package) *Application {
	a := &Application{
		Name: of.Name, Path: of.Blob().Path, Above: of.Blob().Line - 1, Kind: PackageKind,
		Content: packageContent{of},
	}
	a.Metadata.Deprecated, a.Metadata.Labels = of.Deprecated, labelsOf(of)
	channels := map[string][]string{}
	for _, channel := range of.Channels {
		for _, entry := range channel.Entries {
			channels[entry.Name] = append(channels[entry.Name], channel.Name)
		}
	}
	for _, bundle := range of.Bundles {
		a.Versions = append(a.Versions, bundle.Name)
		a.Metadata.Versions = append(a.Metadata.Versions, metadata.Version{
			Name: bundle.Name, Number: bundle.Version.Semver(), Label: bundle.Version.String(), Channels: channels[bundle.Name], Deprecated: bundle.Deprecated,
		})
	}
	slices.SortFunc(a.Metadata.Versions, func(x, y metadata.Version) int { return cmp.Compare(x.Name, y.Name) })
	return a
}

// labelsOf returns the labels of the head of the default channel, without labels that are not valid in Kubernetes, such
// as sentences; nil without any.
func labelsOf(of *filebased.Package) map[string]string {
	labels := of.About().Labels
	maps.DeleteFunc(labels, func(key, value string) bool {
		return len(validation.IsQualifiedName(key))+len(validation.IsValidLabelValue(value)) > 0
	})
	if len(labels) == 0 {
		return nil
	}
	return labels
}

// Channels implements Content.
func (p packageContent) Channels() []Channel {
	rank := make(map[string]int, len(p.Bundles))
	for i, bundle := range p.Bundles {
		rank[bundle.Name] = i
	}
	channels := make([]Channel, 0, len(p.Package.Channels))
	for _, channel := range p.Package.Channels {
		versions := each.Map(channel.Entries, func(entry graph.Entry) string { return entry.Name })
		slices.SortFunc(versions, func(x, y string) int { return rank[x] - rank[y] })
		channels = append(channels, Channel{channel.Name, versions, channel.Deprecated})
	}
	return channels
}

// Keep implements Content.
func (p packageContent) Keep(keep Keep) (Content, []string, error) {
	wanted := filebased.Keep{DefaultChannel: keep.DefaultChannel, Strict: keep.Strict}
	if keep.Version != nil {
		wanted.Bundle = func(channel string, bundle *filebased.Bundle) bool { return keep.Version(channel, bundle.Name) }
	}
	kept, decisions, err := p.Prune(wanted)
	if err != nil {
		return nil, nil, err
	}
	repairs := each.Map(decisions, filebased.Decision.String)
	return packageContent{kept}, repairs, nil
}

// Files implements Content.
func (p packageContent) Files() []File {
	return each.Map(p.Package.Files(), func(file filebased.File) File {
		return File{Path: path.Join(PackagesDir, p.Name, file.Name), Data: file.Data}
	})
}

// Size implements Content.
func (p packageContent) Size() int64 {
	var size int64
	for _, blob := range p.Blobs {
		size += int64(len(blob.Data))
	}
	return size
}

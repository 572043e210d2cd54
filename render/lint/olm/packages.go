// SPDX-License-Identifier: Apache-2.0

// Package olm has the rules of lint on packages of operators, beside what OLM's own tools refuse.
//
// It must not know how a catalog is read, nor other applications.
package olm

import (
	"fmt"
	"slices"
	"strings"

	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/catalog/filebased"
	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/lint/rules"
)

// maxExamples bounds the examples in a finding on a package.
const maxExamples = 3

// rule is a rule on a package.
type rule = rules.Checked[func(p *filebased.Package, offer filebased.Offer) []finding]

// finding is about a document of a package.
type finding struct {
	blob    *filebased.Blob
	message string
}

// Rules returns the rules.
func Rules() []rules.Rule { return rules.Of(all()) }

func all() []rule {
	return []rule{
		rules.NewChecked("olm/api-owners", rules.Warning, "no two packages provide one API", apiOwners),
		rules.NewChecked("olm/default-channel", rules.Warning, "the default channel is not deprecated", defaultChannel),
		rules.NewChecked("olm/dependency", rules.Warning, "the catalog has what its bundles require", dependency),
		rules.NewChecked("olm/image-tag", rules.Warning, "images are named by digests", imageTag),
		rules.NewChecked("olm/install-modes", rules.Info, "the heads of channels support all namespaces, as OLM v1 needs", allNamespaces),
		rules.NewChecked("olm/requires", rules.Info, "the heads of channels require no other packages, which OLM v1 does not install", requires),
		rules.NewChecked("olm/schema", rules.Warning, "no schema is almost one of OLM", schema),
	}
}

// Check applies the rules to the packages of a catalog, nil if it is invalid.
func Check(loaded *catalog.Catalog) (found []rules.Finding) {
	if loaded == nil {
		return nil
	}
	var packages []*filebased.Package
	for _, a := range loaded.Applications {
		if of := a.Package(); of != nil {
			packages = append(packages, of)
		}
	}
	offer := filebased.NewOffer(packages)
	for _, p := range packages {
		for _, rule := range all() {
			for _, f := range rule.Check(p, offer) {
				found = append(found, rule.Finding(p.Name, f.blob.Path, f.blob.Line, "%s", f.message))
			}
		}
	}
	return found
}

// apiOwners reports the APIs that other packages provide too: OLM installs one of them in a cluster.
func apiOwners(p *filebased.Package, offer filebased.Offer) []finding {
	apis := slices.Concat(each.Map(p.Bundles, func(bundle *filebased.Bundle) []filebased.GVK { return bundle.Provides })...)
	slices.SortFunc(apis, filebased.GVK.Compare)
	var shared []string
	for _, api := range slices.Compact(apis) {
		others := slices.DeleteFunc(slices.Clone(offer.Owners(api)), func(name string) bool { return name == p.Name })
		if len(others) > 0 {
			shared = append(shared, excerpt.Of(api.String())+" of "+excerpt.List(others, maxExamples, excerpt.Of))
		}
	}
	return once(p.Blob(), shared, "provides what other packages provide, and a cluster can have only one of them: ")
}

// once returns a finding on a document with the first examples, none without any.
func once(blob *filebased.Blob, examples []string, text string) []finding {
	if len(examples) == 0 {
		return nil
	}
	return []finding{{blob, text + excerpt.Names(examples, maxExamples)}}
}

// schema reports documents that OLM keeps and does not read.
func schema(p *filebased.Package, _ filebased.Offer) (found []finding) {
	for _, blob := range p.Blobs {
		if meant := blob.Meant(); meant != "" {
			found = append(found, finding{blob, fmt.Sprintf("%s is no schema of OLM, which does not read it: did you mean %s?", excerpt.Quoted(blob.Schema), meant)})
		}
	}
	return found
}

func defaultChannel(p *filebased.Package, _ filebased.Offer) []finding {
	for _, channel := range p.Channels {
		if channel.Name == p.DefaultChannel && channel.Deprecated != "" {
			return []finding{{p.Blob(), fmt.Sprintf("the default channel %s is deprecated: %s", excerpt.Quoted(channel.Name), excerpt.Of(channel.Deprecated))}}
		}
	}
	return nil
}

// dependency reports each dependency that no bundle satisfies once, in the document of the highest version with it.
func dependency(p *filebased.Package, offer filebased.Offer) (found []finding) {
	for _, m := range p.Missing(func(on filebased.Dependency) bool { return !offer.Satisfies(on) }) {
		first := m.Bundles[0]
		found = append(found, finding{first.Blob, fmt.Sprintf("%s requires %s, which the catalog does not have%s", excerpt.Of(first.Name), m, m.Further())})
	}
	return found
}

// imageTag counts the images of a package that are named without a digest: its bundles, and the images that they run.
func imageTag(p *filebased.Package, _ filebased.Offer) []finding {
	var tagged []string
	seen := map[string]bool{}
	add := func(image string) {
		if image != "" && !seen[image] && !strings.Contains(image, "@sha") {
			seen[image] = true
			tagged = append(tagged, excerpt.Of(image))
		}
	}
	for _, bundle := range p.Bundles {
		add(bundle.Image)
		for _, image := range bundle.RelatedImages {
			add(image)
		}
	}
	return once(p.Blob(), tagged, fmt.Sprintf("names images by tags, which can move (%d), instead of digests: ", len(tagged)))
}

// headsThat returns the versions of the heads of channels for which a condition holds, each once.
func headsThat(p *filebased.Package, holds func(*filebased.Bundle) bool) []string {
	heads := p.Heads()
	var found []string
	for _, bundle := range p.Bundles {
		isHead := func(c *filebased.Channel) bool { return heads[c.Name] == bundle }
		if slices.ContainsFunc(p.Channels, isHead) && holds(bundle) {
			found = append(found, bundle.Version.String())
		}
	}
	return found
}

func allNamespaces(p *filebased.Package, _ filebased.Offer) []finding {
	lacks := func(b *filebased.Bundle) bool {
		return b.InstallModes != nil && !slices.Contains(b.InstallModes, "AllNamespaces")
	}
	return once(p.Blob(), headsThat(p, lacks), "OLM v1 needs a setting of its own for bundles that do not support all namespaces: ")
}

func requires(p *filebased.Package, _ filebased.Offer) []finding {
	has := func(b *filebased.Bundle) bool { return len(b.Dependencies) > 0 }
	return once(p.Blob(), headsThat(p, has), "OLM v1 refuses bundles with dependencies: ")
}

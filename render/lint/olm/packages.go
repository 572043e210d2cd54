package lint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/catalog/filebased"
	"github.com/winnow-dev/winnow/render/excerpt"
)

// maxExamples bounds the examples in a finding on a package.
const maxExamples = 3

// packageRule is a rule on a package of operators, beside what OLM's own tools refuse.
type packageRule struct {
	Rule
	check func(p *filebased.Package, offer filebased.Offer) []packageFinding
}

// packageFinding is about a document of a package.
type packageFinding struct {
	blob    *filebased.Blob
	message string
}

func packageRules() []packageRule {
	return []packageRule{
		{Rule{"olm/api-owners", Warning, "no two packages provide one API"}, apiOwners},
		{Rule{"olm/default-channel", Warning, "the default channel is not deprecated"}, defaultChannel},
		{Rule{"olm/dependency", Warning, "the catalog has what its bundles require"}, dependency},
		{Rule{"olm/image-tag", Warning, "images are named by digests"}, imageTag},
		{Rule{"olm/install-modes", Info, "the heads of channels support all namespaces, as OLM v1 needs"}, allNamespaces},
		{Rule{"olm/requires", Info, "the heads of channels require no other packages, which OLM v1 does not install"}, requires},
	}
}

// checkPackages applies the rules to the packages of a catalog, nil if it is invalid.
func checkPackages(loaded *catalog.Catalog) (found []Finding) {
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
		d := &definition{name: p.Name}
		for _, rule := range packageRules() {
			for _, f := range rule.check(p, offer) {
				found = append(found, d.finding(rule.Rule, f.blob.Path, f.blob.Line, "%s", f.message))
			}
		}
	}
	return found
}

// apiOwners reports the APIs that other packages provide too: OLM installs one of them in a cluster.
func apiOwners(p *filebased.Package, offer filebased.Offer) []packageFinding {
	var apis []filebased.GVK
	for _, bundle := range p.Bundles {
		apis = append(apis, bundle.Provides...)
	}
	slices.SortFunc(apis, filebased.GVK.Compare)
	var shared []string
	for _, api := range slices.Compact(apis) {
		others := slices.DeleteFunc(slices.Clone(offer.Owners(api)), func(name string) bool { return name == p.Name })
		if len(others) > 0 {
			shared = append(shared, excerpt.Of(api.String())+" of "+excerpt.List(others, maxExamples, excerpt.Of))
		}
	}
	return once(p.Blob(), shared, "provides what other packages provide, of which a cluster can have one: ")
}

// once returns a finding on a document with the first examples, none without any.
func once(blob *filebased.Blob, examples []string, text string) []packageFinding {
	if len(examples) == 0 {
		return nil
	}
	return []packageFinding{{blob, text + excerpt.Names(examples, maxExamples)}}
}

func defaultChannel(p *filebased.Package, _ filebased.Offer) []packageFinding {
	for _, channel := range p.Channels {
		if channel.Name == p.DefaultChannel && channel.Deprecated != "" {
			return []packageFinding{{p.Blob(), fmt.Sprintf("the default channel %s is deprecated: %s", quote(channel.Name), excerpt.Of(channel.Deprecated))}}
		}
	}
	return nil
}

// dependency reports each dependency that no bundle satisfies once, in the document of the highest version with it.
func dependency(p *filebased.Package, offer filebased.Offer) []packageFinding {
	var order []filebased.Dependency
	bundles := map[filebased.Dependency][]*filebased.Bundle{}
	for _, bundle := range p.Bundles {
		for _, on := range bundle.Dependencies {
			if offer.Satisfies(on) {
				continue
			}
			if bundles[on] == nil {
				order = append(order, on)
			}
			bundles[on] = append(bundles[on], bundle)
		}
	}
	var found []packageFinding
	for _, on := range order {
		message := fmt.Sprintf("%s requires %s, which the catalog does not have", excerpt.Of(bundles[on][0].Name), on)
		if others := len(bundles[on]) - 1; others > 0 {
			message += fmt.Sprintf("; further versions with it: %d", others)
		}
		found = append(found, packageFinding{bundles[on][0].Blob, message})
	}
	return found
}

// imageTag counts the images of a package, those of bundles and those that they run, that are named without a digest.
func imageTag(p *filebased.Package, _ filebased.Offer) []packageFinding {
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
		images, _ := bundle.Blob.Object()["relatedImages"].([]any)
		for _, element := range images {
			related, _ := element.(map[string]any)
			image, _ := related["image"].(string)
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

func allNamespaces(p *filebased.Package, _ filebased.Offer) []packageFinding {
	lacks := func(b *filebased.Bundle) bool {
		return b.InstallModes != nil && !slices.Contains(b.InstallModes, "AllNamespaces")
	}
	return once(p.Blob(), headsThat(p, lacks), "OLM v1 needs a setting of its own for bundles that do not support all namespaces: ")
}

func requires(p *filebased.Package, _ filebased.Offer) []packageFinding {
	has := func(b *filebased.Bundle) bool { return len(b.Dependencies) > 0 }
	return once(p.Blob(), headsThat(p, has), "OLM v1 refuses bundles with dependencies: ")
}

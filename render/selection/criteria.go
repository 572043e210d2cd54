// SPDX-License-Identifier: Apache-2.0

package selection

import (
	"k8s.io/apimachinery/pkg/labels"

	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/selection/expression"
)

// Source is a catalog with the name of its source.
type Source struct {
	Name string
	// Digest identifies the content, <algorithm>:<checksum>, or is empty. No rule depends on it.
	Digest  string
	Catalog *catalog.Catalog
	// Note says what of the artifact is no part of the catalog, or is empty. No rule depends on it.
	Note string
}

// Criteria select applications. The zero value selects all except KKP's system applications; an empty
// member is no constraint. Every member that is set must hold; of a list, one element has to match.
type Criteria struct {
	// Tiers of metadata.yaml. Case matters.
	Tiers []string
	// Names of applications. KKP's system applications are selected only by name.
	Names []string
	// Lists are names of catalogs/<name> in any of the sources.
	Lists []string
	// Exclude has the names of applications that are left out, even if the other members select them.
	Exclude []string
	// Labels select by the labels of metadata.yaml; nil selects everything.
	Labels labels.Selector
	// Expression must be true; nil selects everything.
	Expression *expression.Expression
	// Platform drops versions that do not run on it; nil drops none.
	Platform *Platform
	// Versions narrow the other versions of selected applications, one rule after the other.
	Versions []VersionRule
	// Sources are the rules of each source, in the order of the sources.
	Sources []SourceRules
}

// SourceRules are the rules of one source. The zero value lets it contribute everything, and merges nothing.
type SourceRules struct {
	// Limit refuses applications before the order of the sources counts. It is a Criteria without Exclude,
	// Versions and Sources; nil refuses nothing.
	Limit *Criteria
	// MergeVersions appends the versions that earlier sources of an application lack.
	MergeVersions bool
}

// sourceRules returns the rules of a source by its index.
func (c Criteria) sourceRules(i int) SourceRules {
	if i >= len(c.Sources) {
		return SourceRules{}
	}
	return c.Sources[i]
}

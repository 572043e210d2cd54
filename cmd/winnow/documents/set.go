// SPDX-License-Identifier: Apache-2.0

package documents

import (
	"cmp"
	"fmt"
	"slices"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"
)

// Set holds the selections, sources and consumers of files or of a commit.
type Set struct {
	Selections []Selection
	Sources    []Source
	Consumers  []Consumer
	Containers []Container
	Skipped    []Skipped
	Commit
	// files has the content of the files that nothing builds.
	files map[string][]byte
}

// Commit has what is known of the files of a commit.
type Commit struct {
	// Inputs has the content of the files that CatalogSelections, and OCIRepositories with a digest, are built of in either
	// commit, and that may have documents of a Set, or approvals.
	Inputs map[string][]byte
	// Unbuilt are files of Kustomizations that cannot be built: what else is built of them is not known.
	Unbuilt map[string]bool
	// Removed has the content of files of the older commit that the newer one lacks, or has by another name, and that may
	// have approvals.
	Removed [][]byte
	// Notes on files that are left out.
	Notes []string
}

// Content returns the content of a file that objects are read from, nil for others.
func (r *Set) Content(file string) []byte {
	if content, built := r.Inputs[file]; built {
		return content
	}
	return r.files[file]
}

// Skipped is a document of a file that Flux does not apply, which is left out because it cannot be read.
type Skipped struct {
	File, Content string
	// number of the document in the file, and the reason why it is left out.
	number int
	reason error
}

// Note returns the sentence for a report. more is inserted before the reason.
func (s Skipped) Note(more string) string {
	return fmt.Sprintf("%s: document %d is left out%s: %v", s.File, s.number, more, s.reason)
}

// Has reports whether the commit has the directory of a cluster, or of its hub, and applies a selection, a source or a consumer from it.
func (r *Set) Has(cluster string) bool {
	directory := Origin{Cluster: cluster}.Directory()
	in := func(o Origin) bool { return o.Directory() == directory }
	return slices.ContainsFunc(r.Selections, func(s Selection) bool { return in(s.Origin) }) ||
		slices.ContainsFunc(r.Sources, func(s Source) bool { return in(s.Origin) }) ||
		slices.ContainsFunc(r.Consumers, func(k Consumer) bool { return in(k.Origin) })
}

// Container is an object whose deletion deletes others.
type Container struct{ Cluster, Kind, Name, Appliers string }

// containerKinds are the kinds of such objects.
var containerKinds = map[string]bool{"Namespace": true, "CustomResourceDefinition": true}

// ConsumersOf returns the consumers of a selection, sorted by name and place. A cluster of the selection, or a namespace,
// that is unknown may be any.
func (r *Set) ConsumersOf(cs *Selection) []Consumer {
	var found []Consumer
	for _, k := range r.Consumers {
		source := k.SourceName
		anywhere := source.Namespace == "" || cs.Namespace == "" || source.Namespace == cs.Namespace
		if k.Kind == sourcev1.ExternalArtifactKind && source.Name == cs.Name && anywhere && (cs.KnownCluster() == "" || k.Cluster == cs.Cluster) {
			found = append(found, k)
		}
	}
	slices.SortFunc(found, func(a, b Consumer) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Cluster, b.Cluster), cmp.Compare(a.File, b.File))
	})
	return found
}

// File is a YAML file.
type File struct {
	Path    string
	Content []byte
	// Unapplied reports that the path contains clusters or kustomization files, and that none of them has the file.
	Unapplied bool
	// Hidden is a digest of what the catalogs of its CatalogSelections have of this repository.
	Hidden string
}

// SPDX-License-Identifier: Apache-2.0

package gitops

import (
	"slices"
	"strings"

	"github.com/winnow-dev/winnow/cmd/winnow/documents"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/building"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/manifest"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/repository"
)

// Comparison holds the objects and files of two commits.
type Comparison struct {
	Base, Head State
	// Notes are sentences on parts that are left out and equal in both commits, and Unknown on parts
	// that differ and cannot be evaluated.
	Notes, Unknown []string
	// External are Kustomizations of OCIRepositories that may differ, instead of sentences in Unknown.
	External []External
	// Clusters are the directories that were evaluated, with which sentences on them begin.
	Clusters []string
	// Missing are paths that neither commit contains.
	Missing []string
	// Outside are files of either commit that differ, are outside of the paths and are no input of an
	// evaluated Kustomization.
	Outside []documents.File
}

// External is a Kustomization of a cluster whose source is an OCIRepository, which is not this repository.
type External struct {
	// Cluster, or the file, has the Kustomization, and Name is <namespace>/<name> of it.
	Cluster, Name string
	// Sentence says that it differs, and is unknown unless somebody compares the artifacts. It begins with the cluster.
	Sentence string
	// VariablesDiffer reports that the variables of the Kustomization differ as well.
	VariablesDiffer bool
}

// Is reports whether the Kustomization of a cluster, or a file, has the name.
func (e External) Is(place, name string) bool {
	return e.Cluster == place && e.Name == strings.TrimPrefix(name, "/")
}

// State holds the objects and files of a commit.
type State struct {
	// Objects that Flux applies to the clusters.
	Objects []manifest.Object
	// Files that nothing builds, unchanged.
	Files []documents.File
	documents.Commit
}

// Options of a comparison.
type Options struct {
	// Dir is a directory of the repository; empty for the working directory.
	Dir string
	// Paths of clusters, or of files, in the repository.
	Paths []string
	// Repositories are NAME=DIR: sources that resolve to this repository, whatever their address.
	Repositories []string
	// Edits are other contents of files of the newer commit.
	Edits map[string][]byte
	// Keep reports whether the result includes a file.
	Keep func(content []byte) bool
}

// Bounds of the files that no Kustomization applies.
const (
	maxFiles     = 20_000
	maxFileBytes = 256 << 20
)

// evaluation is a cluster, or an overlay, and the files that its Kustomizations are built from in either commit.
type evaluation struct {
	dir   string
	alone bool
	files map[string]bool
}

// comparer compares two trees.
type comparer struct {
	base, head *repository.Tree
	self       repository.Identity
	builds     *building.Builder
	out        *Comparison
	// evaluated are the clusters and the overlays that were evaluated.
	evaluated []evaluation
	// syncs are the ones of the clusters in both commits. The objects of a cluster need not include its FluxInstance.
	syncs [2]map[string]*manifest.Sync
}

// isApplied reports whether the Kustomizations of a cluster are built from a file, and isBuilt whether these or an
// overlay are.
func (c *comparer) isApplied(file string) bool {
	return slices.ContainsFunc(c.evaluated, func(e evaluation) bool { return !e.alone && e.files[file] })
}

func (c *comparer) isBuilt(file string) bool {
	return slices.ContainsFunc(c.evaluated, func(e evaluation) bool { return e.files[file] })
}

// maxListed bounds the names in a note.
const maxListed = 20

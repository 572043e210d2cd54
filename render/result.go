// SPDX-License-Identifier: Apache-2.0

package render

import (
	"io"
	"path"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/winnow-dev/winnow/render/archive"
	"github.com/winnow-dev/winnow/render/contents"
	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/installation"
	"github.com/winnow-dev/winnow/render/instance"
	"github.com/winnow-dev/winnow/render/mention"
	"github.com/winnow-dev/winnow/render/safeguard"
	"github.com/winnow-dev/winnow/render/selection"
	"github.com/winnow-dev/winnow/render/tree"
)

// RevisionPrefix is what every revision of an artifact begins with.
const RevisionPrefix = "latest@"

// Result is a rendered artifact. It must not be changed.
type Result struct {
	// Tree is the content of the artifact.
	Tree *tree.Tree
	// Revision is latest@sha256:<digest of the tree's content>.
	Revision string
	// Selection has the decision for every application of every source.
	Selection selection.Result
	// Definitions of the artifact as kustomize builds them, sorted by name.
	Definitions []safeguard.Definition
	// Contents are the applications of the artifact that are no objects, sorted by name. No cluster has them.
	Contents []safeguard.Definition
	// Instances of the artifact, sorted by name, and the instances of the spec that cannot be resolved.
	Instances  []installation.Instance
	Unresolved []instance.Unresolved
	// Served is the catalog of OLM of spec.push.catalog, which serves the packages; nil for none.
	Served *safeguard.Key
	// Supporting are the keys of the other objects of the instances, and Served.
	Supporting []safeguard.Key
	// Targets are the kinds that the cluster has to serve for the instances, sorted.
	Targets []schema.GroupVersionKind
	// Unmatched are the names in the spec that match nothing, in its order.
	Unmatched []mention.Unmatched
	// Patched is what patches take from definitions, in the order of Definitions.
	Patched []Patched
	// Addresses are the hosts that the mirrors found in each application's document; empty without
	// mirrors.
	Addresses []Addresses

	// omitted are the documents of selected applications that spec.definitions leaves out.
	omitted []document
	// kustomization of the tree, without its resources.
	kustomization tree.Kustomization
}

// Compared returns what the safeguards compare: what Live returns, and the contents.
func (r *Result) Compared() []safeguard.Definition {
	return append(slices.Clip(r.Live()), r.Contents...)
}

// Live returns what a cluster has of the artifact, and what is claimed there: the definitions, and the main objects of
// instances.
func (r *Result) Live() []safeguard.Definition {
	return append(slices.Clip(r.Definitions), each.Map(r.Instances, func(in installation.Instance) safeguard.Definition { return in.Main })...)
}

// WriteArchive writes the artifact as a tar.gz, the same bytes on every run.
func (r *Result) WriteArchive(w io.Writer) error {
	return archive.Write(w, r.Tree)
}

// Find returns the instance of the artifact with a name; nil if there is none.
func (r *Result) Find(name string) *installation.Instance {
	i := slices.IndexFunc(r.Instances, func(in installation.Instance) bool { return in.Name == name })
	if i < 0 {
		return nil
	}
	return &r.Instances[i]
}

// ContentFiles returns the paths of the files of contents, sorted.
func (r *Result) ContentFiles() []string {
	return each.Where(r.Tree.Paths(), func(file string) bool {
		return slices.ContainsFunc(contents.Patterns(), func(pattern string) bool { is, _ := path.Match(pattern, file); return is })
	})
}

package gitops

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

// Comparison holds the objects and files of two commits.
type Comparison struct {
	Base, Head State
	// Notes are sentences on parts that are left out and equal in both commits, and Unknown on parts
	// that differ and cannot be evaluated.
	Notes, Unknown []string
	// Missing are paths that neither commit contains.
	Missing []string
	// Outside are files of either commit that differ, are outside of the paths and are no input of an
	// evaluated Kustomization.
	Outside []File
}

// State holds the objects and files of a commit.
type State struct {
	// Objects that Flux applies to the clusters.
	Objects []Object
	// Files that no Kustomization of Flux applies, unchanged.
	Files []File
	// Notes on files that are left out.
	Notes []string
}

// File is a YAML file.
type File struct {
	Path    string
	Content []byte
	// Unapplied reports that the path contains clusters, and that none of them applies the file.
	Unapplied bool
}

// Options of a comparison.
type Options struct {
	// Paths of clusters, or of files, in the repository.
	Paths []string
	// Repositories are NAME=DIR: sources that resolve to this repository, whatever their address.
	Repositories []string
	// Keep reports whether the result includes a file that no Kustomization applies.
	Keep func(content []byte) bool
}

// Bounds of the files that no Kustomization applies.
const (
	maxFiles     = 20_000
	maxFileBytes = 256 << 20
)

// Compare evaluates two commits.
func Compare(ctx context.Context, base, head string, options Options) (*Comparison, error) {
	git := Git{}
	self := identity{}
	var err error
	if self.remotes, err = git.remotes(ctx); err != nil {
		return nil, err
	}
	self.named, err = parseRepositories(options.Repositories, func(dir string) (string, error) { return git.Root(ctx, dir) })
	if err != nil {
		return nil, err
	}
	objects, err := git.open(ctx)
	if err != nil {
		return nil, err
	}
	defer objects.close()
	older, err := git.tree(ctx, base, objects)
	if err != nil {
		return nil, err
	}
	newer, err := git.tree(ctx, head, objects)
	if err != nil {
		return nil, err
	}
	c := &comparer{base: older, head: newer, self: self, builds: newBuilder(), out: &Comparison{}, applied: map[string]bool{}, syncs: clusters{}}
	return c.compare(ctx, options)
}

// comparer compares two trees.
type comparer struct {
	base, head *tree
	self       identity
	builds     *builder
	out        *Comparison
	// applied is the set of files that Kustomizations are built from.
	applied map[string]bool
	// syncs are the sources that flux-operator creates. The objects of the cluster need not include them.
	syncs clusters
}

func (c *comparer) compare(ctx context.Context, options Options) (*Comparison, error) {
	found := clusters{}
	paths := map[string]bool{}
	for _, name := range options.Paths {
		if !c.base.exists(name) && !c.head.exists(name) {
			c.out.Missing = append(c.out.Missing, name)
		}
		for _, t := range []*tree{c.base, c.head} {
			for dir, sync := range clustersIn(t, name) {
				paths[name] = true
				found[dir] = nil
				if sync != nil {
					c.syncs[dir] = sync
				}
			}
		}
	}
	for _, dir := range found.dirs() {
		if err := c.cluster(ctx, dir); err != nil {
			return nil, err
		}
	}
	for _, side := range []struct {
		tree  *tree
		state *State
	}{{c.base, &c.out.Base}, {c.head, &c.out.Head}} {
		if err := c.files(side.tree, side.state, options, paths); err != nil {
			return nil, err
		}
	}
	c.overlays(options, paths)
	c.reportAppliedElsewhere(options)
	return c.out, c.collectOutside(options)
}

// files reads the files that no Kustomization applies.
func (c *comparer) files(t *tree, state *State, options Options, paths map[string]bool) error {
	seen := map[string]bool{}
	total := int64(0)
	for _, name := range options.Paths {
		for _, file := range t.yamls(name) {
			if seen[file] || c.applied[file] {
				continue
			}
			seen[file] = true
			if t.files[file].size > maxScanned {
				state.Notes = append(state.Notes, fmt.Sprintf("%s is left out: it is larger than %d bytes", file, maxScanned))
				continue
			}
			if total += t.files[file].size; total > maxFileBytes || len(seen) > maxFiles {
				return fmt.Errorf("%s has more than %d YAML files, or %d bytes of them: pass the PATH of fewer",
					t.commit, maxFiles, maxFileBytes)
			}
			content, err := t.read(file)
			if err != nil {
				return err
			}
			if options.Keep(content) {
				state.Files = append(state.Files, File{Path: file, Content: content, Unapplied: paths[name]})
			}
		}
	}
	return nil
}

// cluster evaluates a cluster in both commits.
func (c *comparer) cluster(ctx context.Context, dir string) error {
	base := &walk{cluster: dir, tree: c.base, self: c.self, builds: c.builds, sync: c.syncs[dir]}
	if err := base.run(ctx); err != nil {
		return err
	}
	head := &walk{cluster: dir, tree: c.head, self: c.self, builds: c.builds, sync: c.syncs[dir], older: base}
	if err := head.run(ctx); err != nil {
		return err
	}
	head.markUnknownBefore(base)
	for _, w := range []*walk{base, head} {
		for _, n := range w.order {
			if n.closure == nil {
				continue
			}
			for name := range n.closure.files {
				c.applied[name] = true
			}
		}
	}
	c.out.Base.Objects = append(c.out.Base.Objects, base.objects()...)
	c.out.Head.Objects = append(c.out.Head.Objects, head.objects()...)
	r := reporter{base: base, head: head, out: c.out}
	r.report()
	return nil
}

// objects returns the objects of all nodes.
func (w *walk) objects() []Object {
	var all []Object
	for _, n := range w.order {
		all = append(all, n.objects...)
	}
	return all
}

// markUnknownBefore marks the objects of nodes that could not be evaluated in the base.
func (w *walk) markUnknownBefore(base *walk) {
	for _, n := range w.order {
		if n.outcome != evaluated {
			continue
		}
		for _, name := range append(slices.Clone(n.parents), n.name) {
			old := base.nodes[name]
			if !old.isUnknown() {
				continue
			}
			for i := range n.objects {
				n.objects[i].Unknown = append(n.objects[i].Unknown, "before: "+old.label()+": "+old.reason)
			}
			break
		}
	}
}

// sources returns references to the sources of the CatalogSelections.
func (w *walk) sources() []objectRef {
	var all []objectRef
	for _, o := range w.objects() {
		if o.group() != v1alpha1.GroupVersion.Group || o.GetKind() != v1alpha1.CatalogSelectionKind {
			continue
		}
		refs, _, _ := unstructured.NestedSlice(o.Object, "spec", "sources")
		for _, ref := range refs {
			fields, _ := ref.(map[string]any)
			text := func(key, otherwise string) string {
				if value, ok := fields[key].(string); ok && value != "" {
					return value
				}
				return otherwise
			}
			all = append(all, objectRef{o.Cluster, sourceGroup, text("kind", "OCIRepository"), types.NamespacedName{
				Namespace: text("namespace", o.GetNamespace()), Name: text("name", ""),
			}})
		}
	}
	return slices.DeleteFunc(all, func(m objectRef) bool { return strings.TrimSpace(m.name.Name) == "" })
}

package gitops

import (
	"context"
	"fmt"
	"maps"
	"slices"

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
	// Files that nothing builds, unchanged.
	Files []File
	// Notes on files that are left out.
	Notes []string
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

// Options of a comparison.
type Options struct {
	// Paths of clusters, or of files, in the repository.
	Paths []string
	// Repositories are NAME=DIR: sources that resolve to this repository, whatever their address.
	Repositories []string
	// Keep reports whether the result includes a file that nothing builds.
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
	c := &comparer{
		base: older, head: newer, self: self, builds: newBuilder(), out: &Comparison{}, syncs: clusters{},
	}
	out, err := c.compare(ctx, options)
	if err != nil {
		return nil, err
	}
	for _, n := range self.named {
		if !*n.used {
			return nil, fmt.Errorf("--repository: no Kustomization or CatalogSelection at the paths has the source %s", nameOf(n.source))
		}
	}
	return out, nil
}

// evaluation is a cluster, or an overlay, and the files that its Kustomizations are built from in either commit.
type evaluation struct {
	dir   string
	alone bool
	files map[string]bool
}

// comparer compares two trees.
type comparer struct {
	base, head *tree
	self       identity
	builds     *builder
	out        *Comparison
	// evaluated are the clusters and the overlays that were evaluated.
	evaluated []evaluation
	// syncs are the sources that flux-operator creates. The objects of the cluster need not include them.
	syncs clusters
}

func (c *comparer) compare(ctx context.Context, options Options) (*Comparison, error) {
	found, paths := c.findClusters(options)
	for _, dir := range found.dirs() {
		if err := c.evaluate(ctx, dir, nil); err != nil {
			return nil, err
		}
	}
	if err := c.evaluateOverlays(ctx, options); err != nil {
		return nil, err
	}
	for _, side := range []struct {
		tree  *tree
		state *State
	}{{c.base, &c.out.Base}, {c.head, &c.out.Head}} {
		if err := c.files(side.tree, side.state, options, paths); err != nil {
			return nil, err
		}
	}
	c.reportBuiltElsewhere(options, c.reportAppliedElsewhere(options))
	return c.out, c.collectOutside(options)
}

// findClusters returns the clusters at the paths, and the paths that have some. It reports submodules, and a FluxInstance
// that applies a cluster in another way.
func (c *comparer) findClusters(options Options) (found clusters, paths map[string]bool) {
	found, paths = clusters{}, map[string]bool{}
	syncs := [2]clusters{{}, {}}
	for _, name := range options.Paths {
		if !c.base.exists(name) && !c.head.exists(name) {
			c.out.Missing = append(c.out.Missing, name)
		}
		if c.base.module(name) != "" || c.head.module(name) != "" {
			c.out.Unknown = append(c.out.Unknown, name+" is in a submodule, whose files are not read here")
		}
		for i, t := range []*tree{c.base, c.head} {
			for dir, sync := range c.self.clustersIn(t, name) {
				paths[name] = true
				found[dir] = nil
				if sync != nil {
					c.syncs[dir], syncs[i][dir] = sync, sync
				}
			}
		}
	}
	for _, dir := range slices.Sorted(maps.Keys(syncs[0])) {
		if after := syncs[1][dir]; after == nil || yamlOf(after.Object) != yamlOf(syncs[0][dir].Object) {
			c.out.Unknown = append(c.out.Unknown, dir+": its FluxInstance differs in spec.sync, or in patches of it, which are not evaluated here")
		}
	}
	return found, paths
}

// files reads the files that nothing builds.
func (c *comparer) files(t *tree, state *State, options Options, paths map[string]bool) error {
	seen := map[string]bool{}
	total := int64(0)
	for _, name := range options.Paths {
		for _, file := range t.yamls(name) {
			if seen[file] || c.isBuilt(file) {
				continue
			}
			seen[file] = true
			if t.files[file].size > maxScanned {
				c.large(t, state, file, options)
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
				unapplied := paths[name] || slices.ContainsFunc(c.evaluated, func(e evaluation) bool { return e.alone && contains(e.dir, file) })
				state.Files = append(state.Files, File{Path: file, Content: content, Unapplied: unapplied})
			}
		}
	}
	c.hideFiles(t, state.Files)
	return nil
}

// hideFiles sets Hidden of files that nothing builds.
func (c *comparer) hideFiles(t *tree, files []File) {
	n := &node{kustomization: directoryKustomization("."), outcome: evaluated}
	var of []int
	for i, file := range files {
		for _, o := range documentsOf(file.Content) {
			n.objects, of = append(n.objects, Object{Unstructured: o}), append(of, i)
		}
	}
	w := &walk{tree: t, self: c.self, trees: map[string]*tree{"": t}, recognized: map[string]string{}, order: []*node{n}}
	for i := range n.objects {
		w.hide(&n.objects[i])
		if hidden := n.objects[i].Hidden; hidden != "" {
			files[of[i]].Hidden = digest(files[of[i]].Hidden, hidden)
		}
	}
}

// large reports a file that is too large to be read: as unknown if it differs and would be kept.
func (c *comparer) large(t *tree, state *State, file string, options Options) {
	const because = "it is larger than %d bytes"
	if c.base.files[file] == c.head.files[file] {
		state.Notes = append(state.Notes, fmt.Sprintf("%s is left out: "+because, file, maxScanned))
		return
	}
	sentence := fmt.Sprintf("%s is left out, and differs: "+because, file, maxScanned)
	if content, err := t.read(file); (err != nil || options.Keep(content)) && !slices.Contains(c.out.Unknown, sentence) {
		c.out.Unknown = append(c.out.Unknown, sentence)
	}
}

// finish sets what is not known of the objects, and adds the files that they are built of.
func (w *walk) finish(files map[string]bool) {
	for _, n := range w.order {
		for i := range n.objects {
			w.hide(&n.objects[i])
		}
		if n.closure != nil {
			for name := range n.closure.files {
				files[name] = true
			}
		}
	}
}

// evaluate evaluates a cluster in both commits, or an overlay, which is nil for a cluster.
func (c *comparer) evaluate(ctx context.Context, dir string, alone *overlay) error {
	base := &walk{cluster: dir, tree: c.base, self: c.self, builds: c.builds, sync: c.syncs[dir]}
	if err := base.run(ctx); err != nil {
		return err
	}
	head := &walk{cluster: dir, tree: c.head, self: c.self, builds: c.builds, sync: c.syncs[dir], older: base}
	if err := head.run(ctx); err != nil {
		return err
	}
	if alone != nil && alone.included && slices.EqualFunc(base.objects(), head.objects(), func(a, b Object) bool { return a.digest() == b.digest() }) {
		return nil
	}
	head.markUnknownBefore(base)
	for name := range base.nodes {
		if !equal(base.nodes[name], head.nodes[name]) {
			base.nodes[name].readContainers()
		}
	}
	for name, n := range head.nodes {
		if !equal(base.nodes[name], n) {
			n.readContainers()
		}
	}
	done := evaluation{dir, alone != nil, map[string]bool{}}
	base.finish(done.files)
	head.finish(done.files)
	c.evaluated = append(c.evaluated, done)
	for _, side := range []struct {
		state *State
		walk  *walk
	}{{&c.out.Base, base}, {&c.out.Head, head}} {
		for _, o := range side.walk.objects() {
			o.Alone = alone != nil
			side.state.Objects = append(side.state.Objects, o)
		}
	}
	r := reporter{base: base, head: head, alone: alone, out: c.out}
	r.report()
	return nil
}

// isApplied reports whether the Kustomizations of a cluster are built from a file, and isBuilt whether these or an
// overlay are.
func (c *comparer) isApplied(file string) bool {
	return slices.ContainsFunc(c.evaluated, func(e evaluation) bool { return !e.alone && e.files[file] })
}

func (c *comparer) isBuilt(file string) bool {
	return slices.ContainsFunc(c.evaluated, func(e evaluation) bool { return e.files[file] })
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
		all = append(all, o.sources()...)
	}
	return all
}

// sources returns references to the sources of a CatalogSelection, in the order of the spec, and none for other objects.
func (o Object) sources() []objectRef {
	if o.group() != v1alpha1.GroupVersion.Group || o.GetKind() != v1alpha1.CatalogSelectionKind {
		return nil
	}
	var all []objectRef
	for _, fields := range mapsAt(o.Unstructured, "spec", "sources") {
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
	return all
}

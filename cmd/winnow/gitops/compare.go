// SPDX-License-Identifier: Apache-2.0

package gitops

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/cmd/winnow/documents"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/building"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/inputs"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/manifest"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/repository"
)

// Compare evaluates two commits.
func Compare(ctx context.Context, base, head string, options Options) (*Comparison, error) {
	git := repository.Git{Dir: options.Dir}
	self := repository.Identity{}
	var err error
	if self.Remotes, err = git.Remotes(ctx); err != nil {
		return nil, err
	}
	self.Named, err = repository.ParseRepositories(options.Repositories, func(dir string) (string, error) { return git.Root(ctx, dir) })
	if err != nil {
		return nil, err
	}
	objects, err := git.Open(ctx)
	if err != nil {
		return nil, err
	}
	defer objects.Close()
	older, err := git.Tree(ctx, base, objects)
	if err != nil {
		return nil, err
	}
	newer, err := git.Tree(ctx, head, objects)
	if err != nil {
		return nil, err
	}
	c := &comparer{
		base: older, head: newer.With(options.Edits), self: self, builds: building.NewBuilder(), out: &Comparison{}, syncs: [2]map[string]*manifest.Sync{{}, {}},
	}
	out, err := c.compare(ctx, options)
	if err != nil {
		return nil, err
	}
	for _, n := range self.Named {
		if !*n.Used {
			return nil, fmt.Errorf("--repository: no Kustomization or CatalogSelection at the paths has the source %s", manifest.NameOf(n.Source))
		}
	}
	return out, nil
}

func (c *comparer) compare(ctx context.Context, options Options) (*Comparison, error) {
	found, paths := c.findClusters(options)
	outer := append(found[0].dirs(), found[1].dirs()...)
	for _, dir := range namesIn(found[0], found[1]) {
		if !slices.Contains(outer, dir) && c.isPart(dir) {
			continue
		}
		if err := c.evaluate(ctx, dir, nil); err != nil {
			return nil, err
		}
	}
	if err := c.evaluateOverlays(ctx, options); err != nil {
		return nil, err
	}
	sides := []struct {
		tree  *repository.Tree
		state *State
	}{{c.base, &c.out.Base}, {c.head, &c.out.Head}}
	for _, side := range sides {
		if err := c.files(side.tree, side.state, options, paths); err != nil {
			return nil, err
		}
	}
	for _, side := range sides {
		if err := side.state.readInputs(side.tree, options, slices.Concat(c.out.Base.Objects, c.out.Head.Objects)); err != nil {
			return nil, err
		}
	}
	if err := c.readRemoved(); err != nil {
		return nil, err
	}
	c.reportBuiltElsewhere(options, c.reportAppliedElsewhere(options))
	return c.out, c.collectOutside(options)
}

// findClusters returns the clusters of both commits at the paths, and the paths that have some. It reports submodules, and a
// FluxInstance that applies a cluster in another way.
func (c *comparer) findClusters(options Options) (found [2]clusters, paths map[string]bool) {
	found, paths = [2]clusters{{}, {}}, map[string]bool{}
	for _, name := range options.Paths {
		if !c.base.Exists(name) && !c.head.Exists(name) {
			c.out.Missing = append(c.out.Missing, name)
		}
		if c.base.Module(name) != "" || c.head.Module(name) != "" {
			c.out.Unknown = append(c.out.Unknown, name+" is in a submodule, whose files are not read here")
		}
		for i, t := range []*repository.Tree{c.base, c.head} {
			for dir, syncs := range clustersIn(c.self, t, name) {
				paths[name] = true
				found[i][dir] = syncs
			}
		}
	}
	for _, dir := range namesIn(found[0], found[1]) {
		before, after := found[0][dir], found[1][dir]
		c.syncs[0][dir], c.syncs[1][dir] = first(before, after), first(after, before)
		if len(before) > 0 && !slices.EqualFunc(before, after, func(a, b *manifest.Sync) bool { return a.Digest() == b.Digest() }) {
			c.out.Unknown = append(c.out.Unknown, dir+": its FluxInstance differs in spec.sync, or in patches of it: what applies these is not known")
		}
	}
	return found, paths
}

// first returns the first item of the first list that has one, or nil.
func first(lists ...[]*manifest.Sync) *manifest.Sync {
	for _, all := range lists {
		if len(all) > 0 {
			return all[0]
		}
	}
	return nil
}

// isPart reports whether a directory is below one that was evaluated, and that is built of files in it.
func (c *comparer) isPart(dir string) bool {
	return slices.ContainsFunc(c.evaluated, func(e evaluation) bool {
		within := func(file string) bool { return repository.Contains(dir, file) }
		return repository.Contains(e.dir, dir) && slices.ContainsFunc(slices.Collect(maps.Keys(e.files)), within)
	})
}

// files reads the files that nothing builds.
func (c *comparer) files(t *repository.Tree, state *State, options Options, paths map[string]bool) error {
	seen := map[string]bool{}
	total := int64(0)
	for _, name := range options.Paths {
		for _, file := range t.YAMLs(name) {
			if seen[file] || c.isBuilt(file) {
				continue
			}
			seen[file] = true
			if t.Files[file].Size > maxScanned {
				c.large(t, state, file, options)
				continue
			}
			if total += t.Files[file].Size; total > maxFileBytes || len(seen) > maxFiles {
				return fmt.Errorf("%s has more than %d YAML files, or %d bytes of them: pass the PATH of fewer",
					t.Commit, maxFiles, maxFileBytes)
			}
			content, err := t.Read(file)
			if err != nil {
				return err
			}
			if options.Keep(content) {
				unapplied := paths[name] || slices.ContainsFunc(c.evaluated, func(e evaluation) bool { return e.alone && repository.Contains(e.dir, file) })
				state.Files = append(state.Files, documents.File{Path: file, Content: content, Unapplied: unapplied})
			}
		}
	}
	c.hideFiles(t, state.Files)
	return nil
}

// readInputs reads the files that CatalogSelections, and OCIRepositories with a digest, are built of in either commit.
func (s *State) readInputs(t *repository.Tree, options Options, objects []manifest.Object) error {
	s.Inputs = map[string][]byte{}
	read := map[string]bool{}
	for _, o := range objects {
		if o.Group() != v1alpha1.GroupVersion.Group && (o.Group() != manifest.SourceGroup || manifest.StringAt(o.Unstructured, "spec", "ref", "digest") == "") {
			continue
		}
		for _, name := range o.Inputs {
			if read[name] || !repository.IsYAML(name) || !t.IsFile(name) {
				continue
			}
			read[name] = true
			content, err := t.Read(name)
			if err != nil {
				return err
			}
			if options.Keep(content) || bytes.Contains(content, []byte("safeguards")) { // a patch may have an approval
				s.Inputs[name] = content
			}
		}
	}
	return nil
}

// readRemoved reads the files that the newer commit lacks, whatever their names: git shows a file with another name as moved.
// It builds nothing of files that are too large.
func (c *comparer) readRemoved() error {
	for _, name := range c.base.Below(".") {
		if c.head.IsFile(name) {
			continue
		}
		content, err := c.base.Read(name)
		if errors.Is(err, repository.ErrTooLarge) {
			continue
		}
		if err != nil {
			return err
		}
		if bytes.Contains(content, []byte(v1alpha1.GroupVersion.Group)) {
			c.out.Base.Removed = append(c.out.Base.Removed, content)
		}
	}
	return nil
}

// hideFiles sets Hidden of files that nothing builds.
func (c *comparer) hideFiles(t *repository.Tree, files []documents.File) {
	n := &node{Kustomization: manifest.DirectoryKustomization("."), outcome: evaluated}
	var of []int
	for i, file := range files {
		for _, o := range manifest.Documents(file.Content) {
			n.objects, of = append(n.objects, manifest.Object{Unstructured: o}), append(of, i)
		}
	}
	w := &walk{tree: t, self: c.self, recognized: map[string]string{}, order: []*node{n}}
	for i := range n.objects {
		w.hide(&n.objects[i])
		if hidden := n.objects[i].Hidden; hidden != "" {
			files[of[i]].Hidden = inputs.Digest(files[of[i]].Hidden, hidden)
		}
	}
}

// large reports a file that is too large to be read: as unknown if it differs and would be kept.
func (c *comparer) large(t *repository.Tree, state *State, file string, options Options) {
	const because = "it is larger than %d bytes"
	if c.base.Files[file] == c.head.Files[file] {
		state.Notes = append(state.Notes, fmt.Sprintf("%s is left out: "+because, file, maxScanned))
		return
	}
	sentence := fmt.Sprintf("%s is left out, and differs: "+because, file, maxScanned)
	if content, err := t.Read(file); (err != nil || options.Keep(content)) && !slices.Contains(c.out.Unknown, sentence) {
		c.out.Unknown = append(c.out.Unknown, sentence)
	}
}

// evaluateOverlays evaluates the directories at the paths that are built by themselves: no Kustomization of a cluster
// applies them. One that is named is evaluated whatever it has, so that its errors are seen. One that others include is
// usually a base, and may be what a cluster gets as well: it is evaluated if none of the others shows its changes.
func (c *comparer) evaluateOverlays(ctx context.Context, options Options) error {
	atPaths := func(file string) bool {
		return !c.isApplied(file) && repository.ContainsAny(options.Paths, file)
	}
	for _, o := range c.overlaysIn(options, atPaths) {
		if !o.named && !o.relevant || o.included && (o.state[0] == o.state[1] || c.isShown(o)) {
			continue
		}
		if err := c.evaluate(ctx, o.dir, o); err != nil {
			return err
		}
	}
	for _, e := range c.evaluated {
		if e.alone {
			c.out.Notes = append(c.out.Notes, e.dir+": no Kustomization that is built here applies it; it is built as if one did")
		}
	}
	return nil
}

// isShown reports whether the objects of an evaluated directory that includes an overlay differ, or are unknown.
func (c *comparer) isShown(o *overlay) bool {
	return slices.ContainsFunc(c.evaluated, func(e evaluation) bool {
		of := func(all []manifest.Object) (content []string) {
			for _, object := range all {
				if object.Cluster == e.dir {
					content = append(content, object.Digest())
				}
			}
			return content
		}
		builds := func(name string) bool { return e.files[path.Join(o.dir, name)] }
		return e.alone && e.dir != o.dir && slices.ContainsFunc(inputs.KustomizationNames(), builds) && !slices.Equal(of(c.out.Base.Objects), of(c.out.Head.Objects))
	})
}

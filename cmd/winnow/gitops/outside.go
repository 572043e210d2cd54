// SPDX-License-Identifier: Apache-2.0

package gitops

import (
	"fmt"
	"maps"
	"slices"

	"github.com/winnow-dev/winnow/cmd/winnow/documents"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/inputs"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/repository"
	"github.com/winnow-dev/winnow/render/excerpt"
)

// reportAppliedElsewhere reports paths whose files are applied by Kustomizations of clusters outside of the
// paths. Read without these Kustomizations, the files lack what they add, sources for example, and the
// objects that they lead to are outside, too. It returns these paths.
func (c *comparer) reportAppliedElsewhere(options Options) (reported []string) {
	for _, name := range options.Paths {
		var dirs []string
		for _, t := range []*repository.Tree{c.base, c.head} {
			dirs = append(dirs, c.clustersApplying(t, name)...)
		}
		if len(dirs) == 0 {
			continue
		}
		reported = append(reported, name)
		slices.Sort(dirs)
		dirs = slices.Compact(dirs)
		sentence := fmt.Sprintf("%s is not the directory of a cluster, and Kustomizations of other clusters apply its files: "+
			"pass the directories of clusters instead, or no path at all; there are %s", name, excerpt.Names(dirs, maxListed))
		c.add(!maps.Equal(c.base.Files, c.head.Files), sentence)
	}
	return reported
}

// add adds a sentence on a part that is not evaluated: to what is unknown if it differs, and otherwise to the notes.
func (c *comparer) add(differs bool, sentence string) {
	to := &c.out.Notes
	if differs {
		to = &c.out.Unknown
	}
	*to = append(*to, sentence)
}

// clustersApplying returns the directories of all clusters in the repository if one of their Kustomizations
// applies files at the path that were not evaluated.
func (c *comparer) clustersApplying(t *repository.Tree, name string) []string {
	waiting := slices.DeleteFunc(t.Below(name), func(file string) bool { return c.isApplied(file) })
	if len(waiting) == 0 || name == "." {
		return nil
	}
	for _, w := range kustomizationsIn(c.self, t, t.YAMLs(".")) {
		if w.foreign || !t.IsDir(w.path) || repository.Contains(name, w.file) {
			continue
		}
		files := inputs.NewClosure(t, w.path, w.components).Files
		if slices.ContainsFunc(waiting, func(file string) bool { _, applied := files[file]; return applied }) {
			return clustersIn(c.self, t, ".").dirs()
		}
	}
	return nil
}

// collectOutside collects the files of Comparison.Outside, and for each directory that is built and differs one with all
// that it is built of.
func (c *comparer) collectOutside(options Options) error {
	outside := func(file string) bool {
		return !c.isBuilt(file) && !repository.ContainsAny(options.Paths, file)
	}
	for _, o := range c.overlaysIn(options, outside) {
		if o.state[0] == o.state[1] {
			continue
		}
		built := documents.File{Path: o.dir}
		for _, t := range []*repository.Tree{c.base, c.head} {
			for _, name := range slices.Sorted(maps.Keys(o.files)) {
				if content, err := t.Read(name); err == nil {
					built.Content = append(append(built.Content, content...), '\n')
				}
			}
		}
		c.out.Outside = append(c.out.Outside, built)
	}
	total := int64(0)
	for _, side := range []struct{ tree, other *repository.Tree }{{c.base, c.head}, {c.head, c.base}} {
		for _, file := range side.tree.YAMLs(".") {
			blob := side.tree.Files[file]
			if !outside(file) || blob == side.other.Files[file] || blob.Size > maxScanned {
				continue
			}
			if total += blob.Size; total > maxFileBytes {
				return fmt.Errorf("more than %d bytes of YAML files differ outside of the paths", maxFileBytes)
			}
			content, err := side.tree.Read(file)
			if err != nil {
				return err
			}
			if options.Keep(content) {
				c.out.Outside = append(c.out.Outside, documents.File{Path: file, Content: content})
			}
		}
	}
	return nil
}

// reportBuiltElsewhere reports paths whose files are built by directories that are not evaluated: what a cluster gets is
// the result of these.
func (c *comparer) reportBuiltElsewhere(options Options, reported []string) {
	for _, name := range options.Paths {
		files := append(c.base.Below(name), c.head.Below(name)...)
		uses := func(built map[string]bool) bool {
			return slices.ContainsFunc(files, func(file string) bool { return built[file] })
		}
		if name == "." || slices.Contains(reported, name) ||
			slices.ContainsFunc(c.evaluated, func(e evaluation) bool { return !repository.Contains(name, e.dir) && uses(e.files) }) {
			continue
		}
		var dirs []string
		differs := false
		for _, o := range c.overlaysIn(options, func(file string) bool { return !repository.Contains(name, file) && !c.isBuilt(file) }) {
			if !o.included && uses(o.files) {
				dirs = append(dirs, o.dir)
				differs = differs || o.state[0] != o.state[1]
			}
		}
		if len(dirs) == 0 {
			continue
		}
		sentence := fmt.Sprintf("%s: other directories build its files, and may change what they have: "+
			"pass these directories instead, or no path at all: %s", name, excerpt.Names(dirs, maxListed))
		c.add(differs, sentence)
	}
}

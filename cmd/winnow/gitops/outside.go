package gitops

import (
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/winnow-dev/winnow/render/excerpt"
)

// reportAppliedElsewhere reports paths whose files are applied by Kustomizations of clusters outside of the
// paths. Read without these Kustomizations, the files lack what they add, sources for example, and the
// objects that they lead to are outside, too. It returns these paths.
func (c *comparer) reportAppliedElsewhere(options Options) (reported []string) {
	for _, name := range options.Paths {
		var dirs []string
		for _, t := range []*tree{c.base, c.head} {
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
		if maps.Equal(c.base.files, c.head.files) {
			c.out.Notes = append(c.out.Notes, sentence)
		} else {
			c.out.Unknown = append(c.out.Unknown, sentence)
		}
	}
	return reported
}

// clustersApplying returns the directories of all clusters in the repository if one of their Kustomizations
// applies files at the path that were not evaluated.
func (c *comparer) clustersApplying(t *tree, name string) []string {
	waiting := slices.DeleteFunc(t.below(name), func(file string) bool { return c.isApplied(file) })
	if len(waiting) == 0 || name == "." {
		return nil
	}
	for _, w := range c.self.kustomizationsIn(t, t.yamls(".")) {
		if w.foreign || !t.isDir(w.path) || contains(name, w.file) {
			continue
		}
		files := newClosure(t, w.path, w.components).files
		if slices.ContainsFunc(waiting, func(file string) bool { _, applied := files[file]; return applied }) {
			return c.self.clustersIn(t, ".").dirs()
		}
	}
	return nil
}

// collectOutside collects the files of Comparison.Outside, and for each directory that is built and differs one with all
// that it is built of.
func (c *comparer) collectOutside(options Options) error {
	outside := func(file string) bool {
		return !c.isBuilt(file) && !slices.ContainsFunc(options.Paths, func(name string) bool { return contains(name, file) })
	}
	for _, o := range c.overlaysIn(options, outside) {
		if o.state[0] == o.state[1] {
			continue
		}
		built := File{Path: o.dir}
		for _, t := range []*tree{c.base, c.head} {
			for _, name := range slices.Sorted(maps.Keys(o.files)) {
				if content, err := t.read(name); err == nil {
					built.Content = append(append(built.Content, content...), '\n')
				}
			}
		}
		c.out.Outside = append(c.out.Outside, built)
	}
	total := int64(0)
	for _, side := range []struct{ tree, other *tree }{{c.base, c.head}, {c.head, c.base}} {
		for _, file := range side.tree.yamls(".") {
			blob := side.tree.files[file]
			if !outside(file) || blob == side.other.files[file] || blob.size > maxScanned {
				continue
			}
			if total += blob.size; total > maxFileBytes {
				return fmt.Errorf("more than %d bytes of YAML files differ outside of the paths", maxFileBytes)
			}
			content, err := side.tree.read(file)
			if err != nil {
				return err
			}
			if options.Keep(content) {
				c.out.Outside = append(c.out.Outside, File{Path: file, Content: content})
			}
		}
	}
	return nil
}

// Mentions reports whether a file may contain an object.
func (f File) Mentions(kind, name string) bool {
	object := objectRef{kind: kind, name: types.NamespacedName{Name: name}}
	return object.hasKind(f.Content) && object.hasName(f.Content)
}

package gitops

import (
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/winnow-dev/winnow/render/excerpt"
)

// beside says what is not seen from the paths: files at them are applied by Kustomizations of clusters
// that lie elsewhere. As they stand, these files lack what the Kustomizations add, sources for example,
// and what they lead to lies elsewhere, too.
func (c *comparer) beside(options Options) {
	for _, name := range options.Paths {
		var dirs []string
		for _, t := range []*tree{c.base, c.head} {
			dirs = append(dirs, c.appliedBy(t, name)...)
		}
		if len(dirs) == 0 {
			continue
		}
		slices.Sort(dirs)
		dirs = slices.Compact(dirs)
		sentence := fmt.Sprintf("%s is not the directory of a cluster, and Kustomizations of others apply what is there: "+
			"pass the directories of clusters instead, or no path at all; there are %s", name, excerpt.Names(dirs, maxListed))
		if maps.Equal(c.base.files, c.head.files) {
			c.out.Notes = append(c.out.Notes, sentence)
		} else {
			c.out.Unknown = append(c.out.Unknown, sentence)
		}
	}
}

// appliedBy returns the directories of the clusters in the repository, if one of their Kustomizations
// applies files at a path that were not evaluated.
func (c *comparer) appliedBy(t *tree, name string) []string {
	waiting := slices.DeleteFunc(t.yamls(name), func(file string) bool { return c.applied[file] })
	if len(waiting) == 0 || name == "." {
		return nil
	}
	for _, w := range writtenIn(t, t.yamls(".")) {
		if !t.isDir(w.path) || contains(name, w.file) {
			continue
		}
		files := newClosure(t, w.path, nil).files
		if slices.ContainsFunc(waiting, func(file string) bool { _, applied := files[file]; return applied }) {
			return clustersIn(t, ".").dirs()
		}
	}
	return nil
}

// elsewhere collects what differs and is not looked at.
func (c *comparer) elsewhere(options Options) error {
	total := int64(0)
	for _, side := range []struct{ tree, other *tree }{{c.base, c.head}, {c.head, c.base}} {
		for _, file := range side.tree.yamls(".") {
			blob := side.tree.files[file]
			inside := slices.ContainsFunc(options.Paths, func(name string) bool { return contains(name, file) })
			if inside || c.applied[file] || blob == side.other.files[file] || blob.size > maxScanned {
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
				c.out.Elsewhere = append(c.out.Elsewhere, File{Path: file, Content: content})
			}
		}
	}
	return nil
}

// Mentions reports whether a file may have an object.
func (f File) Mentions(kind, name string) bool {
	object := wanted{kind: kind, name: types.NamespacedName{Name: name}}
	return object.hasKind(f.Content) && object.hasName(f.Content)
}

package gitops

import (
	"context"
	"fmt"
	"maps"
	"path"
	"slices"

	kustypes "sigs.k8s.io/kustomize/api/types"

	"github.com/winnow-dev/winnow/render/excerpt"
)

// overlay is a directory with a kustomization file in one of the commits.
type overlay struct {
	dir string
	// files are the names of all files that it is built of in either commit, and state is a digest of these files in each.
	files map[string]bool
	state []string
	// component reports that it cannot be built alone, and relevant that it may lead to a CatalogSelection or a source: one
	// that differs and cannot be built, or has remote resources, may lead anywhere.
	component, relevant bool
	// named reports that it is one of the paths, and included that another one includes it.
	named, included bool
}

// overlaysIn returns the directories whose kustomization files pass, sorted, those that another one of them includes last.
func (c *comparer) overlaysIn(options Options, passes func(file string) bool) []*overlay {
	found := map[string]*overlay{}
	for _, t := range []*tree{c.base, c.head} {
		for name := range t.files {
			if slices.Contains(kustomizationNames(), path.Base(name)) && passes(name) {
				found[path.Dir(name)] = nil
			}
		}
	}
	for dir := range found {
		found[dir] = c.overlay(dir, options)
	}
	var all, included []*overlay
	for _, dir := range slices.Sorted(maps.Keys(found)) {
		o := found[dir]
		for _, other := range found {
			o.included = o.included || other.dir != dir && other.includes(dir) && !o.includes(other.dir)
		}
		switch {
		case o.component:
		case o.included:
			included = append(included, o)
		default:
			all = append(all, o)
		}
	}
	return append(all, included...)
}

func (c *comparer) overlay(dir string, options Options) *overlay {
	o := &overlay{dir: dir, files: map[string]bool{}, named: slices.Contains(options.Paths, dir)}
	incomplete := false
	for _, t := range []*tree{c.base, c.head} {
		closure := newClosure(t, dir, nil)
		for name := range closure.files {
			o.files[name] = true
		}
		o.state = append(o.state, closure.digest())
		o.relevant = o.relevant || closure.has(options.Keep)
		incomplete = incomplete || closure.blocked != nil || len(closure.remotes) > 0
		o.component = o.component || isComponent(t, dir)
		for _, name := range kustomizationNames() {
			o.named = o.named || slices.Contains(options.Paths, path.Join(dir, name))
		}
	}
	o.relevant = o.relevant || incomplete && o.state[0] != o.state[1]
	return o
}

// isComponent reports whether the kustomization file of a directory is that of a component.
func isComponent(t *tree, dir string) bool {
	file := kustomizationFile(t, dir)
	if file == "" {
		return false
	}
	k, err := readKustomization(t, file)
	return err == nil && k.Kind == kustypes.ComponentKind
}

// includes reports whether the kustomization file of a directory is among the files.
func (o *overlay) includes(dir string) bool {
	return slices.ContainsFunc(kustomizationNames(), func(name string) bool { return o.files[path.Join(dir, name)] })
}

// evaluateOverlays evaluates the directories at the paths that are built by themselves: no Kustomization of a cluster
// applies them. One that is named is evaluated whatever it has, so that its errors are seen. One that others include is
// usually a base, and may be what a cluster gets as well: it is evaluated if none of the others shows its changes.
func (c *comparer) evaluateOverlays(ctx context.Context, options Options) error {
	atPaths := func(file string) bool {
		return !c.isApplied(file) && slices.ContainsFunc(options.Paths, func(name string) bool { return contains(name, file) })
	}
	for _, o := range c.overlaysIn(options, atPaths) {
		if !o.named && !o.relevant || o.included && (o.state[0] == o.state[1] || c.isShown(o)) {
			continue
		}
		if err := c.evaluate(ctx, o.dir, o); err != nil {
			return err
		}
	}
	var dirs []string
	for _, e := range c.evaluated {
		if e.alone {
			dirs = append(dirs, e.dir)
		}
	}
	if len(dirs) > 0 {
		c.out.Notes = append(c.out.Notes, "built as Flux builds the path of a Kustomization, which none of this repository applies: "+
			excerpt.Names(dirs, maxListed))
	}
	return nil
}

// isShown reports whether the objects of an evaluated directory that includes an overlay differ, or are unknown.
func (c *comparer) isShown(o *overlay) bool {
	return slices.ContainsFunc(c.evaluated, func(e evaluation) bool {
		of := func(all []Object) (content []string) {
			for _, object := range all {
				if object.Cluster == e.dir {
					content = append(content, object.digest())
				}
			}
			return content
		}
		builds := func(name string) bool { return e.files[path.Join(o.dir, name)] }
		return e.alone && e.dir != o.dir && slices.ContainsFunc(kustomizationNames(), builds) && !slices.Equal(of(c.out.Base.Objects), of(c.out.Head.Objects))
	})
}

// reportBuiltElsewhere reports paths whose files are built by directories that are not evaluated: what a cluster gets is
// the result of these.
func (c *comparer) reportBuiltElsewhere(options Options, reported []string) {
	for _, name := range options.Paths {
		files := append(c.base.below(name), c.head.below(name)...)
		uses := func(built map[string]bool) bool {
			return slices.ContainsFunc(files, func(file string) bool { return built[file] })
		}
		if name == "." || slices.Contains(reported, name) ||
			slices.ContainsFunc(c.evaluated, func(e evaluation) bool { return !contains(name, e.dir) && uses(e.files) }) {
			continue
		}
		var dirs []string
		differs := false
		for _, o := range c.overlaysIn(options, func(file string) bool { return !contains(name, file) && !c.isBuilt(file) }) {
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
		if differs {
			c.out.Unknown = append(c.out.Unknown, sentence)
		} else {
			c.out.Notes = append(c.out.Notes, sentence)
		}
	}
}

// SPDX-License-Identifier: Apache-2.0

package gitops

import (
	"maps"
	"path"
	"slices"

	kustypes "sigs.k8s.io/kustomize/api/types"

	"github.com/winnow-dev/winnow/cmd/winnow/gitops/inputs"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/repository"
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

// overlaysIn returns the directories whose kustomization files pass, sorted. Directories that another one includes are last.
func (c *comparer) overlaysIn(options Options, passes func(file string) bool) []*overlay {
	found := map[string]*overlay{}
	for _, t := range []*repository.Tree{c.base, c.head} {
		for name := range t.Files {
			if slices.Contains(inputs.KustomizationNames(), path.Base(name)) && passes(name) {
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
	for _, t := range []*repository.Tree{c.base, c.head} {
		closure := inputs.NewClosure(t, dir, nil)
		for name := range closure.Files {
			o.files[name] = true
		}
		o.state = append(o.state, closure.Digest())
		o.relevant = o.relevant || closure.Has(options.Keep)
		incomplete = incomplete || closure.Blocked != nil || len(closure.Remotes) > 0
		o.component = o.component || isComponent(t, dir)
		for _, name := range inputs.KustomizationNames() {
			o.named = o.named || slices.Contains(options.Paths, path.Join(dir, name))
		}
	}
	o.relevant = o.relevant || incomplete && o.state[0] != o.state[1]
	return o
}

// isComponent reports whether a directory has the kustomization file of a component.
func isComponent(t *repository.Tree, dir string) bool {
	file := inputs.KustomizationFile(t, dir)
	if file == "" {
		return false
	}
	k, err := inputs.ReadKustomization(t, file)
	return err == nil && k.Kind == kustypes.ComponentKind
}

// includes reports whether the kustomization file of a directory is among the files.
func (o *overlay) includes(dir string) bool {
	return slices.ContainsFunc(inputs.KustomizationNames(), func(name string) bool { return o.files[path.Join(dir, name)] })
}

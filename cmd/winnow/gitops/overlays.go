package gitops

import (
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"

	kustypes "sigs.k8s.io/kustomize/api/types"
)

// overlays reports kustomization files that no Kustomization of Flux applies. They are not built, so their
// changes to the files that are read unchanged are unknown if they differ. Lists of resources change nothing.
func (c *comparer) overlays(options Options, clusters map[string]bool) {
	if len(c.out.Base.Files)+len(c.out.Head.Files) == 0 {
		return
	}
	files := map[string]bool{}
	for _, t := range []*tree{c.base, c.head} {
		for name := range t.files {
			within := func(p string) bool { return !clusters[p] && contains(p, name) }
			if slices.Contains(kustomizationNames(), path.Base(name)) && !c.applied[name] && slices.ContainsFunc(options.Paths, within) {
				files[name] = true
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		before, reached := overlay(c.base, name, options.Keep)
		after, reaches := overlay(c.head, name, options.Keep)
		if before != after && (reached || reaches) {
			c.out.Unknown = append(c.out.Unknown, fmt.Sprintf("%s differs in more than resources, and is not built: no Kustomization of Flux applies it", name))
		}
	}
}

// overlay returns a digest of the changes that a kustomization file makes to its resources, empty for none, and
// reports whether keep accepts one of them.
func overlay(t *tree, name string, keep func([]byte) bool) (does string, reaches bool) {
	content, err := t.read(name)
	if err != nil {
		return "", false
	}
	c := newClosure(t, path.Dir(name), nil)
	k, err := parseKustomization(content)
	if err != nil {
		return digest(string(content)), c.has(keep)
	}
	k.TypeMeta, k.MetaData, k.Resources = kustypes.TypeMeta{}, nil, nil
	if rest, err := json.Marshal(k); err != nil || string(rest) != "{}" {
		does = digest(c.transforms...)
	}
	return does, c.has(keep)
}

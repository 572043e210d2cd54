package gitops

import (
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"

	kustypes "sigs.k8s.io/kustomize/api/types"
)

// overlays reports kustomization files that no Kustomization of Flux applies. They are not built, so that
// what they do to what is taken as it stands is unknown where it differs. Lists of resources do nothing.
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

// overlay returns what a kustomization file does to its resources, empty for nothing, and whether one of
// them is looked at.
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
		does = digest(c.shape...)
	}
	return does, c.has(keep)
}

// SPDX-License-Identifier: Apache-2.0

package takeover

import (
	"bytes"
	"slices"
	"strings"

	"github.com/fluxcd/pkg/apis/kustomize"
	"sigs.k8s.io/yaml"

	"github.com/winnow-dev/winnow/render/backend"
)

// patches returns a patch for all candidates that need the same one.
func patches(namespace string, candidates ...*candidate) []kustomize.Patch {
	type group struct{ kind, patch string }
	named := map[group][]string{}
	for _, c := range candidates {
		if c.patch != nil {
			g := group{c.live.GetKind(), patchText(c)}
			named[g] = append(named[g], c.live.GetName())
		}
	}
	var all []kustomize.Patch
	for g, names := range named {
		version := kinds()[g.kind][0]
		all = append(all, kustomize.Patch{Patch: g.patch, Target: &kustomize.Selector{
			Group: version.Group, Kind: g.kind, Namespace: namespace, Name: strings.Join(names, "|"),
		}})
	}
	slices.SortFunc(all, func(a, b kustomize.Patch) int {
		return strings.Compare(a.Target.Kind+a.Target.Name, b.Target.Kind+b.Target.Name)
	})
	return all
}

// patchText returns the strategic merge patch of a candidate. Its name has no meaning beside the target.
func patchText(c *candidate) string {
	metadata, _ := c.patch["metadata"].(map[string]any)
	content := map[string]any{
		"apiVersion": c.live.GetAPIVersion(), "kind": c.live.GetKind(), "metadata": backend.MergeValues(metadata, map[string]any{"name": "any"}),
	}
	if spec := c.patch["spec"]; spec != nil {
		content["spec"] = spec
	}
	text, _ := yaml.Marshal(content) // JSON's types cannot fail
	return string(bytes.TrimSpace(text)) + "\n"
}

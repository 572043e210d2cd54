// SPDX-License-Identifier: Apache-2.0

package main

import (
	"maps"
	"strings"
)

// estate returns the files of two commits of a repository like that of an example: the second one gives staging the second
// catalog.
func estate(example string) ([]map[string]string, error) {
	all, err := filesOf(example)
	if err != nil {
		return nil, err
	}
	before := map[string]string{}
	for name, content := range all {
		if !strings.HasPrefix(name, "clusters/") {
			before[name] = content
		}
	}
	before["base/catalog.yaml"] = strings.Replace(before["base/catalog.yaml"], "  url:", "  insecure: true\n  url:", 1)
	before["overlays/edge/kustomization.yaml"] = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources:\n- ../../base\npatches:\n" +
		"- target: {kind: CatalogSelection, name: applications}\n  patch: |\n    - op: remove\n      path: /spec/limit\n"
	for overlay, clusters := range map[string][]string{
		"production": {"berlin", "lisbon", "oslo", "paris"}, "staging": {"staging-1", "staging-2"}, "edge": {"edge-1"},
	} {
		before["overlays/"+overlay+"/kustomization.yaml"] += "- path: source.yaml\n"
		before["overlays/"+overlay+"/source.yaml"] = tagged(first)
		for _, cluster := range clusters {
			for name, content := range all {
				if rest, found := strings.CutPrefix(name, "clusters/production/"); found {
					content = strings.ReplaceAll(content, "./clusters/production", "./clusters/"+cluster)
					content = strings.ReplaceAll(content, "./overlays/production", "./overlays/"+overlay)
					before["clusters/"+cluster+"/"+rest] = strings.ReplaceAll(content, "cluster: production", "cluster: "+cluster)
				}
			}
		}
	}
	after := maps.Clone(before)
	after["overlays/staging/source.yaml"] = tagged(second)
	return []map[string]string{before, after}, nil
}

func tagged(tag string) string {
	return "apiVersion: source.toolkit.fluxcd.io/v1\nkind: OCIRepository\nmetadata:\n  name: winnow-example\n  namespace: flux-system\nspec:\n  ref:\n    tag: " + tag + "\n"
}

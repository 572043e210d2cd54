// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"go.yaml.in/yaml/v3"

	"github.com/winnow-dev/winnow/render/catalog/metadata"
	"github.com/winnow-dev/winnow/render/catalog/violation"
	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/yamlnode"
)

// The named lists of a catalog.

// names are those that a list may hold.
type names struct {
	// known has every name as the application has it, so that the lists share its memory.
	known map[string]string
	// complete is false when the name of an application could not be read. A list that holds
	// an unknown name may mean that one: complaining about it would only hide the cause.
	complete bool
}

func newNames(candidates []candidate) names {
	n := names{known: make(map[string]string, len(candidates)), complete: true}
	for _, one := range candidates {
		if one.application.Name == "" {
			n.complete = false
			continue
		}
		n.known[one.application.Name] = one.application.Name
	}
	return n
}

func parseList(root *yaml.Node, known names, found *violation.Findings) []string {
	if root.Kind != yaml.MappingNode {
		found.Add(root.Line, "must be a mapping, not %s", yamlnode.Describe(root))
		return nil
	}
	metadata.RefuseBooleans(root, found)
	listed := yamlnode.Lookup(root, "applications")
	switch {
	case listed == nil:
		found.Add(root.Line, "applications is missing: expected a list of application names")
		return nil
	case listed.Kind != yaml.SequenceNode:
		found.Add(listed.Line, "applications must be a list, such as [], not %s", yamlnode.Describe(listed))
		return nil
	}
	lines := make(map[string]int, len(listed.Content))
	list := make([]string, 0, len(listed.Content))
	for i, element := range listed.Content {
		name, ok := yamlnode.Text(yamlnode.Resolve(element))
		shared, isKnown := known.known[name]
		first, twice := lines[name]
		switch {
		case !ok:
			found.Add(element.Line, "applications[%d] must be a string, not %s", i, yamlnode.Describe(yamlnode.Resolve(element)))
		case twice:
			found.Add(element.Line, "applications has %s twice, first in line %d", excerpt.Quoted(name), first)
		case known.complete && !isKnown:
			found.AddTo(violation.RuleUnknownApplication, element.Line, "applications has %s, which no application.yaml defines", excerpt.Quoted(name))
		default:
			lines[name] = element.Line
			list = append(list, shared)
		}
	}
	return list
}

// SPDX-License-Identifier: Apache-2.0

package metadata

import (
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/winnow-dev/winnow/render/catalog/violation"
	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/yamlnode"
)

// parseTexts returns a list of different texts. problem returns what follows the name of the member in the message about a
// text, empty if nothing is wrong with it.
func parseTexts(member yamlnode.Entry, limit int, problem func(text string) string, found *violation.Findings) []string {
	if member.Value.Kind != yaml.SequenceNode {
		found.Add(member.Value.Line, "%s must be a list, not %s", member.Name, yamlnode.Describe(member.Value))
		return nil
	}
	if n := len(member.Value.Content); n > limit {
		found.Add(member.Value.Line, "%s has %d entries, more than %d", member.Name, n, limit)
		return nil
	}
	var texts []string
	for _, element := range member.Value.Content {
		element = yamlnode.Resolve(element)
		text, ok := yamlnode.Text(element)
		switch wrong := problem(text); {
		case !ok:
			found.Add(element.Line, "%s must have strings, not %s", member.Name, yamlnode.Describe(element))
		case wrong != "":
			found.Add(element.Line, "%s%s", member.Name, wrong)
		case slices.Contains(texts, text):
			found.Add(element.Line, "%s has %s twice", member.Name, excerpt.Quoted(text))
		default:
			texts = append(texts, text)
		}
	}
	return texts
}

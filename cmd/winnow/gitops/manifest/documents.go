// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/winnow-dev/winnow/cmd/winnow/gitops/inputs"
	"github.com/winnow-dev/winnow/cmd/winnow/lists"
)

// Documents returns the objects of a file, without documents that cannot be parsed.
func Documents(content []byte) []*unstructured.Unstructured {
	if inputs.CheckAliases(content) != nil {
		return nil
	}
	var all []*unstructured.Unstructured
	for document, err := range lists.Documents(content) {
		if err != nil {
			return all
		}
		var object map[string]any
		if yaml.Unmarshal(document, &object) != nil || object == nil {
			continue
		}
		for _, one := range lists.Objects(object) {
			all = append(all, &unstructured.Unstructured{Object: one})
		}
	}
	return all
}

// selectionPattern matches content that may lead to a CatalogSelection, directly or by another Kustomization:
// their API groups, and groups that are composed, escaped or in another encoding.
var selectionPattern = regexp.MustCompile(`\\[uUx][0-9a-fA-F]|\x00|catalog\.winnow\.dev/|kustomize\.toolkit\.fluxcd\.io/v|fluxcd\.controlplane\.io/` +
	`|apiVersion["']?\s*:\s*\S*[^\w./"'\s,}\]-]|/apiVersion`)

// MayLeadToSelection reports whether the templates of a ResourceSet contain a relevant group.
func (o Object) MayLeadToSelection() bool {
	text := YAMLOf(o.Object["spec"])
	return MayLeadToSelection([]byte(text)) || strings.Contains(text, SourceGroup)
}

// MayLeadToSelection reports whether content may lead to a CatalogSelection, directly or by another Kustomization.
func MayLeadToSelection(content []byte) bool { return selectionPattern.Match(content) }

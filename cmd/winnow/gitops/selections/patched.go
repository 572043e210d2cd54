// SPDX-License-Identifier: Apache-2.0

package selections

import (
	"maps"
	"slices"
	"strings"

	kustypes "sigs.k8s.io/kustomize/api/types"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/cmd/winnow/documents"
	"github.com/winnow-dev/winnow/render/yamledit"
)

const (
	safeguardsPath = "/spec/safeguards"
	approvePath    = safeguardsPath + "/approve"
)

// patchOf returns an item of patches that adds lines to the built selection: a JSON patch, because a merge patch replaces the list.
// It creates the list where there is none.
func patchOf(s documents.Selection, lines []string) string {
	var patch strings.Builder
	add := func(path, value string) {
		patch.WriteString("    - op: add\n      path: " + path + "\n      value: " + value + "\n")
	}
	patch.WriteString("- target: {group: " + v1alpha1.GroupVersion.Group + ", kind: " + v1alpha1.CatalogSelectionKind + ", name: " + yamledit.InBrackets(s.Name) + "}\n  patch: |\n")
	switch {
	case !s.HasSafeguards:
		add(safeguardsPath, "{approve: []}")
	case len(s.Spec.Safeguards.Approve) == 0:
		add(approvePath, "[]")
	}
	for _, line := range lines {
		add(approvePath+"/-", yamledit.Scalar([]string{line}, 0))
	}
	return patch.String()
}

// replacesApprovals reports whether a value of YAML has a patch that replaces the list of the selection with the name.
func replacesApprovals(value any, name string) bool {
	below := func(value any) bool { return replacesApprovals(value, name) }
	switch value := value.(type) {
	case string:
		return strings.Contains(value, "safeguards") && slices.ContainsFunc(documentsOf([]byte(value)), func(document any) bool {
			_, isText := document.(string)
			return !isText && below(document)
		})
	case []any:
		return slices.ContainsFunc(value, below)
	case map[string]any:
		if target, _ := value["target"].(map[string]any); target != nil && !mayTarget(target, name) {
			return false
		}
		return setsApprovals(value, name) || slices.ContainsFunc(slices.Collect(maps.Values(value)), below)
	}
	return false
}

// setsApprovals reports whether a mapping is an operation on the list, or a merge patch of the selection with one.
func setsApprovals(value map[string]any, name string) bool {
	if path := value["path"]; value["op"] != "test" && (path == safeguardsPath || path == approvePath) {
		return true
	}
	return value["kind"] == v1alpha1.CatalogSelectionKind && fieldOf(value, "metadata", "name") == name && fieldOf(value, "spec", "safeguards", "approve") != nil
}

// mayTarget reports whether the target of a patch may be a selection with the name.
func mayTarget(target map[string]any, name string) bool {
	kind, _ := target["kind"].(string)
	pattern, _ := target["name"].(string)
	selector := kustypes.Selector{}
	selector.Kind, selector.Name = kind, pattern
	regex, err := kustypes.NewSelectorRegex(&selector)
	return err != nil || regex.MatchName(name) && (kind == "" || kind == v1alpha1.CatalogSelectionKind)
}

func fieldOf(value any, fields ...string) any {
	for _, field := range fields {
		object, _ := value.(map[string]any)
		value = object[field]
	}
	return value
}

// documentsOf returns the documents of a text in the types of yamlnode.Plain; none for a text that is no YAML.
func documentsOf(text []byte) []any {
	documents, err := yamledit.Documents(text)
	if err != nil {
		return nil
	}
	all, _ := yamledit.Plain(documents)
	return all
}

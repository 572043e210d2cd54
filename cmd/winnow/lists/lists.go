// Package lists takes objects out of lists, as kubectl get prints them: kubectl and kustomize apply the
// items of a list as if each stood alone.
package lists

import "strings"

// Items returns the items of a List, or of a CatalogSelectionList say. ok is false for what is no list.
func Items(object map[string]any) (items []any, ok bool) {
	kind, _ := object["kind"].(string)
	items, ok = object["items"].([]any)
	return items, ok && strings.HasSuffix(kind, "List")
}

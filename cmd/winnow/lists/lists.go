// Package lists takes objects out of lists, as kubectl get prints them: kubectl and kustomize apply the
// items of a list as if each stood alone.
package lists

import "strings"

// Objects returns an object, or those of a list, also of lists within it.
func Objects(object map[string]any) (all []map[string]any) {
	items, isList := Items(object)
	if !isList {
		return []map[string]any{object}
	}
	for _, item := range items {
		if fields, ok := item.(map[string]any); ok {
			all = append(all, Objects(fields)...)
		}
	}
	return all
}

// Items returns the items of a List, or of a CatalogSelectionList say. ok is false for what is no list.
func Items(object map[string]any) (items []any, ok bool) {
	kind, _ := object["kind"].(string)
	items, ok = object["items"].([]any)
	return items, ok && strings.HasSuffix(kind, "List")
}

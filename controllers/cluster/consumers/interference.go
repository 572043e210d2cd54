// SPDX-License-Identifier: Apache-2.0

package consumers

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"

	"github.com/winnow-dev/winnow/controllers/bounds"
	"github.com/winnow-dev/winnow/render/reserved"
	"github.com/winnow-dev/winnow/render/yamlnode"
)

// Bounds of what is read of a Kustomization and named: the bytes of a patch, the changes that are named, and the bytes of
// one.
const (
	maxPatch           = 64 << 10
	maxInterferences   = 3
	maxInterferenceLen = 200
)

// interferences returns what the spec of a Kustomization changes of what Winnow publishes: another path than the root,
// objects that it drops, and keys by which kustomize or Flux apply, keep or drop objects.
func interferences(spec kustomizev1.KustomizationSpec) []string {
	var found []string
	if path.Clean("/"+spec.Path) != "/" {
		found = append(found, fmt.Sprintf("spec.path is %q and must be ./", spec.Path))
	}
	for i, p := range spec.Patches {
		for _, change := range changesOf(p.Patch) {
			found = append(found, fmt.Sprintf("spec.patches[%d] %s", i, change))
		}
	}
	if common := spec.CommonMetadata; common != nil {
		for _, pairs := range []map[string]string{common.Annotations, common.Labels} {
			for _, key := range slices.Sorted(maps.Keys(pairs)) {
				if steers(key) {
					found = append(found, "spec.commonMetadata sets "+key)
				}
			}
		}
	}
	for i := range found {
		found[i] = bounds.Truncate(found[i], maxInterferenceLen)
	}
	return found
}

// steers reports whether kustomize or Flux act on a label or an annotation.
func steers(key string) bool {
	owner := reserved.OwnerOf(key)
	return owner == reserved.Kustomize || owner == reserved.Flux
}

// changesOf returns what a patch changes, none for one that cannot be read: kustomize refuses that. Of a key that is there twice in
// a JSON 6902 patch, kustomize takes the last one.
func changesOf(patch string) []string {
	if len(patch) > maxPatch {
		return []string{fmt.Sprintf("is larger than %d bytes, and is not read", maxPatch)}
	}
	var changes []string
	for document, err := range yamlnode.Documents([]byte(patch)) {
		if err != nil || yamlnode.ValidateLastWins(document.Content[0]) != nil {
			break
		}
		content, err := yamlnode.Plain(document.Content[0])
		if err != nil {
			break
		}
		switch content := content.(type) {
		case map[string]any:
			changes = append(changes, mergeChanges(content)...)
		case []any:
			changes = append(changes, operationChanges(content)...)
		}
	}
	return changes
}

// mergeChanges returns what a strategic merge patch changes. What it replaces or removes as a whole has the annotations
// and labels by which Flux keeps objects, and Winnow knows them.
func mergeChanges(patch map[string]any) []string {
	var changes []string
	switch patch[directive] {
	case "delete":
		return []string{"drops objects"}
	case replacing:
		changes = append(changes, "replaces objects")
	}
	if _, list := patch["items"]; list {
		changes = append(changes, "makes lists of objects; Flux applies only their items")
	}
	if metadata, there := patch["metadata"]; there {
		changes = append(changes, metadataChanges(metadata)...)
	}
	return changes
}

// metadataChanges returns what the metadata in a patch changes.
func metadataChanges(metadata any) []string {
	if isReplaced(metadata) {
		return []string{"replaces metadata"}
	}
	var changes []string
	object, _ := metadata.(map[string]any)
	for _, member := range []string{"annotations", "labels"} {
		value, there := object[member]
		if there && isReplaced(value) {
			changes = append(changes, "replaces metadata."+member)
		}
		pairs, _ := value.(map[string]any)
		for _, key := range slices.Sorted(maps.Keys(pairs)) {
			if steers(key) {
				changes = append(changes, "changes "+key)
			}
		}
	}
	return changes
}

// directive is the member of a strategic merge patch that states how an object is patched, and replacing the value by which
// nothing of it stays.
const (
	directive = "$patch"
	replacing = "replace"
)

// isReplaced reports whether a value of a patch leaves nothing of what it patches.
func isReplaced(value any) bool {
	object, _ := value.(map[string]any)
	return value == nil || object[directive] != nil
}

// operationChanges returns what the operations of a JSON patch change.
func operationChanges(operations []any) []string {
	var changes []string
	for _, operation := range operations {
		o, _ := operation.(map[string]any)
		pointer, _ := o["path"].(string)
		from, _ := o["from"].(string)
		switch o["op"] {
		case "test":
		case "remove":
			changes = append(changes, pointerChanges(pointer, nil)...)
		case "move":
			changes = append(changes, pointerChanges(from, nil)...)
			changes = append(changes, pointerChanges(pointer, map[string]any{})...)
		default:
			changes = append(changes, pointerChanges(pointer, o["value"])...)
		}
	}
	return changes
}

// pointerChanges returns what an operation changes that sets the value at a JSON pointer, nil to remove it.
func pointerChanges(pointer string, value any) []string {
	names := strings.Split(pointer, "/")[1:]
	for i := range names {
		names[i] = strings.NewReplacer("~1", "/", "~0", "~").Replace(names[i])
	}
	if len(names) == 0 && value == nil {
		return []string{"drops objects"}
	}
	if object, ok := value.(map[string]any); ok {
		value = maps.Clone(object)
		value.(map[string]any)[directive] = replacing
	}
	return mergeChanges(nested(names, value))
}

// nested returns a value as a member of objects with these names.
func nested(names []string, value any) map[string]any {
	for _, name := range slices.Backward(names) {
		value = map[string]any{name: value}
	}
	object, _ := value.(map[string]any)
	return object
}

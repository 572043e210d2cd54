// SPDX-License-Identifier: Apache-2.0

package dialect

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"iter"
	"strings"

	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
)

// Documents returns the documents of a YAML stream as kubectl separates them, or an error for each one that cannot be read, and goes on after it.
func Documents(stream []byte) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		documents := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(stream)))
		for {
			document, err := documents.Read()
			if errors.Is(err, io.EOF) || !yield(document, err) {
				return
			}
		}
	}
}

// Objects returns the object itself, or the objects of a list and of lists in it, which kubectl and kustomize apply as separate objects.
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

// Items returns the items of a List or of a typed list, such as CatalogSelectionList. It reports false for other kinds.
func Items(object map[string]any) (items []any, ok bool) {
	kind, _ := object["kind"].(string)
	items, ok = object["items"].([]any)
	return items, ok && strings.HasSuffix(kind, "List")
}

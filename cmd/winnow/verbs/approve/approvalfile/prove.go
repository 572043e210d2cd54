package approvalfile

import (
	"fmt"
	"reflect"

	"github.com/winnow-dev/winnow/render/yamlnode"
)

// prove returns an error unless the edited content differs from the content by the entries alone.
func (f *File) prove(edited []byte, entries []string) error {
	documents, err := parse(edited)
	if err != nil || len(documents) != len(f.documents) {
		return errStyle
	}
	for i := range documents {
		before, err := yamlnode.Plain(f.documents[i])
		if err != nil {
			return fmt.Errorf("document %d: %w", i+1, err)
		}
		after, err := yamlnode.Plain(documents[i])
		if err != nil {
			return errStyle
		}
		if i == f.found.document && !f.extend(before, entries) || !reflect.DeepEqual(before, after) {
			return errStyle
		}
	}
	return nil
}

// extend adds the entries to the selection in a document.
func (f *File) extend(document any, entries []string) bool {
	for _, i := range f.found.items {
		list, _ := child(document, "items").([]any)
		if i >= len(list) {
			return false
		}
		document = list[i]
	}
	spec, ok := child(document, "spec").(map[string]any)
	if !ok {
		return false
	}
	safeguards, _ := spec["safeguards"].(map[string]any)
	if safeguards == nil {
		safeguards = map[string]any{}
	}
	list, _ := safeguards["approve"].([]any)
	for _, entry := range entries {
		list = append(list, entry)
	}
	spec["safeguards"], safeguards["approve"] = safeguards, list
	return true
}

func child(object any, key string) any {
	fields, _ := object.(map[string]any)
	return fields[key]
}

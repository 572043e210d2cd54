// SPDX-License-Identifier: Apache-2.0

package approvalfile

import "github.com/winnow-dev/winnow/render/yamledit"

// prove returns an error unless the edited content differs from the content by the entries alone.
func (f *File) prove(edited []byte, entries []string) error {
	wanted, err := yamledit.Plain(f.documents)
	if err != nil {
		return err
	}
	if !f.extend(wanted[f.found.document], entries) || !yamledit.Proves(edited, wanted) {
		return errStyle
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

// SPDX-License-Identifier: Apache-2.0

package transform

import "github.com/winnow-dev/winnow/render/yamledit"

// Without returns a document without the fields at the paths, which are lists of keys. None of the paths may begin with
// another one, nor may they name all fields of a mapping. A document that has none of the fields is returned as the
// same slice.
func Without(document []byte, paths ...[]string) ([]byte, error) {
	doc, err := yamledit.Parse(document)
	if err != nil {
		return nil, err
	}
	for _, path := range paths {
		if has(doc.Content(), path) {
			omit(doc, doc.Content(), path)
		}
	}
	if err := doc.Flush(); err != nil {
		return nil, err
	}
	return doc.Data, nil
}

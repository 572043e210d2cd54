// SPDX-License-Identifier: Apache-2.0

package yamledit

import (
	"errors"
	"fmt"
	"reflect"

	"go.yaml.in/yaml/v3"

	"github.com/winnow-dev/winnow/render/yamlnode"
)

// ErrEncrypted reports that SOPS encrypted a document, whose checksum an edit would break.
var ErrEncrypted = errors.New("the document is encrypted by SOPS, which signs all of it: edit it with sops")

// CheckPlain returns ErrEncrypted for a document that must not be edited here.
func CheckPlain(document *yaml.Node) error {
	if yamlnode.Lookup(document, "sops") != nil {
		return ErrEncrypted
	}
	return nil
}

// Documents returns the contents of the documents of a text, which are bounded, without empty documents.
func Documents(text []byte) (documents []*yaml.Node, err error) {
	for document, err := range yamlnode.Documents(text) {
		if err != nil {
			line, message := yamlnode.Position(err, text)
			return nil, fmt.Errorf("line %d: it is no YAML: %s", line, message)
		}
		if err := yamlnode.Validate(document.Content[0]); err != nil {
			return nil, err
		}
		documents = append(documents, document.Content[0])
	}
	return documents, nil
}

// Plain returns the contents of documents in the types of yamlnode.Plain.
func Plain(documents []*yaml.Node) ([]any, error) {
	var all []any
	for i, document := range documents {
		content, err := yamlnode.Plain(document)
		if err != nil {
			return nil, fmt.Errorf("document %d: %w", i+1, err)
		}
		all = append(all, content)
	}
	return all, nil
}

// Proves reports whether the documents of an edited text have the wanted contents, as Plain returns them, and nothing else.
func Proves(edited []byte, wanted []any) bool {
	documents, err := Documents(edited)
	if err != nil {
		return false
	}
	contents, err := Plain(documents)
	return err == nil && reflect.DeepEqual(contents, wanted)
}

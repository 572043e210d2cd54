// SPDX-License-Identifier: Apache-2.0

package yamlnode

import (
	"bytes"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/winnow-dev/winnow/render/parallel"
)

// Encode returns a node, or another value, as YAML with an indentation of two spaces. It returns panics of the encoder
// as errors.
func Encode(value any) (_ []byte, err error) {
	defer parallel.RecoverAs("the encoder gave up", &err)
	var out bytes.Buffer
	encoder := yaml.NewEncoder(&out)
	encoder.SetIndent(2)
	if node, ok := value.(*yaml.Node); ok {
		value = withNulls(node, false)
	}
	if err := encoder.Encode(value); err != nil {
		return nil, err
	}
	err = encoder.Close()
	return out.Bytes(), err
}

// withNulls returns a node whose nulls in brackets and braces are written out: an empty one the encoder puts in quotes, as a text.
func withNulls(node *yaml.Node, inFlow bool) *yaml.Node {
	inFlow = inFlow || node.Style&yaml.FlowStyle != 0
	copied := *node
	if inFlow && IsNull(node) && node.Value == "" {
		copied.Value = "null"
		return &copied
	}
	for i, child := range node.Content {
		if written := withNulls(child, inFlow); written != child {
			if &copied.Content[0] == &node.Content[0] {
				copied.Content = slices.Clone(node.Content)
			}
			copied.Content[i] = written
		}
	}
	if len(node.Content) > 0 && &copied.Content[0] != &node.Content[0] {
		return &copied
	}
	return node
}

// LineOffsets returns where each line of a document starts. Positions of nodes count lines from 1.
func LineOffsets(document []byte) []int {
	offsets := []int{0}
	for i, b := range document {
		if b == '\n' {
			offsets = append(offsets, i+1)
		}
	}
	return offsets
}

// Line returns a line, counted from 0, without its line break. offsets come from LineOffsets.
func Line(document []byte, offsets []int, i int) []byte {
	end := len(document)
	if i+1 < len(offsets) {
		end = offsets[i+1] - 1
	}
	return bytes.TrimSuffix(document[offsets[i]:end], []byte("\r"))
}

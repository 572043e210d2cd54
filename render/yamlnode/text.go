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
	copied := *node
	inFlow = inFlow || node.Style&yaml.FlowStyle != 0
	if inFlow && IsNull(node) && node.Value == "" {
		copied.Value = "null"
		return &copied
	}
	var content []*yaml.Node // nil until a node below differs
	for i, child := range node.Content {
		written := withNulls(child, inFlow)
		if written != child && content == nil {
			content = slices.Clone(node.Content)
		}
		if content != nil {
			content[i] = written
		}
	}
	if content == nil {
		return node
	}
	copied.Content = content
	return &copied
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

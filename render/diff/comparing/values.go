// SPDX-License-Identifier: Apache-2.0

package comparing

import (
	"strings"

	textdiff "github.com/rogpeppe/go-internal/diff"
	"sigs.k8s.io/yaml"

	"github.com/winnow-dev/winnow/render/diff"
	"github.com/winnow-dev/winnow/render/diff/fielddiff"
	"github.com/winnow-dev/winnow/render/kustomized"
)

// newValues compares default values; nil when they are the same.
func newValues(older, newer kustomized.Object) *diff.Values {
	was, before := valuesOf(older)
	is, after := valuesOf(newer)
	if was == is && before == after {
		return nil
	}
	if is == "" {
		is = was
	}
	return textValues(is, before, after)
}

// Fields of a spec with default values.
const (
	blockField   = "defaultValuesBlock"
	mappingField = "defaultValues"
)

// maxDiff bounds the diff of one application in bytes.
const maxDiff = 64 << 10

// textValues compares two texts of values.
func textValues(field, before, after string) *diff.Values {
	v := &diff.Values{Field: field}
	// The algorithm takes n log n for n lines.
	text := string(textdiff.Diff("", []byte(before), "", []byte(after)))
	if at := strings.Index(text, "\n@@ "); at >= 0 {
		v.Diff = text[at+1:]
	}
	v.Where = whereChanged(v.Diff, before, after)
	var shown strings.Builder
	for line := range strings.Lines(v.Diff) {
		switch line[0] {
		case '+':
			v.Added++
		case '-':
			v.Removed++
		}
		shown.WriteString(fielddiff.ReadableLine(line))
	}
	v.Diff = shown.String()
	v.Cut(maxDiff)
	return v
}

// valuesOf returns the field that has the default values, and its text.
func valuesOf(object kustomized.Object) (field, text string) {
	spec, _ := object["spec"].(map[string]any)
	if block, ok := spec[blockField].(string); ok && block != "" {
		return blockField, withNewline(block)
	}
	mapping, ok := spec[mappingField].(map[string]any)
	if !ok || len(mapping) == 0 {
		return "", ""
	}
	content, err := yaml.Marshal(mapping)
	if err != nil {
		return mappingField, withNewline(diff.JSON(mapping))
	}
	return mappingField, string(content)
}

// withNewline returns the text with a newline at its end.
func withNewline(text string) string { return strings.TrimSuffix(text, "\n") + "\n" }

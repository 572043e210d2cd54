package diff

import (
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"
	"sigs.k8s.io/yaml"

	"github.com/winnow-dev/winnow/render"
)

// Fields of a spec with default values.
const (
	blockField   = "defaultValuesBlock"
	mappingField = "defaultValues"
)

// Bounds of diffs in bytes: of one application, and of all.
const (
	maxDiff  = 64 << 10
	maxDiffs = 8 << 20
)

// newValues compares default values; nil when they are the same.
func newValues(older, newer render.Object) *Values {
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

// textValues compares two texts of values.
func textValues(field, before, after string) *Values {
	v := &Values{Field: field}
	// The algorithm takes n log n for n lines.
	text := string(diff.Diff("", []byte(before), "", []byte(after)))
	if at := strings.Index(text, "\n@@ "); at >= 0 {
		v.Diff = text[at+1:]
	}
	var shown strings.Builder
	for line := range strings.Lines(v.Diff) {
		switch line[0] {
		case '+':
			v.Added++
		case '-':
			v.Removed++
		}
		shown.WriteString(readableLine(line))
	}
	v.Diff = shown.String()
	v.Cut(maxDiff)
	return v
}

// valuesOf returns the field that has the default values, and its text.
func valuesOf(object render.Object) (field, text string) {
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
		return mappingField, withNewline(asJSON(mapping))
	}
	return mappingField, string(content)
}

// withNewline returns the text with a newline at its end.
func withNewline(text string) string { return strings.TrimSuffix(text, "\n") + "\n" }

// Cut cuts the diff to at most limit bytes, after a whole line.
func (v *Values) Cut(limit int) {
	if len(v.Diff) <= limit {
		return
	}
	end := strings.LastIndexByte(v.Diff[:limit], '\n') + 1
	v.Omitted += strings.Count(v.Diff[end:], "\n")
	v.Diff = v.Diff[:end]
}

// values keeps the diffs of all applications together within the budget.
func (d *differ) values(a *Application) {
	if a.Values == nil {
		return
	}
	a.Values.Cut(d.budget)
	d.budget -= len(a.Values.Diff)
}

func sorted(list []string) []string {
	slices.Sort(list)
	return slices.Compact(list)
}

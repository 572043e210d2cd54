// SPDX-License-Identifier: Apache-2.0

package comparing

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"strings"

	textdiff "github.com/rogpeppe/go-internal/diff"

	"github.com/winnow-dev/winnow/render/definition"
	"github.com/winnow-dev/winnow/render/diff"
	"github.com/winnow-dev/winnow/render/diff/fielddiff"
	"github.com/winnow-dev/winnow/render/kustomized"
	"github.com/winnow-dev/winnow/render/value"
)

// newValues compares default values, and returns the fields that have them; nil when they are the same.
func newValues(older, newer kustomized.Object) (v *diff.Values, was, is string) {
	was, before := valuesOf(older)
	is, after := valuesOf(newer)
	if was != is || before != after {
		v = textValues(cmp.Or(is, was), before, after)
	}
	return v, was, is
}

// maxDiff bounds the diff of one application in bytes.
const maxDiff = 64 << 10

// textValues compares two texts of values.
func textValues(field, before, after string) *diff.Values {
	v := &diff.Values{Field: field, Diff: hunks("", before, after)}
	v.Where = whereChanged(v.Diff, before, after)
	finish(v)
	return v
}

// Text is a text with a name, before and after.
type Text struct{ Name, Before, After string }

// CompareTexts compares texts; the name of each is behind the heads of its hunks. It returns nil where all are the same.
func CompareTexts(field string, texts []Text) *diff.Values {
	var all strings.Builder
	for _, t := range texts {
		all.WriteString(hunks(t.Name, t.Before, t.After))
	}
	if all.Len() == 0 {
		return nil
	}
	v := &diff.Values{Field: field, Diff: all.String()}
	finish(v)
	return v
}

// hunks returns the diff of two texts without its header.
func hunks(name, before, after string) string {
	// The algorithm takes n log n for n lines.
	text := string(textdiff.Diff("", []byte(before), "", []byte(after)))
	at := strings.Index(text, "\n@@ ")
	if at < 0 {
		return ""
	}
	text = text[at+1:]
	if name == "" {
		return text
	}
	var named strings.Builder
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "@@ ") {
			line = strings.TrimSuffix(line, "\n") + " " + name + "\n"
		}
		named.WriteString(line)
	}
	return named.String()
}

// finish counts the lines of a diff, makes them readable, and cuts it.
func finish(v *diff.Values) {
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
}

// valuesOf returns the field that has the default values, and its text; both are empty without any.
func valuesOf(object kustomized.Object) (field, text string) {
	if field, text = definition.ValuesText(value.Of(object).Get("spec")); field != "" {
		text = withNewline(text)
	}
	return field, text
}

// withNewline returns the text with a newline at its end.
func withNewline(text string) string { return strings.TrimSuffix(text, "\n") + "\n" }

// whereChanged identifies the changed lines of a unified diff of two texts in YAML, each with the keys that it is below: the
// lines above it that are indented less. The same line below another key is another change.
func whereChanged(hunks, before, after string) string {
	removed, added := belowKeys(before), belowKeys(after)
	from, to := 0, 0
	sum := sha256.New()
	for line := range strings.Lines(hunks) {
		switch line[0] {
		case '@':
			if _, err := fmt.Sscanf(line, "@@ -%d,%d +%d,%d @@", &from, new(int), &to, new(int)); err != nil {
				return hunks
			}
			from, to = max(from-1, 0), max(to-1, 0)
		case '-':
			fmt.Fprintf(sum, "-%x", removed[from])
			from++
		case '+':
			fmt.Fprintf(sum, "+%x", added[to])
			to++
		case ' ':
			from, to = from+1, to+1
		}
	}
	return fmt.Sprintf("%x", sum.Sum(nil))
}

// belowKeys returns a digest of each line with those above it that are indented less.
func belowKeys(text string) [][sha256.Size]byte {
	type key struct {
		indent int
		sum    [sha256.Size]byte
	}
	var all [][sha256.Size]byte
	var keys []key
	for line := range strings.Lines(text) {
		content := strings.TrimLeft(line, " ")
		indent := len(line) - len(content)
		isKey := strings.TrimSpace(content) != "" && content[0] != '#'
		for isKey && len(keys) > 0 && keys[len(keys)-1].indent >= indent {
			keys = keys[:len(keys)-1]
		}
		var above [sha256.Size]byte
		if len(keys) > 0 {
			above = keys[len(keys)-1].sum
		}
		sum := sha256.Sum256(append(above[:], line...))
		if all = append(all, sum); isKey {
			keys = append(keys, key{indent, sum})
		}
	}
	return all
}

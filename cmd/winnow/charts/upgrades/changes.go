// SPDX-License-Identifier: Apache-2.0

package upgrades

import (
	"encoding/json"
	"maps"
	"reflect"
	"strconv"

	"sigs.k8s.io/yaml"

	"github.com/winnow-dev/winnow/cmd/winnow/plaintext"
	"github.com/winnow-dev/winnow/render/diff"
	"github.com/winnow-dev/winnow/render/diff/comparing"
)

// Changes are the objects of a release that differ.
type Changes struct {
	Added, Removed, Changed int
	// Diff of their texts, with the name of the object behind each hunk; nil without changes.
	Diff *diff.Values
}

// changes compares all objects that may differ.
func (s sides) changes() (c Changes) {
	both := maps.Clone(s.from.all)
	maps.Copy(both, s.to.all)
	var texts []comparing.Text
	for _, key := range both.sorted() {
		older, was := s.from.all[key]
		newer, is := s.to.all[key]
		if was != is && (older.hasGeneratedName() || newer.hasGeneratedName()) {
			continue // another one in each render
		}
		before, after := masked(older, nil), masked(newer, older.content)
		switch {
		case !was:
			c.Added++
		case !is:
			c.Removed++
		case before == after:
			continue
		default:
			c.Changed++
		}
		texts = append(texts, comparing.Text{Name: plaintext.Line(key.String()), Before: before, After: after})
	}
	c.Diff = comparing.CompareTexts("objects", texts)
	return c
}

// Texts that stand for what is not shown.
const (
	hidden        = "(hidden)"
	hiddenChanged = "(hidden, changed)"
	generated     = "(generated)"
)

// masked returns an object as YAML; empty without one. It hides what is in a Secret, and marks what is not as in its older content.
func masked(o object, older map[string]any) string {
	if o.content == nil {
		return ""
	}
	content, _ := withoutGenerated(o, "", o.content).(map[string]any)
	if o.kind == secretKind {
		for _, field := range []string{"data", "stringData"} {
			hide(content, older, field)
		}
	}
	text, err := yaml.Marshal(content)
	if err != nil { // of a long key
		text, _ = json.Marshal(content)
	}
	return string(text)
}

// withoutGenerated returns a copy in which a text stands for what is generated.
func withoutGenerated(o object, path string, v any) any {
	if path != "" && o.isGenerated(path) {
		return generated
	}
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, one := range v {
			out[name] = withoutGenerated(o, below(path, "."+name), one)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, one := range v {
			out[i] = withoutGenerated(o, below(path, "["+strconv.Itoa(i)+"]"), one)
		}
		return out
	}
	return v
}

// hide replaces the values in a field of a Secret.
func hide(content, older map[string]any, field string) {
	switch data := content[field].(type) {
	case nil:
	case map[string]any:
		before, _ := older[field].(map[string]any)
		for name, one := range data {
			old, was := before[name]
			switch {
			case one == generated:
			case was && !reflect.DeepEqual(old, one):
				data[name] = hiddenChanged
			default:
				data[name] = hidden
			}
		}
	default:
		content[field] = hidden
	}
}

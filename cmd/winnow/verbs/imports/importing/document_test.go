// SPDX-License-Identifier: Apache-2.0

package importing

import (
	"reflect"
	"testing"
)

func TestSplit(t *testing.T) {
	type part struct {
		text   string
		before int
	}
	for _, test := range []struct {
		name, content string
		want          []part
	}{
		{"nothing", "", nil},
		{"comments alone", "# a\n---\n# b\n", nil},
		{"one document", "a: 1", []part{{"a: 1", 0}}},
		{"a byte order mark goes", "\ufeffa: 1\n", []part{{"a: 1\n", 0}}},
		{"two documents, and empty ones", "---\na: 1\n---\n\n---\nb: 1\n---\n", []part{{"a: 1\n", 1}, {"b: 1\n", 5}}},
		{"comments above a document stay", "# a\n---\n# b\na: 1\n---\n# c\nb: 1\n", []part{{"# a\n---\n# b\na: 1\n", 0}, {"# c\nb: 1\n", 5}}},
		{"a comment beside a marker stays", "a: 1\n--- # b\nb: 1\n", []part{{"a: 1\n", 0}, {"# b\nb: 1\n", 1}}},
		{"content beside a marker", "--- {a: 1}\n--- {b: 1}\n", []part{{"{a: 1}\n", 0}, {"{b: 1}\n", 1}}},
		{"a directive goes", "%YAML 1.1\n---\na: 1\n...\n%YAML 1.1\n---\nb: 1\n", []part{{"a: 1\n", 2}, {"b: 1\n", 6}}},
		{"a text is no directive", "a: |\n  b\n%c\n", []part{{"a: |\n  b\n%c\n", 0}}},
		{"an end", "a: 1\n...\n---\nb: 1\n...", []part{{"a: 1\n", 0}, {"b: 1\n", 3}}},
		{"line breaks stay", "a: 1\r\n---\r\nb: 1\r\n", []part{{"a: 1\r\n", 0}, {"b: 1\r\n", 2}}},
		{"a text is no marker", "a: |\n  ---\n  b\n---b: 1\n", []part{{"a: |\n  ---\n  b\n---b: 1\n", 0}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got []part
			for _, one := range split([]byte(test.content)) {
				got = append(got, part{string(one.Data), one.Above})
			}
			if !reflect.DeepEqual(got, test.want) {
				t.Errorf("got %+v, want %+v", got, test.want)
			}
		})
	}
}

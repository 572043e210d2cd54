// SPDX-License-Identifier: Apache-2.0

package document_test

import (
	"reflect"
	"testing"

	"github.com/winnow-dev/winnow/render/catalog/document"
)

func TestSplit(t *testing.T) {
	type piece = struct {
		above int
		data  string
	}
	for name, test := range map[string]struct {
		data string
		want []piece
	}{
		"empty":                   {"", nil},
		"comments only":           {"# a\n---\n# b\n", nil},
		"one":                     {"a: 1", []piece{{0, "a: 1"}}},
		"a marker first":          {"---\na: 1\n", []piece{{0, "---\na: 1\n"}}},
		"a comment and a marker":  {"# licence\n---\na: 1\n", []piece{{0, "# licence\n---\na: 1\n"}}},
		"two":                     {"a: 1\n---\nb: 2\n", []piece{{0, "a: 1\n"}, {2, "b: 2\n"}}},
		"comments between":        {"a: 1\n# of a\n---\n# of b\nb: 2\n", []piece{{0, "a: 1\n# of a\n"}, {3, "# of b\nb: 2\n"}}},
		"a comment on the marker": {"a: 1\n--- # b\nb: 2\n", []piece{{0, "a: 1\n"}, {1, "--- # b\nb: 2\n"}}},
		"content on the marker":   {"a: 1\n--- {b: 2}\n---\nc: 3\n", []piece{{0, "a: 1\n"}, {1, "--- {b: 2}\n"}, {3, "c: 3\n"}}},
		"empty ones between":      {"a: 1\n---\n---\n# x\n---\nb: 2\n", []piece{{0, "a: 1\n"}, {2, "---\n# x\n---\nb: 2\n"}}},
		"an end":                  {"a: 1\n...\nb: 2\n...\n# c\n", []piece{{0, "a: 1\n...\n"}, {2, "b: 2\n...\n"}}},
		"an end and a marker":     {"a: 1\n...\n---\nb: 2\n", []piece{{0, "a: 1\n...\n"}, {2, "---\nb: 2\n"}}},
		"a directive":             {"%YAML 1.2\n---\na: 1\n", []piece{{0, "%YAML 1.2\n---\na: 1\n"}}},
		"no marker in a scalar":   {"a: |\n  ---\n  b\n ---\nb: ---\n----: c\n", []piece{{0, "a: |\n  ---\n  b\n ---\nb: ---\n----: c\n"}}},
		"carriage returns":        {"a: 1\r\n---\r\nb: 2\r\n", []piece{{0, "a: 1\r\n"}, {2, "b: 2\r\n"}}},
		"no line feed at the end": {"a: 1\n---", []piece{{0, "a: 1\n"}}},
		"a byte order mark":       {"\ufeffa: 1\n---\nb: 2\n", []piece{{0, "\ufeffa: 1\n"}, {2, "b: 2\n"}}},
		"a comment that ends":     {"a: 1\n---\n# b\rb: 2\n---\n# c\u2028c: 3\n", []piece{{0, "a: 1\n"}, {2, "# b\rb: 2\n"}, {4, "# c\u2028c: 3\n"}}},
		"a byte order mark first": {"\ufeff---\na: 1\n", []piece{{0, "\ufeff---\na: 1\n"}}},
	} {
		var got []piece
		for _, p := range document.Split([]byte(test.data)) {
			got = append(got, piece{p.Above, string(p.Data)})
		}
		if !reflect.DeepEqual(got, test.want) {
			t.Errorf("%s: Split() = %v, want %v", name, got, test.want)
		}
	}
}

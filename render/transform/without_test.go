// SPDX-License-Identifier: Apache-2.0

package transform_test

import (
	"testing"

	"github.com/winnow-dev/winnow/render/transform"
)

func TestWithout(t *testing.T) {
	const document = `# licence
metadata:   # ours
  # the label
  labels: {a: b}

  name: app
  uid: "1"
spec:
    # a note
    a: 1

    b:  'two'
status:
  a: 1
`
	paths := [][]string{{"status"}, {"metadata", "uid"}, {"metadata", "labels"}, {"spec", "c"}, {"spec", "a", "b"}}
	for _, test := range []struct{ name, document, want string }{
		{"only the fields go, with their comments", document, `# licence
metadata:   # ours

  name: app
spec:
    # a note
    a: 1

    b:  'two'
`},
		{"a document that has none stays", "spec:   {a: 1} # note\n", "spec:   {a: 1} # note\n"},
		{"within brackets", "{metadata: {name: app, uid: a}, status: 1}\n", "{metadata: {name: app}}\n"},
		{"aliases are expanded", "metadata: &m {name: app, uid: a}\nspec: *m\n", "metadata: {name: app}\nspec: {name: app, uid: a}\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := transform.Without([]byte(test.document), paths...)
			if err != nil || string(got) != test.want {
				t.Errorf("got %q, %v\nwant %q", got, err, test.want)
			}
		})
	}
	for _, invalid := range []string{"a: 1\na: 2\n", "- a\n", "a: [\n", "a: 1\n---\nb: 1\n"} {
		if got, err := transform.Without([]byte(invalid), paths...); err == nil {
			t.Errorf("%q became %q", invalid, got)
		}
	}
}

// SPDX-License-Identifier: Apache-2.0

package backend_test

import (
	"errors"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/winnow-dev/winnow/render/backend"
	"github.com/winnow-dev/winnow/render/backends"
)

// Whatever the default values of a definition of KKP are, its templates end, and what they make is within the size of the
// values: no function repeats a text.
func FuzzDefaultValues(f *testing.F) {
	for _, text := range []string{
		"a: 1", "a: '{{ print \"x\" 1 }}'", "a: '{{ if and (not false) (ne 1 2) }}yes{{ else }}no{{ end }}'", "a: '{{ printf \"%1000000d\" 1 }}'",
		"a: &a {x: 1}\nb: {<<: *a}", "a: '{{ range 9 }}x{{ end }}'", "a: '{{ define \"x\" }}{{ template \"x\" }}{{ end }}'", "a: '{{ .Cluster.Name }}'",
		"a: '{{ len (print 1 2 | printf) }}'", "a: [", "- a", "a: 1\n---\nb: 2", "a: '{{ html (js \"<\") }}'", "a: '{{ index \"x\" 1e9 }}'",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		quoted, err := yaml.Marshal(text)
		if err != nil || len(text) > 64<<10 {
			return
		}
		spec := "  defaultValuesBlock: " + strings.ReplaceAll(strings.TrimSpace(string(quoted)), "\n", "\n    ") + "\n"
		var invalid *backend.Error
		objects, err := backends.Named(backend.Helm).Build(kkpInstance(t, nil, spec))
		if err != nil {
			if !errors.As(err, &invalid) {
				t.Fatal(err)
			}
			return
		}
		for _, o := range objects {
			content, err := o.MarshalJSON()
			if err != nil || len(content) > 64<<10+100*len(text) {
				t.Errorf("%d bytes of values make an object of %d bytes: %v", len(text), len(content), err)
			}
		}
	})
}

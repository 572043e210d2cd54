// SPDX-License-Identifier: Apache-2.0

package dialect_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/winnow-dev/winnow/render/dialect"
	"github.com/winnow-dev/winnow/render/yamlnode"
	"github.com/winnow-dev/winnow/test/yamltest"
)

// FuzzDialect compares what the readers of sigs.k8s.io/yaml and Values read, and looks for panics and for JSON that is none.
func FuzzDialect(f *testing.F) {
	g := yamltest.New(seed, 4)
	for range 50 {
		f.Add(g.Text())
	}
	for _, text := range []string{"a: &a [*a]", "<<: [{a: 1}, {<<: {b: 2}}]", "? {a: 1}\n: 2", "a: !!binary aGk=", "%YAML 1.1\n---\na: no", "\xef\xbb\xbfa: 1", "a: 1e999", "!!map [1]"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 1<<12 {
			return
		}
		if content, err := dialect.Kustomize([]byte(text)); err == nil && !json.Valid(content) {
			t.Errorf("Kustomize() = %q", content)
		}
		want, err := dialect.JSON([]byte(text))
		if root, refused := dialect.Values([]byte(text)); err == nil && refused == nil && root != nil && !strings.Contains(text, "!") { // tags are written otherwise
			dialect.Differences(root, func(int, string, ...any) {})
			encoded, err := yamlnode.Encode(yamlnode.Expand(root))
			if err != nil {
				return // a tag that cannot be written
			}
			got, err := yaml.YAMLToJSON(encoded)
			if err != nil || !sameJSON(t, got, want) {
				t.Errorf("Values(%q) is %s, and read as %s: %v", text, got, want, err)
			}
		}
	})
}

func sameJSON(t *testing.T, a, b []byte) bool {
	t.Helper()
	var x, y any
	if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil {
		t.Fatalf("%s and %s are no JSON", a, b)
	}
	return reflect.DeepEqual(x, y)
}

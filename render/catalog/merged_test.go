// SPDX-License-Identifier: Apache-2.0

package catalog_test

import (
	"reflect"
	"testing"

	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/catalog/metadata"
)

// The facts on a version are those of the catalog that has it, wherever they are read.
func TestMergedVersionsBringTheirFacts(t *testing.T) {
	load := func(metadata string, versions ...string) *catalog.Application {
		t.Helper()
		all := files{"applications/a/application.yaml": definition("a", versions...), "applications/a/metadata.yaml": "tier: gold\n" + metadata}
		loaded, err := catalog.Load(t.Context(), all.fs())
		if err != nil {
			t.Fatal(err)
		}
		return loaded.Applications[0]
	}
	const first = "versions: {2.0.0: {channels: [stable]}, 1.0.0: {deprecated: forgotten}}\n"
	later := load("versions: {1.0.0: {channels: [old], requires: {kkp: '>=2'}}, 2.0.0: {deprecated: other}, 0.9.0: {deprecated: gone}}\n", "1.0.0", "2.0.0", "0.9.0")
	added := map[string]any{"channels": []any{"old"}, "requires": map[string]any{"kkp": ">=2"}}
	for name, test := range map[string]struct {
		own   string
		extra map[string]any
		want  metadata.Versions
	}{
		"beside own facts": {first, map[string]any{"1.0.0": added, "2.0.0": map[string]any{"channels": []any{"stable"}}}, metadata.Versions{
			{Name: "1.0.0", Channels: []string{"old"}, Requires: []metadata.Requirement{{Component: "kkp", Constraint: ">=2"}}},
			{Name: "2.0.0", Channels: []string{"stable"}},
		}},
		"without own facts": {"", map[string]any{"1.0.0": added}, metadata.Versions{
			{Name: "1.0.0", Channels: []string{"old"}, Requires: []metadata.Requirement{{Component: "kkp", Constraint: ">=2"}}},
		}},
	} {
		own := load(test.own, "2.0.0")
		before := own.Metadata
		merged := own.With(catalog.Merged{Source: "later", From: later, Versions: []string{"1.0.0"}})
		if got := merged.Metadata.Versions; !reflect.DeepEqual(got, test.want) {
			t.Errorf("%s: the facts are %v, want %v", name, got, test.want)
		}
		if got := merged.Metadata.Extra[metadata.VersionsKey]; !reflect.DeepEqual(got, test.extra) {
			t.Errorf("%s: expressions read the facts %v, want %v", name, got, test.extra)
		}
		if !reflect.DeepEqual(own.Metadata, before) || own.Metadata.Tier != "gold" || merged.Metadata.Tier != "gold" {
			t.Errorf("%s: the first definition has changed", name)
		}
	}
}

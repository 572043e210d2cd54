// SPDX-License-Identifier: Apache-2.0

package layers_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/winnow-dev/winnow/render/layers"
)

func values(t *testing.T, text string) map[string]any {
	t.Helper()
	var v map[string]any
	if err := yaml.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func TestExplain(t *testing.T) {
	// The definition has a, b and c; a rule fills d and overrides b; the instance sets a and deletes c.
	defaults := []string{"overrides {b: 2}", "catalog {a: 1, b: 1, c: {x: 1}}", "defaults {b: 0, d: 3}"}
	tests := []struct {
		name             string
		defaults, inline []string
		// built are the default and the inline values of the artifact, and patched those after patches.
		built, patched [2]string
		references     []string
		want           []string
	}{
		{
			name: "default values of three layers", defaults: defaults, built: [2]string{"{a: 1, b: 2, c: {x: 1}, d: 3}", ""},
			want: []string{"a=1 by catalog", "b=2 by overrides over catalog,defaults", "c.x=1 by catalog", "d=3 by defaults"},
		},
		{
			name: "an instance sets one and deletes one", defaults: defaults, inline: []string{"instance {a: 9, c: null}"},
			built: [2]string{"{b: 2, d: 3}", "{a: 9, c: null}"},
			want: []string{
				"a=9 by instance over catalog", "b=2 by overrides over catalog,defaults", "c deleted by instance over catalog", "d=3 by defaults",
			},
		},
		{
			name: "what no instance can change wins", inline: []string{"locked {a: {x: 1}}", "instance {a: {x: 2, z: 2}}"},
			built: [2]string{"", "{a: {x: 1, z: 2}}"},
			want:  []string{"a.x=1 by locked over instance", "a.z=2 by instance"},
		},
		{
			name: "a value in place of a mapping", defaults: []string{"catalog {a: {x: 1}}"}, inline: []string{"instance {a: off}"},
			built: [2]string{"", "{a: off}"},
			want:  []string{"a=false by instance over catalog"},
		},
		{
			name: "a mapping in place of a value", defaults: []string{"catalog {a: 1}"}, inline: []string{"instance {a: {x: 1}}"},
			built: [2]string{"", "{a: {x: 1}}"},
			want:  []string{"a.x=1 by instance over catalog"},
		},
		{
			name: "a list is one value, and so is an empty mapping", inline: []string{"instance {a: [1, 2], b: {}}"},
			built: [2]string{"", "{a: [1, 2], b: {}}"},
			want:  []string{"a=[1 2] by instance", "b=map[] by instance"},
		},
		{
			name: "an empty mapping is merged into the default values, and sets nothing", defaults: []string{"catalog {a: {x: 1}, b: 1}"},
			inline: []string{"instance {a: {}, b: {}}"}, built: [2]string{"{a: {x: 1}, b: 1}", "{a: {}, b: {}}"},
			want: []string{"a.x=1 by catalog", "b=map[] by instance over catalog"},
		},
		{
			name: "a null among the default values deletes what the chart has", defaults: []string{"catalog {a: null}"},
			built: [2]string{"{a: null}", ""},
			want:  []string{"a deleted by catalog"},
		},
		{
			name: "a document of the cluster may replace every default, and nothing else", defaults: []string{"catalog {a: 1}"},
			inline: []string{"instance {b: 1}"}, built: [2]string{"{a: 1}", "{b: 1}"}, references: []string{""},
			want: []string{"a=1 by catalog replaceable", "b=1 by instance"},
		},
		{
			name: "a single value of the cluster", defaults: []string{`catalog {a: {x: 1, z: 1}, "b.c": 1, l: [1]}`},
			built: [2]string{`{a: {x: 1, z: 1}, "b.c": 1, l: [1]}`, ""}, references: []string{"a.x", `b\.c`, "l[0]"},
			want: []string{"a.x=1 by catalog replaceable", "a.z=1 by catalog", `["b.c"]=1 by catalog replaceable`, "l=[1] by catalog replaceable"},
		},
		{
			name: "patches", defaults: []string{"catalog {a: 1, b: 1}"}, inline: []string{"instance {c: 1}"},
			built: [2]string{"{a: 1, b: 1}", "{c: 1}"}, patched: [2]string{"{a: 2, b: 1}", "{c: 3, m: 1}"},
			want: []string{"a=2 by spec.patches over catalog", "b=1 by catalog", "c=3 by spec.patches over instance", "m=1 by spec.patches"},
		},
		{
			name: "a patch sets inline what is a default", defaults: []string{"catalog {a: {x: 1}}"},
			built: [2]string{"{a: {x: 1}}", ""}, patched: [2]string{"{a: {x: 1}}", "{a: 1}"},
			want: []string{"a=1 by spec.patches over catalog"},
		},
		{
			name: "a null that the object lacks", inline: []string{"locked {b: 1}", "instance {a: {x: null}, b: null}"},
			built: [2]string{"", "{b: 1}"},
			want:  []string{"a.x deleted by instance", "b=1 by locked over instance"},
		},
		{name: "nothing"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.patched == ([2]string{}) {
				tt.patched = tt.built
			}
			in := layers.Input{
				Defaults: layersOf(t, tt.defaults), Inline: layersOf(t, tt.inline), References: tt.references,
				Built:   layers.Values{Defaults: values(t, tt.built[0]), Inline: values(t, tt.built[1])},
				Patched: layers.Values{Defaults: values(t, tt.patched[0]), Inline: values(t, tt.patched[1])},
			}
			var got []string
			for _, leaf := range layers.Explain(in) {
				got = append(got, shown(leaf))
			}
			slices.Sort(got)
			slices.Sort(tt.want)
			if !slices.Equal(got, tt.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(tt.want, "\n"))
			}
		})
	}
}

func layersOf(t *testing.T, texts []string) []layers.Layer {
	t.Helper()
	var all []layers.Layer
	for _, text := range texts {
		name, content, _ := strings.Cut(text, " ")
		all = append(all, layers.Layer{Name: name, Values: values(t, content)})
	}
	return all
}

func shown(leaf layers.Leaf) string {
	text := fmt.Sprintf("%s=%v", leaf.Text(), leaf.Value)
	if leaf.Deleted {
		text = leaf.Text() + " deleted"
	}
	text += " by " + leaf.Layer
	if len(leaf.Over) > 0 {
		text += " over " + strings.Join(leaf.Over, ",")
	}
	if leaf.Replaceable {
		text += " replaceable"
	}
	return text
}

func TestWinner(t *testing.T) {
	in := layers.Input{Inline: layersOf(t, []string{"locked {a: {x: 1}}", "instance {a: {z: 1}, b: 1}"})}
	for path, want := range map[string]string{"a.x": "locked", "a.z": "instance", "a": "locked", "b.deep": "instance", "c": "", "": ""} {
		if got := in.Winner(path); got != want {
			t.Errorf("Winner(%q) = %q, want %q", path, got, want)
		}
	}
}

func TestSplit(t *testing.T) {
	for path, want := range map[string][]string{
		"a": {"a"}, "a.b": {"a", "b"}, `a\.b.c`: {"a.b", "c"}, "a[0].b": {"a"}, "": {""}, `a\`: {"a"},
	} {
		if got := layers.Split(path); !slices.Equal(got, want) {
			t.Errorf("Split(%q) = %q, want %q", path, got, want)
		}
	}
}

// The values of a definition are untrusted, and their layers may be many.
func TestExplainIsFastForManyValues(t *testing.T) {
	many := map[string]any{}
	for i := range 20_000 {
		many[fmt.Sprint(i)] = i
	}
	in := layers.Input{Built: layers.Values{Defaults: many}, Patched: layers.Values{Defaults: many}}
	for i := range 20 {
		in.Defaults = append(in.Defaults, layers.Layer{Name: fmt.Sprint(i), Values: many})
	}
	if got := layers.Explain(in); len(got) != len(many) || len(got[0].Over) != 19 {
		t.Errorf("%d values", len(got))
	}
}

// SPDX-License-Identifier: Apache-2.0

package transform_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/transform"
)

// aliased returns random values with anchors, aliases and merge keys.
func aliased(r *rand.Rand) string {
	var mappings, all []string
	var text strings.Builder
	var value func(depth int) string
	mapping := func(depth int) string {
		entries := []string{}
		for i := range r.IntN(4) {
			entries = append(entries, fmt.Sprintf("%c: %s", 'a'+i, value(depth-1)))
		}
		if len(mappings) > 0 && r.IntN(2) == 0 {
			one, other := mappings[r.IntN(len(mappings))], mappings[r.IntN(len(mappings))]
			merge := []string{"<<: *" + one, "<<: [*" + one + ", *" + other + "]", "<<: {z: 1, a: *" + one + "}"}
			entries = append(entries, merge[r.IntN(len(merge))])
		}
		r.Shuffle(len(entries), func(i, j int) { entries[i], entries[j] = entries[j], entries[i] })
		return "{" + strings.Join(entries, ", ") + "}"
	}
	value = func(depth int) string {
		switch n := r.IntN(6); {
		case depth > 0 && n == 0:
			return mapping(depth)
		case depth > 0 && n == 1:
			return "[" + value(depth-1) + ", " + value(depth-1) + "]"
		case n < 4 && len(all) > 0:
			return "*" + all[r.IntN(len(all))]
		}
		return []string{"1", "null", "'yes'", "x y", `"{{ .X }}"`, "quay.io/a/b:1"}[r.IntN(6)]
	}
	for i := range 2 + r.IntN(6) {
		anchor := fmt.Sprintf("n%d", r.IntN(i+1)) // which may be defined again, but must not refer to itself
		same := func(name string) bool { return strings.TrimPrefix(name, "s") == anchor }
		mappings, all = slices.DeleteFunc(mappings, same), slices.DeleteFunc(all, same)
		if r.IntN(2) == 0 {
			fmt.Fprintf(&text, "k%d: &%s %s # k%d\n", i, anchor, mapping(2), i)
			mappings = append(mappings, anchor)
		} else {
			anchor = "s" + anchor
			fmt.Fprintf(&text, "# k%d\nk%d: &%s\n  a: %s\n  b:\n  - %s\n", i, i, anchor, value(2), value(1))
		}
		all = append(all, anchor)
	}
	return text.String()
}

// decoded returns the default values of a document.
func decoded(t *testing.T, document []byte) map[string]any {
	t.Helper()
	var object struct {
		Spec struct {
			Block   string         `yaml:"defaultValuesBlock"`
			Mapping map[string]any `yaml:"defaultValues"`
		} `yaml:"spec"`
	}
	err := yaml.Unmarshal(document, &object)
	text := []byte(object.Spec.Block)
	if err == nil && object.Spec.Mapping != nil {
		text, err = json.Marshal(object.Spec.Mapping)
	}
	var values map[string]any
	if err == nil {
		err = sigsyaml.Unmarshal(text, &values) // as the readers of a block do
	}
	if err != nil {
		t.Fatalf("%v in:\n%s", err, document)
	}
	return values
}

func TestRandomAliasesKeepWhatTheyMean(t *testing.T) {
	pipeline, err := transform.New(transform.Config{OmitFields: []string{"z"}, Values: []v1alpha1.ValuesRule{{Names: []string{"web"}, Overrides: &apiextensionsv1.JSON{Raw: []byte(`{"zz": {"y": 1}}`)}}}})
	if err != nil {
		t.Fatal(err)
	}
	loaded := 0
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 0))
		field := []string{"defaultValuesBlock: |\n", "defaultValues:\n"}[seed%2]
		document := head + "  " + field + "    " + strings.ReplaceAll(strings.TrimSuffix(aliased(r), "\n"), "\n", "\n    ") + "\n"
		application, err := tryLoad([]byte(document))
		if err != nil {
			continue // which kustomize does not carry
		}
		loaded++
		out, err := pipeline.Apply(t.Context(), transform.Input{Application: application})
		if errors.Is(err, transform.ErrTemplates) {
			continue
		}
		if err != nil {
			t.Fatalf("seed %d: %v of:\n%s", seed, err, document)
		}
		want := decoded(t, application.Document)
		want["zz"] = map[string]any{"y": 1.0}
		if got := decoded(t, out.Document); !reflect.DeepEqual(got, want) || strings.Contains(string(out.Document), "*n") {
			t.Fatalf("seed %d: got %v, want %v of:\n%s\nnow:\n%s", seed, got, want, document, out.Document)
		}
		for i := range strings.Count(document, "# k") {
			if comment := fmt.Sprintf("# k%d", i); !strings.Contains(string(out.Document), comment) {
				t.Fatalf("seed %d: the comment %s is lost of:\n%s\nnow:\n%s", seed, comment, document, out.Document)
			}
		}
	}
	if loaded < 250 {
		t.Errorf("only %d documents could be loaded", loaded)
	}
}

// SPDX-License-Identifier: Apache-2.0

package catalog_test

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/catalog/violation"
)

// documents makes a file system of application.yaml files by directory.
func documents(files map[string]string) fstest.MapFS {
	fsys := fstest.MapFS{}
	for directory, content := range files {
		fsys["applications/"+directory+"/application.yaml"] = &fstest.MapFile{Data: []byte(content)}
	}
	return fsys
}

func TestLoadNotesLabelsAndFields(t *testing.T) {
	const head = "apiVersion: cozystack.io/v1alpha1\nkind: ApplicationDefinition\n"
	for _, test := range []struct {
		name, content string
		labels        map[string]string
		fields        []string
	}{
		{
			"labels and fields in their order",
			head + "metadata: {name: a, labels: {b: x, a: \"1\"}}\nspec: {release: {prefix: a-}, application: {kind: A}}\n",
			map[string]string{"a": "1", "b": "x"},
			[]string{"release", "application"},
		},
		{
			"what aliases and merges bring",
			head + "metadata: {name: a, labels: &l {b: x}, annotations: *l}\nspec: {<<: {release: {prefix: a-}}, application: {kind: A}}\n",
			map[string]string{"b": "x"},
			[]string{"application", "release"},
		},
		{"no labels", head + "metadata: {name: a, labels: {}}\nspec: {}\n", nil, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			loaded, err := catalog.Load(context.Background(), documents(map[string]string{"a": test.content}))
			if err != nil {
				t.Fatal(err)
			}
			application := loaded.Applications[0]
			if !reflect.DeepEqual(application.Labels, test.labels) || !slices.Equal(application.SpecFields, test.fields) {
				t.Errorf("labels %v and fields %v, want %v and %v", application.Labels, application.SpecFields, test.labels, test.fields)
			}
		})
	}
}

func cozystack(name, kind string) string {
	return "apiVersion: cozystack.io/v1alpha1\nkind: ApplicationDefinition\nmetadata:\n  name: " + name + "\nspec:\n  application:\n    kind: " + kind + "\n"
}

// Cozystack's API server serves one of two definitions of a kind (cozystack#4361).
func TestLoadRefusesTwoDefinitionsOfAKindOfCozystack(t *testing.T) {
	_, err := catalog.Load(context.Background(), documents(map[string]string{
		"a": cozystack("a", "Postgres"), "b": cozystack("b", "Redis"), "c": cozystack("c", "Postgres"), "d": cozystack("d", "Postgres"),
	}))
	var invalid *violation.InvalidError
	if !errors.As(err, &invalid) {
		t.Fatalf("Load() = %v, want an InvalidError", err)
	}
	var got []string
	for _, violation := range invalid.Violations {
		got = append(got, violation.String())
	}
	want := []string{
		`applications/c/application.yaml:7: spec.application.kind "Postgres" is taken by applications/a/application.yaml`,
		`applications/d/application.yaml:7: spec.application.kind "Postgres" is taken by applications/a/application.yaml`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("violations\n%s, want\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestKindsOfOtherGroupsMayBeShared(t *testing.T) {
	other := strings.NewReplacer("cozystack.io/v1alpha1", "example.com/v1")
	_, err := catalog.Load(context.Background(), documents(map[string]string{
		"a": other.Replace(cozystack("a", "Postgres")), "b": cozystack("b", "Postgres"), "c": other.Replace(cozystack("c", "Redis")),
	}))
	if err != nil {
		t.Errorf("Load() = %v", err)
	}
	_, err = catalog.Load(context.Background(), documents(map[string]string{
		"a": other.Replace(cozystack("a", "Postgres")), "c": other.Replace(cozystack("c", "Postgres")),
	}))
	if want := `spec.application.kind "Postgres" is taken by applications/a/application.yaml`; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("Load() = %v, want %s", err, want)
	}
}

func TestSpecHasTheTypesOfJSON(t *testing.T) {
	const content = "apiVersion: example.com/v1\nkind: ApplicationDefinition\nmetadata: {name: a}\nspec:\n" +
		"  text: x\n  day: \"2024-01-02\"\n  number: 1\n  fraction: 1.5\n  yes: true\n  nothing: null\n  list: [{a: b}]\n"
	loaded, err := catalog.Load(context.Background(), documents(map[string]string{"a": content}))
	if err != nil {
		t.Fatal(err)
	}
	got, err := loaded.Applications[0].Spec()
	want := map[string]any{
		"text": "x", "day": "2024-01-02", "number": int64(1), "fraction": 1.5, "yes": true, "nothing": nil,
		"list": []any{map[string]any{"a": "b"}},
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("Spec() = %v, %v, want %v", got, err, want)
	}
}

func TestSpecFailsWhereThereIsNone(t *testing.T) {
	for _, content := range []string{"", "{", "kind: A\n", "spec: text\n", "[]\n", "spec: {a: !!binary eA==}\n"} {
		application := &catalog.Application{Path: "a/application.yaml", Document: []byte(content)}
		if spec, err := application.Spec(); err == nil || spec != nil {
			t.Errorf("Spec() of %q = %v, %v, want an error", content, spec, err)
		}
	}
}

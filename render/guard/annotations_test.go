// SPDX-License-Identifier: Apache-2.0

package guard_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"k8s.io/apimachinery/pkg/types"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/guard"
)

// annotated is a source with argocd, whose definition has the annotation, and nginx.
func annotated(t *testing.T, annotation string) guard.Source {
	t.Helper()
	fsys := fstest.MapFS{}
	for name, annotations := range map[string]string{"argocd": "{stage: " + annotation + "}", "nginx": "{}"} {
		fsys["applications/"+name+"/application.yaml"] = &fstest.MapFile{Data: []byte("apiVersion: apps.kubermatic.k8c.io/v1\n" +
			"kind: ApplicationDefinition\nmetadata: {name: " + name + ", annotations: " + annotations + "}\nspec: {versions: [{version: 1.0.0}]}\n")}
	}
	loaded, err := render.LoadFS(t.Context(), "catalog", fsys, render.CatalogLocation{})
	if err != nil {
		t.Fatal(err)
	}
	return guard.Source{Kind: "OCIRepository", Name: types.NamespacedName{Namespace: "flux-system", Name: "catalog"}, Catalog: loaded}
}

// An edit selects by an annotation of the definition, while a new catalog takes it away.
func TestAnEditByAnnotationsOfTheDefinition(t *testing.T) {
	const expression = `!("stage" in app.objectAnnotations) || app.objectAnnotations.stage == "ga"`
	for _, test := range []struct {
		name, then string
		spoil      func(record string) string
		held       []string
	}{
		{"the edit loses it as well", "beta", nil, nil},
		{"the catalog loses it", "ga", nil, []string{"argocd"}},
		{"a record of an older release does not have them", "beta", func(record string) string {
			return strings.ReplaceAll(strings.ReplaceAll(record, `,"p":{"stage":"beta"}`, ""), `,"p":{}`, "")
		}, []string{"argocd"}},
		{"they are too large for the record", strings.Repeat("x", 2000), nil, []string{"argocd"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			before, after := limited(v1alpha1.Limit{}), limited(v1alpha1.Limit{Expression: expression})
			then, now := annotated(t, test.then), annotated(t, "alpha")
			spec, published := guard.RenderedSpec(before), rendered(t, before, then).Definitions
			record, err := json.Marshal(guard.Record([]guard.Source{then}, published))
			if err != nil {
				t.Fatal(err)
			}
			if test.spoil != nil {
				spoilt := test.spoil(string(record))
				if spoilt == string(record) || strings.Contains(spoilt, `"p"`) {
					t.Fatalf("the record is %s", spoilt)
				}
				record = []byte(spoilt)
			}
			last := guard.Published{Spec: &spec, Definitions: published}
			if err := json.Unmarshal(record, &last.Sources); err != nil {
				t.Fatal(err)
			}
			verdict := guard.Decide(t.Context(), last, guard.Next{Selection: after, Sources: []guard.Source{now}, Result: rendered(t, after, now)})
			var held []string
			for _, change := range verdict.Held {
				held = append(held, change.Key.Name)
			}
			if !slices.Equal(held, test.held) {
				t.Errorf("held %q, want %q", held, test.held)
			}
		})
	}
}

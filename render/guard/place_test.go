package guard_test

import (
	"slices"
	"testing"
	"testing/fstest"

	"k8s.io/apimachinery/pkg/types"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/guard"
)

// An edit of path, format or include makes another catalog of the same artifact, so what it takes away is held.
func TestAnEditOfThePlaceHoldsWhatItTakesAway(t *testing.T) {
	definition := func(name string) *fstest.MapFile {
		return &fstest.MapFile{Data: []byte("apiVersion: cozystack.io/v1alpha1\nkind: ApplicationDefinition\nmetadata:\n  name: " + name +
			"\n  labels: {catalog.winnow.dev/tier: gold}\nspec: {}\n")}
	}
	fsys := fstest.MapFS{"a/application.yaml": definition("a"), "b/application.yaml": definition("b"), "b/c.yaml": definition("c")}
	for _, test := range []struct {
		name          string
		before, after v1alpha1.SourceReference
		want          []string
	}{
		{"nothing changed", v1alpha1.SourceReference{Format: "Definitions"}, v1alpha1.SourceReference{Format: "Definitions"}, nil},
		{"fewer files", v1alpha1.SourceReference{Format: "Definitions"},
			v1alpha1.SourceReference{Format: "Definitions", Include: []string{"b/*"}}, []string{"a"}},
		{"more files", v1alpha1.SourceReference{Format: "Definitions", Include: []string{"b/*"}}, v1alpha1.SourceReference{Format: "Definitions"}, nil},
		{"another format", v1alpha1.SourceReference{Format: "Definitions", Include: []string{"*/application.yaml"}},
			v1alpha1.SourceReference{Format: "Applications", Include: []string{"*/application.yaml"}}, []string{"a", "b"}},
		{"another directory", v1alpha1.SourceReference{Format: "Definitions"}, v1alpha1.SourceReference{Format: "Definitions", Path: "b"}, []string{"a"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			side := func(ref v1alpha1.SourceReference) (*v1alpha1.CatalogSelection, guard.Source, *render.Result) {
				ref.Name = "catalog"
				cs := limited(tiers("gold"))
				cs.Spec.Sources, cs.Spec.Safeguards.OnEmpty = []v1alpha1.SourceReference{ref}, v1alpha1.SafeguardPublish
				loaded, err := render.LoadFS(t.Context(), "catalog", fsys, render.LocationOf(ref))
				if err != nil {
					t.Fatal(err)
				}
				source := guard.Source{Kind: "OCIRepository", Name: types.NamespacedName{Namespace: "flux-system", Name: "catalog"}, Path: ref.Path, Catalog: loaded}
				return cs, source, rendered(t, cs, source)
			}
			before, then, published := side(test.before)
			after, now, result := side(test.after)
			spec := guard.RenderedSpec(before)
			last := guard.Published{Spec: &spec, Definitions: published.Definitions, Sources: guard.Record([]guard.Source{then}, published.Definitions)}
			var got []string
			for _, change := range guard.Decide(t.Context(), last, guard.Next{Selection: after, Sources: []guard.Source{now}, Result: result}).Held {
				got = append(got, change.Key.Name)
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("held are %v, want %v", got, test.want)
			}
		})
	}
}

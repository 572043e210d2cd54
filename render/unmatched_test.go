// SPDX-License-Identifier: Apache-2.0

package render_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/mention"
	"github.com/winnow-dev/winnow/render/selection"
)

// labelledApplications have tiers, labels and fields of their own.
func labelledApplications() fstest.MapFS {
	fsys := fstest.MapFS{}
	for name, metadata := range map[string]string{
		"argocd": "tier: gold\nlabels: {team: ops, stage: stable}\n", "nginx": "tier: silver\nlabels: {team: web}\n", "falco": "tier: gold\n",
	} {
		dir := "applications/" + name + "/"
		fsys[dir+"application.yaml"] = &fstest.MapFile{Data: []byte("apiVersion: apps.kubermatic.k8c.io/v1\nkind: ApplicationDefinition\n" +
			"metadata: {name: " + name + "}\nspec:\n  documentationURL: x\n  defaultNamespace: {name: a, create: true}\n  versions: [{version: 1.0.0}]\n")}
		fsys[dir+"metadata.yaml"] = &fstest.MapFile{Data: []byte(metadata)}
	}
	return fsys
}

func metadata(m v1alpha1.MetadataSelector) func(*v1alpha1.CatalogSelection) {
	return func(cs *v1alpha1.CatalogSelection) { cs.Spec.Limit = &v1alpha1.Limit{MetadataSelector: &m} }
}

func TestWhatMatchesNothingIsListed(t *testing.T) {
	for _, test := range []struct {
		name string
		edit func(*v1alpha1.CatalogSelection)
		want []string
	}{
		{"nothing is mentioned", func(*v1alpha1.CatalogSelection) {}, nil},
		{"all that is mentioned matches", func(cs *v1alpha1.CatalogSelection) {
			metadata(v1alpha1.MetadataSelector{TierRefs: []string{"gold", "silver"}, MatchExpressions: []metav1.LabelSelectorRequirement{
				{Key: "team", Operator: metav1.LabelSelectorOpIn, Values: []string{"ops", "web"}},
			}})(cs)
			cs.Spec.Limit.NameSelector, cs.Spec.Exclude = []string{"argocd", "nginx"}, []string{"falco"}
			cs.Spec.OmitFields = []string{"documentationURL", "defaultNamespace.create"}
		}, nil},
		{"a tier", metadata(v1alpha1.MetadataSelector{TierRefs: []string{"gold", "sliver"}}),
			[]string{`spec.limit.metadataSelector.tierRefs[1] "sliver" (did you mean "silver"?)`}},
		{"labels", metadata(v1alpha1.MetadataSelector{MatchLabels: map[string]string{"team": "opps", "stage": "stable"}}),
			[]string{`spec.limit.metadataSelector.matchLabels[team] "team=opps" (did you mean "team=ops"?)`}},
		{"values and keys of expressions", metadata(v1alpha1.MetadataSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
			{Key: "team", Operator: metav1.LabelSelectorOpIn, Values: []string{"ops", "nobody"}},
			{Key: "teem", Operator: metav1.LabelSelectorOpExists},
			{Key: "team", Operator: metav1.LabelSelectorOpNotIn, Values: []string{"others"}},
			{Key: "absent", Operator: metav1.LabelSelectorOpDoesNotExist},
		}}), []string{
			`spec.limit.metadataSelector.matchExpressions[0].values[1] "team=nobody"`,
			`spec.limit.metadataSelector.matchExpressions[1].key "teem" (did you mean "team"?)`,
		}},
		{"what an expression keeps out, if it is misspelt", metadata(v1alpha1.MetadataSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
			{Key: "stage", Operator: metav1.LabelSelectorOpNotIn, Values: []string{"stabel", "unheard"}},
			{Key: "taem", Operator: metav1.LabelSelectorOpNotIn, Values: []string{"ops"}},
			{Key: "stagr", Operator: metav1.LabelSelectorOpDoesNotExist},
			{Key: "stage", Operator: metav1.LabelSelectorOpNotIn, Values: []string{"stable"}},
		}}), []string{
			`spec.limit.metadataSelector.matchExpressions[0].values[0] "stage=stabel" (did you mean "stage=stable"?)`,
			`spec.limit.metadataSelector.matchExpressions[1].values[0] "taem=ops" (did you mean "team=ops"?)`,
			`spec.limit.metadataSelector.matchExpressions[2].key "stagr" (did you mean "stage"?)`,
		}},
		{"names, wherever they are", func(cs *v1alpha1.CatalogSelection) {
			cs.Spec.Limit = &v1alpha1.Limit{NameSelector: []string{"argocd", "argo"}}
			cs.Spec.Exclude = []string{"falko"}
			cs.Spec.Versions = []v1alpha1.VersionRule{{Latest: 1}, {Names: []string{"nginx", "ngnix"}, Latest: 1}}
			cs.Spec.Values = []v1alpha1.ValuesRule{{Names: []string{"prometheus"}, Defaults: &apiextensionsv1.JSON{Raw: []byte("{}")}}}
		}, []string{
			`spec.limit.nameSelector[1] "argo" (did you mean "argocd"?)`, `spec.exclude[0] "falko" (did you mean "falco"?)`,
			`spec.versions[1].names[1] "ngnix" (did you mean "nginx"?)`, `spec.values[0].names[0] "prometheus"`,
		}},
		{"fields to omit", func(cs *v1alpha1.CatalogSelection) {
			cs.Spec.OmitFields = []string{"documentationUrl", "defaultNamespace.create", "defaultNamspace.create", "defaultNamespace.name.x", "unheard.of"}
		}, []string{
			`spec.omitFields[0] "documentationUrl" (did you mean "documentationURL"?)`,
			`spec.omitFields[2] "defaultNamspace.create" (did you mean "defaultNamespace.create"?)`,
			`spec.omitFields[3] "defaultNamespace.name.x"`, `spec.omitFields[4] "unheard.of"`,
		}},
		{"fields to omit that admins edit are none", func(cs *v1alpha1.CatalogSelection) {
			cs.Spec.OmitFields = []string{"default", "enforced", "selector", "selector.datacenters", "defaultVersion", "defaultValues", "defaultValuesBlock"}
		}, nil},
		{"a field within one that goes before it is there", func(cs *v1alpha1.CatalogSelection) {
			cs.Spec.OmitFields = []string{"defaultNamespace", "defaultNamespace.create"}
		}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			cs := selectionOf(test.edit)
			result, err := renderWith(t.Context(), labelledApplications(), cs, true)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, u := range result.Unmatched {
				got = append(got, u.String())
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("unmatched:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(test.want, "\n"))
			}
		})
	}
}

func TestWhatThereIsIsSaidOnce(t *testing.T) {
	result, err := renderWith(t.Context(), labelledApplications(), selectionOf(func(cs *v1alpha1.CatalogSelection) {
		metadata(v1alpha1.MetadataSelector{
			TierRefs:    []string{"sliver"},
			MatchLabels: map[string]string{"team": "x", "teem": "x", "owner": "x"},
		})(cs)
		cs.Spec.Exclude = []string{"falko", "prometheus"}
	}), true)
	if err != nil {
		t.Fatal(err)
	}
	const labels = "spec.limit.metadataSelector.matchLabels"
	sameSentences(t, result.Unmatched, []string{
		`spec.limit.metadataSelector.tierRefs[0] "sliver" matches nothing in the catalogs: did you mean "silver"? (the catalogs have "gold", "silver")`,
		labels + `[owner] "owner=x" matches nothing in the catalogs (the catalogs have "stage", "team")`,
		labels + `[team] "team=x" matches nothing in the catalogs (the catalogs have "team=ops", "team=web")`,
		labels + `[teem] "teem=x" matches nothing in the catalogs: did you mean "team=x"?`,
		`spec.exclude[0] "falko" matches nothing in the catalogs: did you mean "falco"? (the catalogs have "argocd", "falco", "nginx")`,
		`spec.exclude[1] "prometheus" matches nothing in the catalogs`,
	})
	result, err = renderFS(t.Context(), labelledApplications(), selectionOf(func(cs *v1alpha1.CatalogSelection) {
		cs.Spec.OmitFields = []string{"defaultNamspace.create"}
	}))
	if err != nil {
		t.Fatal(err)
	}
	sameSentences(t, result.Unmatched, []string{
		`spec.omitFields[0] "defaultNamspace.create" matches nothing in the catalogs: did you mean "defaultNamespace.create"? ` +
			`(the catalogs have "defaultNamespace", "documentationURL", "versions")`,
	})
}

func sameSentences(t *testing.T, unmatched []mention.Unmatched, want []string) {
	t.Helper()
	if got := mention.Sentences(unmatched); !slices.Equal(got, want) {
		t.Errorf("got:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// Names that are kept out do not use up what is said of others.
func TestWhatIsKeptOutTakesNoAdviceAway(t *testing.T) {
	refused := metav1.LabelSelectorRequirement{Key: "team", Operator: metav1.LabelSelectorOpNotIn}
	for i := range 100 {
		refused.Values = append(refused.Values, fmt.Sprintf("nobody-%d", i))
	}
	result, err := renderFS(t.Context(), labelledApplications(), selectionOf(func(cs *v1alpha1.CatalogSelection) {
		metadata(v1alpha1.MetadataSelector{MatchExpressions: []metav1.LabelSelectorRequirement{refused}})(cs)
		cs.Spec.Exclude = []string{"falko"}
	}))
	if err != nil {
		t.Fatal(err)
	}
	sameSentences(t, result.Unmatched, []string{
		`spec.exclude[0] "falko" matches nothing in the catalogs: did you mean "falco"? (the catalogs have "argocd", "falco", "nginx")`,
	})
}

// A selection and a catalog that are made to cost time, by thousands of long names that are alike.
func TestCostOfNamesThatMatchNothing(t *testing.T) {
	fsys := fstest.MapFS{}
	long := strings.Repeat("a", 50)
	for i := range 2000 {
		name := fmt.Sprintf("%s%d", long, i)
		fsys["applications/"+name+"/application.yaml"] = &fstest.MapFile{Data: []byte(
			"apiVersion: apps.kubermatic.k8c.io/v1\nkind: ApplicationDefinition\nmetadata: {name: " + name + "}\nspec: {versions: [{version: 1.0.0}]}\n")}
	}
	loaded, err := render.LoadFS(t.Context(), "catalog", fsys, render.CatalogLocation{})
	if err != nil {
		t.Fatal(err)
	}
	find := func(names int) (found []mention.Unmatched, took time.Duration) {
		opts, err := render.FromSpec(selectionOf(func(cs *v1alpha1.CatalogSelection) {
			for i := range names {
				cs.Spec.Exclude = append(cs.Spec.Exclude, fmt.Sprintf("%sb%d", long, i))
			}
		}))
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		return mention.UnmatchedOf([]selection.Source{{Name: "catalog", Catalog: loaded}}, opts.Mentions), time.Since(start)
	}
	var found []mention.Unmatched
	best := math.Inf(1)
	for attempt := 0; attempt < 3 && best > 10; attempt++ { // a busy machine may spoil one comparison
		_, advised := find(mention.MaxAdvised)
		all, took := find(5000)
		found, best = all, min(best, float64(took)/float64(advised))
	}
	if len(found) != 5000 || best > 10 {
		t.Errorf("%d names take %.0f times as long as those with advice", len(found), best)
	}
	sentences := mention.Sentences(found)
	if last := sentences[len(sentences)-1]; len(sentences) != mention.MaxAdvised+1 || last != "4980 more match nothing in the catalogs" {
		t.Errorf("%d sentences, the last: %s", len(sentences), last)
	}
}

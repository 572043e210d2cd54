package render_test

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/selection"
)

func selectionOf(edit func(*v1alpha1.CatalogSelection)) *v1alpha1.CatalogSelection {
	cs := &v1alpha1.CatalogSelection{}
	cs.Name, cs.Namespace = "kkp", "flux-system"
	cs.Spec.Sources = []v1alpha1.SourceReference{{Name: "catalog"}}
	edit(cs)
	return cs
}

func TestFromSpecMapsEveryField(t *testing.T) {
	got, err := render.FromSpec(selectionOf(func(cs *v1alpha1.CatalogSelection) {
		cs.Spec.Limit = &v1alpha1.Limit{
			NameSelector:     []string{"argocd"},
			MetadataSelector: &v1alpha1.MetadataSelector{TierRefs: []string{"gold"}},
		}
		cs.Spec.Exclude = []string{"falco"}
		cs.Spec.CommonMetadata = &v1alpha1.CommonMetadata{Labels: map[string]string{"a": "b"}, Annotations: map[string]string{"c": "d"}}
		cs.Spec.Prune = true
	}))
	want := render.Options{
		Name: "kkp", Namespace: "flux-system", Prune: true,
		Criteria: selection.Criteria{Names: []string{"argocd"}, Tiers: []string{"gold"}, Exclude: []string{"falco"}},
		Labels:   map[string]string{"a": "b"}, Annotations: map[string]string{"c": "d"},
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("FromSpec() = %+v, %v, want %+v", got, err, want)
	}
}

func common(labels, annotations map[string]string) func(*v1alpha1.CatalogSelection) {
	return func(cs *v1alpha1.CatalogSelection) {
		cs.Spec.CommonMetadata = &v1alpha1.CommonMetadata{Labels: labels, Annotations: annotations}
	}
}

func sources(references ...v1alpha1.SourceReference) func(*v1alpha1.CatalogSelection) {
	return func(cs *v1alpha1.CatalogSelection) { cs.Spec.Sources = references }
}

func TestFromSpecRefuses(t *testing.T) {
	for _, test := range []struct {
		name   string
		edit   func(*v1alpha1.CatalogSelection)
		fields []string
	}{
		{"a name that fits no label", func(cs *v1alpha1.CatalogSelection) { cs.Name = strings.Repeat("x", 64) }, []string{"metadata.name: Too long"}},
		{"no name", func(cs *v1alpha1.CatalogSelection) { cs.Name = "" }, []string{"metadata.name"}},
		{"a name that is no name", func(cs *v1alpha1.CatalogSelection) { cs.Name = "../x" }, []string{"metadata.name"}},
		{"no namespace", func(cs *v1alpha1.CatalogSelection) { cs.Namespace = "" }, []string{"metadata.namespace"}},
		{"no sources", sources(), []string{"spec.sources: Required"}},
		{"unknown kinds and formats, and no name", sources(v1alpha1.SourceReference{Kind: "HelmChart", Format: "Helm"}), []string{
			`spec.sources[0].kind: Unsupported value: "HelmChart"`, `spec.sources[0].format: Unsupported value: "Helm"`, "spec.sources[0].name: Required",
		}},
		{"climbing, absolute and unclean paths", sources(
			v1alpha1.SourceReference{Name: "a", Path: "../a"}, v1alpha1.SourceReference{Name: "a", Path: "/a"},
			v1alpha1.SourceReference{Name: "a", Path: "."}, v1alpha1.SourceReference{Name: "a", Path: "a/"},
		), []string{"spec.sources[0].path", "spec.sources[1].path", "spec.sources[2].path", "spec.sources[3].path"}},
		{"its own artifact as a source", sources(
			v1alpha1.SourceReference{Kind: "ExternalArtifact", Name: "kkp"},
			v1alpha1.SourceReference{Kind: "ExternalArtifact", Name: "kkp", Namespace: "flux-system"},
		), []string{"spec.sources[0]: Forbidden", "spec.sources[1]: Forbidden"}},
		{"a source twice, whatever its format", sources(
			v1alpha1.SourceReference{Name: "a"}, v1alpha1.SourceReference{Name: "a", Path: "x"},
			v1alpha1.SourceReference{Kind: "OCIRepository", Name: "a", Format: "Auto"},
		), []string{"spec.sources[2]: Duplicate"}},
		{"an interval that keeps busy", func(cs *v1alpha1.CatalogSelection) { cs.Spec.Interval.Duration = time.Second - 1 }, []string{"spec.interval: Invalid"}},
		{"lists that are empty", func(cs *v1alpha1.CatalogSelection) {
			cs.Spec.Limit = &v1alpha1.Limit{NameSelector: []string{}, MetadataSelector: &v1alpha1.MetadataSelector{TierRefs: []string{}}}
		}, []string{"spec.limit.nameSelector: Required", "spec.limit.metadataSelector.tierRefs: Required"}},
		{"labels that Kubernetes refuses", common(map[string]string{"a b": "c", "d": "e f"}, nil), []string{
			`spec.commonMetadata.labels: Invalid value: "a b"`, `spec.commonMetadata.labels: Invalid value: "e f"`,
		}},
		{"annotations that Kubernetes refuses", common(nil, map[string]string{"a b": "c"}), []string{`spec.commonMetadata.annotations: Invalid value: "a b"`}},
		{"reserved labels", common(map[string]string{
			"app.kubernetes.io/managed-by": "a", "apps.kubermatic.k8c.io/managed-by": "b", "applicationcatalog.k8c.io/managed-by": "c",
			"catalog.winnow.dev/name": "d", "kustomize.toolkit.fluxcd.io/prune": "e",
		}, nil), []string{
			"labels[app.kubernetes.io/managed-by]: Forbidden", "labels[apps.kubermatic.k8c.io/managed-by]: Forbidden",
			"labels[applicationcatalog.k8c.io/managed-by]: Forbidden", "labels[catalog.winnow.dev/name]: Forbidden",
			"labels[kustomize.toolkit.fluxcd.io/prune]: Forbidden",
		}},
		{"reserved annotations", common(nil, map[string]string{"catalog.winnow.dev/x": "a", "kustomize.toolkit.fluxcd.io/ssa": "b"}), []string{
			"annotations[catalog.winnow.dev/x]: Forbidden", "annotations[kustomize.toolkit.fluxcd.io/ssa]: Forbidden",
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := render.FromSpec(selectionOf(test.edit))
			if reasonOf(err) != v1alpha1.InvalidSpecReason {
				t.Fatalf("FromSpec() = %v", err)
			}
			for _, field := range test.fields {
				if !strings.Contains(err.Error(), field) {
					t.Errorf("the error does not name %s: %v", field, err)
				}
			}
		})
	}
}

func TestFromSpecAccepts(t *testing.T) {
	for name, edit := range map[string]func(*v1alpha1.CatalogSelection){
		"the longest name": func(cs *v1alpha1.CatalogSelection) { cs.Name = strings.Repeat("x", 63) },
		"the ExternalArtifact of the same name in another namespace": sources(v1alpha1.SourceReference{Kind: "ExternalArtifact", Name: "kkp", Namespace: "other"}),
		"another kind of the same name":                              sources(v1alpha1.SourceReference{Kind: "Bucket", Name: "kkp"}),
		"keys that only look reserved":                               common(map[string]string{"winnow.dev/name": "a"}, map[string]string{"app.kubernetes.io/managed-by": "b"}),
		"a path with dots":                                           sources(v1alpha1.SourceReference{Name: "a", Path: "a/..b/c..d"}),
	} {
		if _, err := render.FromSpec(selectionOf(edit)); err != nil {
			t.Errorf("FromSpec() refuses %s: %v", name, err)
		}
	}
}

func TestAnEmptyResultSaysWhichRulesLeftWhatOut(t *testing.T) {
	catalog := fstest.MapFS{}
	for _, name := range []string{"a", "b", "c"} {
		catalog["applications/"+name+"/application.yaml"] = &fstest.MapFile{Data: []byte(object + "metadata: {name: " + name + "}\nspec: {}\n")}
	}
	_, err := renderFS(t.Context(), catalog, selectionOf(func(cs *v1alpha1.CatalogSelection) {
		cs.Spec.Exclude = []string{"a"}
		cs.Spec.Limit = &v1alpha1.Limit{NameSelector: []string{"d"}}
	}))
	const want = "nothing is selected; of 3 applications are refused: 1 by exclude, 2 by limit.nameSelector"
	if reasonOf(err) != v1alpha1.EmptyResultReason || err.Error() != want {
		t.Errorf("Render() = %v, want %s", err, want)
	}
	_, err = render.Render(context.Background(), nil, render.Options{})
	if reasonOf(err) != v1alpha1.EmptyResultReason || err.Error() != "nothing is selected: the sources have no applications" {
		t.Errorf("Render() = %v", err)
	}
}

func TestErrorsSayWhereTheTroubleIs(t *testing.T) {
	cause := errors.New("cause")
	for want, err := range map[string]*render.Error{
		"source a: cause":    {Source: "a", Err: cause},
		"spec.limit: cause":  {Field: "spec.limit", Err: cause},
		"cause":              {Err: cause},
		"source ns/a: cause": {Source: "ns/a", Field: "spec", Err: cause},
	} {
		if err.Error() != want || !errors.Is(err, cause) {
			t.Errorf("Error() = %q, want %q", err, want)
		}
	}
}

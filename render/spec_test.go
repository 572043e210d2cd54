// SPDX-License-Identifier: Apache-2.0

package render_test

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/fluxcd/pkg/apis/kustomize"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

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
		cs.Spec.Limit.CatalogRefs = []string{"default"}
		cs.Spec.Limit.MetadataSelector.MatchLabels = map[string]string{"a": "b"}
		cs.Spec.Limit.Expression = "true"
		cs.Spec.Versions = []v1alpha1.VersionRule{{Latest: 1}}
		cs.Spec.RequireMirrors = true
		cs.Spec.Patches = []kustomize.Patch{{Patch: "p", Target: &kustomize.Selector{
			Group: "g", Version: "v", Kind: "k", Namespace: "s", Name: "n", LabelSelector: "l", AnnotationSelector: "a",
		}}}
		cs.Spec.DeletionPolicy = v1alpha1.DeletionPolicyDelete
	}))
	want := render.Options{
		Name: "kkp", Namespace: "flux-system", Prune: true, RequireMirrors: true,
		Criteria: selection.Criteria{
			Names: []string{"argocd"}, Tiers: []string{"gold"}, Lists: []string{"default"}, Exclude: []string{"falco"},
		},
		Labels: map[string]string{"a": "b"}, Annotations: map[string]string{"c": "d"},
		Patches: []kustomize.Patch{{Patch: "p", Target: &kustomize.Selector{
			Group: "g", Version: "v", Kind: "k", Namespace: "s", Name: "n", LabelSelector: "l", AnnotationSelector: "a",
		}}},
	}
	// What is compiled is opaque: what it does is seen in the golden trees.
	if c := got.Criteria; c.Labels == nil || c.Labels.String() != "a=b" || c.Expression == nil || len(c.Versions) != 1 || got.Transform == nil {
		t.Errorf("FromSpec() = %+v", got)
	}
	var mentioned []string
	for _, m := range got.Mentions {
		mentioned = append(mentioned, m.Field+": "+m.Value)
	}
	if want := []string{
		"spec.limit.nameSelector[0]: argocd", "spec.limit.metadataSelector.tierRefs[0]: gold",
		"spec.limit.metadataSelector.matchLabels[a]: a=b", "spec.exclude[0]: falco",
	}; !slices.Equal(mentioned, want) {
		t.Errorf("FromSpec() mentions %q, want %q", mentioned, want)
	}
	got.Mentions = nil
	got.Criteria.Labels, got.Criteria.Expression, got.Criteria.Versions, got.Transform = nil, nil, nil, nil
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
		{"a list of catalogs that is empty", func(cs *v1alpha1.CatalogSelection) {
			cs.Spec.Limit = &v1alpha1.Limit{CatalogRefs: []string{}}
		}, []string{"spec.limit.catalogRefs: Required"}},
		{"an operator that label selectors do not have", func(cs *v1alpha1.CatalogSelection) {
			cs.Spec.Limit = &v1alpha1.Limit{MetadataSelector: &v1alpha1.MetadataSelector{
				MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a", Operator: "Like"}},
			}}
		}, []string{"spec.limit.metadataSelector: Invalid", "Like"}},
		{"an expression with a typing error", func(cs *v1alpha1.CatalogSelection) {
			cs.Spec.Limit = &v1alpha1.Limit{Expression: "app.tier ==\n  app.teir"}
		}, []string{"spec.limit.expression: Invalid", "line 2, column 6", "teir"}},
		{"version rules that say nothing, or nothing sensible", func(cs *v1alpha1.CatalogSelection) {
			cs.Spec.Versions = []v1alpha1.VersionRule{{}, {Constraint: "newest"}, {Latest: -1}}
		}, []string{"spec.versions[0]: Invalid", "spec.versions[1]: Invalid", "spec.versions[2]: Invalid"}},
		{"channels and deprecations that are none", func(cs *v1alpha1.CatalogSelection) {
			cs.Spec.Versions = []v1alpha1.VersionRule{
				{Channels: []string{}, Latest: 1}, {Channels: []string{""}}, {Deprecated: "Keep"}, {Deprecated: "drop", Latest: 1}, {Channels: make([]string, 65)},
			}
		}, []string{
			"spec.versions[0].channels: Required", "spec.versions[1].channels[0]: Invalid", "spec.versions[2]: Invalid", "spec.versions[3].deprecated: Unsupported",
			"spec.versions[4].channels: Too many",
		}},
		{"platforms that say nothing", func(cs *v1alpha1.CatalogSelection) { cs.Spec.Platform = &v1alpha1.Platform{} }, []string{"spec.platform: Required"}},
		{"versions of a platform that are none", func(cs *v1alpha1.CatalogSelection) {
			cs.Spec.Platform = &v1alpha1.Platform{Kubernetes: []string{"1.32.9", "1.32.9-gke.1"}, KKP: []string{}}
		}, []string{`spec.platform.kubernetes: Invalid value: "1.32.9-gke.1" is not a version such as 1.32.9`, "spec.platform.kkp: Required"}},
		{"a platform without backends", func(cs *v1alpha1.CatalogSelection) {
			cs.Spec.Platform = &v1alpha1.Platform{Backends: []string{}}
		}, []string{"spec.platform.backends: Required"}},
		{"a backend of a platform that does not exist", func(cs *v1alpha1.CatalogSelection) {
			cs.Spec.Platform = &v1alpha1.Platform{Backends: []string{"Helm", "helm"}}
		}, []string{`spec.platform.backends[1]: Unsupported value: "helm"`}},
		{"too many versions of a platform", func(cs *v1alpha1.CatalogSelection) {
			cs.Spec.Platform = &v1alpha1.Platform{Kubernetes: make([]string, 65)}
		}, []string{"spec.platform.kubernetes: Too many"}},
		{"values that are no mapping", func(cs *v1alpha1.CatalogSelection) {
			cs.Spec.Values = []v1alpha1.ValuesRule{{Names: []string{"a"}, Defaults: &apiextensionsv1.JSON{Raw: []byte(`[1]`)}}}
		}, []string{"spec.values[0].defaults"}},
		{"mirrors with a scheme, and twice", func(cs *v1alpha1.CatalogSelection) {
			cs.Spec.Mirrors = []v1alpha1.Mirror{{From: "https://a", To: "b"}, {From: "a", To: "b"}, {From: "a", To: "c"}}
		}, []string{"spec.mirrors[0]", "spec.mirrors[2]"}},
		{"mirrors that KKP does not reach", func(cs *v1alpha1.CatalogSelection) {
			cs.Spec.Mirrors = []v1alpha1.Mirror{
				{From: "a", To: "oci://A/B"}, {From: "b", To: "b", Helm: &v1alpha1.MirrorHelm{Credentials: &v1alpha1.HelmCredentials{}}},
				{From: "c", To: "https://c", Helm: &v1alpha1.MirrorHelm{PlainHTTP: true}},
			}
		}, []string{"spec.mirrors[0].to", "spec.mirrors[1].helm.credentials", "spec.mirrors[2].helm"}},
		{"fields that a definition cannot do without", func(cs *v1alpha1.CatalogSelection) {
			cs.Spec.OmitFields = []string{"versions"}
		}, []string{"spec.omitFields"}},
		{"characters that kustomize cannot carry", func(cs *v1alpha1.CatalogSelection) {
			cs.Spec.CommonMetadata = &v1alpha1.CommonMetadata{Annotations: map[string]string{"a": "\x01"}}
			cs.Spec.Patches = []kustomize.Patch{{Patch: "\x01"}}
		}, []string{"spec.commonMetadata.annotations[a]: Invalid", "spec.patches[0].patch: Invalid"}},
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
	const want = "nothing is selected; left out of 3 applications: 1 by exclude, 2 by limit.nameSelector"
	if reasonOf(err) != v1alpha1.EmptyResultReason || err.Error() != want {
		t.Errorf("Render() = %v, want %s", err, want)
	}
	_, err = renderFS(t.Context(), catalog, selectionOf(func(cs *v1alpha1.CatalogSelection) {
		cs.Spec.Limit = &v1alpha1.Limit{NameSelector: []string{"a"}, MetadataSelector: &v1alpha1.MetadataSelector{TierRefs: []string{"gold"}}}
	}))
	const both = "nothing is selected; left out of 3 applications: 1 by limit.metadataSelector.tierRefs, 2 by limit.nameSelector; " +
		"an application must match all members of spec.limit"
	if err == nil || err.Error() != both {
		t.Errorf("Render() = %v, want %s", err, both)
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

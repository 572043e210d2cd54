// SPDX-License-Identifier: Apache-2.0

package render_test

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/fluxcd/pkg/apis/kustomize"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/explained"
	"github.com/winnow-dev/winnow/render/selection"
)

const explainedApp = `apiVersion: apps.kubermatic.k8c.io/v1
kind: ApplicationDefinition
metadata: {name: app}
spec:
  method: helm
  defaultVersion: 1.0.0
  defaultValuesBlock: |
    a: 1
    image: quay.io/x/y:1
    text: '{{ "TEMPLATED" }}'
    deep: {x: 1, y2: 1}
  versions:
  - version: 1.0.0
    template: {source: {helm: {url: 'oci://quay.io/charts', chartName: app, chartVersion: 1.0.0}}}
`

// explain explains the instance x of a selection over a catalog of one document.
func explain(t *testing.T, document string, edit func(*v1alpha1.CatalogSelectionSpec), in v1alpha1.Instance) (*explained.Instance, error) {
	t.Helper()
	loaded, err := render.LoadFS(t.Context(), "catalog", fstest.MapFS{"applications/app/application.yaml": &fstest.MapFile{Data: []byte(document)}}, render.CatalogLocation{})
	if err != nil {
		t.Fatal(err)
	}
	cs := &v1alpha1.CatalogSelection{}
	cs.Name, cs.Namespace = "apps", "fleet"
	cs.Spec.Sources = []v1alpha1.SourceReference{{Name: "catalog"}}
	cs.Spec.Instances = map[string]v1alpha1.Instance{"x": in}
	if edit != nil {
		edit(&cs.Spec)
	}
	return explained.Explain(t.Context(), []selection.Source{{Name: "catalog", Catalog: loaded}}, cs, "x")
}

func asValues(text string) *apiextensionsv1.JSON { return &apiextensionsv1.JSON{Raw: []byte(text)} }

func TestExplainInstance(t *testing.T) {
	terraform, err := os.ReadFile("backend/testdata/terraform/definition.yaml")
	if err != nil {
		t.Fatal(err)
	}
	cozystack, err := os.ReadFile("backend/testdata/helm-cozystack/definition.yaml")
	if err != nil {
		t.Fatal(err)
	}
	inCluster := []v1alpha1.ValuesReference{{Kind: "Secret", Name: "s"}, {Kind: "Secret", Name: "t", ValuesKey: "k", TargetPath: "deep.x"}}
	tests := []struct {
		name     string
		document string
		edit     func(*v1alpha1.CatalogSelectionSpec)
		instance v1alpha1.Instance
		want     []string
		from     []string
	}{
		{
			name: "every layer of a HelmRelease", document: explainedApp,
			instance: v1alpha1.Instance{Application: "app", Values: asValues(`{"a": 2, "deep": {"x": null}, "own": true}`), ValuesFrom: inCluster},
			edit: func(s *v1alpha1.CatalogSelectionSpec) {
				s.Mirrors = []v1alpha1.Mirror{{From: "quay.io", To: "r.internal"}}
				s.Values = []v1alpha1.ValuesRule{
					{Names: []string{"other"}, Defaults: asValues(`{"no": 1}`), InstanceOverrides: asValues(`{"no": 1}`)},
					{Names: []string{"app"}, Defaults: asValues(`{"a": 0, "d": 1}`), Overrides: asValues(`{"deep": {"y2": 2}}`), InstanceOverrides: asValues(`{"own": false}`)},
				}
				s.Patches = []kustomize.Patch{{
					Target: &kustomize.Selector{Kind: "HelmRelease"}, Patch: "- {op: add, path: /spec/values/patched, value: 1}\n",
				}}
			},
			want: []string{
				"a=2 by spec.instances[x].values over catalog, spec.values[1].defaults", "d=1 by spec.values[1].defaults replaceable",
				"deep.x deleted by spec.instances[x].values over catalog", "deep.y2=2 by spec.values[1].overrides over catalog replaceable",
				"image=r.internal/x/y:1 by catalog replaceable", "own=false by spec.values[1].instanceOverrides over spec.instances[x].values",
				"patched=1 by spec.patches", "text=TEMPLATED by catalog replaceable",
			},
			from: []string{"Secret s", "Secret t deep.x loses to spec.instances[x].values"},
		},
		{
			name: "an ApplicationInstallation, whose templates are KKP's", document: explainedApp,
			instance: v1alpha1.Instance{Application: "app", Backend: "ApplicationInstallation", Values: asValues(`{"a": null}`)},
			edit:     func(s *v1alpha1.CatalogSelectionSpec) { s.Definitions = v1alpha1.DefinitionsOmit },
			want: []string{
				"a deleted by spec.instances[x].values over catalog", "deep.x=1 by catalog", "deep.y2=1 by catalog", "image=quay.io/x/y:1 by catalog",
				`text={{ "TEMPLATED" }} by catalog`,
			},
		},
		{
			name: "variables of Terraform", document: string(terraform),
			instance: v1alpha1.Instance{Backend: "Terraform", Values: asValues(`{"zone": "example.com", "note": null}`), ValuesFrom: []v1alpha1.ValuesReference{
				{Kind: "Secret", Name: "s", ValuesKey: "k", TargetPath: "ttl"},
			}},
			want: []string{"note deleted by spec.instances[x].values", "zone=example.com by spec.instances[x].values"},
			from: []string{"Secret s ttl"},
		},
		{
			name: "a HelmRelease of Cozystack, with references of its definition", document: string(cozystack),
			instance: v1alpha1.Instance{Backend: "Helm", Values: asValues(`{"cluster": "c"}`), ValuesFrom: inCluster[:1]},
			want:     []string{"cluster=c by spec.instances[x].values"},
			from:     []string{"Secret cozystack-values of the definition", "Secret s"},
		},
		{
			name: "no values", document: explainedApp, instance: v1alpha1.Instance{Application: "app"},
			edit: func(s *v1alpha1.CatalogSelectionSpec) { s.OmitFields = []string{"defaultValuesBlock"} },
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.instance.Application == "" {
				_, rest, _ := strings.Cut(tt.document, "\n  name: ")
				tt.instance.Application, _, _ = strings.Cut(rest, "\n")
			}
			got, err := explain(t, tt.document, tt.edit, tt.instance)
			if err != nil {
				t.Fatal(err)
			}
			var values, from []string
			for _, v := range got.Values {
				text := fmt.Sprintf("%s=%v", v.Text(), v.Value)
				if v.Deleted {
					text = v.Text() + " deleted"
				}
				text += " by " + v.Layer
				if len(v.Over) > 0 {
					text += " over " + strings.Join(v.Over, ", ")
				}
				if v.Replaceable {
					text += " replaceable"
				}
				values = append(values, text)
			}
			for _, r := range got.References {
				text := strings.TrimSpace(r.Kind + " " + r.Name + " " + r.TargetPath)
				if r.OfDefinition {
					text += " of the definition"
				}
				if r.Winner != "" {
					text += " loses to " + r.Winner
				}
				from = append(from, text)
			}
			if !slices.Equal(values, tt.want) || !slices.Equal(from, tt.from) {
				t.Errorf("got\n%s\nand %q, want\n%s\nand %q", strings.Join(values, "\n"), from, strings.Join(tt.want, "\n"), tt.from)
			}
		})
	}
}

func TestExplainInstanceThatIsNotInstalled(t *testing.T) {
	got, err := explain(t, explainedApp, nil, v1alpha1.Instance{Application: "app", Version: "~2"})
	if err != nil || got.Unresolved == nil || !got.Unresolved.OfVersion || got.Choice != "range" || got.Decision == nil || got.Instance != nil {
		t.Errorf("got %+v, %v", got, err)
	}
	got, err = explain(t, explainedApp, func(s *v1alpha1.CatalogSelectionSpec) { s.Exclude = []string{"app"} }, v1alpha1.Instance{Application: "app"})
	if err != nil || got.Unresolved == nil || got.Unresolved.OfVersion || got.Choice != "" || got.Decision == nil || got.Decision.Selected {
		t.Errorf("got %+v, %v", got, err)
	}
	_, err = explain(t, explainedApp, func(s *v1alpha1.CatalogSelectionSpec) { s.Instances = nil }, v1alpha1.Instance{})
	if !errors.Is(err, explained.ErrNoInstance) {
		t.Errorf("got %v", err)
	}
}

// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"sigs.k8s.io/yaml"
)

func TestMarshal(t *testing.T) {
	for _, tc := range []struct {
		name string
		give Kustomization
		want string
	}{
		{
			name: "resources alone, sorted",
			give: Kustomization{Resources: []string{"b.yaml", "a/c.yaml", "a-b.yaml"}},
			want: `apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources:
- a-b.yaml
- a/c.yaml
- b.yaml
`,
		},
		{
			name: "labels and annotations, sorted by their keys",
			give: Kustomization{
				Resources: []string{"applicationdefinitions/nginx.yaml", "applicationdefinitions/argocd.yaml"},
				Labels:    map[string]string{"catalog.winnow.dev/name": "default", "app.kubernetes.io/managed-by": "winnow"},
				Annotations: map[string]string{
					"kustomize.toolkit.fluxcd.io/substitute": "disabled",
					"kustomize.toolkit.fluxcd.io/ssa":        "Merge",
				},
			},
			want: `apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources:
- applicationdefinitions/argocd.yaml
- applicationdefinitions/nginx.yaml
labels:
- pairs:
    app.kubernetes.io/managed-by: winnow
    catalog.winnow.dev/name: default
transformers:
- |
  apiVersion: builtin
  kind: AnnotationsTransformer
  metadata:
    name: annotations
  annotations:
    kustomize.toolkit.fluxcd.io/ssa: Merge
    kustomize.toolkit.fluxcd.io/substitute: disabled
  fieldSpecs:
  - path: metadata/annotations
    create: true
`,
		},
		{
			name: "whatever is not a word is quoted",
			give: Kustomization{
				Resources:   []string{"1password.yaml", "true"},
				Labels:      map[string]string{"a10": "true", "a2": "1e3", "a3": ""},
				Annotations: map[string]string{"yes": "${x}", "multi": "two\nlines\n"},
			},
			want: `apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources:
- "1password.yaml"
- "true"
labels:
- pairs:
    a10: "true"
    a2: "1e3"
    a3: ""
transformers:
- |
  apiVersion: builtin
  kind: AnnotationsTransformer
  metadata:
    name: annotations
  annotations:
    multi: "two\nlines\n"
    "yes": "${x}"
  fieldSpecs:
  - path: metadata/annotations
    create: true
`,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for range 20 { // the order of maps differs from run to run
				got, err := tc.give.Marshal()
				if err != nil {
					t.Fatal(err)
				}
				if string(got) != tc.want {
					t.Fatalf("got:\n%s\nwant:\n%s", got, tc.want)
				}
			}
		})
	}
}

func TestMarshalRefuses(t *testing.T) {
	isPathError := func(err error) bool { var target *PathError; return errors.As(err, &target) }
	for _, tc := range []struct {
		name string
		give Kustomization
		is   func(error) bool
	}{
		{
			name: "no resources, which Flux would take for pruning everything",
			give: Kustomization{Labels: map[string]string{"a": "b"}},
			is:   func(err error) bool { return errors.Is(err, ErrNoResources) },
		},
		{name: "an unsafe resource", give: Kustomization{Resources: []string{"a", "../b"}}, is: isPathError},
		{name: "a remote resource", give: Kustomization{Resources: []string{"https://example.com/a.yaml"}}, is: isPathError},
		{name: "a resource twice", give: Kustomization{Resources: []string{"a", "b", "a"}}, is: isPathError},
		{
			name: "a label that is not text",
			give: Kustomization{Resources: []string{"a"}, Labels: map[string]string{"a": "\xff"}},
			is:   func(err error) bool { return err != nil },
		},
		{
			name: "a control character, which kustomize cannot read back",
			give: Kustomization{Resources: []string{"a"}, Annotations: map[string]string{"a": "b\x7f"}},
			is:   func(err error) bool { return err != nil },
		},
		{
			name: "an annotation that is not text",
			give: Kustomization{Resources: []string{"a"}, Annotations: map[string]string{"\xff": "a"}},
			is:   func(err error) bool { return err != nil },
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			content, err := tc.give.Marshal()
			if !tc.is(err) || content != nil {
				t.Errorf("error is %v, content is %q", err, content)
			}
		})
	}
}

func FuzzMarshal(f *testing.F) {
	for _, s := range awkward() {
		f.Add(s, s)
	}
	f.Add("\xdf", "\x81") // UTF-8 only when put together
	f.Fuzz(func(t *testing.T, key, value string) {
		want := map[string]string{key: value}
		content, err := Kustomization{Resources: []string{"a"}, Labels: want, Annotations: want}.Marshal()
		if err != nil {
			if text := key + " " + value; utf8.ValidString(text) && !strings.ContainsFunc(text, isForbidden) {
				t.Fatal(err)
			}
			return
		}
		var got struct {
			Labels       []struct{ Pairs map[string]string }
			Transformers []string
		}
		if err := yaml.Unmarshal(content, &got); err != nil {
			t.Fatalf("%v in\n%s", err, content)
		}
		var inline struct{ Annotations map[string]string }
		if err := yaml.Unmarshal([]byte(got.Transformers[0]), &inline); err != nil {
			t.Fatalf("%v in\n%s", err, got.Transformers[0])
		}
		checkStrings(t, "labels", got.Labels[0].Pairs, want)
		checkStrings(t, "annotations", inline.Annotations, want)
	})
}

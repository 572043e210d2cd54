// SPDX-License-Identifier: Apache-2.0

package transform_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"sigs.k8s.io/yaml"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/transform"
	"github.com/winnow-dev/winnow/render/yamledit"
)

// values returns random values, as JSON has them.
func values(r *rand.Rand, depth int) any {
	switch n := r.IntN(9); {
	case depth > 0 && n < 4:
		object := map[string]any{}
		for range r.IntN(4) {
			object[string(rune('a'+r.IntN(5)))] = values(r, depth-1)
		}
		return object
	case depth > 0 && n == 4:
		return []any{values(r, depth-1), "x"}
	case n == 5:
		return nil
	case n == 6:
		return float64(r.IntN(3))
	}
	texts := []string{"", "yes", "1", "quay.io/org/x:1", "{{ .X }}", "a: b # c", "one\ntwo\n", " \n x", "\ttab\n\n", "0x1", "~", "- a", "'\"\\"}
	return texts[r.IntN(len(texts))]
}

func mapping(r *rand.Rand) map[string]any {
	for {
		if object, ok := values(r, 3).(map[string]any); ok {
			return object
		}
	}
}

// randomDocument has the values as a block or as a mapping, in the style of one encoder or another.
func randomDocument(t testing.TB, r *rand.Rand, set map[string]any) string {
	t.Helper()
	block, err := yaml.Marshal(set)
	if err != nil {
		t.Fatal(err)
	}
	if r.IntN(3) == 0 {
		block = []byte(asJSON(t, set) + "\n")
	}
	var spec strings.Builder
	if r.IntN(2) == 0 {
		spec.WriteString("  # a comment\n  method: helm\n\n")
	}
	field := []string{"defaultValuesBlock: |2\n", "defaultValues:\n"}[r.IntN(2)]
	spec.WriteString("  " + field)
	for line := range strings.Lines(string(block)) {
		spec.WriteString("    " + line)
	}
	spec.WriteString("  versions:\n  - version: 1.0.0\n    # the second\n  - version: 1.1.0\n")
	return head + spec.String()
}

// valuesOf returns the default values of a document as KKP reads them.
func valuesOf(t testing.TB, document []byte) map[string]any {
	t.Helper()
	var object struct {
		Spec struct {
			DefaultValues      map[string]any `json:"defaultValues"`
			DefaultValuesBlock string         `json:"defaultValuesBlock"`
		} `json:"spec"`
	}
	if err := yaml.Unmarshal(document, &object); err != nil {
		t.Fatal(err)
	}
	if object.Spec.DefaultValues != nil {
		return object.Spec.DefaultValues
	}
	set := map[string]any{}
	if err := yaml.Unmarshal([]byte(object.Spec.DefaultValuesBlock), &set); err != nil {
		t.Fatalf("%v in:\n%s", err, object.Spec.DefaultValuesBlock)
	}
	return set
}

// merged is what merging means, on plain maps.
func merged(set, values map[string]any, override bool) map[string]any {
	result := map[string]any{}
	for key, value := range set {
		result[key] = value
	}
	for key, value := range values {
		current, there := result[key]
		below, isMap := current.(map[string]any)
		wanted, wantsMap := value.(map[string]any)
		switch {
		case there && isMap && wantsMap:
			result[key] = merged(below, wanted, override)
		case !there || override:
			result[key] = value
		}
	}
	return result
}

func TestRandomValuesAreMergedAsMeant(t *testing.T) {
	for seed := range uint64(600) {
		r := rand.New(rand.NewPCG(seed, 0))
		set, defaults, overrides := mapping(r), mapping(r), mapping(r)
		switch seed % 3 {
		case 1:
			defaults = map[string]any{}
		case 2:
			overrides = map[string]any{}
		}
		document := randomDocument(t, r, set)
		rule := v1alpha1.ValuesRule{Names: []string{"web"}, Defaults: &apiextensionsv1.JSON{Raw: []byte(asJSON(t, defaults))}, Overrides: &apiextensionsv1.JSON{Raw: []byte(asJSON(t, overrides))}}
		pipeline, err := transform.New(transform.Config{Values: []v1alpha1.ValuesRule{rule}})
		if err != nil {
			t.Fatal(err)
		}
		application := load(t, []byte(document))
		in := transform.Input{Application: application, Versions: application.Versions}
		out, err := pipeline.Apply(context.Background(), in)
		if errors.Is(err, transform.ErrTemplates) && strings.Contains(document, `{"`) && strings.Contains(document, "{{") {
			continue
		}
		if err != nil {
			t.Fatalf("seed %d: %v in:\n%s\n%s\n%s", seed, err, document, rule.Defaults.Raw, rule.Overrides.Raw)
		}
		want := merged(merged(set, defaults, false), overrides, true)
		if got := valuesOf(t, out.Document); !reflect.DeepEqual(got, want) {
			t.Fatalf("seed %d: got %s, want %s of:\n%s\nnow:\n%s", seed, asJSON(t, got), asJSON(t, want), document, out.Document)
		}
		if len(defaults) > 0 && len(overrides) > 0 {
			// An override can put a mapping in the place of a scalar, for the defaults to fill
			// the next time.
			continue
		}
		in.Application = transformed(t, application, out.Document)
		again, err := pipeline.Apply(context.Background(), in)
		if err != nil || !isSame(again.Document, out.Document) {
			t.Fatalf("seed %d: applied again: %v\n%s\nbefore:\n%s", seed, err, again.Document, out.Document)
		}
	}
}

func TestWhatConcernsOthersChangesNothing(t *testing.T) {
	pipeline, err := transform.New(transform.Config{
		Values:     []v1alpha1.ValuesRule{{Names: []string{"other"}, Overrides: &apiextensionsv1.JSON{Raw: []byte(`{"a": 1}`)}}},
		Mirrors:    []v1alpha1.Mirror{{From: "example.com", To: "r.internal"}},
		OmitFields: []string{"default", "selector.x"},
	})
	if err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		application := load(t, []byte(randomDocument(t, r, mapping(r))))
		out, err := pipeline.Apply(context.Background(), transform.Input{Application: application, Versions: application.Versions})
		if err != nil || !isSame(out.Document, application.Document) {
			t.Fatalf("seed %d: %v: changed to:\n%s", seed, err, out.Document)
		}
	}
}

func TestRealDefinitionsAreTransformed(t *testing.T) {
	data := os.Getenv("WINNOW_TEST_DATA")
	if data == "" {
		data = "../../../shared/data"
	}
	names, err := filepath.Glob(filepath.Join(data, "*", "*-applications", "*.yaml"))
	if err != nil || len(names) == 0 {
		t.Skipf("no real definitions in %s; WINNOW_TEST_DATA names another directory", data)
	}
	for _, name := range names {
		t.Run(filepath.Base(name), func(t *testing.T) {
			application := load(t, read(t, name))
			s := parseSettings(t, fmt.Sprintf("values: [{names: [%s], overrides: {operator: {replicas: 2}}}]\n", application.Name)+
				"mirrors: [{from: quay.io/kubermatic-mirror, to: r.internal/m}]\nsourceDigest: sha256:01\n")
			s.Versions = application.Versions[1:]
			out := applyTo(t, s, application)
			if got := versionsOf(t, out.Document); !slices.Equal(got, s.Versions) {
				t.Errorf("versions = %v, want %v", got, s.Versions)
			}
			if strings.Contains(string(out.Document), "url: oci://quay.io/kubermatic-mirror") {
				t.Errorf("not all charts are mirrored:\n%s", out.Document)
			}
			// Nothing but the lines that have to change does.
			known := map[string]bool{}
			for line := range strings.Lines(string(application.Document)) {
				known[line] = true
			}
			changed := 0
			for line := range strings.Lines(string(out.Document)) {
				if !known[line] && !strings.Contains(line, "r.internal/m") {
					changed++
				}
			}
			if changed > 6 {
				t.Errorf("%d lines changed:\n%s", changed, out.Document)
			}
			build(t, out.Document)
		})
	}
}

func FuzzApply(f *testing.F) {
	for _, rule := range rules {
		f.Add(head+rule.spec, `{"a": {"x": 2}, "z": [1]}`, "quay.io")
	}
	f.Add(string(read(f, "testdata/all/in.yaml")), `{"image": {"tag": "2"}}`, "quay.io/org")
	f.Fuzz(func(t *testing.T, document, values, from string) {
		application, err := tryLoad([]byte(document))
		if err != nil || !json.Valid([]byte(values)) {
			t.Skip()
		}
		zero, err := transform.New(transform.Config{OmitFields: []string{}})
		if err != nil {
			t.Fatal(err)
		}
		in := transform.Input{Application: application, Versions: application.Versions, SourceDigest: "sha256:01"}
		if out, err := zero.Apply(context.Background(), in); err != nil || !isSame(out.Document, application.Document) {
			t.Fatalf("changed by nothing: %v\n%s", err, out.Document)
		}
		pipeline, err := transform.New(transform.Config{
			Values:         []v1alpha1.ValuesRule{{Names: []string{application.Name}, Overrides: &apiextensionsv1.JSON{Raw: []byte(values)}}},
			Mirrors:        []v1alpha1.Mirror{{From: from, To: "r.internal/m"}},
			AnnotateSource: true,
		})
		if err != nil {
			t.Skip()
		}
		if len(in.Versions) > 1 {
			in.Versions = in.Versions[1:]
		}
		fuzzed(t, pipeline, in)
	})
}

func fuzzed(t *testing.T, pipeline *transform.Pipeline, in transform.Input) {
	t.Helper()
	out, err := pipeline.Apply(context.Background(), in)
	if err != nil {
		var refused *transform.Error
		if !errors.As(err, &refused) || errors.Is(err, yamledit.ErrMismatch) {
			t.Fatalf("%v of:\n%s", err, in.Application.Document)
		}
		return
	}
	// The catalog would refuse the annotation, and nothing else.
	clean := strings.ReplaceAll(string(out.Document), v1alpha1.SourceDigestAnnotation, "example.com/digest")
	again, err := tryLoad([]byte(clean))
	if err != nil {
		t.Fatalf("%v in:\n%s\nof:\n%s", err, out.Document, in.Application.Document)
	}
	if !slices.Equal(again.Versions, in.Versions) {
		t.Fatalf("versions = %v, want %v", again.Versions, in.Versions)
	}
}

func BenchmarkApply(b *testing.B) {
	document := read(b, "testdata/all/in.yaml")
	for name, config := range map[string]string{
		"default omitFields, untouched": "{}",
		"values":                        "values: [{names: [web], overrides: {replicas: 3, image: {pullPolicy: Always}}}]\n" + none,
		"mirrors":                       mirrored,
	} {
		b.Run(name, func(b *testing.B) {
			s := parseSettings(b, config)
			application := load(b, document)
			if config == "{}" {
				application = load(b, []byte(head+"  method: helm\n  description: "+strings.Repeat("x", 7000)+"\n"))
			}
			pipeline, err := transform.New(s.config())
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := pipeline.Apply(context.Background(), s.input(application)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

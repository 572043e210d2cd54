package transform_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/winnow-dev/winnow/render/transform"
)

// pipelineOf has every step.
func pipelineOf(t *testing.T) *transform.Pipeline {
	t.Helper()
	pipeline, err := transform.New(transform.Config{
		Mirrors: []transform.Mirror{{From: "quay.io", To: "registry.internal"}}, AnnotateSource: true,
		Values: []transform.ValuesRule{{Names: []string{"web"}, Defaults: []byte(`{"a": 1}`)}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return pipeline
}

// TestALargeDocumentIsTransformedInTime has documents that took tens of seconds, because whoever
// looked for a place in a line began at its start.
func TestALargeDocumentIsTransformedInTime(t *testing.T) {
	const head = "apiVersion: apps.kubermatic.k8c.io/v1\nkind: ApplicationDefinition\nmetadata: {name: web}\nspec:\n"
	repeat := func(n int, format string) string {
		var text strings.Builder
		for i := range n {
			fmt.Fprintf(&text, format, i)
		}
		return text.String()
	}
	for _, test := range []struct{ name, document string }{
		{"values in one line", head + "  defaultValues: {" + repeat(15_000, `k%d: {n: ä, image: "quay.io/a/b:1"}, `) + "}\n"},
		{"a document of one line", `{"apiVersion": "apps.kubermatic.k8c.io/v1", "kind": "ApplicationDefinition", "metadata": {"name": "web"}, "spec": {"defaultValues": {` +
			repeat(15_000, `"k%d": {"image": "quay.io/a/b:1"}, `) + `"z": 1}}}`},
		{"values in many lines", head + "  defaultValues:\n" + repeat(15_000, "    k%d:\n      image: quay.io/a/b:1\n")},
		{"1,000 versions", head + "  versions:\n" + repeat(1000, "  - version: %d.0.0\n    template: {source: {helm: {url: oci://quay.io/a, chartName: b}}}\n")},
		{"1,000 versions in one line", head + "  versions: [" + repeat(1000, "{version: %d.0.0, template: {source: {helm: {url: oci://quay.io/a, chartName: b}}}}, ") + "]\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			application := load(t, []byte(test.document))
			start := time.Now()
			out, err := pipelineOf(t).Apply(t.Context(), transform.Input{
				Application: application, Versions: application.Versions[len(application.Versions)/2:], SourceDigest: "sha256:00",
			})
			if err != nil || strings.Contains(string(out.Document), "quay.io") {
				t.Errorf("Apply() = %d bytes, %v", len(out.Document), err)
			}
			if took := time.Since(start); took > 10*time.Second {
				t.Errorf("took %s", took)
			}
		})
	}
}

// until is a context that ends after some looks at it.
type until struct {
	context.Context

	looks int
}

func (u *until) Err() error {
	if u.looks--; u.looks < 0 {
		return context.Canceled
	}
	return nil
}

func TestTheContextIsCheckedWithinAnApplication(t *testing.T) {
	application := load(t, []byte("apiVersion: apps.kubermatic.k8c.io/v1\nkind: ApplicationDefinition\nmetadata: {name: web}\nspec:\n  versions: [{version: 1.0.0}, {version: 2.0.0}]\n"))
	in := transform.Input{Application: application, Versions: []string{"2.0.0"}, SourceDigest: "sha256:00"}
	const steps = 4 // omitFields has nothing to do
	for looks := range steps + 1 {
		_, err := pipelineOf(t).Apply(&until{Context: t.Context(), looks: looks}, in)
		if stopped := errors.Is(err, context.Canceled); stopped != (looks < steps) || !stopped && err != nil {
			t.Errorf("Apply() with %d looks = %v", looks, err)
		}
	}
}

// SPDX-License-Identifier: Apache-2.0

package transform_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/transform"
)

// pipelineOf has every step.
func pipelineOf(t *testing.T) *transform.Pipeline {
	t.Helper()
	pipeline, err := transform.New(transform.Config{
		Mirrors: []v1alpha1.Mirror{{
			From: "quay.io", To: "oci://registry.internal", Helm: &v1alpha1.MirrorHelm{Insecure: true},
		}},
		AnnotateSource: true,
		Values:         []v1alpha1.ValuesRule{{Names: []string{"web"}, Defaults: &apiextensionsv1.JSON{Raw: []byte(`{"a": 1}`)}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return pipeline
}

// TestCostOfALargeDocument has documents that took tens of seconds, because whoever looked for a
// place in a line began at its start: one document took eight times as long as eight of an eighth of its size. A machine
// with other work to do may spoil one comparison, so that the best of five counts.
func TestCostOfALargeDocument(t *testing.T) {
	const (
		head  = "apiVersion: apps.kubermatic.k8c.io/v1\nkind: ApplicationDefinition\nmetadata: {name: web}\nspec:\n"
		parts = 8
		limit = 3.0
	)
	repeat := func(n int, format string) string {
		var text strings.Builder
		for i := range n {
			fmt.Fprintf(&text, format, i)
		}
		return text.String()
	}
	for _, test := range []struct {
		name     string
		size     int
		document func(size int) string
	}{
		{"values in one line", 12_000, func(n int) string {
			return head + "  defaultValues: {" + repeat(n, `k%d: {n: ä, image: "quay.io/a/b:1"}, `) + "}\n"
		}},
		{"a document of one line", 12_000, func(n int) string {
			return `{"apiVersion": "apps.kubermatic.k8c.io/v1", "kind": "ApplicationDefinition", "metadata": {"name": "web"}, "spec": {"defaultValues": {` +
				repeat(n, `"k%d": {"image": "quay.io/a/b:1"}, `) + `"z": 1}}}`
		}},
		{"values in many lines", 12_000, func(n int) string {
			return head + "  defaultValues:\n" + repeat(n, "    k%d:\n      image: quay.io/a/b:1\n")
		}},
		{"versions", 1000, func(n int) string {
			return head + "  versions:\n" + repeat(n, "  - version: %d.0.0\n    template: {source: {helm: {url: oci://quay.io/a, chartName: b}}}\n")
		}},
		{"versions in one line", 1000, func(n int) string {
			return head + "  versions: [" + repeat(n, "{version: %d.0.0, template: {source: {helm: {url: oci://quay.io/a, chartName: b}}}}, ") + "]\n"
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			best := math.Inf(1)
			for attempt := 0; attempt < 5 && best > limit; attempt++ {
				var small time.Duration
				for range parts {
					small += timeOfTransform(t, test.document(test.size/parts))
				}
				best = min(best, float64(timeOfTransform(t, test.document(test.size)))/float64(small))
			}
			if best > limit {
				t.Errorf("one document takes %.1f times as long as %d parts of it", best, parts)
			}
		})
	}
}

func timeOfTransform(t *testing.T, document string) time.Duration {
	t.Helper()
	application := load(t, []byte(document))
	pipeline := pipelineOf(t)
	start := time.Now()
	out, err := pipeline.Apply(t.Context(), transform.Input{
		Application: application, Versions: application.Versions[len(application.Versions)/2:], SourceDigest: "sha256:00",
	})
	took := time.Since(start)
	if err != nil || strings.Contains(string(out.Document), "quay.io") {
		t.Errorf("Apply() = %d bytes, %v", len(out.Document), err)
	}
	return took
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

// SPDX-License-Identifier: Apache-2.0

package compat

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/winnow-dev/winnow/cmd/winnow/verbs/imports/bundle"
	"github.com/winnow-dev/winnow/cmd/winnow/verbs/imports/bundle/blobs"
	"github.com/winnow-dev/winnow/cmd/winnow/verbs/imports/bundle/plain"
	"github.com/winnow-dev/winnow/test/olmtest"
	"github.com/winnow-dev/winnow/test/stack"
)

// convertData returns the bundles and manifests that operator-controller tests its conversion with.
func convertData(t *testing.T) string {
	t.Helper()
	root, err := stack.Root(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	dir, err := stack.PinnedModule(t.Context(), root, "crds", "github.com/operator-framework/operator-controller")
	if err != nil {
		t.Skipf("skipped: operator-controller is not downloaded: %v", err)
	}
	return filepath.Join(dir, "test/regression/convert/testdata")
}

func readBundle(t *testing.T, dir string) *bundle.Bundle {
	t.Helper()
	read, err := bundle.Read(os.DirFS(dir))
	if err != nil {
		t.Fatalf("%s: %v", dir, err)
	}
	return read
}

// The document of a bundle is that of `opm render`, with all objects, and with the metadata of the ClusterServiceVersion where
// the image is known.
func TestOpmRendersBundlesTheSame(t *testing.T) {
	opm := newOpm(t)
	data := convertData(t)
	for _, dir := range []string{
		"../../examples/operators/bundles/heron-0.1.0", "../../examples/operators/bundles/heron-0.2.0", "testdata/bundle",
		filepath.Join(data, "bundles/argocd-operator.v0.6.0"), filepath.Join(data, "bundles/webhook-operator.v0.0.5"),
	} {
		read := readBundle(t, dir)
		for name, test := range map[string]struct {
			image string
			flags []string
		}{
			"without an image": {"", nil},
			"with its image": {"registry.example.com/" + read.Package + "@sha256:" + strings.Repeat("a", 64), []string{
				"--migrate-level", "bundle-object-to-csv-metadata",
				"--alpha-image-ref-template", "registry.example.com/{{.Package}}@sha256:" + strings.Repeat("a", 64),
			}},
		} {
			t.Run(filepath.Base(dir)+" "+name, func(t *testing.T) {
				want, err := exec.CommandContext(t.Context(), opm.path, append([]string{"render", dir}, test.flags...)...).Output()
				if err != nil {
					t.Fatal(err)
				}
				got, err := json.Marshal(blobs.Of(read, test.image))
				if err != nil {
					t.Fatal(err)
				}
				if x, y := olmtest.Blobs(t, got), olmtest.Blobs(t, want); !slices.Equal(x, y) {
					t.Errorf("the document is\n%s\nopm renders\n%s", strings.Join(x, "\n"), strings.Join(y, "\n"))
				}
			})
		}
	}
}

// Plain manifests are those that operator-controller makes of the same bundle, but for status and null timestamps. Those of
// webhooks are left out on both sides: the bundle is refused with them.
func TestManifestsAreThoseOfOperatorController(t *testing.T) {
	data := convertData(t)
	for _, test := range []struct {
		bundle, golden string
		options        plain.Options
	}{
		{"argocd-operator.v0.6.0", "all-namespaces", plain.Options{InstallNamespace: "argocd-system"}},
		{"argocd-operator.v0.6.0", "single-namespace", plain.Options{InstallNamespace: "argocd-system", WatchNamespaces: []string{"argocd-watch"}}},
		{"argocd-operator.v0.6.0", "own-namespace", plain.Options{InstallNamespace: "argocd-system", WatchNamespaces: []string{"argocd-system"}}},
		{"webhook-operator.v0.0.5", "all-webhook-types", plain.Options{InstallNamespace: "webhook-system"}},
	} {
		t.Run(test.golden, func(t *testing.T) {
			compareManifests(t, readBundle(t, filepath.Join(data, "bundles", test.bundle)), test.options,
				filepath.Join(data, "expected-manifests", test.bundle, test.golden))
		})
	}
}

// The same by the copy of a bundle and its manifests that is kept beside the repository.
func TestManifestsAreThoseOfTheSample(t *testing.T) {
	root, err := stack.Root(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	_, data := realSamples(t, root)
	data = filepath.Join(data, "olm/bundle")
	if _, err := os.Stat(data); err != nil {
		t.Skipf("skipped: no bundle in %s; set WINNOW_TEST_DATA", data)
	}
	compareManifests(t, readBundle(t, filepath.Join(data, "webhook-operator.v0.0.5")), plain.Options{InstallNamespace: "webhook-system"},
		filepath.Join(data, "expected-manifests/webhook-operator.v0.0.5/all-webhook-types"))
}

func compareManifests(t *testing.T, read *bundle.Bundle, options plain.Options, golden string) {
	t.Helper()
	if len(read.CSV.Spec.Webhooks) > 0 {
		if _, err := plain.Manifests(read, options); err == nil || !strings.Contains(err.Error(), "whose certificates OLM makes and renews") {
			t.Errorf("with webhooks: %v", err)
		}
		read.CSV.Spec.Webhooks = nil
	}
	made, err := plain.Manifests(read, options)
	if err != nil {
		t.Fatal(err)
	}
	var got, want []string
	for document := range strings.SplitSeq(strings.TrimPrefix(string(made), "---\n"), "\n---\n") {
		got = append(got, withoutStatus(t, []byte(document)))
	}
	files, err := filepath.Glob(filepath.Join(golden, "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no manifests in %s: %v", golden, err)
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !isOfWebhooks(filepath.Base(file)) {
			want = append(want, withoutStatus(t, content))
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("the manifests are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// isOfWebhooks reports whether a manifest is there for webhooks alone.
func isOfWebhooks(file string) bool {
	return strings.Contains(file, "webhookconfiguration_") || strings.HasSuffix(file, "_service_webhook-operator-controller-manager-service.yaml")
}

// withoutStatus returns a manifest as JSON, without its status, null timestamp and conversion webhook.
func withoutStatus(t *testing.T, manifest []byte) string {
	t.Helper()
	var object map[string]any
	if err := yaml.Unmarshal(manifest, &object); err != nil {
		t.Fatal(err)
	}
	delete(object, "status")
	if metadata, ok := object["metadata"].(map[string]any); ok && metadata["creationTimestamp"] == nil {
		delete(metadata, "creationTimestamp")
	}
	if spec, ok := object["spec"].(map[string]any); ok {
		delete(spec, "conversion")
	}
	content, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// SPDX-License-Identifier: Apache-2.0

package compat

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/winnow-dev/winnow/test/stack"
)

// A real API server takes the objects in the golden files of the backends by server-side apply, as Flux does, and
// keeps the nulls in values, which delete the defaults of a chart.
func TestTheAPIServerAppliesObjectsOfInstances(t *testing.T) {
	root, err := stack.Root(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	goldens := filepath.Join(root, "render/backend/testdata")
	served := t.TempDir()
	for _, name := range []string{"application", "proposed-zone-application"} {
		if err := os.WriteFile(filepath.Join(served, name+".yaml"), cozystackGolden(t, filepath.Join(goldens, name)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s, err := stack.Start(t.Context(), stack.Options{
		Progress: t.Output(),
		CRDs: []string{
			served,
			filepath.Join(module(t, root, "helm", "github.com/fluxcd/helm-controller"), "config/crd/bases"),
			filepath.Join(module(t, root, "crds", "github.com/flux-iac/tofu-controller"), "config/crd/bases/infra.contrib.fluxcd.io_terraforms.yaml"),
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Stop(); err != nil {
			t.Error(err)
		}
	})
	for _, namespace := range []string{"winnow", "tenant-acme"} {
		if err := s.Apply(t.Context(), []byte("apiVersion: v1\nkind: Namespace\nmetadata: {name: "+namespace+"}\n")); err != nil {
			t.Fatal(err)
		}
	}
	dirs, err := filepath.Glob(filepath.Join(goldens, "*"))
	if err != nil || len(dirs) == 0 {
		t.Fatalf("no golden files: %v", err)
	}
	for _, dir := range dirs {
		name := filepath.Base(dir)
		if strings.HasPrefix(name, "installation") || isOLM(name) {
			continue // KKP's definitions are not in this repository, and OLM's are below
		}
		content, err := os.ReadFile(filepath.Join(dir, "objects.yaml"))
		if err == nil {
			err = s.Apply(t.Context(), content)
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	release := &unstructured.Unstructured{}
	release.SetGroupVersionKind(schema.GroupVersionKind{Group: "helm.toolkit.fluxcd.io", Version: "v2", Kind: "HelmRelease"})
	if err := s.Client().Get(t.Context(), client.ObjectKey{Namespace: "winnow", Name: "cert-manager"}, release); err != nil {
		t.Fatal(err)
	}
	values, _, _ := unstructured.NestedMap(release.Object, "spec", "values")
	if value, isSet := values["prometheus"]; !isSet || value != nil {
		t.Errorf("the null in values is gone: %v", values)
	}
	t.Run("the definitions of OLM", func(t *testing.T) { appliesOLM(t, s, goldens) })
}

func cozystackGolden(t *testing.T, dir string) []byte {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(dir, "definition.yaml"))
	var definition struct {
		Spec map[string]any `json:"spec"`
	}
	if err == nil {
		err = yaml.Unmarshal(content, &definition)
	}
	if err != nil {
		t.Fatal(err)
	}
	_, crd := cozystackKind(t, definition.Spec)
	return crd
}

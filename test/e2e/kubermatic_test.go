// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"path/filepath"
	"strings"
	"testing"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

// The application catalog of a KubermaticConfiguration is applied by what winnow import makes of it.
func TestTheCatalogOfAKubermaticConfiguration(t *testing.T) {
	const name = "kubermatic"
	s := &scenario{t: t, name: name, selection: &v1alpha1.CatalogSelection{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: name}}}
	s.push("v1", []app{
		{name: name + "-a", tier: "gold", versions: []string{"1.0.0"}},
		{name: name + "-b", tier: "gold", versions: []string{"1.0.0"}},
		{name: name + "-c", tier: "bronze", versions: []string{"1.0.0"}},
	})
	file := filepath.Join(t.TempDir(), "kubermatic.yaml")
	write(t, file, `apiVersion: kubermatic.k8c.io/v1
kind: KubermaticConfiguration
metadata:
  name: kubermatic
  namespace: kubermatic
spec:
  applications:
    manager:
      logLevel: "debug"
      registrySettings:
        registryURL: `+system.RegistryHost()+"/"+name+`
        tag: v1
      limit:
        metadataSelector:
          tierRefs: [gold, silver]
        nameSelector: [kubermatic-a, kubermatic-c]
  featureGates:
    ExternalApplicationCatalogManager: true
`)
	s.create(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})
	// The names of the test, its registry without TLS, no labels on definitions of other tests, and nothing that stays.
	objects := strings.NewReplacer("flux-system", name, "name: catalog", "name: "+name, "name: applications", "name: "+name,
		"  url: oci://", "  insecure: true\n  url: oci://", "unmanaged: Label", "unmanaged: Ignore",
		"deletionPolicy: Orphan", "deletionPolicy: Delete").Replace(winnow(t, "import", file))
	if err := system.Apply(t.Context(), []byte(objects)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.remove(&kustomizev1.Kustomization{ObjectMeta: s.metaOf(name)}, s.selection, s.repository()) })
	s.awaitApplied(name + "-a")
}

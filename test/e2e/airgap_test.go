// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	"github.com/opencontainers/image-spec/specs-go"
	v1 "github.com/opencontainers/image-spec/specs-go/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"oras.land/oras-go/v2"
	"oras.land/oras-go/v2/registry/remote"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/registry"
	"github.com/winnow-dev/winnow/test/sourcetest"
)

// Two charts of one repository move into a registry, where `winnow list` says. Helm, as it is in
// source-controller, then pulls them by what the live definitions say, as KKP does: the URL, the name and
// the version, with the Secret that the credentials name.
func TestChartsArePulledFromTheMirror(t *testing.T) {
	t.Run("without TLS", func(t *testing.T) {
		m := chartMirror{host: system.RegistryHost(), helm: v1alpha1.MirrorHelm{PlainHTTP: true}}
		m.open = func(name string) (*remote.Repository, error) { return plainRepository(t, name), nil }
		m.test(t, "airgap")
	})
	t.Run("with a password", func(t *testing.T) {
		const user, password = "robot", "of-the-robot"
		secure, err := system.StartSecureRegistry(t.Context(), "airgap-registry", user, password)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := secure.Stop(); err != nil {
				t.Error(err)
			}
		})
		m := chartMirror{host: secure.Host, login: map[string][]byte{"username": []byte(user), "password": []byte(password), "ca.crt": secure.CA}}
		m.helm.Credentials = &v1alpha1.HelmCredentials{
			Username: &v1alpha1.SecretKey{Name: "mirror", Key: "username"}, Password: &v1alpha1.SecretKey{Name: "mirror", Key: "password"},
		}
		m.open = func(name string) (*remote.Repository, error) {
			return secure.Repository(secure.Host+"/"+name, user, password)
		}
		m.test(t, "airgap-secure")
	})
}

// chartMirror is a registry that charts move to.
type chartMirror struct {
	host string
	helm v1alpha1.MirrorHelm
	open func(name string) (*remote.Repository, error)
	// login is the content of the Secret that the credentials name.
	login map[string][]byte
}

func (m chartMirror) test(t *testing.T, name string) {
	to := fmt.Sprintf("oci://%s/%s/charts", m.host, name)
	s := newScenario(t, name, catalogOf(name)[:2], func(cs *v1alpha1.CatalogSelection, _ *kustomizev1.Kustomization) {
		cs.Spec.Mirrors = []v1alpha1.Mirror{{From: "charts.example.com", To: to, Helm: &m.helm}}
		cs.Spec.RequireMirrors = true
	})
	if m.login != nil {
		s.create(&corev1.Secret{ObjectMeta: s.metaOf("mirror"), Data: m.login})
	}
	pushed := map[string]string{}
	for _, chart := range s.references() {
		if chart.From != "https://charts.example.com" || chart.To != to {
			t.Errorf("%s moves from %s to %s", chart.Name, chart.From, chart.To)
		}
		pushed[chart.Name+" "+chart.Version] = m.push(t, name+"/charts/"+chart.Name, chart)
	}
	pulled := 0
	for _, definition := range s.awaitApplied(name+"-a", name+"-b") {
		versions, _, _ := unstructured.NestedSlice(definition.Object, "spec", "versions")
		for i := range versions {
			helm, _, _ := unstructured.NestedMap(versions[i].(map[string]any), "template", "source", "helm")
			chart, version := helm["chartName"].(string), helm["chartVersion"].(string)
			if got, want := s.pull(helm), pushed[chart+" "+version]; got != want {
				t.Errorf("the chart %s %s is %s, and %q was pushed", chart, version, got, want)
			}
			pulled++
		}
	}
	if pulled != len(pushed) || pulled < 2 {
		t.Errorf("%d charts were pulled, and %d pushed", pulled, len(pushed))
	}
}

// chartReference is a chart in the output of winnow list.
type chartReference struct{ From, To, Name, Version string }

// references returns the charts that a mirror needs.
func (s *scenario) references() []chartReference {
	s.t.Helper()
	selection := s.selection.DeepCopy()
	selection.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind(v1alpha1.CatalogSelectionKind))
	file := filepath.Join(s.t.TempDir(), "selection.yaml")
	write(s.t, file, manifest(s.t, selection))
	catalog := fmt.Sprintf("oci://%s/%s:v1", system.RegistryHost(), s.name)
	out := winnow(s.t, "list", catalog, "-f", file, "-o", "json", "--plain-http")
	var list struct{ Charts []chartReference }
	if err := json.Unmarshal([]byte(out), &list); err != nil {
		s.t.Fatal(err)
	}
	return list.Charts
}

// push pushes a chart in the form of `helm push`, and returns the digest of its archive.
func (m chartMirror) push(t *testing.T, repository string, chart chartReference) string {
	t.Helper()
	metadata := fmt.Sprintf(`{"apiVersion":"v2","name":%q,"version":%q}`, chart.Name, chart.Version)
	archive := sourcetest.Archive(t, chart.Name+"/Chart.yaml", metadata, chart.Name+"/templates/empty.yaml", "# "+chart.Version+"\n")
	to, err := m.open(repository)
	if err != nil {
		t.Fatal(err)
	}
	config := registry.NewBlob("application/vnd.cncf.helm.config.v1+json", []byte(metadata))
	layer := registry.NewBlob("application/vnd.cncf.helm.chart.content.v1.tar+gzip", archive)
	for _, blob := range []registry.Blob{config, layer} {
		if err := registry.PushBlob(t.Context(), to, blob); err != nil {
			t.Fatal(err)
		}
	}
	manifest, err := json.Marshal(v1.Manifest{
		Versioned: specs.Versioned{SchemaVersion: 2}, MediaType: v1.MediaTypeImageManifest,
		Config: config.Descriptor, Layers: []v1.Descriptor{layer.Descriptor},
	})
	if err == nil {
		_, err = oras.TagBytes(t.Context(), to, v1.MediaTypeImageManifest, manifest, chart.Version)
	}
	if err != nil {
		t.Fatal(err)
	}
	return layer.Descriptor.Digest.String()
}

// pull has Helm pull the chart of a definition, and returns the digest of its archive.
func (s *scenario) pull(helm map[string]any) string {
	s.t.Helper()
	plain, _ := helm["plainHTTP"].(bool)
	chartName, version := helm["chartName"].(string), helm["chartVersion"].(string)
	hour := metav1.Duration{Duration: time.Hour}
	name := fmt.Sprintf("%s-%x", chartName, version)
	repository := &sourcev1.HelmRepository{ObjectMeta: s.metaOf(name), Spec: sourcev1.HelmRepositorySpec{
		URL: helm["url"].(string), Type: sourcev1.HelmRepositoryTypeOCI, Insecure: plain, Interval: hour,
	}}
	chart := &sourcev1.HelmChart{ObjectMeta: s.metaOf(name), Spec: sourcev1.HelmChartSpec{
		Chart: chartName, Version: version, Interval: hour,
		SourceRef: sourcev1.LocalHelmChartSourceReference{Kind: sourcev1.HelmRepositoryKind, Name: name},
	}}
	if secret, found, _ := unstructured.NestedString(helm, "credentials", "username", "name"); found {
		repository.Spec.SecretRef = &meta.LocalObjectReference{Name: secret}
		repository.Spec.CertSecretRef = &meta.LocalObjectReference{Name: secret}
	}
	s.create(repository)
	s.create(chart)
	s.t.Cleanup(func() { s.remove(chart, repository) })
	s.await("pulling the chart "+chartName+" "+version, func(ctx context.Context) error {
		if err := system.Client().Get(ctx, client.ObjectKeyFromObject(chart), chart); err != nil {
			return err
		}
		if !conditions.IsTrue(chart, meta.ReadyCondition) || chart.Status.Artifact == nil {
			return errors.New(conditions.GetMessage(chart, meta.ReadyCondition))
		}
		return nil
	})
	return chart.Status.Artifact.Digest
}

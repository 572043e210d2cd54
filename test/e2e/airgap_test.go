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
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"oras.land/oras-go/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/registry"
	"github.com/winnow-dev/winnow/test/sourcetest"
)

// Two charts of one repository move into a registry, where `winnow list` says. Helm, as it is in
// source-controller, then pulls them by what the live definitions say, as KKP does: the URL, the name and
// the version.
func TestChartsArePulledFromTheMirror(t *testing.T) {
	mirror := fmt.Sprintf("oci://%s/airgap-mirror/charts", system.RegistryHost())
	s := newScenario(t, "airgap", catalogOf("airgap")[:2], func(cs *v1alpha1.CatalogSelection, _ *kustomizev1.Kustomization) {
		cs.Spec.Mirrors = []v1alpha1.Mirror{{From: "charts.example.com", To: mirror, Helm: &v1alpha1.MirrorHelm{PlainHTTP: true}}}
		cs.Spec.RequireMirrors = true
	})
	pushed := map[string]string{}
	for _, chart := range s.references() {
		if chart.From != "https://charts.example.com" || chart.To != mirror {
			t.Errorf("%s moves from %s to %s", chart.Name, chart.From, chart.To)
		}
		pushed[chart.Name+" "+chart.Version] = s.pushChart(chart.Name, chart.Version)
	}
	pulled := 0
	for _, definition := range s.awaitApplied("airgap-a", "airgap-b") {
		versions, _, _ := unstructured.NestedSlice(definition.Object, "spec", "versions")
		for i := range versions {
			helm, _, _ := unstructured.NestedMap(versions[i].(map[string]any), "template", "source", "helm")
			name, version := helm["chartName"].(string), helm["chartVersion"].(string)
			if got, want := s.pull(helm), pushed[name+" "+version]; got != want {
				t.Errorf("the chart %s %s is %s, and %q was pushed", name, version, got, want)
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

// pushChart pushes a chart to the mirror in the form of `helm push`, and returns the digest of its archive.
func (s *scenario) pushChart(name, version string) string {
	s.t.Helper()
	metadata := fmt.Sprintf(`{"apiVersion":"v2","name":%q,"version":%q}`, name, version)
	archive := sourcetest.Archive(s.t, name+"/Chart.yaml", metadata, name+"/templates/empty.yaml", "# "+version+"\n")
	to := plainRepository(s.t, "airgap-mirror/charts/"+name)
	config := registry.NewBlob("application/vnd.cncf.helm.config.v1+json", []byte(metadata))
	layer := registry.NewBlob("application/vnd.cncf.helm.chart.content.v1.tar+gzip", archive)
	for _, blob := range []registry.Blob{config, layer} {
		if err := registry.PushBlob(s.t.Context(), to, blob); err != nil {
			s.t.Fatal(err)
		}
	}
	manifest, err := json.Marshal(v1.Manifest{
		Versioned: specs.Versioned{SchemaVersion: 2}, MediaType: v1.MediaTypeImageManifest,
		Config: config.Descriptor, Layers: []v1.Descriptor{layer.Descriptor},
	})
	if err == nil {
		_, err = oras.TagBytes(s.t.Context(), to, v1.MediaTypeImageManifest, manifest, version)
	}
	if err != nil {
		s.t.Fatal(err)
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

// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	"golang.org/x/sync/errgroup"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/test/stack"
)

// spoke is a cluster with plain Flux, which deploys a directory of the repository.
type spoke struct {
	*stack.Stack
	fleet           *fleet
	name, directory string
	// applied is the last push that it was awaited to apply.
	applied *v1alpha1.CatalogSelection
}

// startSpokes starts the clusters in parallel, with the credentials of the registry.
func (f *fleet) startSpokes() {
	f.t.Helper()
	f.staging = &spoke{name: "staging", directory: "spokes/staging"}
	f.edge = &spoke{name: "edge", directory: "spokes/edge"}
	for i := range 3 {
		f.production = append(f.production, &spoke{name: fmt.Sprintf("production-%d", i+1), directory: "spokes/production"})
	}
	f.t.Cleanup(func() {
		for _, s := range f.spokes() {
			if s.Stack == nil {
				continue
			}
			if err := s.Stop(); err != nil {
				f.t.Error(err)
			}
		}
	})
	var starting errgroup.Group
	for _, s := range f.spokes() {
		s.fleet = f
		starting.Go(func() (err error) {
			s.Stack, err = stack.Start(f.t.Context(), stack.Options{
				SourceController: true, KustomizeController: true,
				CRDs: []string{"test/stack/crds"},
				Args: map[string][]string{stack.KustomizeController: {"--feature-gates=ExternalArtifact=false"}},
			})
			return err
		})
	}
	if err := starting.Wait(); err != nil {
		f.t.Fatal(err)
	}
	for _, s := range f.spokes() {
		f.provide(s.Stack, "registry-read", stack.FluxNamespace)
	}
}

const fleetSecrets = `apiVersion: v1
kind: Secret
metadata: {name: %[1]s, namespace: %[2]s}
type: kubernetes.io/dockerconfigjson
stringData: {.dockerconfigjson: '{"auths":{"%[3]s":{"username":"%[4]s","password":"%[5]s"}}}'}
---
apiVersion: v1
kind: Secret
metadata: {name: registry-ca, namespace: %[2]s}
data: {ca.crt: %[6]s}
`

// provide creates the Secrets of a cluster.
func (f *fleet) provide(cluster *stack.Stack, name, namespace string) {
	f.t.Helper()
	ca := base64.StdEncoding.EncodeToString(f.registry.CA)
	secrets := fmt.Sprintf(fleetSecrets, name, namespace, f.registry.Host, fleetUser, fleetPassword, ca)
	if err := cluster.Apply(f.t.Context(), []byte(secrets)); err != nil {
		f.t.Fatal(err)
	}
}

// deploy applies the committed files of this cluster.
func (s *spoke) deploy() {
	s.fleet.t.Helper()
	if err := s.ApplyKustomization(s.fleet.t.Context(), filepath.Join(s.fleet.dir, s.directory)); err != nil {
		s.fleet.t.Fatal(err)
	}
}

// assertPlainFlux checks that the cluster has no objects of Winnow, and refuses ExternalArtifacts.
func (s *spoke) assertPlainFlux() {
	t := s.fleet.t
	t.Helper()
	crds := &apiextensionsv1.CustomResourceDefinitionList{}
	if err := s.Client().List(t.Context(), crds); err != nil {
		t.Fatal(err)
	}
	for _, crd := range crds.Items {
		if crd.Spec.Group == v1alpha1.GroupVersion.Group {
			t.Errorf("%s has %s", s.name, crd.Name)
		}
	}
	probe := &kustomizev1.Kustomization{ObjectMeta: metav1.ObjectMeta{Name: "probe", Namespace: stack.FluxNamespace}}
	probe.Spec.Interval = metav1.Duration{Duration: time.Hour}
	probe.Spec.SourceRef = kustomizev1.CrossNamespaceSourceReference{Kind: sourcev1.ExternalArtifactKind, Name: "none"}
	if err := s.Client().Create(t.Context(), probe); err != nil {
		t.Fatal(err)
	}
	s.fleet.await(s.name+" refuses an ExternalArtifact", func(ctx context.Context) error {
		err := s.Client().Get(ctx, keyOf(probe), probe)
		if err == nil && conditions.GetReason(probe, meta.ReadyCondition) != v1alpha1.AccessDeniedReason {
			err = fmt.Errorf("conditions are %+v", probe.Status.Conditions)
		}
		return err
	})
	if err := s.Client().Delete(t.Context(), probe); err != nil {
		t.Fatal(err)
	}
}

func (s *spoke) repository(ctx context.Context) (*sourcev1.OCIRepository, error) {
	repository := &sourcev1.OCIRepository{}
	err := s.Client().Get(ctx, client.ObjectKey{Namespace: stack.FluxNamespace, Name: "applications"}, repository)
	if err == nil && (repository.Status.Artifact == nil || repository.Status.ObservedGeneration != repository.Generation || !conditions.IsReady(repository)) {
		err = fmt.Errorf("the OCIRepository of %s is not ready: %+v", s.name, repository.Status.Conditions)
	}
	return repository, err
}

// revision returns the revision of the OCIRepository.
func (s *spoke) revision() string {
	s.fleet.t.Helper()
	repository, err := s.repository(s.fleet.t.Context())
	if err != nil {
		s.fleet.t.Fatal(err)
	}
	return repository.Status.Artifact.Revision
}

// reconcileSource requests a reconciliation of the OCIRepository, and waits for its end.
func (s *spoke) reconcileSource() {
	t := s.fleet.t
	t.Helper()
	repository, err := s.repository(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	before, request := repository.DeepCopy(), time.Now().String()
	repository.Annotations = map[string]string{meta.ReconcileRequestAnnotation: request}
	if err := s.Client().Patch(t.Context(), repository, client.MergeFrom(before)); err != nil {
		t.Fatal(err)
	}
	s.fleet.await(s.name+" looks into the registry", func(ctx context.Context) error {
		repository, err := s.repository(ctx)
		if err == nil && repository.Status.LastHandledReconcileAt != request {
			err = errors.New("not yet")
		}
		return err
	})
}

// awaitApplied waits until the cluster has applied the last push of cs.
func (s *spoke) awaitApplied(cs *v1alpha1.CatalogSelection) *kustomizev1.Kustomization {
	s.fleet.t.Helper()
	ks := &kustomizev1.Kustomization{}
	s.fleet.await(s.name+" applies "+cs.Status.Push.URL, func(ctx context.Context) error {
		repository, err := s.repository(ctx)
		if err != nil {
			return err
		}
		if err := s.Client().Get(ctx, client.ObjectKeyFromObject(repository), ks); err != nil {
			return err
		}
		_, digest, _ := strings.Cut(cs.Status.Push.URL, "@")
		got := repository.Status.Artifact.Revision
		switch {
		case !strings.HasSuffix(got, digest):
			return fmt.Errorf("the OCIRepository is at %s", got)
		case ks.Status.LastAppliedRevision != got || !conditions.IsReady(ks):
			return fmt.Errorf("applied is %s: %+v", ks.Status.LastAppliedRevision, ks.Status.Conditions)
		case ks.Status.LastAppliedOriginRevision != cs.Status.Push.Sources:
			return fmt.Errorf("the origin of what is applied is %q, want %q", ks.Status.LastAppliedOriginRevision, cs.Status.Push.Sources)
		}
		return nil
	})
	s.applied = cs
	return ks
}

// assertApplies expects that the inventory of the last apply has, or lacks, a definition, which lives in any case.
func (s *spoke) assertApplies(name string, want bool) {
	s.fleet.t.Helper()
	ks := s.awaitApplied(s.applied)
	if got := slices.ContainsFunc(ks.Status.Inventory.Entries, func(e kustomizev1.ResourceRef) bool { return strings.HasPrefix(e.ID, "_"+name+"_") }); got != want {
		s.fleet.t.Errorf("%s applies %s: %v: %+v", s.name, name, got, ks.Status.Inventory)
	}
	definition, ok := s.definitions()[name]
	if got := definition.GetAnnotations()["kustomize.toolkit.fluxcd.io/prune"]; !ok || got != "disabled" {
		s.fleet.t.Errorf("%s has %s: %v, with prune: %q", s.name, name, ok, got)
	}
}

func (s *spoke) definitions() map[string]unstructured.Unstructured {
	s.fleet.t.Helper()
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(definitionOf("").GroupVersionKind())
	if err := s.Client().List(s.fleet.t.Context(), list); err != nil {
		s.fleet.t.Fatal(err)
	}
	found := map[string]unstructured.Unstructured{}
	for _, item := range list.Items {
		found[item.GetName()] = item
	}
	return found
}

func (s *spoke) values(name string) string {
	definition := s.definitions()[name]
	values, _, _ := unstructured.NestedString(definition.Object, "spec", "defaultValuesBlock")
	return values
}

// assertHas checks that the cluster has exactly the objects that the command line renders for a selection
// of the hub: another apply, as Flux does, would not change them.
func (s *spoke) assertHas(selection string) {
	t := s.fleet.t
	t.Helper()
	live := s.definitions()
	rendered := winnow(t, "render", "-f", filepath.Join(s.fleet.dir, "hub", selection+".yaml"), "--source", s.fleet.catalog)
	decoder := utilyaml.NewYAMLOrJSONDecoder(strings.NewReader(rendered), 1<<12)
	var names []string
	for {
		want := &unstructured.Unstructured{}
		if err := decoder.Decode(want); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		names = append(names, want.GetName())
		want.SetLabels(merged(want.GetLabels(), map[string]string{
			"kustomize.toolkit.fluxcd.io/name": "applications", "kustomize.toolkit.fluxcd.io/namespace": stack.FluxNamespace,
		}))
		err := s.Client().Apply(t.Context(), client.ApplyConfigurationFromUnstructured(want),
			client.DryRunAll, client.ForceOwnership, client.FieldOwner("kustomize-controller"))
		if err != nil {
			t.Fatal(err)
		}
		got := live[want.GetName()]
		want.SetManagedFields(nil)
		got.SetManagedFields(nil)
		if !reflect.DeepEqual(got.Object, want.Object) {
			t.Errorf("%s has\n%v\nwant\n%v", s.name, got.Object, want.Object)
		}
	}
	slices.Sort(names)
	if got := slices.Sorted(maps.Keys(live)); !slices.Equal(got, names) {
		t.Errorf("%s has %v, rendered are %v", s.name, got, names)
	}
}

func merged(a, b map[string]string) map[string]string {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return all
}

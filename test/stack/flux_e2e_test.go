// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package stack_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"testing"
	"time"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"github.com/fluxcd/pkg/apis/meta"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	"github.com/opencontainers/go-digest"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/test/stack"
)

func TestFlux(t *testing.T) {
	s := start(t, stack.Options{
		Registry:            true,
		SourceController:    true,
		KustomizeController: true,
		CRDs:                []string{"test/stack/crds"},
	})
	t.Run("pulls both shapes", func(t *testing.T) { pullsBothShapes(t, s) })
	t.Run("applies an ExternalArtifact", func(t *testing.T) { appliesExternalArtifact(t, s) })
	t.Run("leaves no process behind", func(t *testing.T) { leavesNoProcess(t, s) })
}

func pullsBothShapes(t *testing.T, s *stack.Stack) {
	const catalog = "test/stack/testdata/catalog"
	tests := []struct {
		name      string
		shape     stack.Shape
		mediaType string
		operation string
	}{
		{"contract-extract", stack.Contract, stack.CatalogLayerMediaType, sourcev1.OCILayerExtract},
		{"contract-copy", stack.Contract, stack.CatalogLayerMediaType, sourcev1.OCILayerCopy},
		{"flux-extract", stack.FluxArtifact, stack.FluxLayerMediaType, sourcev1.OCILayerExtract},
		{"flux-copy", stack.FluxArtifact, stack.FluxLayerMediaType, sourcev1.OCILayerCopy},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			annotations := map[string]string{"org.opencontainers.image.revision": "main@sha1:" + test.name}
			pushed := push(t, s, catalog, test.name, stack.PushOptions{Shape: test.shape, Annotations: annotations})
			again := push(t, s, catalog, test.name, stack.PushOptions{Shape: test.shape, Annotations: annotations})
			if pushed != again {
				t.Errorf("the same content has the digests %s and %s", pushed, again)
			}
			artifact := pull(t, s, test.name, sourcev1.OCILayerSelector{MediaType: test.mediaType, Operation: test.operation})
			if want := "latest@" + pushed.String(); artifact.Revision != want {
				t.Errorf("revision is %s, want %s", artifact.Revision, want)
			}
			for key, want := range annotations {
				if got := artifact.Metadata[key]; got != want {
					t.Errorf("metadata %s is %q, want %q", key, got, want)
				}
			}
		})
	}
}

func appliesExternalArtifact(t *testing.T, s *stack.Stack) {
	ctx, c := t.Context(), s.Client()
	push(t, s, "test/stack/testdata/manifests", "manifests", stack.PushOptions{Shape: stack.FluxArtifact})
	artifact := pull(t, s, "manifests", sourcev1.OCILayerSelector{})

	external := &sourcev1.ExternalArtifact{ObjectMeta: inFlux("manifests")}
	create(t, c, external)
	external.Status.Artifact = artifact
	if err := c.Status().Update(ctx, external); err != nil {
		t.Fatal(err)
	}
	kustomization := &kustomizev1.Kustomization{
		ObjectMeta: inFlux("manifests"),
		Spec: kustomizev1.KustomizationSpec{
			Interval: metav1.Duration{Duration: time.Minute},
			Prune:    true,
			SourceRef: kustomizev1.CrossNamespaceSourceReference{
				Kind: sourcev1.ExternalArtifactKind, Name: external.Name,
			},
		},
	}
	create(t, c, kustomization)
	eventually(t, "the Kustomization is Ready", func(ctx context.Context) error {
		return ready(ctx, c, kustomization, &kustomization.Status.Conditions)
	})
	if err := c.Get(ctx, client.ObjectKey{Namespace: "default", Name: "applied"}, &corev1.ConfigMap{}); err != nil {
		t.Error(err)
	}
}

func leavesNoProcess(t *testing.T, s *stack.Stack) {
	var pids []int
	for _, name := range []string{
		stack.Etcd, stack.APIServer, stack.Registry, stack.SourceController, stack.KustomizeController,
	} {
		pids = append(pids, s.Process(name).PID())
	}
	if err := s.Stop(); err != nil {
		t.Error(err)
	}
	if err := s.Stop(); err != nil {
		t.Errorf("stopping again: %v", err)
	}
	if s.Err() != nil {
		t.Errorf("stopping counts as failure: %v", s.Err())
	}
	for _, pid := range pids {
		if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
			t.Errorf("process %d is still there: %v", pid, err)
		}
	}
	if _, err := os.Stat(s.Dir()); !os.IsNotExist(err) {
		t.Errorf("directory %s is still there", s.Dir())
	}
}

func push(t *testing.T, s *stack.Stack, dir, name string, options stack.PushOptions) digest.Digest {
	t.Helper()
	pushed, err := s.PushCatalog(t.Context(), dir, name+":latest", options)
	if err != nil {
		t.Fatal(err)
	}
	return pushed
}

// pull creates an OCIRepository and returns its artifact.
func pull(t *testing.T, s *stack.Stack, name string, layer sourcev1.OCILayerSelector) *meta.Artifact {
	t.Helper()
	repository := &sourcev1.OCIRepository{
		ObjectMeta: inFlux(name),
		Spec: sourcev1.OCIRepositorySpec{
			URL:           fmt.Sprintf("oci://%s/%s", s.RegistryHost(), name),
			Reference:     &sourcev1.OCIRepositoryRef{Tag: "latest"},
			LayerSelector: &layer,
			Insecure:      true,
			Interval:      metav1.Duration{Duration: time.Minute},
		},
	}
	create(t, s.Client(), repository)
	// Flux patches the conditions before the rest of the status.
	eventually(t, "the OCIRepository is Ready and has an artifact", func(ctx context.Context) error {
		err := ready(ctx, s.Client(), repository, &repository.Status.Conditions)
		if err == nil && repository.Status.Artifact == nil {
			return errors.New("no artifact yet")
		}
		return err
	})
	return repository.Status.Artifact
}

func inFlux(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: stack.FluxNamespace, Name: name}
}

func create(t *testing.T, c client.Client, object client.Object) {
	t.Helper()
	if err := c.Create(t.Context(), object); err != nil {
		t.Fatal(err)
	}
}

// ready reads an object and returns an error if it is not ready.
func ready(ctx context.Context, c client.Client, object client.Object, conditions *[]metav1.Condition) error {
	if err := c.Get(ctx, client.ObjectKeyFromObject(object), object); err != nil {
		return err
	}
	if !apimeta.IsStatusConditionTrue(*conditions, meta.ReadyCondition) {
		return fmt.Errorf("conditions: %+v", *conditions)
	}
	return nil
}

func eventually(t *testing.T, what string, check func(context.Context) error) {
	t.Helper()
	var last error
	err := wait.PollUntilContextTimeout(t.Context(), 100*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		err := check(ctx)
		if ctx.Err() == nil { // the last check ends with the time, and says nothing else
			last = err
		}
		return err == nil, nil
	})
	if err != nil {
		t.Fatalf("waiting until %s: %v; last: %v", what, err, last)
	}
}

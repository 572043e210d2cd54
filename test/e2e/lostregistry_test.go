// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/test/stack"
)

// The registry loses the catalog and the pushed artifact. Then the controller loses its archives as well. The manifest, which
// decides what the format is, is gone: the record has the format.
func TestARegistryThatLosesEverything(t *testing.T) {
	const name, pushed = "noregistry", "noregistry-pushed"
	s := newScenario(t, name, catalogOf(name), nil)
	s.edit(func(spec *v1alpha1.CatalogSelectionSpec) {
		spec.Interval = metav1.Duration{Duration: 3 * time.Second} // at which the registry is checked
		spec.Push = &v1alpha1.Push{URL: fmt.Sprintf("oci://%s/%s", system.RegistryHost(), pushed), Insecure: true}
	})
	before := s.awaitApplied(name+"-a", name+"-b", name+"-c")
	first := s.awaitPushed(v1alpha1.SucceededReason)
	_, ea, _, err := s.live(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, repository := range []string{name, pushed} {
		if err := os.RemoveAll(filepath.Join(system.Dir(), stack.Registry, "data/docker/registry/v2/repositories", repository)); err != nil {
			t.Fatal(err)
		}
	}

	s.nudgeSource("lost")
	s.awaitSelection("told that the source fails", func(cs *v1alpha1.CatalogSelection) error {
		if !conditions.IsFalse(cs, v1alpha1.SourceReadyCondition) || !conditions.IsReady(cs) {
			return errors.New("not yet")
		}
		return nil
	})
	s.assertServed(ea)
	s.await("the pushed artifact is back", func(ctx context.Context) error {
		_, err := plainRepository(t, pushed).Resolve(ctx, "latest")
		return err
	})
	if again := s.awaitPushed(v1alpha1.SucceededReason); again.Status.Push.URL != first.Status.Push.URL {
		t.Errorf("pushed is %s, was %s", again.Status.Push.URL, first.Status.Push.URL)
	}

	if err := system.restart(t.Context(), stack.ControllerOptions{}); err != nil {
		t.Fatal(err)
	}
	s.await("rendered again from what source-controller has", func(ctx context.Context) error {
		if got := s.download(ctx, ea.Status.Artifact.URL); got != ea.Status.Artifact.Digest {
			return fmt.Errorf("served is %s", got)
		}
		return nil
	})
	s.requestReconciliation()
	s.push("v1", catalogOf(name))
	s.nudgeSource("back")
	s.awaitSelection("the source works again", func(cs *v1alpha1.CatalogSelection) error {
		if !conditions.IsTrue(cs, v1alpha1.SourceReadyCondition) {
			return errors.New("not yet")
		}
		return nil
	})
	for name, object := range s.awaitApplied(name+"-a", name+"-b", name+"-c") {
		if was := before[name]; was.GetResourceVersion() != object.GetResourceVersion() {
			t.Errorf("%s was written", name)
		}
	}
}

// nudgeSource requests that Flux pulls the catalog.
func (s *scenario) nudgeSource(request string) {
	s.t.Helper()
	repository := s.repository()
	s.update(repository, func() { repository.Annotations = map[string]string{meta.ReconcileRequestAnnotation: request} })
}

// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// A directory of the artifact has neither labels nor protection against pruning, and one without YAML has no object, so
// that Flux would prune all.
func TestAPathInsideOfTheArtifactAppliesAndPrunesNothing(t *testing.T) {
	const told = "spec.path of the Kustomization must be ./"
	s := newScenario(t, "inside", catalogOf("inside"), nil)
	names := []string{"inside-a", "inside-b", "inside-c"}
	before := resourceVersions(s.awaitApplied(names...))
	for _, path := range []string{"./applicationdefinitions", "applicationdefinitions/"} {
		s.setPath(path)
		s.await("refused with the path "+path, func(ctx context.Context) error {
			_, _, ks, err := s.live(ctx)
			if err != nil {
				return err
			}
			if message := conditions.GetMessage(ks, meta.ReadyCondition); !conditions.IsFalse(ks, meta.ReadyCondition) || !strings.Contains(message, told) {
				return fmt.Errorf("its message is %s", message)
			}
			return nil
		})
		s.awaitAppliedCondition("False ApplyFailed", told, fmt.Sprintf("spec.path is %q and must be ./", path))
		live, err := s.definitions(t.Context())
		if err != nil || !maps.Equal(resourceVersions(live), before) {
			t.Errorf("with the path %s, the cluster has %v, want %v: %v", path, resourceVersions(live), before, err)
		}
		s.setPath("./")
		s.await("ready again", func(ctx context.Context) error {
			_, _, ks, err := s.live(ctx)
			if err != nil {
				return err
			}
			if ks.Status.ObservedGeneration != ks.Generation || !conditions.IsReady(ks) {
				return fmt.Errorf("its message is %s", conditions.GetMessage(ks, meta.ReadyCondition))
			}
			return nil
		})
		if after := resourceVersions(s.awaitApplied(names...)); !maps.Equal(after, before) {
			t.Errorf("the cluster has %v, want %v", after, before)
		}
	}
}

// setPath changes spec.path of the Kustomization.
func (s *scenario) setPath(path string) {
	s.t.Helper()
	_, _, ks, err := s.live(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	s.update(ks, func() { ks.Spec.Path = path })
}

// Definitions are of no namespace, and the inventory of Flux names objects with the namespace that the artifact says: one
// that comes or goes would make another object of the same one, and Flux prunes the former.
func TestANamespaceOfADefinitionPrunesNothing(t *testing.T) {
	apps := catalogOf("nowhere")
	s := newScenario(t, "nowhere", apps, nil)
	names := []string{"nowhere-a", "nowhere-b", "nowhere-c"}
	before := uids(s.awaitApplied(names...))
	for i, namespace := range []string{"elsewhere", "another", ""} {
		tag := fmt.Sprintf("v%d", i+2)
		for i := range apps {
			apps[i].namespace = namespace
		}
		s.upgrade(tag, valued(apps, tag))
		s.awaitNote("nowhere-b", tag)
		if after := uids(s.awaitApplied(names...)); !maps.Equal(after, before) {
			t.Errorf("with the namespace %q, the cluster has %v, want %v", namespace, after, before)
		}
		_, _, ks, err := s.live(t.Context())
		t.Logf("%s %+v %v", namespace, ks.Status.Inventory, err)
	}
}

// uids returns the identities of live objects.
func uids(objects map[string]unstructured.Unstructured) map[string]types.UID {
	all := map[string]types.UID{}
	for name, object := range objects {
		all[name] = object.GetUID()
	}
	return all
}

// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/test/stack"
)

// The system of all tests has no HelmReleases. Selections wait for them: one that gets an instance beside its
// definitions, one that publishes for the first time, and one whose Kustomization comes later.
func TestInstancesWaitForTheirBackend(t *testing.T) {
	t.Cleanup(func() { (&scenario{t: t}).remove(helmReleaseCRD()) }) // after the HelmReleases
	i := newInstalling(t, "backendless")
	t.Cleanup(i.clear)
	i.offer("v1", packaged{name: "backendless-a", versions: []string{"1.0.0"}})
	i.create(i.repository())
	i.commit([]string{i.selecting("grown"), i.applying("grown", "grown")})
	i.awaitParts(part{"grown", "grown", []string{"backendless-a"}})
	before := i.served("grown")

	const instances = "instances: {%s: {application: backendless-a, version: ^1}}"
	i.commit([]string{
		i.selecting("grown", fmt.Sprintf(instances, "second")),
		i.selecting("fresh", "definitions: Omit", fmt.Sprintf(instances, "first")), i.applying("fresh", "fresh"),
		i.selecting("early", "definitions: Omit", fmt.Sprintf(instances, "third")),
	})
	i.of("early").awaitAppliedCondition("Unknown NoConsumer")
	i.commit([]string{i.applying("early", "early")})
	for _, name := range []string{"grown", "fresh", "early"} {
		cs := i.of(name).awaitSelection("held", func(cs *v1alpha1.CatalogSelection) error {
			if conditions.GetReason(cs, v1alpha1.HeldCondition) != v1alpha1.BackendNotAvailableReason {
				return fmt.Errorf("held is %+v", cs.Status.Held)
			}
			return nil
		})
		if held := cs.Status.Held; len(held.Approve) > 0 || !strings.Contains(held.Reasons[0].Message, "HelmRelease") {
			t.Errorf("%s is held by %+v", name, held)
		}
	}
	if grown, fresh, early := i.served("grown"), i.served("fresh"), i.served("early"); grown != before || fresh+early != "" {
		t.Errorf("served are %q, before %q, %q and %q", grown, before, fresh, early)
	}
	if err := system.InstallHelmCRDs(t.Context()); err != nil {
		t.Fatal(err)
	}
	for name, release := range map[string]string{"grown": "second", "fresh": "first", "early": "third"} {
		i.await(release+" is applied", func(ctx context.Context) error {
			_, err := i.releaseOf(ctx, release)
			return err
		})
		i.of(name).awaitAppliedCondition("True Succeeded")
	}
}

func helmReleaseCRD() *apiextensionsv1.CustomResourceDefinition {
	return &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: "helmreleases.helm.toolkit.fluxcd.io"}}
}

// served returns the revision that Kustomizations read of a selection, empty if there is none.
func (i *installing) served(selection string) string {
	i.t.Helper()
	ea := &sourcev1.ExternalArtifact{ObjectMeta: i.metaOf(selection)}
	if err := system.Client().Get(i.t.Context(), keyOf(ea), ea); client.IgnoreNotFound(err) != nil {
		i.t.Fatal(err)
	}
	if ea.Status.Artifact == nil {
		return ""
	}
	return ea.Status.Artifact.Revision
}

const spokeManifests = `apiVersion: source.toolkit.fluxcd.io/v1
kind: OCIRepository
metadata: {name: applications, namespace: flux-system}
spec:
  interval: 1h
  url: %s
  insecure: true
  ref: {tag: latest}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: applications, namespace: flux-system}
spec:
  interval: 1h
  retryInterval: 1s
  prune: true
  sourceRef: {kind: OCIRepository, name: applications}
`

// A hub that has no HelmReleases itself renders them for a cluster with plain Flux. That one needs the namespace of the
// selection.
func TestInstancesReachASpoke(t *testing.T) {
	i := newInstalling(t, "travel")
	t.Cleanup(i.clear)
	tool := packaged{name: "tool", versions: []string{"1.0.0"}, fields: "  defaultValuesBlock: |\n    note: default\n"}
	for _, version := range []string{"1.0.0", "1.1.0"} {
		pushChart(t, "travel-charts", chartFiles("tool", version, ""))
	}
	i.offer("v1", tool)
	i.create(i.repository())
	url := fmt.Sprintf("oci://%s/travel-%d", system.RegistryHost(), time.Now().UnixNano())
	i.commit([]string{i.selecting("travel", "definitions: Omit", "instances: {tool: {version: ^1}}",
		"push: {url: "+url+", insecure: true}")})
	s := startHelmSpoke(t, i)
	if err := s.Apply(t.Context(), fmt.Appendf(nil, spokeManifests, url)); err != nil {
		t.Fatal(err)
	}
	i.await("the spoke misses the namespace", func(ctx context.Context) error {
		ks := &kustomizev1.Kustomization{}
		if err := s.Client().Get(ctx, client.ObjectKey{Namespace: stack.FluxNamespace, Name: "applications"}, ks); err != nil {
			return err
		}
		if message := conditions.GetMessage(ks, meta.ReadyCondition); !strings.Contains(message, `namespaces "travel" not found`) {
			return fmt.Errorf("the message is %q", message)
		}
		return nil
	})
	if err := s.Client().Create(t.Context(), namespace("travel")); err != nil {
		t.Fatal(err)
	}
	first := s.awaitTool("1.0.0")
	s.awaitApplied(i.awaitPushedFrom("v1"))

	tool.versions = append(tool.versions, "1.1.0")
	i.offer("v1.1", tool)
	i.follow("v1.1")
	cs := i.awaitPushedFrom("v1.1")
	s.reconcileSource()
	s.awaitApplied(cs)
	if second := s.awaitTool("1.1.0"); second.UID != first.UID || valuesOf(t, second)["note"] != "default" {
		t.Errorf("the upgrade has made %+v of %+v", second, first)
	}
}

// startHelmSpoke starts a cluster with plain Flux, which has helm-controller.
func startHelmSpoke(t *testing.T, i *installing) *spoke {
	t.Helper()
	s := &spoke{name: "helm", fleet: &fleet{scenario: i.scenario}}
	var err error
	s.Stack, err = stack.Start(t.Context(), stack.Options{
		SourceController: true, KustomizeController: true, HelmController: true,
		Args: map[string][]string{stack.KustomizeController: {"--feature-gates=ExternalArtifact=false"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Stop(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// awaitTool waits until a version of the chart is installed.
func (s *spoke) awaitTool(version string) *corev1.ConfigMap {
	s.fleet.t.Helper()
	result := &corev1.ConfigMap{}
	s.fleet.await("the spoke installs "+version, func(ctx context.Context) error {
		err := s.Client().Get(ctx, client.ObjectKey{Namespace: "tool", Name: "tool"}, result)
		if err == nil && result.Data["version"] != version {
			err = fmt.Errorf("it has %s", result.Data["version"])
		}
		return err
	})
	return result
}

// awaitPushedFrom waits until what was rendered from a tag of the catalog is in the registry.
func (i *installing) awaitPushedFrom(tag string) *v1alpha1.CatalogSelection {
	i.t.Helper()
	return i.awaitSelection("pushed from "+tag, func(cs *v1alpha1.CatalogSelection) error {
		push := cs.Status.Push
		if push == nil || push.Revision != cs.Status.Artifact.Revision || !strings.HasPrefix(push.Sources, tag+"@") ||
			!conditions.IsTrue(cs, v1alpha1.PushedCondition) {
			return fmt.Errorf("pushed %+v", push)
		}
		return nil
	})
}

// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/test/stack"
)

// split moves an instance to a selection of its own, while Flux may delete what leaves. The release stays the same.
func (g *plainGuide) split() {
	g.t.Helper()
	allow := client.RawPatch(types.MergePatchType, []byte(`{"spec":{"deletionPolicy":"Delete"}}`))
	if err := system.Client().Patch(g.t.Context(), g.selection.DeepCopy(), allow); err != nil {
		g.t.Fatal(err)
	}
	g.awaitReleases(g.selection.Name, "alerts", "dashboards", "logs", "trust-bundle")
	before := g.installedAs("logging", "logs")

	giver := g.awaitSelection("ready", func(*v1alpha1.CatalogSelection) error { return nil })
	receiver := &v1alpha1.CatalogSelection{ObjectMeta: metav1.ObjectMeta{Name: "logging", Namespace: giver.Namespace}, Spec: *giver.Spec.DeepCopy()}
	receiver.Spec.Instances = map[string]v1alpha1.Instance{"logs": giver.Spec.Instances["logs"]}
	ks := &kustomizev1.Kustomization{}
	if err := system.Client().Get(g.t.Context(), keyOf(g.selection), ks); err != nil {
		g.t.Fatal(err)
	}
	ks = &kustomizev1.Kustomization{ObjectMeta: receiver.ObjectMeta, Spec: *ks.Spec.DeepCopy()}
	ks.Spec.SourceRef.Name = receiver.Name
	g.create(receiver)
	g.create(ks)
	remove := client.RawPatch(types.MergePatchType, []byte(`{"spec":{"instances":{"logs":null},"safeguards":{"approve":["Instance/logs"]}}}`))
	if err := system.Client().Patch(g.t.Context(), giver, remove); err != nil {
		g.t.Fatal(err)
	}
	g.awaitReleases(receiver.Name, "logs")
	g.awaitReleases(g.selection.Name, "alerts", "dashboards", "trust-bundle")
	if after := g.installedAs("logging", "logs"); after != before {
		g.t.Errorf("what the chart has installed is now %s, and was %s", after, before)
	}
}

// awaitReleases waits until a selection is applied, and exactly these HelmReleases are in the inventory of its
// Kustomization.
func (g *plainGuide) awaitReleases(name string, want ...string) {
	g.t.Helper()
	key := client.ObjectKey{Namespace: stack.FluxNamespace, Name: name}
	g.await(fmt.Sprintf("%s has the releases %q", name, want), func(ctx context.Context) error {
		cs, ks := &v1alpha1.CatalogSelection{}, &kustomizev1.Kustomization{}
		if err := errors.Join(system.Client().Get(ctx, key, cs), system.Client().Get(ctx, key, ks)); err != nil {
			return err
		}
		var got []string
		if ks.Status.Inventory != nil {
			for _, entry := range ks.Status.Inventory.Entries {
				if release, is := strings.CutSuffix(entry.ID, "_helm.toolkit.fluxcd.io_HelmRelease"); is {
					got = append(got, strings.TrimPrefix(release, stack.FluxNamespace+"_"))
				}
			}
		}
		slices.Sort(got)
		if cs.Status.ObservedGeneration != cs.Generation || !conditions.IsReady(cs) || !conditions.IsTrue(cs, v1alpha1.AppliedCondition) || !slices.Equal(got, want) {
			return fmt.Errorf("it has %q: %+v", got, cs.Status.Conditions)
		}
		return nil
	})
}

// installedAs returns the identity of a ConfigMap that a chart has installed.
func (g *plainGuide) installedAs(namespace, name string) types.UID {
	g.t.Helper()
	installed := &corev1.ConfigMap{}
	if err := system.Client().Get(g.t.Context(), client.ObjectKey{Namespace: namespace, Name: name}, installed); err != nil {
		g.t.Fatal(err)
	}
	return installed.UID
}

// travel has a cluster without Winnow install what a hub pushes, once it has the namespace of the selection.
func (g *plainGuide) travel() {
	g.t.Helper()
	g.startSpoke()
	g.apply("hub")
	g.await("the hub has pushed", func(ctx context.Context) error {
		cs := &v1alpha1.CatalogSelection{}
		err := system.Client().Get(ctx, client.ObjectKey{Namespace: "fleet", Name: g.selection.Name}, cs)
		if err == nil && !conditions.IsTrue(cs, v1alpha1.PushedCondition) {
			err = fmt.Errorf("conditions are %+v", cs.Status.Conditions)
		}
		return err
	})
	if err := g.spoke.ApplyPath(g.t.Context(), filepath.Join(g.dir, "spoke/applications.yaml")); err != nil {
		g.t.Fatal(err)
	}
	ks := &kustomizev1.Kustomization{ObjectMeta: metav1.ObjectMeta{Name: g.selection.Name, Namespace: stack.FluxNamespace}}
	g.await("the namespace is missing", func(ctx context.Context) error {
		err := g.spoke.Client().Get(ctx, keyOf(ks), ks)
		if message := conditions.GetMessage(ks, meta.ReadyCondition); err == nil && !strings.Contains(message, `namespaces "fleet" not found`) {
			err = fmt.Errorf("it reports %q", message)
		}
		return err
	})
	// It would try again after a minute.
	if err := g.spoke.Client().Delete(g.t.Context(), ks); err != nil {
		g.t.Fatal(err)
	}
	g.await("the Kustomization is gone", func(ctx context.Context) error {
		if err := g.spoke.Client().Get(ctx, keyOf(ks), ks); client.IgnoreNotFound(err) != nil || err == nil {
			return fmt.Errorf("not yet: %w", err)
		}
		return nil
	})
	g.contains(g.run("kubectl --context spoke apply -k spoke"), "alerts ", " True ", "dashboards ", " True ", "logs ", " True ", "trust-bundle ", " True ")
	g.awaitInstalled(g.spoke, "alerting", "alerts", "rules.yaml", "cluster: fleet")
	g.awaitInstalled(g.spoke, "logging", "logs", "pipeline.yaml", "host: logs.edge.example.com")
}

// startSpoke starts a cluster with Flux alone, and gives the contexts of the guide to kubectl.
func (g *plainGuide) startSpoke() {
	g.t.Helper()
	var err error
	g.spoke, err = stack.Start(g.t.Context(), stack.Options{
		SourceController: true, KustomizeController: true, HelmController: true,
		Args: map[string][]string{stack.KustomizeController: {"--feature-gates=ExternalArtifact=false"}},
	})
	if err != nil {
		g.t.Fatal(err)
	}
	g.t.Cleanup(func() {
		if err := g.spoke.Stop(); err != nil {
			g.t.Error(err)
		}
	})
	kubectl, err := exec.LookPath("kubectl")
	if err != nil {
		g.t.Fatal(err)
	}
	g.command("kubectl", fmt.Sprintf("case $2 in spoke) export KUBECONFIG=%s ;; esac\ncase $1 in --context) shift 2 ;; esac\nexec %s \"$@\"",
		g.spoke.Kubeconfig(), kubectl))
}

// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

// withInstances returns a cluster in which the Kustomization kkp has applied the instances of the selection kkp.
func withInstances(t *testing.T, names ...string) *liveCluster {
	t.Helper()
	c := newCluster(t)
	c.serve(helmReleases())
	c.source(installable(t, "web:1.0.0@web"))
	c.selection("kkp", guarded, installing(strings.Join(names, "=1.0.0 ")+"=1.0.0"))
	c.consumer("kkp", "kkp")
	c.good()
	c.applies("kkp")
	for _, name := range names {
		c.owned(name)
	}
	c.look()
	c.events.take()
	return c
}

// owned creates a HelmRelease as the Kustomization kkp does.
func (c *liveCluster) owned(name string) {
	c.Helper()
	release := liveRelease(c.namespace, name, map[string]any{"releaseName": name, "targetNamespace": "web"})
	release.SetLabels(map[string]string{
		"kustomize.toolkit.fluxcd.io/name": "kkp", "kustomize.toolkit.fluxcd.io/namespace": c.namespace,
	})
	c.environment.create(release)
}

// release makes helm-controller report the condition Ready of a release, of its last generation.
func (c *liveCluster) release(name, status, message string) {
	c.Helper()
	release := liveRelease(c.namespace, name, nil)
	if err := apiServer.Get(c.Context(), client.ObjectKeyFromObject(release), release); err != nil {
		c.Fatal(err)
	}
	release.Object["status"] = map[string]any{"conditions": []any{map[string]any{
		"type": "Ready", "status": status, "reason": "x", "message": message, "observedGeneration": release.GetGeneration(),
	}}}
	if err := apiServer.Status().Update(c.Context(), release); err != nil {
		c.Fatal(err)
	}
}

// states reports the instances of the selection kkp, and returns them as "<name> <ready>: <message>", after the condition
// InstancesReady.
func (c *liveCluster) states() []string {
	c.Helper()
	c.awaitCaches()
	if err := c.reconciler.reportInstancesOf(c.context(), c.key("kkp")); err != nil {
		c.Fatal(err)
	}
	cs := c.get("kkp")
	var lines []string
	if ready := conditions.Get(cs, v1alpha1.InstancesReadyCondition); ready != nil {
		lines = append(lines, fmt.Sprintf("%s %s: %s", ready.Status, ready.Reason, ready.Message))
	}
	for _, in := range cs.Status.Instances {
		lines = append(lines, fmt.Sprintf("%s %s: %s", in.Name, in.Ready, in.Message))
	}
	return lines
}

func TestTheStatesOfInstances(t *testing.T) {
	c := withInstances(t, "a", "b", "c")
	const unseen = " Unknown: not yet observed"
	c.equal("before helm-controller", c.states(), []string{
		"Unknown InstanceUnknown: 3 of 3 not known: a: not yet observed; b: not yet observed; c: not yet observed",
		"a" + unseen, "b" + unseen, "c" + unseen,
	})
	c.equal("its events", c.events.take(), []string(nil))

	c.release("a", "True", "installed")
	c.release("b", "False", "pulling https://robot:secret@registry.example/web?sig=1:\nno such host")
	c.release("c", "True", "installed")
	c.equal("one is broken", c.states(), []string{
		"False InstanceNotReady: 1 of 3 not ready: b: pulling https://***@registry.example/web: no such host",
		"a True: installed", "b False: pulling https://***@registry.example/web: no such host", "c True: installed",
	})
	c.equal("the events of that", c.events.take(), []string{
		"Warning InstanceNotReady CatalogSelection", "Warning InstanceNotReady ExternalArtifact",
		"Normal Succeeded CatalogSelection", "Normal Succeeded ExternalArtifact",
	})
	if !conditions.IsTrue(c.get("kkp"), meta.ReadyCondition) {
		t.Error("the selection is not Ready")
	}
	before := c.get("kkp").ResourceVersion
	c.states()
	c.look()
	c.equal("the version without a change", c.get("kkp").ResourceVersion, before)

	c.remove(liveRelease(c.namespace, "c", nil))
	c.equal("one is gone", c.states()[0], "False InstanceNotReady: 1 of 3 not ready: b: pulling https://***@registry.example/web: no such host; "+
		"1 of 3 not known: c: HelmRelease "+c.namespace+"/c does not exist")
	c.owned("c")
	c.release("c", "True", "installed")
	c.release("b", "True", "installed")
	c.equal("all are ready", c.states()[0], "True Succeeded: 3 of 3 ready")
	c.equal("a message of a recovery", c.events.message, "ready: b")

	c.edit(func(cs *v1alpha1.CatalogSelection) { cs.Spec.Interval.Duration = time.Hour })
	c.release("b", "False", "broken")
	c.equal("a spec that was not reconciled", c.states()[0], "True Succeeded: 3 of 3 ready")
}

// What has no live object of the Kustomization is unknown, and no failure of the selection.
func TestStatesThatAreNotKnown(t *testing.T) {
	for _, test := range []struct {
		name string
		do   func(*liveCluster)
		want string
	}{
		{"it does not exist", func(c *liveCluster) { c.remove(liveRelease(c.namespace, "a", nil)) }, "HelmRelease NAMESPACE/a does not exist"},
		{"another Kustomization applies it", func(c *liveCluster) {
			patch := []byte(`{"metadata":{"labels":{"kustomize.toolkit.fluxcd.io/name":"other"}}}`)
			if err := apiServer.Patch(c.Context(), liveRelease(c.namespace, "a", nil), client.RawPatch(types.MergePatchType, patch)); err != nil {
				c.Fatal(err)
			}
		}, "HelmRelease NAMESPACE/a is not applied by Kustomization NAMESPACE/kkp"},
		{"it is in another cluster", func(c *liveCluster) {
			ks := c.kustomization("kkp")
			remotely(ks)
			if err := apiServer.Update(c.Context(), ks); err != nil {
				c.Fatal(err)
			}
		}, "it is applied to another cluster, by the kubeConfig of Kustomization NAMESPACE/kkp"},
		{"no Kustomization applies it", func(c *liveCluster) { c.remove(c.kustomization("kkp")) }, "no Kustomization of this cluster applies it"},
		{"its kind may not be read", func(c *liveCluster) {
			c.runAs(read(platformGroup, "applicationdefinitions"), readKustomizations())
		}, "the controller may not read objects of the kind HelmRelease: marks.enabled of the chart, or kubectl apply -k config/marks, grants it"},
		{"Kustomizations may not be read", func(c *liveCluster) {
			c.runAs(read("helm.toolkit.fluxcd.io", "helmreleases"))
		}, "the Kustomizations that apply it cannot be read"},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := withInstances(t, "a")
			c.release("a", "True", "installed")
			c.equal("before", c.states()[1], "a True: installed")
			test.do(c)
			want := "a Unknown: " + strings.ReplaceAll(test.want, "NAMESPACE", c.namespace)
			c.equal("state", c.states()[1], want)
			if cs := c.look(); !conditions.IsTrue(cs, meta.ReadyCondition) {
				t.Errorf("the conditions are %v", conditionsOf(cs))
			}
		})
	}
}

// The CRDs of a backend can be deleted under what it has installed.
func TestTheStateOfAKindThatIsNotServed(t *testing.T) {
	c := newCluster(t)
	c.source(catalogArchive(t, "applications/vm/application.yaml", "apiVersion: cozystack.io/v1alpha1\n"+
		"kind: ApplicationDefinition\nmetadata:\n  name: vm\nspec:\n  application: {kind: VM, plural: vms, singular: vm, openAPISchema: '{}'}\n"+
		"  backend: {type: Terraform, terraform: {prefix: vm-, sourceRef: {kind: GitRepository, name: x}}}\n"))
	c.selection("kkp", guarded, func(cs *v1alpha1.CatalogSelection) {
		cs.Spec.Definitions = v1alpha1.DefinitionsOmit
		cs.Spec.Instances = map[string]v1alpha1.Instance{"vm": {Backend: "Terraform"}}
	})
	c.good()
	c.consumer("apps", "kkp")
	c.look()
	c.equal("state", c.states()[1], "vm Unknown: the cluster does not serve the kind Terraform")
}

// A Kustomization that has not applied the artifact yet leaves what is ready to the version before.
func TestInstancesAreNotReadyBeforeTheArtifactIsApplied(t *testing.T) {
	c := withInstances(t, "a")
	c.release("a", "True", "installed")
	c.reports("kkp", "latest@sha256:other")
	c.look()
	c.equal("states", c.states(), []string{
		"Unknown Progressing: the artifact is not applied: Kustomization " + c.namespace + "/kkp: has not applied the revision yet", "a True: installed",
	})
}

// A selection whose instances are gone has no condition left.
func TestWithoutInstancesThereIsNoCondition(t *testing.T) {
	c := withInstances(t, "a")
	c.states()
	c.edit(func(cs *v1alpha1.CatalogSelection) {
		cs.Spec.Instances = nil
		approving("Instance/a")(cs)
	})
	c.pass(time.Hour)
	c.reconcile("kkp")
	c.equal("states", c.states(), []string(nil))
}

// Changes of states are patched together, and concern neither the sources nor the render.
func TestABurstOfChangesIsReportedOnce(t *testing.T) {
	names := []string{"a", "b", "c", "d", "e"}
	c := withInstances(t, names...)
	c.states()
	const delay = 500 * time.Millisecond
	c.reconciler.instances.delay = delay
	ctx, cancel := context.WithCancel(c.context())
	ended, start := make(chan error), time.Now()
	go func() { ended <- c.reconciler.reportInstances(ctx) }()
	c.takeEnqueued()
	c.traffic.taken()
	for n := range 50 {
		c.release(names[n%len(names)], "False", fmt.Sprintf("change %d", n))
	}
	c.await("the last change", func() bool { return c.get("kkp").Status.Instances[4].Message == "change 49" })
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	patches := slices.DeleteFunc(c.traffic.taken(), func(write string) bool { return !strings.Contains(write, "CatalogSelection") })
	if most := int(time.Since(start)/delay) + 2; len(patches) > most { // a change and one for each delay
		t.Errorf("50 changes led to %v, want at most %d", patches, most)
	}
	c.equal("reconciled", c.takeEnqueued(), []string(nil))
}

// A worker that renders would find a conflict.
func TestNoStateIsReportedDuringAReconciliation(t *testing.T) {
	c := withInstances(t, "a")
	before := c.states()
	c.release("a", "True", "installed")
	resume := c.reconciler.instances.pause(c.key("kkp"))
	c.equal("states", c.states(), before)
	resume()
	c.equal("afterwards", c.states()[1], "a True: installed")
}

// A worker whose cache is behind would render, and then find a conflict.
func TestACacheBehindTheStatesIsNotUsed(t *testing.T) {
	c := withInstances(t, "a")
	behind := c.get("kkp")
	c.release("a", "True", "installed")
	c.states()
	c.traffic.replaceReads(func(key client.ObjectKey, object client.Object) (bool, error) {
		cs, ok := object.(*v1alpha1.CatalogSelection)
		if ok && key == c.key("kkp") {
			behind.DeepCopyInto(cs)
		}
		return ok, nil
	})
	c.source(installable(t, "web:1.0.0@web,1.1.0@web"))
	result, err := c.tryReconcile("kkp")
	if err != nil || result.RequeueAfter == conflictDelay {
		t.Errorf("Reconcile() = %v, %v", result, err)
	}
}

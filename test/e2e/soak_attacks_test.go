// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

// attackEvery is the number of steps between two that no team takes on purpose. They come in turn, so that a short
// run has each of them.
const attackEvery = 7

func (k *soak) attack(n int) string {
	attacks := []func() string{k.restoreStatus, k.oddPath, k.reservedMetadata, k.hangingRegistry}
	return attacks[n/attackEvery%len(attacks)]()
}

// oddPath points a Kustomization to a directory of the artifact, until Flux reports the mistake. Of an archive that is lost, or withheld,
// Flux reports that.
func (k *soak) oddPath() string {
	p, found := k.drawOf(func(p *modelPart) bool {
		return !p.paused && k.model.fetched(p) && len(p.published) > 0 // an empty artifact has no such directory
	})
	if !found {
		return k.release()
	}
	path := pick(k, []string{"./applicationdefinitions", "applicationdefinitions/", "x/../applicationdefinitions"})
	ks := k.kustomizationOf(p.applier)
	k.update(ks, func() { ks.Spec.Path = path })
	k.poll("the path "+path, func(ctx context.Context) error {
		if err := system.Client().Get(ctx, keyOf(ks), ks); err != nil {
			return err
		}
		message := conditions.GetMessage(ks, meta.ReadyCondition)
		if conditions.GetObservedGeneration(ks, meta.ReadyCondition) != ks.Generation || !strings.Contains(message, "must be ./") {
			return fmt.Errorf("the Kustomization reports %q", message)
		}
		return nil
	})
	k.update(ks, func() { ks.Spec.Path = "" })
	k.model.apply(p, true)
	return fmt.Sprintf("%s has the path %s for a while", p.applier, path)
}

// reservedMetadata edits a selection so that kustomize would drop, or Flux would leave alone, what it publishes.
func (k *soak) reservedMetadata() string {
	p, found := k.drawOf(func(p *modelPart) bool { return !p.suspended })
	if !found {
		return k.release()
	}
	key := pick(k, []string{
		"config.kubernetes.io/local-config", "Config.Kubernetes.io/local-config", "internal.config.kubernetes.io/needsHashSuffix",
		"kustomize.toolkit.fluxcd.io/prune", "kustomize.toolkit.fluxcd.io/reconcile", v1alpha1.BypassLabel,
	})
	manifest := selectionManifest(p) + fmt.Sprintf("  commonMetadata: {annotations: {%s: \"true\"}}\n", key)
	if err := system.Apply(k.t.Context(), []byte(manifest)); err == nil {
		k.awaitInvalid(p)
	} else if !strings.Contains(err.Error(), "commonMetadata") {
		k.t.Fatalf("seed %d: %v", k.seed, err)
	}
	k.write(p)
	return p.name + " has the annotation " + key + " for a while"
}

func (k *soak) awaitInvalid(p *modelPart) {
	k.t.Helper()
	k.poll("an invalid spec", func(ctx context.Context) error {
		cs := k.selectionOf(p.name)
		if err := system.Client().Get(ctx, keyOf(cs), cs); err != nil {
			return err
		}
		if cs.Status.ObservedGeneration != cs.Generation || conditions.GetReason(cs, meta.ReadyCondition) != v1alpha1.InvalidSpecReason {
			return fmt.Errorf("the conditions are %+v", cs.Status.Conditions)
		}
		return nil
	})
}

// tenantSelections leave a worker of the controller to the others: downloads run in the workers.
const tenantSelections = 12

// hangingRegistry creates the selections of a tenant, whose registry accepts connections and never answers. Then it
// releases a catalog of the others.
func (k *soak) hangingRegistry() string {
	if !k.model.tenants {
		k.admitTenant()
	}
	return "a registry hangs, " + k.release()
}

// admitTenant creates selections without a Kustomization. Nobody knows what they are going to select.
func (k *soak) admitTenant() {
	if k.tenant == nil {
		k.tenant = &estate{&scenario{t: k.t, name: soakName + "-tenant"}}
		k.create(namespace(k.tenant.name))
		k.t.Cleanup(k.tenant.clear)
		for i := range tenantSelections {
			name := fmt.Sprint("hangs-", i)
			k.create(k.tenant.hanging(name, k.silentRegistry()))
			k.setArtifact(k.tenant.metaOf(name))
		}
	}
	for i := range tenantSelections {
		name := fmt.Sprint("hangs-", i)
		k.tenant.awaitGone(k.t.Context(), k.tenant.selectionOf(name)) // it was deleted by an earlier step
		k.tenant.commit([]string{strings.ReplaceAll(k.tenant.selecting(name), "{name: "+k.tenant.name+"}", "{name: "+name+"}")})
	}
	k.model.tenants, k.model.admitted = true, time.Now()
}

// dismissTenant deletes the selections of the tenant.
func (k *soak) dismissTenant() string {
	for i := range tenantSelections {
		if err := system.Client().Delete(k.t.Context(), k.tenant.selectionOf(fmt.Sprint("hangs-", i))); err != nil {
			k.t.Fatal(err)
		}
	}
	k.model.tenants = false
	return "the tenant leaves"
}

// silentRegistry returns the address of a listener that accepts connections and never answers.
func (k *soak) silentRegistry() string {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		k.t.Fatal(err)
	}
	k.t.Cleanup(func() { _ = listener.Close() })
	return listener.Addr().String()
}

// hanging returns an OCIRepository that source-controller does not reconcile.
func (e *estate) hanging(name, host string) *sourcev1.OCIRepository {
	repository := e.repository()
	repository.ObjectMeta = e.metaOf(name)
	repository.Spec.URL = fmt.Sprintf("oci://%s/%s", host, name)
	repository.Spec.Suspend = true
	return repository
}

// setArtifact writes an artifact into the status of an OCIRepository, as if it had been pulled before its registry
// stopped to answer.
func (k *soak) setArtifact(key metav1.ObjectMeta) {
	k.t.Helper()
	repository := &sourcev1.OCIRepository{ObjectMeta: key}
	if err := system.Client().Get(k.t.Context(), client.ObjectKeyFromObject(repository), repository); err != nil {
		k.t.Fatal(err)
	}
	digest := "sha256:" + strings.Repeat("0", 64)
	before := repository.DeepCopy()
	repository.Status.ObservedGeneration = repository.Generation
	repository.Status.Artifact = &meta.Artifact{
		Path: "none", URL: "http://127.0.0.1:1/none.tar.gz", Revision: "v1@" + digest, Digest: digest, LastUpdateTime: metav1.Now(),
	}
	conditions.MarkTrue(repository, meta.ReadyCondition, meta.SucceededReason, "stored")
	if err := system.Client().Status().Patch(k.t.Context(), repository, client.MergeFrom(before)); err != nil {
		k.t.Fatal(err)
	}
}

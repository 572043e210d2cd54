// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/fluxcd/pkg/runtime/conditions"
	v1 "github.com/opencontainers/image-spec/specs-go/v1"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/registry"
)

// pushing is an environment whose selection "kkp" is pushed to a registry behind a front.
type pushing struct {
	*environment
	front *front
}

func newPushing(t *testing.T, edit ...func(*v1alpha1.CatalogSelection)) *pushing {
	t.Helper()
	p := &pushing{newEnvironment(t), newFront(t)}
	p.source(applications(t, "argocd nginx"))
	pushed := func(cs *v1alpha1.CatalogSelection) {
		cs.Spec.Push = &v1alpha1.Push{URL: p.url(), Tags: []string{"stable", "latest"}, Insecure: true}
	}
	p.selection("kkp", append([]func(*v1alpha1.CatalogSelection){pushed}, edit...)...)
	return p
}

func (p *pushing) url() string {
	return fmt.Sprintf("oci://%s/%s/catalog", p.front.host(), p.namespace)
}

// settle publishes, pushes and reports.
func (p *pushing) settle() *v1alpha1.CatalogSelection {
	p.Helper()
	p.reconcile("kkp")
	p.push()
	return p.reconcile("kkp")
}

// condition returns the condition Pushed as text.
func (p *pushing) condition() string {
	p.Helper()
	c := conditions.Get(p.get("kkp"), v1alpha1.PushedCondition)
	if c == nil {
		return "none"
	}
	return fmt.Sprintf("%s %s: %s", c.Status, c.Reason, c.Message)
}

// again runs the push again.
func (p *pushing) again() {
	p.pushQueue.Add(ctrl.Request{NamespacedName: p.key("kkp")})
	p.push()
	p.reconcile("kkp")
}

// tagged returns the digest and the manifest that a tag refers to, without the front.
func (p *pushing) tagged(tag string) (string, v1.Manifest) {
	p.Helper()
	descriptor, raw, err := registry.FetchManifest(p.Context(), p.repositoryAt(registryHost), tag)
	if err != nil {
		p.Fatal(err)
	}
	var m v1.Manifest
	if err := json.Unmarshal(raw, &m); err != nil {
		p.Fatal(err)
	}
	return descriptor.Digest.String(), m
}

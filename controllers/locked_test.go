// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"encoding/json"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

// lockingCatalog has the application web with a default value, whose metadata locks it.
func lockingCatalog(t *testing.T, cidr string) []byte {
	t.Helper()
	return catalogArchive(t,
		"applications/web/application.yaml", "apiVersion: apps.kubermatic.k8c.io/v1\nkind: ApplicationDefinition\nmetadata: {name: web}\nspec:\n  method: helm\n"+
			"  defaultVersion: 1.0.0\n  defaultValuesBlock: 'pod: {cidr: "+cidr+"}'\n  versions:\n"+
			"  - {version: 1.0.0, template: {source: {helm: {url: 'https://charts.example', chartName: web, chartVersion: 1.0.0}}}}\n",
		"applications/web/metadata.yaml", "tier: gold\nlockedValues: [pod.cidr]\n")
}

// A value that the catalog locks is held for the spec and for the catalog, also after a restart, and a line releases one change
// of it.
func TestALockedValueIsHeld(t *testing.T) {
	const changes = `LockedValue web cni: instance cni: the locked value "pod.cidr" would change, which its application does not allow once it is installed: keep the value`
	e := newEnvironment(t)
	e.source(lockingCatalog(t, "10.0.0.0/16"))
	e.selection("kkp", guarded, installing("cni="))
	good := e.good()
	setting := func(cidr string) {
		e.edit(func(cs *v1alpha1.CatalogSelection) {
			in := cs.Spec.Instances["cni"]
			raw, err := json.Marshal(map[string]any{"pod": map[string]any{"cidr": cidr}})
			if err != nil {
				t.Fatal(err)
			}
			in.Values = &apiextensionsv1.JSON{Raw: raw}
			cs.Spec.Instances["cni"] = in
		})
		e.pass(1 << 40)
	}
	held := func() *v1alpha1.CatalogSelection {
		t.Helper()
		cs := e.hold(good, "LockedValue")
		e.equal("held", reasonsOf(cs), []string{changes})
		return cs
	}
	setting("10.1.0.0/16")
	held()
	e.restart()
	e.equal("approve", held().Status.Held.Approve, []string{"Instance/cni:locked/pod.cidr"})
	e.approveHeld()
	good = e.good()
	setting("10.2.0.0/16")
	e.equal("approve of another value", held().Status.Held.Approve, []string{"Instance/cni:locked/pod.cidr#2"})
	e.approveHeld()
	good = e.good()

	// The instance has the value of its own, so that the default value changes nothing.
	e.source(lockingCatalog(t, "10.9.0.0/16"))
	good = e.good()
	e.edit(func(cs *v1alpha1.CatalogSelection) {
		in := cs.Spec.Instances["cni"]
		in.Values = nil
		cs.Spec.Instances["cni"] = in
	})
	e.pass(1 << 40)
	held()
}

// Without a record, the artifact tells whether any value changes, and not which paths were locked.
func TestALockedValueWithoutARecord(t *testing.T) {
	e := newEnvironment(t)
	e.source(lockingCatalog(t, "10.0.0.0/16"))
	e.selection("kkp", guarded, installing("cni="))
	good := e.good()
	e.forge(nil)
	good.cs.Status.WrittenRecord = nil
	e.source(lockingCatalog(t, "10.9.0.0/16"))
	cs := e.hold(good, "LockedValue")
	if got := reasonsOf(cs); len(got) != 1 || !strings.Contains(got[0], `the value "pod.cidr" is locked from now on`) {
		t.Errorf("held is %q", got)
	}
}

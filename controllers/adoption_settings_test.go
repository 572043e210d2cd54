// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

// managed packs a catalog with one definition that has settings which admins may have changed.
func managed(t *testing.T, name string) []byte {
	t.Helper()
	return catalogArchive(t, "applications/a/application.yaml", definition(name, "2.0.0,3.0.0")+
		"  defaultVersion: 3.0.0\n  defaultValuesBlock: |\n    replicas: 2\n    auth:\n      password: theirs\n")
}

func TestAnAdoptionListsReplacedSettings(t *testing.T) {
	const lives = "lives in the cluster with versions that would be removed: 1.0.0"
	set := func(values string) func(*unstructured.Unstructured) {
		return func(u *unstructured.Unstructured) {
			_ = unstructured.SetNestedField(u.Object, "2.0.0", "spec", "defaultVersion")
			_ = unstructured.SetNestedField(u.Object, values, "spec", "defaultValuesBlock")
		}
	}
	for _, test := range []struct {
		name, values string
		edit         specEdit
		want         string
	}{
		{"default version and values", "replicas: 2\nauth: {password: hunter2}\n", guarded,
			"; its defaultVersion 2.0.0 would become 3.0.0; its default values differ in auth.password"},
		{"values that cannot be read", "{{ if .Cluster }}", guarded,
			"; its defaultVersion 2.0.0 would become 3.0.0; its default values differ, and cannot be compared by field"},
		{"the same values", "auth: {password: theirs}\nreplicas: 2\n", guarded, "; its defaultVersion 2.0.0 would become 3.0.0"},
		{"omitted fields", "replicas: 3\n", func(cs *v1alpha1.CatalogSelection) {
			guarded(cs)
			cs.Spec.OmitFields = []string{"defaultVersion", "defaultValuesBlock"}
		}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			e := newEnvironment(t)
			e.live("argocd:1.0.0,2.0.0", set(test.values))
			e.source(managed(t, e.own("argocd")))
			e.selection("kkp", test.edit)
			cs := e.heldAtFirst("Adoption")
			e.equal("reasons", cs.Status.Held.Reasons, []v1alpha1.HeldReason{{
				Reason: "Adoption", Application: e.own("argocd"), Versions: []string{"1.0.0"}, Message: lives + test.want,
				Approve: []string{e.own("argocd") + "/1.0.0:live"},
			}})
			// The log is left out: at a high verbosity, client-go logs responses.
			output := strings.Join(slices.Concat(e.events.full, e.traffic.bodies), "\n") + toYAML(t, cs)
			if strings.Contains(output, "hunter2") {
				t.Error("a live value is in the output")
			}
			e.editLive("argocd", func(u *unstructured.Unstructured) { setVersions(u, "2.0.0") })
			e.good() // other settings are no reason to hold
		})
	}
}

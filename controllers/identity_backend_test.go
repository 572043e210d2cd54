// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

// What installs the applications of a definition, in the forms of Cozystack's proposal and in the older one.
const (
	releaseOfVM   = "release: {prefix: vm-, chartRef: {kind: ExternalArtifact, name: vm, namespace: cozy-system}}"
	helmOfVM      = "backend: {type: Helm, helm: {prefix: vm-, chartRef: {kind: ExternalArtifact, name: vm, namespace: cozy-system}}}"
	terraformOfVM = "backend: {type: Terraform, terraform: {prefix: vm-, path: ./, sourceRef: {kind: OCIRepository, name: vm, namespace: cozy-system}}}"
)

// proposed packs a catalog with the definition vm of the group that the proposal has. The API server must accept it.
func (e *environment) proposed(backend string) []byte {
	e.Helper()
	document := "apiVersion: apps.cozystack.io/v1alpha1\nkind: ApplicationDefinition\nmetadata:\n  name: vm\nspec:\n" +
		"  application: {kind: VM, plural: vms, singular: vm, openAPISchema: \"{}\"}\n  " + backend + "\n"
	object := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(document), &object.Object); err != nil {
		e.Fatal(err)
	}
	if err := apiServer.Create(e.Context(), object, client.DryRunAll, client.FieldValidation("Strict")); err != nil {
		e.Fatal(err)
	}
	return catalogArchive(e.T, "applications/vm/application.yaml", document)
}

func replace(text, old, by string) string { return strings.Replace(text, old, by, 1) }

// Which edits of a backend are held is tested in render/guard.
func TestAnotherBackendOfCozystackIsHeld(t *testing.T) {
	if err := system.ApplyPath(t.Context(), "test/stack/proposed"); err != nil {
		t.Fatal(err)
	}
	e := newEnvironment(t)
	e.source(e.proposed(helmOfVM + "\n  " + releaseOfVM))
	e.selection("kkp", guarded)
	e.good()
	e.source(e.proposed(replace(helmOfVM, "prefix", "labels: {a: b}, valuesFrom: [{kind: Secret, name: a}], prefix")))
	good := e.good()
	e.source(e.proposed(terraformOfVM))
	e.equal("held", e.hold(good, "IdentityChange").Status.Held.Reasons, []v1alpha1.HeldReason{{
		Reason: "IdentityChange", Application: "vm",
		Message: `spec.backend.type would change from "Helm" to "Terraform": its releases would be orphaned, and installed anew`,
		Approve: []string{"vm:identity"},
	}})
	e.approveHeld()
	e.good()
}

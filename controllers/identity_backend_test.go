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

// Nothing of a definition but its kind and its fields says that it is one of Cozystack: the proposal has another group.
func TestEditsOfABackendOfCozystack(t *testing.T) {
	if err := system.ApplyPath(t.Context(), "test/stack/proposed"); err != nil {
		t.Fatal(err)
	}
	const orphaned = ": its releases would be orphaned, and installed anew"
	identity := func(message string) v1alpha1.HeldReason {
		return v1alpha1.HeldReason{Reason: "IdentityChange", Application: "vm", Message: message + orphaned}
	}
	elsewhere := v1alpha1.HeldReason{Reason: "SourceChange", Application: "vm", Message: "would come from another chart or module"}
	const prefix = `.prefix would change from "vm-" to "machine-"`
	const toTerraform = `spec.backend.type would change from "Helm" to "Terraform"`
	for _, test := range []struct {
		name, before, after string
		held                []v1alpha1.HeldReason
	}{
		{"release becomes the backend Helm", releaseOfVM, helmOfVM, nil},
		{"release becomes the backend Helm with another prefix", releaseOfVM, replace(helmOfVM, "vm-", "machine-"),
			[]v1alpha1.HeldReason{identity("spec.backend.helm" + prefix)}},
		{"release becomes the backend Helm with another chart", releaseOfVM, replace(helmOfVM, "name: vm", "name: other"),
			[]v1alpha1.HeldReason{elsewhere}},
		{"another prefix of the backend Helm", helmOfVM, replace(helmOfVM, "vm-", "machine-"),
			[]v1alpha1.HeldReason{identity("spec.backend.helm" + prefix)}},
		{"Helm becomes Terraform", helmOfVM, terraformOfVM, []v1alpha1.HeldReason{identity(toTerraform), elsewhere}},
		{"release becomes Terraform with another prefix", releaseOfVM, replace(terraformOfVM, "vm-", "machine-"),
			[]v1alpha1.HeldReason{identity("spec.backend.terraform" + prefix), identity(toTerraform), elsewhere}},
		{"another module of Terraform", terraformOfVM, replace(terraformOfVM, "name: vm", "name: other"), []v1alpha1.HeldReason{elsewhere}},
		{"another directory of the module", terraformOfVM, replace(terraformOfVM, "./", "./other"), []v1alpha1.HeldReason{elsewhere}},
		{"the same directory, written another way", terraformOfVM, replace(terraformOfVM, " path: ./,", ""), nil},
		{"a release beside the backend, and the same", helmOfVM, helmOfVM + "\n  " + releaseOfVM, nil},
		{"a release beside the backend, which older servers read", helmOfVM, helmOfVM + "\n  " + replace(releaseOfVM, "vm-", "machine-"),
			[]v1alpha1.HeldReason{identity("spec.release" + prefix)}},
		{"a release is gone that was beside the backend", helmOfVM + "\n  " + releaseOfVM, helmOfVM, nil},
		{"a backend beside the release, over which it wins", releaseOfVM, releaseOfVM + "\n  " + replace(helmOfVM, "vm-", "machine-"),
			[]v1alpha1.HeldReason{identity("spec.backend.helm" + prefix)}},
		{"labels and values", helmOfVM, replace(helmOfVM, "prefix", "labels: {a: b}, valuesFrom: [{kind: Secret, name: a}], prefix"), nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			e := newEnvironment(t)
			e.source(e.proposed(test.before))
			e.selection("kkp", guarded, func(cs *v1alpha1.CatalogSelection) {
				cs.Spec.Safeguards.OnSourceChange = v1alpha1.SafeguardHold
			})
			good := e.good()
			source := e.source(e.proposed(test.after))
			if test.held == nil {
				e.equal("source changes", e.good().cs.Status.Summary.SourceChanges, int32(0))
				return
			}
			e.equal("held", e.hold(good, test.held[0].Reason).Status.Held.Reasons, test.held)
			e.approve(source.Digest)
			e.good()
		})
	}
}

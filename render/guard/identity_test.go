// SPDX-License-Identifier: Apache-2.0

package guard_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

// cozystack returns the files of a catalog of Cozystack with the definition vm: "prefix,kind,plural".
func cozystack(word string) map[string]fstest.MapFS {
	part := strings.Split(word, ",")
	part[2] = strings.Replace(part[2], ";", ",", 1)
	return map[string]fstest.MapFS{"catalog": {"applications/vm/application.yaml": {Data: fmt.Appendf(nil, "apiVersion: cozystack.io/v1alpha1\n"+
		"kind: ApplicationDefinition\nmetadata:\n  name: vm\nspec:\n  application: {kind: %s, plural: %s, singular: vm}\n"+
		"  release:\n    prefix: %s\n    chartRef: {kind: ExternalArtifact, name: vm, namespace: cozy-system}\n", part[1], part[2], part[0])}}}
}

func TestAnIdentityThatTheCatalogChangesIsHeld(t *testing.T) {
	const orphaned = ": its releases would be orphaned, and installed anew"
	for _, test := range []struct {
		name, after string
		want        []string
	}{
		{"the prefix", "machine-,VM,vms", []string{`spec.release.prefix would change from "vm-" to "machine-"` + orphaned}},
		{"the kind", "vm-,Machine,vms", []string{`spec.application.kind would change from "VM" to "Machine"` + orphaned}},
		{"the plural", "vm-,VM,machines", []string{`spec.application.plural would change from "vms" to "machines"` + orphaned}},
		{"a group, which none had", "vm-,VM,vms; group: apps.example.com", []string{`spec.application.group would change from "apps.cozystack.io" to "apps.example.com"` + orphaned}},
		{"two at once", "'',VM,machines", []string{
			`spec.application.plural would change from "vms" to "machines"` + orphaned, `spec.release.prefix would change from "vm-" to ""` + orphaned,
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			verdict, reasons := decide(t, change{noEdit, noEdit, cozystack("vm-,VM,vms"), cozystack(test.after)})
			if got := messages(reasons); !slices.Equal(got, test.want) {
				t.Errorf("held:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(test.want, "\n"))
			}
			holds(t, verdict, "vm:identity")
		})
	}
}

func TestAnIdentityThatTheSpecChangesIsHeld(t *testing.T) {
	omit := func(fields ...string) specEdit {
		return func(s *v1alpha1.CatalogSelectionSpec) { s.OmitFields = fields }
	}
	for _, test := range []struct {
		name, after string // the catalog does not change without after
		edit        specEdit
		want        []string
	}{
		{name: "by a patch", edit: patchOf("vm", "- {op: replace, path: /spec/release/prefix, value: machine-}\n"), want: []string{"vm:identity"}},
		{name: "by a patch that keeps what the catalog changes", after: "machine-,VM,vms", edit: patchOf("vm", "- {op: replace, path: /spec/release/prefix, value: vm-}\n")},
		{name: "by a patch that removes the prefix", edit: patchOf("vm", "- {op: remove, path: /spec/release/prefix}\n"), want: []string{"vm:identity"}},
		{name: "by a patch that removes all that it is made of", edit: patchOf("vm", "- {op: replace, path: /spec, value: {}}\n"), want: []string{"vm:identity"}},
		{name: "by fields that are omitted", edit: omit("application", "release"), want: []string{"vm:identity"}},
		{name: "by a safeguard", after: "machine-,Machine,vms", edit: func(s *v1alpha1.CatalogSelectionSpec) { s.Safeguards.OnIdentityChange = v1alpha1.SafeguardPublish }},
		{name: "by a line", after: "machine-,Machine,vms", edit: approving("vm:identity")},
	} {
		t.Run(test.name, func(t *testing.T) {
			then := cozystack("vm-,VM,vms")
			now := then
			if test.after != "" {
				now = cozystack(test.after)
			}
			verdict, _ := decide(t, change{noEdit, test.edit, then, now})
			holds(t, verdict, test.want...)
		})
	}
}

// What installs the applications of a definition, in the forms of Cozystack's proposal and in the older one.
const (
	releaseOfVM   = "release: {prefix: vm-, chartRef: {kind: ExternalArtifact, name: vm, namespace: cozy-system}}"
	helmOfVM      = "backend: {type: Helm, helm: {prefix: vm-, chartRef: {kind: ExternalArtifact, name: vm, namespace: cozy-system}}}"
	terraformOfVM = "backend: {type: Terraform, terraform: {prefix: vm-, path: ./, sourceRef: {kind: OCIRepository, name: vm, namespace: cozy-system}}}"
)

func vm(backend string) map[string]fstest.MapFS {
	return map[string]fstest.MapFS{"catalog": {"applications/vm/application.yaml": {Data: []byte("apiVersion: apps.cozystack.io/v1alpha1\n" +
		"kind: ApplicationDefinition\nmetadata:\n  name: vm\nspec:\n  application: {kind: VM, plural: vms, singular: vm, openAPISchema: \"{}\"}\n  " + backend + "\n")}}}
}

func replace(text, old, by string) string { return strings.Replace(text, old, by, 1) }

// Nothing of a definition but its kind and its fields says that it is one of Cozystack: the proposal has another group.
func TestEditsOfABackendOfCozystack(t *testing.T) {
	const orphaned = ": its releases would be orphaned, and installed anew"
	identity := func(message string) v1alpha1.HeldReason {
		return v1alpha1.HeldReason{Reason: "IdentityChange", Application: "vm", Message: message + orphaned, Approve: []string{"vm:identity"}}
	}
	elsewhere := v1alpha1.HeldReason{Reason: "SourceChange", Application: "vm", Message: "would come from another chart or module", Approve: []string{"vm:source"}}
	const prefix = `.prefix would change from "vm-" to "machine-"`
	const toTerraform = `spec.backend.type would change from "Helm" to "Terraform"`
	strict := func(s *v1alpha1.CatalogSelectionSpec) { s.Safeguards.OnSourceChange = v1alpha1.SafeguardHold }
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
			_, got := decide(t, change{strict, noEdit, vm(test.before), vm(test.after)})
			same := func(a, b v1alpha1.HeldReason) bool { return reflect.DeepEqual(a, b) }
			if !slices.EqualFunc(got, test.held, same) {
				t.Errorf("held:\n%v\nwant:\n%v", got, test.held)
			}
		})
	}
}

package guard_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

// cozystack returns the files of a catalog of Cozystack with the definition vm: "prefix,kind,plural".
func cozystack(word string) map[string]fstest.MapFS {
	part := strings.Split(word, ",")
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
		{"two at once", "'',VM,machines", []string{
			`spec.application.plural would change from "vms" to "machines"` + orphaned, `spec.release.prefix would change from "vm-" to ""` + orphaned,
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := decide(t, change{noEdit, noEdit, cozystack("vm-,VM,vms"), cozystack(test.after)})
			var messages []string
			for _, reason := range got.reasons {
				messages = append(messages, reason.Message)
			}
			if !slices.Equal(messages, test.want) {
				t.Errorf("held:\n%s\nwant:\n%s", strings.Join(messages, "\n"), strings.Join(test.want, "\n"))
			}
			holds(t, got, slices.Repeat([]string{"IdentityChange vm"}, len(test.want)))
		})
	}
}

func TestAnIdentityThatTheSpecChangesIsPublished(t *testing.T) {
	patch := patchOf("vm", "- {op: replace, path: /spec/release/prefix, value: machine-}\n")
	allow := func(s *v1alpha1.CatalogSelectionSpec) { s.Safeguards.OnIdentityChange = v1alpha1.SafeguardPublish }
	for _, test := range []struct {
		name, after string
		edit        specEdit
		held        int
	}{
		{"by a patch", "vm-,VM,vms", patch, 0},
		// The effect of the patch on the last catalog is not known without that catalog.
		{"by a patch, while the catalog changes the kind", "vm-,Machine,vms", patch, 2},
		{"by a safeguard", "machine-,Machine,vms", allow, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			holds(t, decide(t, change{noEdit, test.edit, cozystack("vm-,VM,vms"), cozystack(test.after)}), slices.Repeat([]string{"IdentityChange vm"}, test.held))
		})
	}
}

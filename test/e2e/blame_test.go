// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// breaking pushes a catalog in which it replaces text in the application.yaml of the broken applications.
// Their directories have other names.
func (s *scenario) breaking(tag string, apps []app, old, new string, broken ...string) {
	s.t.Helper()
	dir := s.t.TempDir()
	for _, a := range apps {
		writeApp(s.t, filepath.Join(dir, "applications", "of-"+a.name), a)
	}
	for _, name := range broken {
		file := filepath.Join(dir, "applications", "of-"+name, "application.yaml")
		content, err := os.ReadFile(file)
		if err != nil {
			s.t.Fatal(err)
		}
		if !strings.Contains(string(content), old) {
			s.t.Fatalf("%q is not in\n%s", old, content)
		}
		write(s.t, file, strings.Replace(string(content), old, new, 1))
	}
	s.pushDir(tag, dir)
	s.point(tag)
	s.awaitNoted(tag)
}

// kustomize-controller dry-runs all objects before it applies one, and names the one that the API server
// refused. Applied names its application and file.
func TestAppliedSaysWhichApplicationIsToBlame(t *testing.T) {
	s := newScenario(t, "blame", catalogOf("blame"), nil)
	s.awaitApplied("blame-a", "blame-b", "blame-c")
	for i, c := range []struct {
		name, old, new, broken string
		want                   []string
	}{
		{"a field that is misspelt", "  method: helm\n", "  method: helm\n  displayNaem: x\n", "blame-b",
			[]string{"failed to create typed patch object", ".spec.displayNaem: field not declared in schema"}},
		{"a block that is a mapping", "  defaultValuesBlock: |\n", "  defaultValuesBlock:\n", "blame-c",
			[]string{"failed to create typed patch object", ".spec.defaultValuesBlock: expected string"}},
		{"a value that the enum lacks", "method: helm", "method: hlem", "blame-b",
			[]string{"dry-run failed (Invalid): ", `spec.method: Unsupported value: "hlem"`}},
	} {
		t.Run(c.name, func(*testing.T) {
			s.breaking(fmt.Sprintf("broken-%d", i), valued(catalogOf("blame"), c.name), c.old, c.new, c.broken)
			s.awaitAppliedCondition("False ApplyFailed", append(c.want, fmt.Sprintf("Kustomization blame/blame: no application is applied, "+
				"because the API server refuses %[1]s (applications/of-%[1]s/application.yaml of source blame): ApplicationDefinition/%[1]s dry-run failed", c.broken))...)
		})
	}
	t.Run("once it is corrected, all are applied", func(*testing.T) {
		s.breaking("good", valued(catalogOf("blame"), "good"), "", "")
		s.awaitAppliedCondition("True Succeeded")
		s.awaitApplied("blame-a", "blame-b", "blame-c")
	})
}

// A definition that names a namespace is applied as one without, which is why lint only warns.
func TestANamespaceOfADefinitionIsIgnored(t *testing.T) {
	s := newScenario(t, "space", catalogOf("space"), nil)
	before := s.awaitApplied("space-a", "space-b", "space-c")
	apps := append(valued(catalogOf("space"), "more"), app{name: "space-d", tier: "gold", versions: []string{"1.0.0"}})
	s.breaking("v2", apps, "metadata:\n", "metadata:\n  namespace: missing\n", "space-b", "space-d")
	after := s.awaitApplied("space-a", "space-b", "space-c", "space-d")
	was, is := before["space-b"], after["space-b"]
	if is.GetUID() != was.GetUID() || is.GetNamespace() != "" {
		t.Errorf("the definition %s became %s in the namespace %q", was.GetUID(), is.GetUID(), is.GetNamespace())
	}
	_, _, ks, err := s.live(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range ks.Status.Inventory.Entries {
		if !strings.HasPrefix(entry.ID, "_space-") {
			t.Errorf("the inventory has %s", entry.ID)
		}
	}
}

// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"path/filepath"
	"strings"
	"testing"
)

// What the product and the servers have in common is compiled once only if both have the same versions of all of it:
// another version of one module makes others of whatever imports it.
func TestServersAreBuiltWithTheVersionsOfTheProduct(t *testing.T) {
	root, err := Root(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	const moduleOf = "{{with .Module}}{{.Path}} {{with .Replace}}{{.Version}}{{else}}{{.Version}}{{end}}{{end}}"
	versions := func(dir string, packages ...string) map[string]string {
		t.Helper()
		listed, err := goOutput(t.Context(), dir, append([]string{"list", "-deps", "-f", moduleOf}, packages...)...)
		if err != nil {
			t.Fatal(err)
		}
		all := map[string]string{}
		for line := range strings.Lines(listed) {
			module, version, _ := strings.Cut(strings.TrimSpace(line), " ")
			all[module] = version
		}
		return all
	}
	product := versions(root, "./cmd/winnow", "./cmd/winnow-controller", "./test/demo")
	servers := versions(filepath.Join(root, "test", "tools", serversModule), "tool")
	common := 0
	for module, version := range servers {
		if product[module] == "" {
			continue
		}
		common++
		if product[module] != version {
			t.Errorf("%s is %s for the product and %s in test/tools/%s: raise the lower one", module, product[module], version, serversModule)
		}
	}
	if common < 100 {
		t.Errorf("they have only %d modules in common", common)
	}
}

// SPDX-License-Identifier: Apache-2.0

package farm

import (
	"fmt"
	"strings"
)

// Tags of the catalogs: the second one adds versions to the first, and the third takes an application and a version away.
const (
	First  = "v1.0.0"
	Second = "v1.1.0"
	Third  = "v2.0.0"
)

// applications is the number of applications in a catalog.
const applications = 40

func nameOf(n int) string { return fmt.Sprintf("app-%02d", n+1) }

// Catalog returns the files of the catalog with a tag, by their paths.
func Catalog(tag string) map[string]string { return CatalogOf(tag, applications) }

// CatalogOf is Catalog with another number of applications.
func CatalogOf(tag string, applications int) map[string]string {
	files := map[string]string{}
	for n := range applications {
		name := nameOf(n)
		versions := []string{"1.0.0", "1.1.0", "2.0.0"}
		switch {
		case tag == Second && n < 3:
			versions = append(versions, "2.1.0")
		case tag == Third && n == 0:
			continue
		case tag == Third && n == 1:
			versions = versions[1:]
		}
		files["applications/"+name+"/application.yaml"] = definition(name, versions)
		files["applications/"+name+"/metadata.yaml"] = "tier: gold\n"
	}
	return files
}

func definition(name string, versions []string) string {
	var text strings.Builder
	fmt.Fprintf(&text, "apiVersion: apps.kubermatic.k8c.io/v1\nkind: ApplicationDefinition\nmetadata:\n  name: %s\nspec:\n  method: helm\n"+
		"  description: An application.\n  defaultValuesBlock: |\n", name)
	for n := range 40 {
		fmt.Fprintf(&text, "    key%d: %d # of %s\n", n, n, name)
	}
	fmt.Fprint(&text, "  versions:\n")
	for _, version := range versions {
		fmt.Fprintf(&text, "  - version: %s\n    template:\n      source:\n        helm:\n          url: https://charts.example.com\n"+
			"          chartName: %s\n          chartVersion: %s\n", version, name, version)
	}
	return text.String()
}

// SPDX-License-Identifier: Apache-2.0

package selections

import (
	"strings"
	"testing"
)

// A tenant whose directory a Kustomization of the cluster applies adds the OCIRepository of the stage once more, with another
// digest, in a way that its file does not have the word OCIRepository. Flux applies both in turn.
func TestASecondOCIRepositoryThatIsComposedIsUnknown(t *testing.T) {
	stage, apps := spoke("v3", ""), consuming("apps", "  prune: true\n")
	base := func(ofTenant string) map[string]string {
		return map[string]string{
			syncOfA:             fluxSystem(ownURL, "branch: main") + ofFlux("sources", "sources", "") + ofFlux("tenant", "tenant", ofTenant) + apps,
			"sources/apps.yaml": spoke("v2", ""), "tenant/one.yaml": emptyMap,
		}
	}
	kind := func(as string) map[string]string {
		return map[string]string{"tenant/two.yaml": strings.Replace(stage, "kind: OCIRepository", "kind: "+as, 1)}
	}
	assertNotGreen(t,
		attack{"as it is", base(""), kind("OCIRepository"), nil},
		attack{"a text in two lines", base(""), kind("\"OCIRepo\\\n  sitory\""), nil},
		attack{"a variable", base("  postBuild: {substitute: {rest: Repository}}\n"), kind("OCI${rest}"), nil},
		attack{"a name in two lines", base(""), map[string]string{"tenant/two.yaml": strings.Replace(stage, "name: applications", "name: \"applica\\\n    tions\"", 1)}, nil},
	)
}

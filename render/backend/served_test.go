// SPDX-License-Identifier: Apache-2.0

package backend_test

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/winnow-dev/winnow/render/backend"
)

// OLM makes labels and Services of the names of catalogs.
func TestTheNamesOfServedCatalogs(t *testing.T) {
	names := map[string]string{}
	for _, selection := range []string{"kkp/operators", "kk/p-operators", "kkp-operators/a", "kkp/a.b", "kkp/a-b", "a/1", "a/" + strings.Repeat("x", 63), "a/" + strings.Repeat("x-", 31) + "x"} {
		namespace, name, _ := strings.Cut(selection, "/")
		served := backend.Serve("CatalogSource", "olm", namespace, name)
		if problems := validation.IsDNS1035Label(served.Name); len(problems) > 0 {
			t.Errorf("%s: %s: %v", selection, served.Name, problems)
		}
		if other, taken := names[served.Name]; taken {
			t.Errorf("%s and %s are both %s", selection, other, served.Name)
		}
		names[served.Name] = selection
	}
}

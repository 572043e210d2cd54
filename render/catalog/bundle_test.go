// SPDX-License-Identifier: Apache-2.0

package catalog_test

import (
	"errors"
	"testing"

	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/catalog/violation"
)

// A bundle of an operator in place of a catalog is answered with the command that imports it, whatever the format.
func TestABundleIsNoCatalog(t *testing.T) {
	bundle := files{
		"manifests/csv.yaml":        "apiVersion: operators.coreos.com/v1alpha1\nkind: ClusterServiceVersion\n",
		"metadata/annotations.yaml": "annotations: {}\n",
	}.fs()
	const want = ".: is a bundle of an operator (manifests and metadata), and no catalog: winnow import BUNDLE... -o CATALOG makes one of bundles"
	_, detected := catalog.Load(t.Context(), bundle)
	errs := map[string]error{"Auto": detected}
	for _, format := range catalog.Formats() {
		_, errs[format.Name()] = catalog.LoadAs(t.Context(), format, bundle, nil)
	}
	for name, err := range errs {
		var invalid *violation.InvalidError
		if !errors.As(err, &invalid) || len(invalid.Violations) != 1 || invalid.Violations[0].String() != want {
			t.Errorf("as %s: %v", name, err)
		}
	}
}

// SPDX-License-Identifier: Apache-2.0

package source_test

import (
	"reflect"
	"testing"

	"github.com/fluxcd/pkg/apis/meta"
	"k8s.io/apimachinery/pkg/types"

	"github.com/winnow-dev/winnow/controllers/source"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/guard"
)

// What the safeguards do not see of a source, such as its directory, they do not tell apart.
func TestWhatTheSafeguardsSeeOfASource(t *testing.T) {
	name, loaded := types.NamespacedName{Namespace: "ns", Name: "catalog"}, &catalog.Catalog{}
	got := source.Guarded([]source.Loaded{{Observed: source.Observed{
		Kind: "Bucket", Name: name, Place: render.CatalogLocation{Path: "dir"}, Filter: "filter",
		Artifact: meta.Artifact{Revision: "latest@sha256:01", Digest: "sha256:02"},
	}, Catalog: loaded}})
	want := []guard.Source{{
		Kind: "Bucket", Name: name, Path: "dir", Checksum: "sha256:01", Digest: "sha256:02", Filter: "filter", Catalog: loaded,
	}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("Guarded() = %v, want %v", got, want)
	}
}

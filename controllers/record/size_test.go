// SPDX-License-Identifier: Apache-2.0

package record

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/source"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/contents"
	"github.com/winnow-dev/winnow/render/safeguard"
	"github.com/winnow-dev/winnow/render/selection"
	"github.com/winnow-dev/winnow/test/bench"
)

// A digest of an image cannot be packed, so that five thousand of them are larger than a record may be.
func TestCostOfARecordOfManyBundles(t *testing.T) {
	const packages, bundles = 50, 100
	fsys := fstest.MapFS{}
	for p := range packages {
		name := fmt.Sprintf("operator-%d", p)
		var text strings.Builder
		fmt.Fprintf(&text, "{schema: olm.package, name: %[1]s, defaultChannel: stable}\n---\nschema: olm.channel\npackage: %[1]s\nname: stable\nentries:\n", name)
		for i := range bundles {
			fmt.Fprintf(&text, "- {name: %[1]s.v1.0.%[2]d, replaces: %[1]s.v1.0.%[3]d}\n", name, i, i-1)
		}
		for i := range bundles {
			fmt.Fprintf(&text, "---\n{schema: olm.bundle, package: %[1]s, name: %[1]s.v1.0.%[2]d, image: 'example.com/%[1]s@sha256:%[3]x', "+
				"properties: [{type: olm.package, value: {packageName: %[1]s, version: 1.0.%[2]d}}]}\n", name, i, sha256.Sum256(fmt.Append(nil, p, i)))
		}
		fsys[name+".yaml"] = &fstest.MapFile{Data: []byte(text.String())}
	}
	loaded, err := render.LoadFS(t.Context(), "operators", fsys, render.CatalogLocation{})
	if err != nil {
		t.Fatal(err)
	}
	var definitions []safeguard.Definition
	for _, a := range loaded.Applications {
		definitions = append(definitions, contents.Definition(selection.Decision{Application: a, Versions: a.Versions, Kept: a.Content}))
	}
	packed, err := Record{Definitions: definitions}.Pack()
	if err != nil || packed == nil {
		t.Fatalf("a record of %d packages with %d bundles each is %v, %v", packages, bundles, packed, err)
	}
	read, err := unpack(packed.Packed)
	if err != nil {
		t.Fatal(err)
	}
	if changes := safeguard.Compare(read.Definitions, definitions); len(changes) > 0 {
		t.Errorf("read back, %d packages are changed", len(changes))
	}
}

// With a copy of what selection reads of the sources, and whole digests of origins, which cannot be packed, it had 61,929 bytes.
func TestTheSizeOfARecordOfAThousandApplications(t *testing.T) {
	var layer bytes.Buffer
	if err := (bench.Applications{Count: 1000}).Write(&layer); err != nil {
		t.Fatal(err)
	}
	loaded, err := render.LoadArchive(t.Context(), "catalog", &layer, render.CatalogLocation{})
	if err != nil {
		t.Fatal(err)
	}
	cs := &v1alpha1.CatalogSelection{ObjectMeta: metav1.ObjectMeta{Namespace: "flux-system", Name: "kkp"}}
	cs.Spec.Sources = []v1alpha1.SourceReference{{Name: "catalog"}}
	opts, err := render.FromSpec(cs)
	if err != nil {
		t.Fatal(err)
	}
	result, err := render.Render(t.Context(), []selection.Source{{Name: "catalog", Catalog: loaded}}, opts)
	if err != nil {
		t.Fatal(err)
	}
	packed, err := New(cs, Publication{Sources: []source.Loaded{{Catalog: loaded}}, Result: result}).Pack()
	if err != nil {
		t.Fatal(err)
	}
	if len(packed.Packed) > 30_000 {
		t.Errorf("the record has %d bytes", len(packed.Packed))
	}
}

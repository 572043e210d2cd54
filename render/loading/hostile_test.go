// SPDX-License-Identifier: Apache-2.0

package loading_test

import (
	"bytes"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/archive"
	"github.com/winnow-dev/winnow/render/catalog/violation"
	"github.com/winnow-dev/winnow/render/loading"
)

// carriers are documents of the formats, to which members can be appended, and the paths of their files.
func carriers() map[string]struct{ path, document string } {
	const definition = "apiVersion: a.b/v1\nkind: ApplicationDefinition\nmetadata: {name: x}\nspec: {}\n"
	return map[string]struct{ path, document string }{
		v1alpha1.FormatApplications: {"applications/x/application.yaml", definition},
		v1alpha1.FormatDefinitions:  {"x.yaml", definition},
		v1alpha1.FormatAuto:         {"x.yaml", definition},
		v1alpha1.FormatFileBased:    {"x.yaml", "schema: x\n"},
		v1alpha1.FormatKRMFunctions: {"x.yaml", "apiVersion: config.kubernetes.io/v1alpha1\nkind: KRMFunctionDefinition\nspec: {}\n"},
	}
}

// levels returns members, of which each has the one before several times.
func levels(n int, format string) string {
	text := "a0: &a0 {x: x}\n"
	for i := range n {
		text += fmt.Sprintf("a%d: &a%d ", i+1, i+1) + strings.ReplaceAll(format, "*", fmt.Sprintf("*a%d", i)) + "\n"
	}
	return text
}

// What is hostile in a document is refused in each format, with the file and the limit, before it takes much memory.
func TestCostOfHostileCatalogs(t *testing.T) {
	const million = 1_000_000
	const tooLarge = "bytes of the file over the limit of"
	for _, test := range []struct {
		name, members string
		// want is in the error, or else the text for the format.
		want string
		of   map[string]string
	}{
		{
			"aliases of aliases", levels(9, "[*, *, *, *, *, *, *, *, *, *]"), "has aliases that expand to more than 100000 nodes",
			map[string]string{v1alpha1.FormatFileBased: "document contains excessive aliasing"},
		},
		{
			"merge keys", levels(20, "{<<: [*, *]}"), "has aliases that expand to more than 100000 nodes",
			map[string]string{v1alpha1.FormatFileBased: "document contains excessive aliasing"},
		},
		{
			"an anchor within itself", "a: &a [*a]\n", `has an alias that refers to itself: "*a"`,
			map[string]string{v1alpha1.FormatFileBased: "anchor 'a' value contains itself"},
		},
		{"9,000 levels", "a: " + strings.Repeat("[", 9000) + strings.Repeat("]", 9000) + "\n", "is nested deeper than 100 levels", nil},
		{
			"a million levels", "a: " + strings.Repeat("[", million), "exceeded max depth of 10000",
			map[string]string{v1alpha1.FormatFileBased: "has more than 500000 values"},
		},
		{
			"a text of 9 MB", "a: " + strings.Repeat("x", 9*million) + "\n", tooLarge,
			map[string]string{v1alpha1.FormatFileBased: "is larger than 8388608 bytes"},
		},
		{
			"10 million elements", "a: [" + strings.Repeat("1,", 10*million) + "]\n", tooLarge,
			map[string]string{v1alpha1.FormatFileBased: "is larger than 8388608 bytes"},
		},
		{
			"3 million documents", strings.Repeat("---\n", 3*million), tooLarge,
			map[string]string{v1alpha1.FormatFileBased: "the catalog has more than 100000 documents"},
		},
		{
			"100,001 documents", strings.Repeat("---\na: 1\n", 100_001), "has more documents than the 20000 that a catalog may have",
			map[string]string{
				v1alpha1.FormatApplications: "must hold exactly one YAML document, but a second one starts here",
				v1alpha1.FormatFileBased:    "the catalog has more than 100000 documents", v1alpha1.FormatKRMFunctions: "100004 violations",
			},
		},
		{"NUL", "a: \x00\n", "control characters are not allowed", nil},
		{
			"bytes that are no UTF-8", "a: \xff\n", "must be UTF-8",
			map[string]string{v1alpha1.FormatFileBased: "invalid leading UTF-8 octet"},
		},
	} {
		for format, carrier := range carriers() {
			t.Run(test.name+", format "+format, func(t *testing.T) {
				packed := pack(t, map[string]string{carrier.path: carrier.document + test.members})
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				_, err := loading.Archive(t.Context(), "catalog", bytes.NewReader(packed), loading.CatalogLocation{Format: format})
				runtime.ReadMemStats(&after)
				want := test.want
				if other := test.of[format]; other != "" {
					want = other
				}
				checkRefused(t, err, carrier.path, want)
				const most = 384 << 20 // of which the most is garbage soon
				if allocated := after.TotalAlloc - before.TotalAlloc; allocated > most {
					t.Errorf("%d KB allocate %d MB", len(packed)>>10, allocated>>20)
				}
			})
		}
	}
}

// Files beside the documents have limits of their own.
func TestCostOfLargeFilesBesideDefinitions(t *testing.T) {
	carrier := carriers()[v1alpha1.FormatApplications]
	for _, test := range []struct{ name, path, text, want string }{
		{"10 million names in a list", "catalogs/all/metadata.yaml", "applications:\n" + strings.Repeat("- x\n", 10_000_000), "bytes of the file over the limit of 8388608"},
		{"300,000 names in a list", "catalogs/all/metadata.yaml", "applications:\n" + strings.Repeat("- x\n", 300_000), "is larger than 1048576 bytes"},
		{"a large metadata.yaml", "applications/x/metadata.yaml", "tier: gold # " + strings.Repeat("x", 64<<10), "is larger than 65536 bytes"},
	} {
		t.Run(test.name, func(t *testing.T) {
			packed := pack(t, map[string]string{carrier.path: carrier.document, test.path: test.text})
			_, err := loading.Archive(t.Context(), "catalog", bytes.NewReader(packed), loading.CatalogLocation{})
			checkRefused(t, err, test.path, test.want)
		})
	}
}

// checkRefused checks that a catalog is refused for good, with the file and what is wrong with it.
func checkRefused(t *testing.T, err error, path, want string) {
	t.Helper()
	var invalid *violation.InvalidError
	var hostile *archive.Error
	reason := v1alpha1.InvalidCatalogReason
	if errors.As(err, &hostile) {
		reason = v1alpha1.InvalidArchiveReason
	}
	if reasonOf(err) != reason || hostile == nil && !errors.As(err, &invalid) {
		t.Fatalf("error is %.300v", err)
	}
	if text := err.Error(); !strings.Contains(text, path) || !strings.Contains(text, want) || len(text) > 8<<10 {
		t.Errorf("error is %.300s\nwant %s: %s", text, path, want)
	}
}

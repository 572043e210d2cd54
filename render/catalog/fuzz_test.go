// SPDX-License-Identifier: Apache-2.0

package catalog_test

import (
	"bytes"
	"context"
	"errors"
	"reflect"
	"testing"
	"testing/fstest"

	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/catalog/violation"
)

func FuzzLoad(f *testing.F) {
	for _, document := range []string{
		"", "---\n", "\ufeff" + definition("x", "1.0.0", "2.0.0"), definition("x") + "---\n" + definition("y"),
		definition("x") + laughs(9), definition("x") + chain(101), definition("x") + merges(20),
		definition("x") + "a: &a {<<: *a}\n", "a: &a [*a]", "{a: 1, a: 2}", "? [a]\n: b\n", "a: [", "- - -", "kind: List",
		"%YAML 1.2\n---\na: !!int x\n", "a: |\n  b\n...\n# c\n", "\xff\xfea\x00",
	} {
		f.Add([]byte(document), []byte("tier: gold"))
		f.Add([]byte(definition("x")), []byte(document))
	}
	f.Add([]byte(definition("x")), []byte("tier: 1\nlabels: {a b: [c]}\nannotations: {<<: {a: b}}\ndeprecated: true\nx: [.nan, 2026-01-02, 0x10]\n"))
	f.Add([]byte(definition("x", "1.0.0")), []byte("versions: {1.0.0: {deprecated: old, channels: [a], requires: {kubernetes: '>=1.31 <2 || ^3'}}, 1.1: {<<: {}}}\n"))
	f.Fuzz(func(t *testing.T, document, metadata []byte) {
		fsys := fstest.MapFS{
			"applications/x/application.yaml": {Data: bytes.Clone(document)},
			"applications/x/metadata.yaml":    {Data: metadata},
		}
		loaded, err := catalog.Load(context.Background(), fsys)
		again, errAgain := catalog.Load(context.Background(), fsys)
		if !reflect.DeepEqual(loaded, again) || !reflect.DeepEqual(err, errAgain) {
			t.Fatalf("loading twice gives %v, %v and %v, %v", loaded, err, again, errAgain)
		}
		if err != nil {
			var invalid *violation.InvalidError
			if loaded != nil || !errors.As(err, &invalid) || len(invalid.Violations) == 0 || err.Error() == "" {
				t.Fatalf("Load() = %v, %v, want violations", loaded, err)
			}
			return
		}
		if len(loaded.Applications) != 1 || !bytes.Equal(loaded.Applications[0].Document, document) {
			t.Fatalf("the document is not the file's: %v", loaded.Applications)
		}
	})
}

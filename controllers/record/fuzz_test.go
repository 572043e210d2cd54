// SPDX-License-Identifier: Apache-2.0

package record

import (
	"errors"
	"reflect"
	"testing"

	"github.com/winnow-dev/winnow/test/sourcetest"
)

// Whoever may write the status writes the record: whatever it has, it is read as it is written again, or is none.
func FuzzRead(f *testing.F) {
	for _, content := range []string{
		"", "{}", `{"spec":{"sources":[{"name":"catalog"}]},"definitions":[]}`,
		`{"definitions":[{"name":"argocd","versions":["1"],"identity":{"a":"b"},"locked":{"":"x"}}],"urls":["x"],"revisions":["r"]}`,
		`{"definitions":[{"kind":"Package","package":{"channels":[{"name":"a","entries":["b"]}]}}]}`,
	} {
		f.Add([]byte(content), true)
		f.Add(sourcetest.Gzip(new(testing.T), []byte(content)), false)
	}
	f.Fuzz(func(t *testing.T, packed []byte, compress bool) {
		if compress {
			packed = sourcetest.Gzip(t, packed)
		}
		read, err := unpack(packed)
		if err != nil {
			if read != nil || !errors.Is(err, ErrNone) {
				t.Fatalf("unpack() = %v, %v", read, err)
			}
			return
		}
		written, err := read.Pack()
		if err != nil || written == nil {
			t.Fatalf("Pack() = %v, %v", written, err)
		}
		again, err := unpack(written.Packed)
		if err != nil || len(again.Definitions) != len(read.Definitions) || !reflect.DeepEqual(again.Revisions, read.Revisions) {
			t.Errorf("read %+v, wrote and read %+v: %v", read, again, err)
		}
	})
}

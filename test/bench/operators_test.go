// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/winnow-dev/winnow/render/catalog/filebased"
)

// The same catalog each time: figures of two commits can be compared.
func TestOperatorsAreReproducible(t *testing.T) {
	for _, test := range []struct {
		name string
		as   Encoding
		want string
	}{
		{"YAML", YAML, "c38e06678aaccf64"},
		{"JSON", JSON, "d1472622db8cbbaf"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var text bytes.Buffer
			if err := (Operators{Seed: 17, Packages: 4}).Write(&text, test.as); err != nil {
				t.Fatal(err)
			}
			sum := sha256.Sum256(text.Bytes())
			if got := hex.EncodeToString(sum[:8]); got != test.want {
				t.Errorf("%d bytes with the digest %s", text.Len(), got)
			}
		})
	}
}

// The catalog has everything that it is said to have, and both encodings have the same.
func TestOperatorsAreValid(t *testing.T) {
	small := Operators{Seed: 17, Packages: 25}
	var versions [2]int
	for i, as := range []Encoding{YAML, JSON} {
		var text bytes.Buffer
		if err := small.Write(&text, as); err != nil {
			t.Fatal(err)
		}
		catalog, err := filebased.Load(t.Context(), fstest.MapFS{"catalog" + as.Extension: {Data: text.Bytes()}})
		if err != nil {
			t.Fatal(err)
		}
		channels, deprecations, unknown := 0, 0, 0
		for _, one := range catalog.Packages {
			versions[i] += len(one.Bundles)
			channels += len(one.Channels)
			if one.Deprecated != "" || one.Channels[0].Deprecated != "" || one.Bundles[len(one.Bundles)-1].Deprecated != "" {
				deprecations++
			}
			for _, blob := range one.Blobs {
				if blob.Schema == "example.com.lifecycle" {
					unknown++
				}
			}
		}
		if len(catalog.Packages) != small.Packages || channels <= small.Packages || deprecations == 0 || unknown == 0 {
			t.Errorf("%d packages, %d channels, %d deprecations, %d other documents", len(catalog.Packages), channels, deprecations, unknown)
		}
	}
	if versions[0] != versions[1] || versions[0] < 5*small.Packages {
		t.Errorf("%d versions as YAML, %d as JSON", versions[0], versions[1])
	}
}

func TestOperatorsInADirectoryAreTheSame(t *testing.T) {
	small, dir := Operators{Seed: 1, Packages: 3}, t.TempDir()
	var want, got bytes.Buffer
	if err := small.Write(&want, YAML); err != nil {
		t.Fatal(err)
	}
	if err := small.WriteDir(dir, YAML); err != nil {
		t.Fatal(err)
	}
	for i := range small.Packages {
		data, err := os.ReadFile(filepath.Join(dir, packageName(i), "catalog.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		got.Write(data)
	}
	if !bytes.Equal(got.Bytes(), want.Bytes()) {
		t.Errorf("%d bytes in one file, %d in the directory", want.Len(), got.Len())
	}
}

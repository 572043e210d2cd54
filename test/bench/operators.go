// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"

	"sigs.k8s.io/yaml"
)

// Operators is a made-up catalog of operators in OLM's file-based format, like those of communities: packages with
// icons, channels with all kinds of upgrades, bundles with the metadata of a ClusterServiceVersion, related images,
// deprecations. The same fields give the same bytes.
type Operators struct {
	Seed     uint64
	Packages int
}

// OfRealSize is a catalog of 333 packages, as large as the real ones are: 54 MB as YAML.
var OfRealSize = Operators{Seed: 17, Packages: 333}

// Encoding is how a catalog is written.
type Encoding struct {
	// Extension of the files.
	Extension string
	marshal   func(document any) ([]byte, error)
}

// The encodings in which opm writes catalogs.
var (
	YAML = Encoding{Extension: ".yaml", marshal: func(document any) ([]byte, error) {
		data, err := yaml.Marshal(document)
		return append([]byte("---\n"), data...), err
	}}
	JSON = Encoding{Extension: ".json", marshal: func(document any) ([]byte, error) {
		data, err := json.MarshalIndent(document, "", "    ")
		return append(data, '\n'), err
	}}
)

// Write writes the catalog as one file.
func (o Operators) Write(to io.Writer, as Encoding) error {
	for i := range o.Packages {
		if err := o.writePackage(to, i, as); err != nil {
			return err
		}
	}
	return nil
}

// WriteDir writes the catalog as files PACKAGE/catalog.yaml, or .json, in a directory.
func (o Operators) WriteDir(dir string, as Encoding) error {
	for i := range o.Packages {
		in := filepath.Join(dir, packageName(i))
		if err := os.MkdirAll(in, 0o750); err != nil {
			return err
		}
		file, err := os.Create(filepath.Clean(filepath.Join(in, "catalog"+as.Extension)))
		if err != nil {
			return err
		}
		if err := o.writePackage(file, i, as); err != nil {
			_ = file.Close() // the error before says more
			return err
		}
		if err := file.Close(); err != nil {
			return err
		}
	}
	return nil
}

func (o Operators) writePackage(to io.Writer, i int, as Encoding) error {
	made := operator{Rand: rand.New(rand.NewPCG(o.Seed, uint64(i))), name: packageName(i)}
	for _, document := range made.documents() {
		data, err := as.marshal(document)
		if err != nil {
			return fmt.Errorf("encoding package %s: %w", made.name, err)
		}
		if _, err := to.Write(data); err != nil {
			return err
		}
	}
	return nil
}

func packageName(i int) string { return fmt.Sprintf("%s-operator-%03d", words[i%len(words)], i) }

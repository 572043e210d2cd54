// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
)

// changedEvery is the distance of the applications that a new release of the catalog changes. A selection takes a row of
// applications, so that it has a changed one if it takes as many.
const changedEvery = 20

func applicationName(i int) string { return fmt.Sprintf("application-%05d", i) }

// writeCatalog writes a release of a catalog into an empty directory: applications of about 7 KB, with a logo that does not
// compress and five versions. The same release has the same content each time.
func writeCatalog(dir string, applications, release int) error {
	for i := range applications {
		path := filepath.Join(dir, "applications", applicationName(i))
		if err := os.MkdirAll(path, 0o750); err != nil {
			return err
		}
		version := 1
		if i%changedEvery == 0 {
			version = release
		}
		if err := os.WriteFile(filepath.Join(path, "application.yaml"), []byte(definition(i, version)), 0o600); err != nil {
			return err
		}
	}
	return nil
}

func definition(i, release int) string {
	logo := make([]byte, 3072)
	random := rand.New(rand.NewPCG(uint64(i), 0))
	for at := range logo {
		logo[at] = byte(random.Uint32())
	}
	name := applicationName(i)
	var b strings.Builder
	fmt.Fprintf(&b, `apiVersion: apps.kubermatic.k8c.io/v1
kind: ApplicationDefinition
metadata:
  name: %s
spec:
  displayName: Application %d
  description: An application of the benchmark.
  method: helm
  logoFormat: png
  logo: %s
  defaultValuesBlock: |
    # Release %d of the values.
    replicas: 3
`, name, i, base64.StdEncoding.EncodeToString(logo), release)
	for line := range 25 {
		fmt.Fprintf(&b, "    option%02d: value of option %d of application %d\n", line, line, i)
	}
	b.WriteString("  versions:\n")
	for minor := range 5 {
		fmt.Fprintf(&b, `    - version: 1.%d.0
      template:
        source:
          helm:
            url: https://charts.example.com/stable
            chartName: %s
            chartVersion: 1.%d.0
`, minor, name, minor)
	}
	return b.String()
}

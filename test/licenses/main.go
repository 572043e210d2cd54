// SPDX-License-Identifier: Apache-2.0

// Command licenses writes the list of the modules that are linked into Winnow's programs, with their licences. It fails
// where a package has none of a kind that is allowed. It must not know what the modules are used for.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// programs are what Winnow distributes: the command line, the controller, and the certificates of its image.
var programs = []string{"./cmd/winnow", "./cmd/winnow-controller", "golang.org/x/crypto/x509roots/fallback"}

// platforms link different modules.
var platforms = []string{"linux", "darwin", "windows"}

const heading = `# Third-party licences

The modules that are linked into the command line and the controller, and the certificates of the image, with the licences
of their packages. go.mod pins their versions. Go's standard library is linked as well, under BSD-3-Clause. Written by
make generate, which fails for a licence that test/licenses does not allow.

| module | licences |
| --- | --- |
`

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: licenses FILE")
		os.Exit(2)
	}
	if err := write(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "licenses:", err)
		os.Exit(1)
	}
}

func write(file string) error {
	modules := map[string][]string{}
	for _, platform := range platforms {
		packages, err := linked(platform)
		if err != nil {
			return err
		}
		if err := collect(packages, modules); err != nil {
			return err
		}
	}
	list := []byte(heading)
	for _, path := range slices.Sorted(maps.Keys(modules)) {
		list = fmt.Appendf(list, "| %s | %s |\n", path, strings.Join(modules[path], ", "))
	}
	return os.WriteFile(file, list, 0o644)
}

// A listed package is one that go list prints.
type listed struct {
	Dir    string
	Module *struct {
		Path, Dir string
		Main      bool
	}
}

// linked returns the packages that the programs need on a platform, without those of Go and Winnow.
func linked(platform string) ([]listed, error) {
	list := exec.Command("go", append([]string{"list", "-deps", "-json=Dir,Module"}, programs...)...)
	list.Env = append(os.Environ(), "GOOS="+platform, "GOARCH=amd64", "CGO_ENABLED=0")
	list.Stderr = os.Stderr
	out, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("listing what is linked on %s: %w", platform, err)
	}
	var packages []listed
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var pkg listed
		switch err := decoder.Decode(&pkg); {
		case errors.Is(err, io.EOF):
			return packages, nil
		case err != nil:
			return nil, fmt.Errorf("reading what go list prints: %w", err)
		case pkg.Module != nil && !pkg.Module.Main:
			packages = append(packages, pkg)
		}
	}
}

// collect adds the kinds of licences of packages to those of their modules. All violations are reported.
func collect(packages []listed, modules map[string][]string) error {
	violations := map[string]bool{}
	for _, pkg := range packages {
		kinds, err := licensesOf(pkg.Dir, pkg.Module.Dir)
		if err != nil {
			violations[err.Error()] = true
			continue
		}
		kinds = append(kinds, modules[pkg.Module.Path]...)
		slices.Sort(kinds)
		modules[pkg.Module.Path] = slices.Compact(kinds)
	}
	if len(violations) > 0 {
		return errors.New(strings.Join(slices.Sorted(maps.Keys(violations)), "\n"))
	}
	return nil
}

// licensesOf returns the kinds of the licences in the directory of a package and in those above it, up to that of its
// module. What is not allowed is an error, and so is a package without a licence.
func licensesOf(dir, module string) ([]string, error) {
	var kinds []string
	for {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return nil, err
		}
		for _, entry := range entries {
			if entry.IsDir() || !isLicense(entry.Name()) {
				continue
			}
			file := filepath.Join(dir, entry.Name())
			text, err := os.ReadFile(file)
			if err != nil {
				return nil, err
			}
			found := kindsOf(string(text))
			if len(found) == 0 {
				return nil, fmt.Errorf("%s: a licence that is not allowed, or not known: read it, then add its kind to test/licenses/kinds.go or replace the module", file)
			}
			kinds = append(kinds, found...)
		}
		if dir == module {
			break
		}
		dir = filepath.Dir(dir)
	}
	if len(kinds) == 0 {
		return nil, fmt.Errorf("no licence in %s: replace the module", module)
	}
	return kinds, nil
}

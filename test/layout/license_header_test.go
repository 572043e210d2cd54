// SPDX-License-Identifier: Apache-2.0

package layout

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const header = "SPDX-License-Identifier: Apache-2.0\n"

// What is generated, or comes from other projects, has no header. Nor do the examples but their Go: users copy them, and
// tests compare their bytes.
var withoutHeader = []string{
	"bin", "config/crd/bases", "config/rbac/role.yaml", "api/v1alpha1/zz_generated.deepcopy.go", "test/stack/crds", "test/stack/proposed",
}

func TestFilesNameTheirLicense(t *testing.T) {
	t.Chdir("../..")
	checked := 0
	err := filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case slices.Contains(withoutHeader, filepath.ToSlash(path)), entry.Name() == "testdata", entry.Name() == ".git":
			if entry.IsDir() {
				return filepath.SkipDir
			}
			return nil
		case entry.IsDir() || !hasHeader(path):
			return nil
		}
		checked++
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		comment := "# "
		if filepath.Ext(path) == ".go" {
			comment = "// "
		}
		if bytes.HasPrefix(content, []byte("#!")) {
			_, content, _ = bytes.Cut(content, []byte("\n"))
		}
		rest, found := bytes.CutPrefix(content, []byte(comment+header))
		if !found {
			t.Errorf("%s does not begin with %s%s", path, comment, header)
		} else if comment == "// " && !bytes.HasPrefix(rest, []byte("\n")) {
			t.Errorf("%s: a blank line after the licence is missing, without which it is a part of the comment below it", path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if checked == 0 {
		t.Error("no file was checked")
	}
}

// hasHeader reports whether a file has a comment with the licence: Go, shell and YAML.
func hasHeader(path string) bool {
	switch ext := filepath.Ext(path); ext {
	case ".go":
		return true
	case ".sh", ".yaml", ".yml":
		return !strings.HasPrefix(path, "examples"+string(filepath.Separator))
	default:
		return path == filepath.Join(".ci", "run")
	}
}

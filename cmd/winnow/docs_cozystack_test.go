// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/cmd/winnow/root"
	"github.com/winnow-dev/winnow/test/clitest"
)

const (
	cozystackGuide   = "../../docs/guides/cozystack.md"
	cozystackExample = "../../examples/cozystack"
)

// The commands of the guide work on a copy of the example. kubectl and git are stand-ins, and the registry has no TLS.
func TestCozystackGuideRuns(t *testing.T) {
	dir := copyExample(t, cozystackExample)
	if err := os.CopyFS(filepath.Join(dir, "new"), os.DirFS(cozystackExample)); err != nil {
		t.Fatal(err)
	}
	cache := filepath.Join(dir, "new/packages/system/cache-rd/cozyrds/cache.yaml")
	clitest.WriteFile(t, cache, strings.Replace(clitest.ReadFile(t, cache), "prefix: cache-", "prefix: kv-", 1))
	commands := strings.ReplaceAll(clitest.ReadFile(t, cozystackGuide), "oci://registry.example.com", "oci://"+clitest.StartRegistry(t))
	assertPrinted(t, runBlocks(t, commands, dir, operatorsStandIns),
		"pushed 4 applications in 4 files", "0 errors, 0 warnings in 4 applications\n", "queue     bronze  -         -\n", "rendered 3 of 4 applications",
		"HELD: nothing of this is published\n", `spec.release.prefix would change from "cache-" to "kv-"`)
}

func TestCozystackGuideShowsTheExample(t *testing.T) {
	shown := 0
	file := clitest.ReadFile(t, filepath.Join(cozystackExample, "gitops/selection.yaml"))
	for _, block := range yamlBlock.FindAllStringSubmatch(clitest.ReadFile(t, cozystackGuide), -1) {
		head, lines, _ := strings.Cut(block[1], "\n")
		switch head {
		case "# gitops/selection.yaml":
			shown++
			if !strings.Contains(file, lines) {
				t.Errorf("gitops/selection.yaml does not have\n%s", lines)
			}
		case "# instead of limit in gitops/selection.yaml":
			shown++
			selectsDatabases(t, file, lines)
		default:
			t.Errorf("a block is of no file:\n%s", block[1])
		}
	}
	if shown != 3 {
		t.Errorf("the guide shows %d parts of the example", shown)
	}
}

// selectsDatabases checks that the lines select the databases, as the limit of the example's selection.
func selectsDatabases(t *testing.T, file, lines string) {
	t.Helper()
	var cs, other v1alpha1.CatalogSelection
	if err := yaml.UnmarshalStrict([]byte(file), &cs); err != nil {
		t.Fatal(err)
	}
	if err := yaml.UnmarshalStrict([]byte("spec:\n"+lines), &other); err != nil {
		t.Fatal(err)
	}
	cs.Spec.Limit = other.Spec.Limit
	content, err := yaml.Marshal(&cs)
	if err != nil {
		t.Fatal(err)
	}
	selection := filepath.Join(t.TempDir(), "selection.yaml")
	clitest.WriteFile(t, selection, string(content))
	got := clitest.Execute(t.Context(), "list", filepath.Join(cozystackExample, "packages"), "-f", selection, "-o", "name")
	want := "applicationdefinition.cozystack.io/cache\napplicationdefinition.cozystack.io/postgres\n"
	if got.Code != root.ExitOK || got.Stdout != want {
		t.Errorf("selected are\n%s%s", got.Stdout, got.Stderr)
	}
}

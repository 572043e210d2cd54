// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/winnow-dev/winnow/cmd/winnow/root"
	"github.com/winnow-dev/winnow/test/clitest"
)

const (
	functionsGuide   = "../../docs/guides/function-catalogs.md"
	functionsExample = "../../examples/functions"
)

// The commands of the guide work on a copy of the example, and its files are those of the example and of the result.
// kustomize is a stand-in that prints its arguments.
func TestFunctionsGuideRuns(t *testing.T) {
	dir := copyExample(t, functionsExample)
	guide := clitest.ReadFile(t, functionsGuide)
	before := clitest.ReadFile(t, filepath.Join(dir, "app", "set-logger.yaml"))
	blocks := yamlBlock.FindAllStringSubmatch(guide, -1)
	if len(blocks) != 4 {
		t.Fatalf("the guide shows %d files", len(blocks))
	}
	// The platform team's own catalog and that of a vendor, for the selection of both.
	for _, name := range []string{"own", "vendor"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
		clitest.WriteFile(t, filepath.Join(dir, name, "catalog.yaml"), clitest.ReadFile(t, filepath.Join(dir, "catalog.yaml")))
	}
	clitest.WriteFile(t, filepath.Join(dir, "selection.yaml"), blocks[3][1])
	assertPrinted(t, runBlocks(t, guide, dir, "kustomize() { echo kustomize \"$@\"; }"),
		"SetLogger.example.com  v1       Example Co  ", "spec.logPath (string), required: The directory that the logger reads.\n",
		"kustomize build --enable-alpha-plugins resolved\n", "kustomize build --enable-alpha-plugins app\n",
		"rendered 1 of 1 applications")
	if blocks[0][1] != "# app/set-logger.yaml\n"+before ||
		blocks[1][1] != "# resolved/set-logger.yaml\n"+clitest.ReadFile(t, filepath.Join(dir, "resolved", "set-logger.yaml")) {
		t.Errorf("the guide shows other files: %q", blocks)
	}
	if resolved := clitest.ReadFile(t, filepath.Join(dir, "app", "set-logger.yaml")); resolved != strings.TrimPrefix(blocks[1][1], "# resolved/set-logger.yaml\n") {
		t.Errorf("in place:\n%s", resolved)
	}
}

// The guide shows a catalog of a program that is valid.
func TestFunctionsGuideShowsAProgram(t *testing.T) {
	block := yamlBlock.FindAllStringSubmatch(clitest.ReadFile(t, functionsGuide), -1)[2][1]
	file := filepath.Join(t.TempDir(), "catalog.yaml")
	clitest.WriteFile(t, file, block)
	got := clitest.Execute(t.Context(), "functions", "view", file, "-q")
	if got.Code != root.ExitOK || !strings.Contains(got.Stdout, "AddTeam.example.com  v1       -          exec linux/amd64  -      yes\n") {
		t.Errorf("%d %s %s", got.Code, got.Stdout, got.Stderr)
	}
}

// The example is what the guide calls complete: nothing is missing in it.
func TestFunctionsExampleHasNoWarnings(t *testing.T) {
	got := clitest.Execute(t.Context(), "functions", "view", filepath.Join(functionsExample, "catalog.yaml"))
	if got.Code != root.ExitOK || got.Stderr != "" {
		t.Errorf("%d %s", got.Code, got.Stderr)
	}
}

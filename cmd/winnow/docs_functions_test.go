package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const (
	functionsGuide   = "../../docs/guides/function-catalogs.md"
	functionsExample = "../../examples/functions"
)

// The commands of the guide work on a copy of the example, and its files are those of the example and of the result.
// kustomize is a stand-in that prints its arguments.
func TestFunctionsGuideRuns(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(functionsExample)); err != nil {
		t.Fatal(err)
	}
	guide := readFileString(t, functionsGuide)
	before := readFileString(t, filepath.Join(dir, "app", "set-logger.yaml"))
	var printed strings.Builder
	for _, block := range shBlock.FindAllStringSubmatch(guide, -1) {
		shell := exec.CommandContext(t.Context(), "sh", "-eu", "-c", "kustomize() { echo kustomize \"$@\"; }\n"+block[1])
		shell.Dir = dir
		out, err := shell.CombinedOutput()
		if err != nil {
			t.Errorf("%s: %v\n%s", block[1], err, out)
		}
		printed.Write(out)
	}
	for _, want := range []string{
		"SetLogger.example.com  v1       Example Co  ", "spec.logPath (string), required: The directory that the logger reads.\n",
		"kustomize build --enable-alpha-plugins resolved\n", "kustomize build --enable-alpha-plugins app\n",
	} {
		if !strings.Contains(printed.String(), want) {
			t.Errorf("no %q in\n%s", want, printed.String())
		}
	}
	blocks := yamlBlock.FindAllStringSubmatch(guide, -1)
	if len(blocks) != 2 || blocks[0][1] != "# app/set-logger.yaml\n"+before ||
		blocks[1][1] != "# resolved/set-logger.yaml\n"+readFileString(t, filepath.Join(dir, "resolved", "set-logger.yaml")) {
		t.Errorf("the guide shows other files: %q", blocks)
	}
	if resolved := readFileString(t, filepath.Join(dir, "app", "set-logger.yaml")); resolved != strings.TrimPrefix(blocks[1][1], "# resolved/set-logger.yaml\n") {
		t.Errorf("in place:\n%s", resolved)
	}
}

// The example is what the guide calls complete: nothing is missing in it.
func TestFunctionsExampleHasNoWarnings(t *testing.T) {
	got := execute(t.Context(), "functions", "view", filepath.Join(functionsExample, "catalog.yaml"))
	if got.code != exitOK || got.stderr != "" {
		t.Errorf("%d %s", got.code, got.stderr)
	}
}

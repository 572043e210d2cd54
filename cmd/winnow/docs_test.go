// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"fmt"
	"io/fs"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/cmd/winnow/input"
	"github.com/winnow-dev/winnow/cmd/winnow/root"
	"github.com/winnow-dev/winnow/cmd/winnow/selectionfile"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/mention"
	"github.com/winnow-dev/winnow/render/selection"
	"github.com/winnow-dev/winnow/test/clitest"
)

var (
	yamlBlock     = regexp.MustCompile("(?ms)^```ya?ml\n(.*?)^```")
	selectionKind = regexp.MustCompile(`(?m)^kind: CatalogSelection$`)
	shBlock       = regexp.MustCompile("(?ms)^```sh\n(.*?)^```")
)

// Every CatalogSelection in the documentation renders something from the example catalog of its format.
func TestDocumentedSelectionsRender(t *testing.T) {
	examples := map[string]*catalog.Catalog{}
	for format, dir := range map[string]string{
		"": "../../examples/catalog", v1alpha1.FormatFileBased: operatorsExample + "/catalog", v1alpha1.FormatKRMFunctions: functionsExample,
	} {
		ref := v1alpha1.SourceReference{Format: format}
		if dir == functionsExample {
			ref.Include = []string{"catalog.yaml"}
		}
		example, err := input.OpenSource(t.Context(), dir, ref, nil)
		if err != nil {
			t.Fatal(err)
		}
		examples[format] = example.Catalog
	}
	tested := 0
	for _, page := range pages(t) {
		content := clitest.ReadFile(t, page)
		for _, block := range yamlBlock.FindAllStringSubmatchIndex(content, -1) {
			text := content[block[2]:block[3]]
			if !selectionKind.MatchString(text) {
				continue
			}
			tested++
			line := 1 + strings.Count(content[:block[0]], "\n")
			t.Run(fmt.Sprintf("%s line %d", filepath.Base(page), line), func(t *testing.T) {
				renderDocumented(t, text, examples)
			})
		}
	}
	if tested == 0 {
		t.Error("no CatalogSelection found in the documentation")
	}
}

func pages(t *testing.T) []string {
	t.Helper()
	found := []string{"../../README.md"}
	err := filepath.WalkDir("../../docs", func(path string, _ fs.DirEntry, err error) error {
		if filepath.Ext(path) == ".md" {
			found = append(found, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func renderDocumented(t *testing.T, text string, examples map[string]*catalog.Catalog) {
	t.Helper()
	found, err := selectionfile.Parse(t.Context(), "the block", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if len(found) == 0 {
		t.Error("the block has no CatalogSelection of this version")
	}
	for _, cs := range found {
		renderSelection(t, cs.CatalogSelection, cmp.Or(examples[cs.Spec.Sources[0].Format], examples[""]))
	}
}

func renderSelection(t *testing.T, cs *v1alpha1.CatalogSelection, example *catalog.Catalog) {
	t.Helper()
	options, err := render.FromSpec(cs)
	if err != nil {
		t.Fatal(err)
	}
	var sources []selection.Source
	for _, ref := range cs.Spec.Sources {
		sources = append(sources, selection.Source{Name: ref.Name, Digest: "sha256:0123", Catalog: example})
	}
	result, err := render.Render(t.Context(), sources, options)
	if err != nil {
		t.Fatal(err)
	}
	// The example catalog has neither channels nor the applications of all instances.
	unmatched := slices.DeleteFunc(result.Unmatched, func(u mention.Unmatched) bool {
		return strings.Contains(u.Field, ".channels[") || u.Reason != ""
	})
	if unmatched := mention.Sentences(unmatched); len(unmatched) > 0 {
		t.Errorf("the example catalog lacks what the selection names: %s", strings.Join(unmatched, ", "))
	}
}

// The command in the specification computes the published revision.
func TestDocumentedDigestCommand(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the command is for GNU's tools")
	}
	var command string
	for _, block := range shBlock.FindAllStringSubmatch(clitest.ReadFile(t, "../../docs/spec/v1alpha1/catalogselections.md"), -1) {
		if strings.Contains(block[1], "sha256sum --") {
			command = block[1]
		}
	}
	if command == "" {
		t.Fatal("the page has no such command")
	}
	dir := t.TempDir()
	rendered := clitest.Execute(t.Context(), "render", "-f", "../../examples/gitops/selection.yaml",
		"--source", "../../examples/catalog", "-o", dir)
	if rendered.Code != root.ExitOK {
		t.Fatal(rendered.Stderr)
	}
	shell := exec.CommandContext(t.Context(), "sh", "-c", command)
	shell.Dir = dir
	out, err := shell.Output()
	if err != nil {
		t.Fatal(err)
	}
	checksum, _, _ := strings.Cut(string(out), " ")
	if want := "revision sha256:" + checksum + "\n"; !strings.HasSuffix(rendered.Stderr, want) {
		t.Errorf("render says %q, the command %q", rendered.Stderr, checksum)
	}
}

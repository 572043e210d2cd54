// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/fluxcd/pkg/runtime/conditions"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/test/stack"
)

// functionCatalog is a namespace with a catalog of functions, and a selection that pushes the functions that it keeps.
type functionCatalog struct{ *installing }

// Functions are published as one catalog, and pushed to where the command line reads them. One that the catalog drops
// stays published, and pushed, until its removal is approved.
func TestFunctions(t *testing.T) {
	f := functionCatalog{newInstalling(t, "functions")}
	split, salt := functionEntry("Split", "v1"), functionEntry("Salt", "v1")
	f.offer("v1", split, functionEntry("SetLogger", "v1beta1", "v1", "v2"), salt)
	repository := f.repository()
	repository.Spec.LayerSelector.MediaType = stack.FluxLayerMediaType
	f.create(repository)
	t.Cleanup(f.clear)
	f.commit([]string{f.selecting(f.name,
		limitedTo("setlogger.example.com", "split.example.com"),
		"versions: [{names: [setlogger.example.com], latest: 2}]",
		"cluster: {serve: Always}", // no Kustomization uses it
		fmt.Sprintf("push: {url: oci://%s/functions-kept, insecure: true}", system.RegistryHost()))})
	kept := functionEntry("SetLogger", "v1", "v2")
	first := f.awaitPushedFrom("v1")
	f.assertSameRender(first, f.name+"=oci://"+system.RegistryHost()+"/functions:v1")
	f.assertKept(functionsText(kept, split), "SetLogger.example.com v1 v2", "Split.example.com v1")

	f.offer("v2", salt, kept)
	digest := f.follow("v2")
	held := f.awaitHeld(digest, "Removal split.example.com [v1]")
	if !conditions.IsReady(held) || held.Status.Artifact.Digest != first.Status.Artifact.Digest || held.Status.Push.URL != first.Status.Push.URL {
		t.Errorf("while the removal is held, published is %+v and pushed %+v: %+v", held.Status.Artifact, held.Status.Push, held.Status.Conditions)
	}
	f.assertKept(functionsText(kept, split), "SetLogger.example.com v1 v2", "Split.example.com v1")

	f.approveHeld(held, "split.example.com")
	if cs := f.awaitPushedFrom("v2"); cs.Status.Held != nil || conditions.IsTrue(cs, v1alpha1.HeldCondition) {
		t.Errorf("held is %+v", cs.Status.Held)
	}
	f.assertKept(functionsText(kept), "SetLogger.example.com v1 v2")
}

// offer pushes a catalog of these entries as a tag, as its author does.
func (f functionCatalog) offer(tag string, entries ...string) {
	f.t.Helper()
	dir := f.t.TempDir()
	write(f.t, filepath.Join(dir, "ours", "catalog.yaml"), functionsText(entries...))
	winnow(f.t, "push", "--plain-http", dir, "oci://"+system.RegistryHost()+"/"+f.name+":"+tag)
}

// assertKept compares the catalog in the published archive, and the functions that the command line reads in the
// registry, each "<name> <versions>".
func (f functionCatalog) assertKept(text string, functions ...string) {
	f.t.Helper()
	files := f.files()
	if got := files[catalog.FunctionsFile]; got != text || len(files) != 3 { // with the kustomization.yaml of the root, and of functions
		f.t.Errorf("of %d files, the catalog is\n%s\nwant\n%s", len(files), got, text)
	}
	var viewed struct {
		Functions []struct {
			Name     string
			Versions []struct{ Name string }
		}
	}
	output := winnow(f.t, "functions", "view", "--plain-http", "-o", "json", "oci://"+system.RegistryHost()+"/functions-kept:latest")
	if err := json.Unmarshal([]byte(output), &viewed); err != nil {
		f.t.Fatal(err)
	}
	var got []string
	for _, function := range viewed.Functions {
		words := []string{function.Name}
		for _, version := range function.Versions {
			words = append(words, version.Name)
		}
		got = append(got, strings.Join(words, " "))
	}
	if !slices.Equal(got, functions) {
		f.t.Errorf("in the registry are %q, want %q", got, functions)
	}
}

// functionsText returns a catalog of functions, as an artifact has it.
func functionsText(entries ...string) string {
	return "apiVersion: config.kubernetes.io/v1alpha1\nkind: Catalog\nmetadata:\n  name: functions\nspec:\n  krmFunctions:\n" + strings.Join(entries, "")
}

// functionEntry returns the entry of a function with these versions.
func functionEntry(kind string, versions ...string) string {
	var entry strings.Builder
	fmt.Fprintf(&entry, "  # By Example Co.\n  - group: example.com\n    names: {kind: %s}\n    publisher: Example Co\n    versions:\n", kind)
	for _, version := range versions {
		fmt.Fprintf(&entry, "    - name: %s # reviewed\n      runtime: {container: {image: 'registry.example.com/%s:%[1]s'}}\n", version, strings.ToLower(kind))
	}
	return entry.String()
}

// SPDX-License-Identifier: Apache-2.0

package render_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"

	"github.com/winnow-dev/winnow/cmd/winnow/root"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/test/clitest"
)

// flux and flux-local read DIR joined with spec.path of the Kustomization. It must be a directory
// with a kustomization.yaml and only the files that this names: otherwise flux would generate
// one.
func TestRenderedDirectoryIsALocalSourceOfFlux(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "rendered")
	arguments := []string{"render", "-f", "../../../../examples/gitops/selection.yaml", "--source", "../../../../examples/catalog"}
	stream := clitest.Execute(t.Context(), arguments...)
	rendered := clitest.Execute(t.Context(), append(arguments, "-o", dir)...)
	if stream.Code != root.ExitOK || rendered.Code != root.ExitOK {
		t.Fatal(stream.Stderr, rendered.Stderr)
	}
	var applications kustomizev1.Kustomization
	if err := yaml.UnmarshalStrict([]byte(clitest.ReadFile(t, "../../../../examples/gitops/applications.yaml")), &applications); err != nil {
		t.Fatal(err)
	}
	at := filepath.Join(dir, applications.Spec.Path)
	var kustomization types.Kustomization
	if err := yaml.UnmarshalStrict([]byte(clitest.ReadFile(t, filepath.Join(at, render.KustomizationFile))), &kustomization); err != nil {
		t.Fatal(err)
	}
	want := append([]string{render.KustomizationFile, render.ApplicationsDir + "/" + render.KustomizationFile}, kustomization.Resources...)
	if got := filesBelow(t, at); !slices.Equal(got, slices.Sorted(slices.Values(want))) {
		t.Errorf("files %v, want %v", got, want)
	}
	if got := fluxBuild(t, at); got != stream.Stdout {
		t.Errorf("Flux builds\n%s\nrender prints\n%s", got, stream.Stdout)
	}
}

// fluxBuild builds a directory on the disk with the options of kustomize-controller and flux,
// those of github.com/fluxcd/pkg/kustomize's Build.
func fluxBuild(t *testing.T, dir string) string {
	t.Helper()
	options := &krusty.Options{
		LoadRestrictions: types.LoadRestrictionsNone,
		PluginConfig:     types.DisabledPluginConfig(),
	}
	built, err := krusty.MakeKustomizer(options).Run(filesys.MakeFsOnDisk(), dir)
	if err != nil {
		t.Fatal(err)
	}
	content, err := built.AsYaml()
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

func filesBelow(t *testing.T, dir string) []string {
	t.Helper()
	var found []string
	for _, pattern := range []string{"*", "*/*", "*/*/*"} {
		matches, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range matches {
			info, err := os.Stat(match)
			if err != nil {
				t.Fatal(err)
			}
			if name, _ := filepath.Rel(dir, match); !info.IsDir() {
				found = append(found, filepath.ToSlash(name))
			}
		}
	}
	slices.Sort(found)
	return found
}

// SPDX-License-Identifier: Apache-2.0

package functions_test

import (
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"

	"github.com/winnow-dev/winnow/cmd/winnow/root"
	"github.com/winnow-dev/winnow/test/clitest"
)

// labelerFiles are a kustomization, its base, and the configs of a directory, each with a function in its own way.
var labelerFiles = map[string]string{
	"overlays/prod/kustomization.yaml": `resources:
- ../../base
transformers:
- ../../configs
- |-
  apiVersion: example.com/v1
  kind: Labeler
  metadata: {name: inline}
  spec: {label: inline, value: "yes"}
`,
	"base/kustomization.yaml": "resources: [map.yaml]\ntransformers: [labeler.yaml]\n",
	"base/map.yaml":           "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: settings\n",
	"base/labeler.yaml":       labelerConfig("base"),
	// The function of these runs in the directory of the kustomization that names them.
	"configs/kustomization.yaml": "resources: [labelers.yaml]\n",
	"configs/labelers.yaml":      labelerConfig("first") + "---\n" + labelerConfig("second"),
}

func labelerConfig(name string) string {
	return "apiVersion: example.com/v1\nkind: Labeler\nmetadata:\n  name: " + name + "\nspec:\n  label: " + name + "\n  value: \"yes\"\n"
}

// buildLabeler builds the function into a directory, with a catalog beside it.
func buildLabeler(t *testing.T, dir string) {
	t.Helper()
	program := filepath.Join(dir, "bin", "labeler")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, "./testdata/labeler").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	clitest.WriteFile(t, filepath.Join(dir, "catalog.yaml"), `apiVersion: config.kubernetes.io/v1alpha1
kind: Catalog
metadata: {name: functions}
spec:
  krmFunctions:
  - group: example.com
    names: {kind: Labeler}
    versions:
    - name: v1
      runtime:
        exec:
          platforms:
          - {bin: labeler, os: plan9, arch: mips, uri: bin/none, sha256: `+strings.Repeat("0a", 32)+`}
          - {bin: labeler, os: `+runtime.GOOS+", arch: "+runtime.GOARCH+", uri: bin/labeler, sha256: "+
		fmt.Sprintf("%x", sha256.Sum256([]byte(clitest.ReadFile(t, program))))+"}\n")
}

func writeLabelerFiles(t *testing.T, dir string) {
	t.Helper()
	for name, content := range labelerFiles {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		clitest.WriteFile(t, file, content)
	}
}

// kustomizeLabels builds a kustomization as kustomize does with the flags, and returns the labels of its object.
func kustomizeLabels(t *testing.T, dir string, flags []string) []string {
	t.Helper()
	options := krusty.MakeDefaultOptions()
	if slices.Contains(flags, "--enable-alpha-plugins") {
		options.PluginConfig = types.EnabledPluginConfig(types.BploUseStaticallyLinked)
		options.PluginConfig.FnpLoadingOptions.EnableExec = slices.Contains(flags, "--enable-exec")
	}
	built, err := krusty.MakeKustomizer(options).Run(filesys.MakeFsOnDisk(), dir)
	if err != nil {
		t.Fatal(err)
	}
	content, err := built.AsYaml()
	if err != nil {
		t.Fatal(err)
	}
	var object struct {
		Metadata struct{ Labels map[string]string }
	}
	if err := yaml.Unmarshal(content, &object); err != nil {
		t.Fatal(err)
	}
	var labels []string
	for label, value := range object.Metadata.Labels {
		labels = append(labels, label+"="+value)
	}
	slices.Sort(labels)
	return labels
}

func TestKustomizeRunsResolvedFunctions(t *testing.T) {
	want := []string{"base=yes", "first=yes", "inline=yes", "second=yes"}
	for name, test := range map[string]struct {
		catalog string // where the catalog and the program are
		output  bool
	}{
		"a copy, with the program in it":        {catalog: "repository/functions", output: true},
		"a copy, with the program elsewhere":    {catalog: "functions", output: true},
		"in place":                              {catalog: "repository/functions"},
		"in place, with the program elsewhere":  {catalog: "functions"},
		"a copy, with the program at its root":  {catalog: "repository", output: true},
		"a name that YAML and paths could hide": {catalog: "repository/a: #b", output: true},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			repository, built := filepath.Join(dir, "repository"), filepath.Join(dir, "repository", "overlays", "prod")
			writeLabelerFiles(t, repository)
			buildLabeler(t, filepath.Join(dir, test.catalog))
			args := []string{"functions", "resolve", built, "--root", repository, "--catalog", filepath.Join(dir, test.catalog, "catalog.yaml")}
			if test.output {
				out := filepath.Join(dir, "repository", "out") // in what is copied
				args, built = append(args, "-o", out), filepath.Join(out, "overlays", "prod")
			}
			got := clitest.Execute(t.Context(), args...)
			if got.Code != root.ExitOK || got.Stdout != "--enable-alpha-plugins --enable-exec\n" {
				t.Fatalf("%d %s%s", got.Code, got.Stdout, got.Stderr)
			}
			flags := strings.Fields(got.Stdout)
			if labels := kustomizeLabels(t, built, flags); !slices.Equal(labels, want) {
				t.Errorf("labels are %q", labels)
			}
			// kustomize#4399: this is why resolve prints the flags.
			if labels := kustomizeLabels(t, built, flags[:1]); len(labels) > 0 {
				t.Errorf("kustomize does not skip functions any more: %q", labels)
			}
			workspace := strings.TrimSuffix(built, filepath.Join("overlays", "prod"))
			check := []string{"functions", "resolve", built, "--root", workspace, "--check"}
			if refused := clitest.Execute(t.Context(), check...); refused.Code != root.ExitFindings {
				t.Errorf("a file enables programs: %d %s", refused.Code, refused.Stdout)
			}
			catalog := filepath.Join(dir, test.catalog)
			if copied, isIn := strings.CutPrefix(catalog, repository); isIn && test.output { // with its program
				catalog = filepath.Join(workspace, copied)
			}
			supplied := clitest.Execute(t.Context(), append(check, "--catalog", filepath.Join(catalog, "catalog.yaml"))...)
			if supplied.Code != root.ExitOK || supplied.Stdout != got.Stdout {
				t.Errorf("the program of a catalog: %d %s%s", supplied.Code, supplied.Stdout, supplied.Stderr)
			}
			checked := clitest.Execute(t.Context(), append(check, "--enable-exec")...)
			if checked.Code != root.ExitOK || checked.Stdout != got.Stdout {
				t.Errorf("--check: %d %s%s", checked.Code, checked.Stdout, checked.Stderr)
			}
		})
	}
}

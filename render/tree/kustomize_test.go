// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/resmap"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

const definition = `# A comment that kustomize may drop.
apiVersion: apps.kubermatic.k8c.io/v1
kind: ApplicationDefinition
metadata:
  name: argocd
  annotations:
    theirs: stays
    both: theirs
spec:
  selector:
    matchLabels:
      app: argocd
  labels:
    app: argocd
  template:
    metadata:
      labels:
        app: argocd
      annotations:
        app: argocd
    spec:
      metadata:
        annotations:
          app: argocd
  versions:
  - version: v2.13.0
`

// build runs kustomize over a kustomization of one resource.
func build(t *testing.T, k Kustomization) resmap.ResMap {
	t.Helper()
	k.Resources = []string{"applicationdefinitions/argocd.yaml"}
	content, err := k.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	fsys := filesys.MakeFsInMemory()
	for path, content := range map[string]string{"/tree/" + k.Resources[0]: definition, "/tree/" + KustomizationFile: string(content)} {
		if err := fsys.WriteFile(path, []byte(content)); err != nil {
			t.Fatal(err)
		}
	}
	built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(fsys, "/tree")
	if err != nil {
		t.Fatalf("building:\n%s\n%v", content, err)
	}
	return built
}

func TestKustomizeChangesTheMetadataOnly(t *testing.T) {
	got, err := build(t, Kustomization{
		Labels:      map[string]string{"app.kubernetes.io/managed-by": "winnow"},
		Annotations: map[string]string{"kustomize.toolkit.fluxcd.io/ssa": "Merge", "both": "ours"},
	}).AsYaml()
	if err != nil {
		t.Fatal(err)
	}
	want := `apiVersion: apps.kubermatic.k8c.io/v1
kind: ApplicationDefinition
metadata:
  annotations:
    both: ours
    kustomize.toolkit.fluxcd.io/ssa: Merge
    theirs: stays
  labels:
    app.kubernetes.io/managed-by: winnow
  name: argocd
spec:
  labels:
    app: argocd
  selector:
    matchLabels:
      app: argocd
  template:
    metadata:
      annotations:
        app: argocd
      labels:
        app: argocd
    spec:
      metadata:
        annotations:
          app: argocd
  versions:
  - version: v2.13.0
`
	if string(got) != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

// awkward are strings that YAML, kustomize or a template might take for
// something else.
func awkward() []string {
	return []string{
		"", " ", "~", "-", "=", "<<", "true", "True", "null", "Null", "yes", "No", "on", "OFF", "y", "n", "0", "-1", "1.0", "1e3",
		"0777", "0o777", "0x1f", "0b1", "1_000", "12:30:45", ".5", ".inf", "-.INF", ".nan", "2001-01-01", "2001-01-01T00:00:00Z",
		"a: b", "a #b", "#a", "- a", "? a", "[a]", "{a: b}", "*a", "&a", "!a", "!!str a", "%a", "@a", "`a", "'", `"`, `\`, `\n`,
		"${x}", "$(x)", "{{ .x }}", " a", "a ", "\ta", "a\t", "a\n", "\na", "a\nb", "a\n  b\n", "  a\nb", "a\r\nb", "---", "a\n---\nb",
		"größe", "日本", "👍", "a\rb", "a\u2028b", "\u2028", "a\u2029 b", "\ufeff", "a\ufeffb", "\u00a0", "\u200b", "\ufffd", strings.Repeat("long words ", 100),
	}
}

func TestKustomizeReadsExactlyTheStrings(t *testing.T) {
	want := map[string]string{}
	for i, s := range awkward() {
		want[fmt.Sprintf("example.com/%d", i)] = s
	}
	for _, key := range []string{"true", "Null", "yes", "n", "0", "1e3", "0777", "0x1f", "0b1", "1.0", "1_000", "2001-01-01"} {
		want[key] = key
	}
	built := build(t, Kustomization{Labels: want, Annotations: want})
	object := built.Resources()[0]
	annotations := object.GetAnnotations()
	for _, theirs := range []string{"theirs", "both"} {
		delete(annotations, theirs)
	}
	checkStrings(t, "labels", object.GetLabels(), want)
	checkStrings(t, "annotations", annotations, want)
}

func checkStrings(t *testing.T, what string, got, want map[string]string) {
	t.Helper()
	if maps.Equal(got, want) {
		return
	}
	for key, value := range want {
		if got[key] != value {
			t.Errorf("%s[%q] is %q, want %q", what, key, got[key], value)
		}
	}
	t.Errorf("%s: %d keys, want %d", what, len(got), len(want))
}

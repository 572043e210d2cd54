// SPDX-License-Identifier: Apache-2.0

package building

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/kustomize/api/resmap"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/winnow-dev/winnow/cmd/winnow/gitops/inputs"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/manifest"
	"github.com/winnow-dev/winnow/render/kustomized"
)

// Kustomizations of one directory that differ in postBuild share the build, and nothing after it.
func TestADirectoryIsBuiltOnceForAllVariables(t *testing.T) {
	tree := readTree(t, map[string]string{
		"apps/kustomization.yaml": "resources: [a.yaml]\n",
		"apps/a.yaml":             "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {text: \"${A:=none}\"}\n",
	})
	b, builds := NewBuilder(), 0
	b.kustomize = func(files filesys.FileSystem, dir string) (resmap.ResMap, error) {
		builds++
		return kustomized.Directory(files, dir)
	}
	for _, test := range []struct{ spec, want string }{
		{"{}", "${A:=none}"},
		{"{postBuild: {substituteStrategy: Always}}", "none"},
		{"{postBuild: {substitute: {A: one}}}", "one"},
		{"{postBuild: {substitute: {A: two}}}", "two"},
		{"{postBuild: {substitute: {A: one}}, interval: 5m}", "one"},
		{"{}", "${A:=none}"},
	} {
		k := kustomization(t, test.spec)
		vars := NewVariables(k, "", func(manifest.Ref) *manifest.Object { return nil })
		objects, err := b.Build(t.Context(), inputs.NewClosure(tree, "apps", nil), "apps", k, vars)
		if err != nil || len(objects) != 1 {
			t.Fatalf("%q: %d objects, %v", test.spec, len(objects), err)
		}
		if got, _, _ := unstructured.NestedString(objects[0].Object, "data", "text"); got != test.want {
			t.Errorf("%q: %q, want %q", test.spec, got, test.want)
		}
	}
	if builds != 1 {
		t.Errorf("%d builds, want 1", builds)
	}
}

// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"slices"
	"strings"
	"testing"
)

func TestParseManifests(t *testing.T) {
	const configMap = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"
	tests := map[string]struct {
		manifests string
		want      []string
		wantErr   bool
	}{
		"nothing":                     {"", nil, false},
		"one document":                {configMap, []string{"ConfigMap a"}, false},
		"a leading separator":         {"---\n" + configMap, []string{"ConfigMap a"}, false},
		"empty and comment-only ones": {"# hello\n---\n---\n" + configMap + "---\n# bye\n", []string{"ConfigMap a"}, false},
		"a separator inside a block": {
			configMap + "data:\n  text: |\n    ---\n    a\n", []string{"ConfigMap a"}, false,
		},
		"a list": {
			"apiVersion: v1\nkind: List\nitems:\n" +
				"- {apiVersion: v1, kind: Secret, metadata: {name: b}}\n" +
				"- {apiVersion: v1, kind: Secret, metadata: {name: c}}\n",
			[]string{"Secret b", "Secret c"}, false,
		},
		"CRDs, then namespaces, then the rest in its order": {
			configMap +
				"---\napiVersion: v1\nkind: Namespace\nmetadata: {name: ns}\n" +
				"---\napiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: crd}\n" +
				"---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: \"0\"}\n",
			[]string{"CustomResourceDefinition crd", "Namespace ns", "ConfigMap a", "ConfigMap 0"}, false,
		},
		"no kind":       {"apiVersion: v1\nmetadata: {name: a}\n", nil, true},
		"no name":       {"apiVersion: v1\nkind: ConfigMap\n", nil, true},
		"not a mapping": {"- a\n", nil, true},
		"a key twice":   {configMap + "kind: Secret\n", nil, true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			objects, err := parseManifests([]byte(test.manifests))
			if (err != nil) != test.wantErr {
				t.Fatalf("got error %v, want one: %t", err, test.wantErr)
			}
			var got []string
			for _, object := range inApplyOrder(objects) {
				got = append(got, object.GetKind()+" "+object.GetName())
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
}

func TestReadManifestsTakesAFileOrTheYAMLOfADirectory(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, dir+"/b.yaml", "b: 1", 0o600)
	writeFile(t, dir+"/a/c.yml", "c: 1", 0o600)
	writeFile(t, dir+"/README.md", "# no", 0o600)
	for path, want := range map[string]string{
		dir:                "c: 1 --- b: 1 ---",
		dir + "/b.yaml":    "b: 1 ---",
		dir + "/README.md": "# no ---",
	} {
		got, err := readManifests(path)
		if err != nil {
			t.Fatal(err)
		}
		if joined := strings.Join(strings.Fields(string(got)), " "); joined != want {
			t.Errorf("%s: got %q, want %q", path, joined, want)
		}
	}
	if _, err := readManifests(dir + "/absent"); err == nil {
		t.Error("no error for a path that does not exist")
	}
}

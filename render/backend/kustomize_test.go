// SPDX-License-Identifier: Apache-2.0

package backend_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/winnow-dev/winnow/render/backend"
	"github.com/winnow-dev/winnow/render/backends"
)

// kustomized builds an object as Flux does, with a label for all objects.
func kustomized(t testing.TB, document []byte) map[string]any {
	t.Helper()
	fsys := filesys.MakeFsInMemory()
	for name, content := range map[string][]byte{
		"kustomization.yaml": []byte("resources: [object.yaml]\nlabels: [{pairs: {a: b}}]\nbuildMetadata: [originAnnotations]\n"),
		"object.yaml":        document,
	} {
		if err := fsys.WriteFile(name, content); err != nil {
			t.Fatal(err)
		}
	}
	built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(fsys, ".")
	if err != nil {
		t.Fatalf("building: %v\n%.2000s", err, document)
	}
	encoded, err := built.AsYaml()
	if err != nil {
		t.Fatal(err)
	}
	return parse(t, string(encoded))
}

func sameJSON(t testing.TB, got, want any) bool {
	t.Helper()
	a, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	return string(a) == string(b)
}

// checkCarried checks that kustomize builds the objects of an instance with this text in its values as they are.
func checkCarried(t testing.TB, text string) {
	t.Helper()
	values := map[string]any{"text": text, "list": []any{text, []any{text}}, "key": map[string]any{text: int64(1)}, "n": 1.5e30}
	for _, b := range []string{backend.Helm, backend.ApplicationInstallation} {
		objects, err := backends.Named(b).Build(kkpInstance(t, func(i *backend.Instance) { i.Values = values }, ""))
		if err != nil {
			if len(err.Error()) > 2000 {
				t.Errorf("%d bytes of %.200s", len(err.Error()), err)
			}
			return
		}
		for _, o := range objects {
			document, err := o.YAML()
			if err != nil {
				t.Fatal(err)
			}
			got := kustomized(t, document)
			for _, field := range []string{"spec", "data", "apiVersion", "kind"} {
				if !sameJSON(t, got[field], o.Object[field]) {
					t.Errorf("%q: kustomize made of %s of a %s:\n%v\nwant\n%v", text, field, o.GetKind(), got[field], o.Object[field])
				}
			}
		}
	}
}

func texts() []string {
	return []string{
		"", " ", "~", "-", "=", "<<", "true", "True", "null", "Null", "yes", "No", "on", "OFF", "y", "n", "0", "-1", "1.0", "1e3",
		"0777", "0o777", "0x1f", "0b1", "1_000", "12:30:45", ".5", ".inf", "-.INF", ".nan", "2001-01-01", "2001-01-01T00:00:00Z",
		"a: b", "a #b", "#a", "- a", "? a", "[a]", "{a: b}", "*a", "&a", "!a", "!!str a", "%a", "@a", "`a", "'", `"`, `\`, `\n`,
		"${x}", "$(x)", "{{ .x }}", " a", "a ", "\ta", "a\t", "a\n", "\na", "a\nb", "a\n  b\n", "  a\nb", "\ta\nb", "a\r\nb", "---", "a\n---\nb",
		"a\n\n", "\n", "\n\n", "a\n\n\n b", "# a\nb\n", "a \nb", "größe", "日本", "👍", "a\rb", "a\u2028b", "\u2028", "a\u2029 b", "\ufeff",
		"a\ufeffb", "\u00a0", "\u200b", "\ufffd", "\x00", "\x07", "\x1b", "\x7f", "\u0085", "\ufffe", "\uffff", "\xff", "a\xffb",
		strings.Repeat("long words ", 100), strings.Repeat("a", 2000), strings.Repeat("a\n", 2000), "a\n" + strings.Repeat("ö", 600),
	}
}

func TestKustomizeCarriesTheObjects(t *testing.T) {
	for _, text := range texts() {
		checkCarried(t, text)
	}
	for _, g := range goldens(t) {
		objects, err := g.backend.Build(g.instance)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range objects {
			document, err := o.YAML()
			if err != nil {
				t.Fatal(err)
			}
			got := kustomized(t, document)
			if !reflect.DeepEqual(got["spec"], o.Object["spec"]) || !reflect.DeepEqual(got["data"], o.Object["data"]) {
				t.Errorf("%s: kustomize made of the %s:\n%v", g.name, o.GetKind(), got)
			}
		}
	}
}

func FuzzKustomizeCarriesTheObjects(f *testing.F) {
	for _, text := range texts() {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) { checkCarried(t, text) })
}

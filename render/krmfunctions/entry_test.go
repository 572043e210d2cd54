// SPDX-License-Identifier: Apache-2.0

package krmfunctions_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/winnow-dev/winnow/render/krmfunctions"
)

const entryHead = "apiVersion: config.kubernetes.io/v1alpha1\nkind: Catalog\nmetadata: {name: a}\nspec:\n  krmFunctions:\n"

// Each case marks with <- and -> the lines that go with the version v2.
const commented = `  # about it

  - group: e.com # the group
    names: {kind: A}
    description: |
      - no element

      # no comment
    versions:
    # the first
    - name: v1
      runtime:
        exec: {platforms: [{bin: a}]}
<-    # the second
    -
      name: v2
      runtime: &r
        container: {image: a}

      usage: "a
        b"
->    - name: v3
      runtime: {container: {image: a}}
    home: x
`

func loadEntries(t *testing.T, text string) []*krmfunctions.Function {
	t.Helper()
	loaded, err := krmfunctions.LoadFile(t.Context(), fstest.MapFS{"c.yaml": {Data: []byte(text)}}, "c.yaml")
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return loaded.Functions
}

func without(version string) func(string) bool {
	return func(name string) bool { return name != version }
}

func TestEntriesKeepTheirBytes(t *testing.T) {
	before, rest, _ := strings.Cut(commented, "<-")
	cut, after, _ := strings.Cut(rest, "->")
	whole := before + cut + after
	for name, text := range map[string]string{
		"alone":             entryHead + whole,
		"between others":    entryHead + "  - {group: e.com, kind: B, versions: [{name: v1}], runtime: {starlark: a}}\n" + whole + "# none of it\n  - {group: e.com, kind: C, versions: [{name: v1}], runtime: {starlark: a}}\n",
		"at another margin": entryHead + strings.ReplaceAll("\n"+whole, "\n", "\n    ") + "\n",
	} {
		functions := loadEntries(t, text)
		i := slices.IndexFunc(functions, func(f *krmfunctions.Function) bool { return f.Kind == "A" })
		want := strings.Replace(whole, "  # about it\n\n", "", 1) // a blank line is between
		if got := string(functions[i].Entry); got != want {
			t.Errorf("%s: the entry is\n%s\nwant\n%s", name, got, want)
		}
	}
	kept, err := loadEntries(t, entryHead+whole)[0].Keep(without("v2"))
	if want := strings.TrimPrefix(before+after, "  # about it\n\n"); err != nil || string(kept.Entry) != want || len(kept.Versions) != 2 {
		t.Errorf("Keep() = %v\n%s\nwant\n%s", err, kept.Entry, want)
	}
	if _, err := kept.Keep(func(string) bool { return false }); err == nil {
		t.Error("a function without versions")
	}
}

// Whatever the style is, an entry is a catalog below Head, of the same content.
func TestEntriesAreThoseOfACatalog(t *testing.T) {
	for name, text := range map[string]string{
		"in braces":               "{apiVersion: config.kubernetes.io/v1alpha1, kind: Catalog, spec: {krmFunctions: [{group: e.com, kind: A, versions: [{name: v1}, {name: v2}], runtime: {starlark: a}}]}}",
		"an alias":                "x: &a {group: e.com, kind: A, versions: [{name: v1}, {name: v2}], runtime: {starlark: a}}\n" + entryHead + "  - *a\n",
		"an anchor above":         "x: &r {starlark: a}\n" + entryHead + "  - {group: e.com, kind: A, versions: [{name: v1, runtime: *r}, {name: v2, runtime: *r}]}\n",
		"an anchor that goes":     entryHead + "  - group: e.com\n    kind: A\n    versions:\n    - name: v1\n      runtime: &r {starlark: a}\n    - name: v2\n      runtime: *r\n",
		"a merge":                 entryHead + "  - group: e.com\n    <<: {kind: A, versions: [{name: v1}, {name: v2}]}\n    runtime: {starlark: a}\n",
		"a version twice":         entryHead + "  - group: e.com\n    kind: A\n    runtime: {starlark: a}\n    versions:\n    - name: v1\n    - name: v2\n    - name: v1\n      license: x\n",
		"line ends of Windows":    strings.ReplaceAll(entryHead+"  - group: e.com\n    kind: A\n    runtime: {starlark: a}\n    versions:\n    - name: v1\n    - name: v2\n", "\n", "\r\n"),
		"no line end":             entryHead + "  - group: e.com\n    kind: A\n    runtime: {starlark: a}\n    versions:\n    - name: v1\n    - name: v2",
		"a text that keeps lines": entryHead + "  - group: e.com\n    kind: A\n    runtime: {starlark: a}\n    versions:\n    - name: v1\n    - name: v2\n      usage: |+\n        a\n\n\n",
		"dashes at the margin":    "apiVersion: config.kubernetes.io/v1alpha1\nkind: Catalog\nspec:\n    krmFunctions:\n    -\n        group: e.com\n        kind: A\n        runtime: {starlark: a}\n        versions:\n        -   name: v1\n        -   name: v2\n",
	} {
		f := loadEntries(t, text)[0]
		plain, err := f.Plain()
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		again := loadEntries(t, krmfunctions.Head+string(f.Entry)+string(f.Entry))[0]
		if same, err := again.Plain(); err != nil || !reflect.DeepEqual(same, plain) || string(again.Entry) != string(f.Entry) {
			t.Errorf("%s: %v, %v is not %v:\n%s", name, err, same, plain, f.Entry)
		}
		kept, err := f.Keep(without("v1"))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		left := loadEntries(t, krmfunctions.Head+string(kept.Entry))[0]
		if len(left.Versions) != 1 || left.Versions[0].Name != "v2" || left.Versions[0].Runtime.Starlark == nil {
			t.Errorf("%s: left is\n%s", name, kept.Entry)
		}
	}
}

// A definition becomes an entry with its own lines.
func TestTheSpecOfADefinitionKeepsItsBytes(t *testing.T) {
	const head = "apiVersion: config.kubernetes.io/v1alpha1\nkind: KRMFunctionDefinition\n"
	for name, test := range map[string]struct{ text, want string }{
		"in block style": {"spec:\n  group: e.com # the group\n  names: {kind: A}\n\n  # the versions\n  versions:\n  - name: v1\n  runtime: {starlark: a}\n# end\n",
			"  - group: e.com # the group\n    names: {kind: A}\n\n    # the versions\n    versions:\n    - name: v1\n    runtime: {starlark: a}\n"},
		"deeper": {"spec:\n        group: e.com\n        kind: A\n        versions:\n        - name: v1\n        runtime: {starlark: a}\nmetadata: {name: a}\n",
			"  - group: e.com\n    kind: A\n    versions:\n    - name: v1\n    runtime: {starlark: a}\n"},
		"by one space": {"spec:\n group: e.com\n kind: A\n versions:\n - name: v1\n runtime: {starlark: a}",
			"  - group: e.com\n    kind: A\n    versions:\n    - name: v1\n    runtime: {starlark: a}\n"},
		"in braces": {"spec: {group: e.com, kind: A, versions: [{name: v1}], runtime: {starlark: a}}\n",
			"  - {group: e.com, kind: A, versions: [{name: v1}], runtime: {starlark: a}}\n"},
	} {
		f := loadEntries(t, head+test.text)[0]
		if string(f.Entry) != test.want {
			t.Errorf("%s: the entry is\n%s\nwant\n%s", name, f.Entry, test.want)
		}
		if again := loadEntries(t, krmfunctions.Head+string(f.Entry))[0]; string(again.Entry) != string(f.Entry) {
			t.Errorf("%s: again it is\n%s", name, again.Entry)
		}
	}
}

// SPDX-License-Identifier: Apache-2.0

package krmfunctions_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/winnow-dev/winnow/render/finding"
	"github.com/winnow-dev/winnow/render/krmfunctions"
)

var hash = strings.Repeat("0a", 32)

// complete describes a function in all fields, with the lines of a runtime.
func complete(runtime string) string {
	return `apiVersion: config.kubernetes.io/v1alpha1
kind: Catalog
metadata: {name: functions}
spec:
  krmFunctions:
  - group: example.com
    names: {kind: SetLogger}
    description: adds a logger
    publisher: example.com
    versions:
    - name: v1
      schema: {openAPIV3Schema: {type: object}}
      idempotent: true
      usage: https://example.com/README.md
      examples: [https://example.com/example.md]
      license: MIT
      runtime: ` + runtime + "\n"
}

func load(t *testing.T, files map[string]string) (*krmfunctions.Catalog, []string) {
	t.Helper()
	fsys := fstest.MapFS{}
	for name, content := range files {
		fsys[name] = &fstest.MapFile{Data: []byte(content)}
	}
	c, err := krmfunctions.Load(t.Context(), fsys)
	var invalid *krmfunctions.InvalidError
	switch {
	case errors.As(err, &invalid):
		return nil, lines(invalid.Kept)
	case err != nil:
		t.Fatal(err)
	case len(c.Violations.Kept) > 0:
		return c, lines(c.Violations.Kept)
	}
	return c, nil
}

func lines(findings []finding.Finding) (text []string) {
	for _, one := range findings {
		text = append(text, one.String())
	}
	return text
}

const image = "{container: {image: example/logger:v1}}"

func TestErrorsOfACatalog(t *testing.T) {
	replaced := func(old, by string) string {
		whole := complete(image)
		if !strings.Contains(whole, old) {
			t.Fatalf("no %q", old)
		}
		return strings.Replace(whole, old, by, 1)
	}
	for name, test := range map[string]struct{ content, want string }{
		"no group":                   {replaced("group: example.com", "group:"), `c.yaml:6: the function has no group`},
		"a group of another type":    {replaced("group: example.com", "group: 1"), `c.yaml:6: group must be a string, not a number`},
		"a group that no config has": {replaced("group: example.com", "group: Example Co"), `c.yaml:6: group "Example Co" is not valid in a config`},
		"no kind":                    {replaced("    names: {kind: SetLogger}\n", ""), `c.yaml:6: the function has no kind`},
		"no kind in names":           {replaced("{kind: SetLogger}", "{}"), `c.yaml:7: the function in names has no kind`},
		"two kinds":                  {replaced("names: {kind: SetLogger}", "names: {kind: SetLogger}\n    kind: Other"), `c.yaml:8: kind is "Other", and names.kind is "SetLogger"`},
		"two functions that differ in case": {complete(image) + "  - {group: example.com, kind: Setlogger, versions: [{name: v1}], runtime: " + image + "}\n",
			`c.yaml:18: the function "Setlogger.example.com" differs only in case from "SetLogger.example.com" of c.yaml:6`},
		"no versions":                    {replaced("versions:", "tags:"), `c.yaml:6: the function SetLogger has no versions`},
		"an empty list of versions":      {"apiVersion: config.kubernetes.io/v1alpha1\nkind: Catalog\nspec:\n  krmFunctions:\n  - {group: a.b, kind: C, versions: []}\n", `c.yaml:5: the function C has no versions`},
		"no name of a version":           {replaced("- name: v1\n      schema", "- schema"), `c.yaml:11: a version of the function SetLogger has no name`},
		"no runtime":                     {replaced("      runtime: "+image, ""), `c.yaml:11: version v1 of the function SetLogger has no runtime, nor has the function`},
		"a misspelt list of functions":   {replaced("krmFunctions:", "krmFunction:"), `c.yaml:4: spec.krmFunctions is missing; the field "krmFunction" is not known: did you mean krmFunctions?`},
		"a misspelt spec":                {replaced("spec:", "specs:"), `c.yaml:1: spec is missing; the field "specs" is not known: did you mean spec?`},
		"a misspelt group":               {replaced("group:", "groups:"), `c.yaml:6: the function has no group; the field "groups" is not known: did you mean group?`},
		"misspelt versions":              {replaced("versions:", "version:"), `c.yaml:6: the function SetLogger has no versions; the field "version" is not known: did you mean versions?`},
		"a misspelt runtime":             {replaced("runtime:", "runtme:"), `c.yaml:11: version v1 of the function SetLogger has no runtime, nor has the function; the field "runtme" is not known: did you mean runtime?`},
		"a misspelt runtime of all":      {replaced("      runtime:", "    runtimes:"), `c.yaml:11: version v1 of the function SetLogger has no runtime, nor has the function; the field "runtimes" is not known: did you mean runtime?`},
		"a misspelt container":           {complete("{contaner: {image: a}}"), `c.yaml:17: the runtime of version v1 of the function SetLogger has none of container, exec and starlark; the field "contaner" is not known: did you mean container?`},
		"a misspelt image":               {complete("{container: {imgae: a}}"), `c.yaml:17: the runtime of version v1 of the function SetLogger has no container.image; the field "imgae" is not known: did you mean image?`},
		"misspelt platforms":             {complete("{exec: {plattforms: []}}"), `c.yaml:17: exec has no platforms; the field "plattforms" is not known: did you mean platforms?`},
		"no object":                      {"resources: []\n", `c.yaml:1: has neither apiVersion nor kind: expected Catalog, KRMFunctionCatalog or KRMFunctionDefinition of config.kubernetes.io/v1alpha1`},
		"an empty runtime":               {complete("{}"), `c.yaml:17: the runtime of version v1 of the function SetLogger has none of container, exec and starlark`},
		"a runtime that is null":         {complete("null"), `c.yaml:17: the runtime of version v1 of the function SetLogger is empty`},
		"no image":                       {complete("{container: {}}"), `c.yaml:17: the runtime of version v1 of the function SetLogger has no container.image`},
		"an image with spaces":           {complete("{container: {image: a b}}"), `c.yaml:17: image "a b" is no reference to an image`},
		"an image that is a flag":        {complete("{container: {image: --privileged}}"), `c.yaml:17: image "--privileged" is no reference to an image`},
		"a short digest":                 {complete("{container: {image: a, sha256: abc}}"), `c.yaml:17: sha256 "abc" is malformed: expected 64 hexadecimal digits in lower case`},
		"a digest of the KEP":            {complete("{container: {image: a, sha256: a428de...}}"), `c.yaml:17: sha256 "a428de..." is malformed: expected 64 hexadecimal digits in lower case`},
		"a digest in capitals":           {complete("{container: {image: a, sha256: " + strings.ToUpper(hash) + "}}"), `c.yaml:17: sha256 "` + strings.ToUpper(hash) + `" is malformed: expected 64 hexadecimal digits in lower case`},
		"a malformed digest of an image": {complete("{container: {image: 'a@sha256:1'}}"), `c.yaml:17: image "a@sha256:1" has a malformed digest: expected sha256: and 64 hexadecimal digits`},
		"two digests":                    {complete("{container: {image: 'a@sha256:" + hash + "', sha256: " + strings.Repeat("1b", 32) + "}}"), `c.yaml:17: the digest of the image "a" is another one than sha256`},
		"remote exec without a hash":     {complete("{exec: {platforms: [{bin: a, os: linux, arch: amd64, uri: 'https://e.com/a'}]}}"), `c.yaml:17: "https://e.com/a" is remote and has no sha256: its server decides what runs`},
		"remote exec with a null":        {complete("{exec: {platform: {bin: a, os: linux, arch: amd64, uri: 'git@e.com:a', sha256: }}}"), `c.yaml:17: "git@e.com:a" is remote and has no sha256: its server decides what runs`},
		"exec by a tag":                  {complete("{exec: {platforms: [{bin: a, os: linux, arch: amd64, uri: 'oci://e.com/a:v1'}]}}"), `c.yaml:17: "oci://e.com/a:v1" is remote and has no sha256: its server decides what runs`},
		"no platforms":                   {complete("{exec: {platforms: []}}"), `c.yaml:17: exec has no platforms`},
		"a platform without a program":   {complete("{exec: {platforms: [{os: linux, arch: amd64}]}}"), `c.yaml:17: a platform has neither uri nor bin`},
		"starlark without an address":    {complete("{starlark: ''}"), `c.yaml:17: starlark has no uri`},
		"a hash beside remote starlark":  {complete("{starlark: 'https://e.com/a:v1.0.0', sha256: x}"), `c.yaml:17: "https://e.com/a:v1.0.0" is remote and has no sha256: its server decides what runs; kustomize does not run Starlark any more: publish the function as an image`},
		"remote starlark":                {complete("{starlark: 'https://e.com/a:v1.0.0'}"), `c.yaml:17: "https://e.com/a:v1.0.0" is remote and has no sha256: its server decides what runs; kustomize does not run Starlark any more: publish the function as an image`},
		"another kind":                   {"apiVersion: v1\nkind: ConfigMap\n", `c.yaml:1: is "ConfigMap" of "v1": expected Catalog, KRMFunctionCatalog or KRMFunctionDefinition of config.kubernetes.io/v1alpha1`},
		"another version":                {replaced("/v1alpha1", "/v1"), `c.yaml:1: is "Catalog" of "config.kubernetes.io/v1": expected Catalog, KRMFunctionCatalog or KRMFunctionDefinition of config.kubernetes.io/v1alpha1`},
		"no spec":                        {"apiVersion: config.kubernetes.io/v1alpha1\nkind: Catalog\n", `c.yaml:1: spec is missing`},
		"no list":                        {"apiVersion: config.kubernetes.io/v1alpha1\nkind: Catalog\nspec:\n  krmFunctions: {}\n", `c.yaml:4: krmFunctions must be a list, not a mapping`},
		"no mapping":                     {"- a\n", `c.yaml:1: the document must be a mapping, not a list`},
		"no YAML":                        {"a: [\n", `c.yaml:1: is not valid YAML: did not find expected node content`},
		"a key twice":                    {replaced("publisher: example.com", "publisher: a\n    publisher: b"), `c.yaml:10: has the key "publisher" twice, first in line 9`},
		"content without a meaning":      {replaced("publisher: example.com", "publisher: example.com\n    logo: !!binary aGk="), `c.yaml:6: the function SetLogger.example.com: the tag "!!binary" has no meaning here`},
		"an alias to itself":             {"a: &a [*a]\n", `c.yaml:1: has an alias that refers to itself: "*a"`},
		"a bomb":                         {"a: &a [x,x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: [*d,*d,*d,*d,*d,*d,*d,*d,*d,*d]\n", `c.yaml:5: has aliases that expand to more than 100000 nodes`},
		"a deep document":                {strings.Repeat("[", 200) + strings.Repeat("]", 200), `c.yaml:1: is nested deeper than 100 levels`},
		"a large file":                   {"# " + strings.Repeat("x", 1<<20), `c.yaml: is larger than 1048576 bytes`},
		"no text":                        {"\xff", `c.yaml: must be UTF-8`},
		"nothing":                        {"", `.: holds no catalog of functions: expected YAML with the kind Catalog, KRMFunctionCatalog or KRMFunctionDefinition of config.kubernetes.io/v1alpha1`},
	} {
		_, found := load(t, map[string]string{"c.yaml": test.content})
		if !slices.Contains(found, test.want) {
			t.Errorf("%s:\n got %q\nwant %q", name, found, test.want)
		}
	}
}

func TestWhatOnlyPeopleMissIsAWarning(t *testing.T) {
	c, found := load(t, map[string]string{"c.yaml": complete("{container: {image: 'a@sha256:" + hash + "'}}")})
	if len(found) > 0 || len(c.Warnings.Kept) > 0 || c.Strict() != nil {
		t.Fatalf("of a complete catalog: %v, %v", found, c)
	}
	minimal := "apiVersion: config.kubernetes.io/v1alpha1\nkind: Catalog\nspec:\n  krmFunctions:\n  - group: example.com\n    kind: A\n" +
		"    versions:\n    - {name: v1, usages: a}\n    runtime: {container: {image: a, requireNetworks: true}}\n"
	c, found = load(t, map[string]string{"c.yaml": minimal})
	if len(found) > 0 {
		t.Fatal(found)
	}
	want := []string{
		"c.yaml:1: metadata.name is missing",
		"c.yaml:5: the function A does not have description, publisher",
		`c.yaml:9: container has the field "requireNetworks", which is not known; did you mean requireNetwork?`,
		`c.yaml:9: image "a" has no digest, in sha256 or behind @: what runs can change`,
		`c.yaml:8: a version of the function A has the field "usages", which is not known; did you mean usage?`,
		"c.yaml:8: version v1 of the function A does not have schema.openAPIV3Schema, idempotent, usage, examples, license",
	}
	if got := lines(c.Warnings.Kept); !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
	var strict *krmfunctions.InvalidError
	if !errors.As(c.Strict(), &strict) || !slices.Equal(lines(strict.Kept), want) {
		t.Errorf("strictly, they are errors: %v", strict)
	}
}

func TestSpellingsOfTheKEP(t *testing.T) {
	c, found := load(t, map[string]string{"c.yaml": `apiVersion: config.kubernetes.io/v1alpha1
kind: KRMFunctionCatalog
metadata: {name: functions}
spec:
  krmFunctions:
  - group: example.com
    names: {kind: A}
    versions: [{name: v1}]
    runtime: {container: {image: a, requireNetwork: true, requireFilesystem: true}}
  - group: example.com
    kind: B
    versions:
    - name: v1
      runtime: {container: {image: own, requireStorageMount: true}}
    - name: v1beta1
    runtime: {container: {image: shared}}
  - group: example.com
    kind: C
    versions: [{name: v1, license: Apache 2.0}]
    runtime:
      exec:
        platform: [{bin: c, os: linux, arch: amd64, uri: https://example.com/c, sha256: ` + hash + `}]
  - group: example.com
    kind: D
    versions: [{name: v1}]
    runtime: {exec: {platforms: {bin: d, os: linux, arch: amd64}}}
  - group: example.com
    kind: E
    versions: [{name: v1}]
    runtime: {starlark: 'oci://example.com/e@sha256:` + hash + `'}
`})
	if len(found) > 0 {
		t.Fatal(found)
	}
	runtime := func(version, kind string) *krmfunctions.Runtime {
		_, v := c.Find("example.com", version, kind)
		if v == nil {
			t.Fatalf("no %s %s", version, kind)
		}
		return v.Runtime
	}
	a := runtime("v1", "A").Container
	if !a.Network || !a.Storage {
		t.Errorf("A needs the network and a mount: %+v", a)
	}
	if own := runtime("v1", "B").Container; own.Image != "own" || own.Network || !own.Storage {
		t.Errorf("the version's runtime wins: %+v", own)
	}
	if shared := runtime("v1beta1", "B").Container; shared.Image != "shared" || shared.Storage {
		t.Errorf("the function's runtime is that of other versions: %+v", shared)
	}
	for kind, want := range map[string]krmfunctions.Platform{
		"C": {Line: 22, Bin: "c", OS: "linux", Arch: "amd64", URI: "https://example.com/c", SHA256: hash},
		"D": {Line: 26, Bin: "d", OS: "linux", Arch: "amd64", URI: "d"},
	} {
		if got := runtime("v1", kind).Exec.Platforms; len(got) != 1 || got[0] != want {
			t.Errorf("%s: %+v", kind, got)
		}
	}
	if got := runtime("v1", "E").Starlark; got.SHA256 != hash {
		t.Errorf("a digest in the address is the hash: %+v", got)
	}
}

func TestOfTwoTheFirstWins(t *testing.T) {
	entry := func(image string) string {
		return "  - {group: example.com, kind: A, versions: [{name: v1}], runtime: {container: {image: " + image + "}}}\n"
	}
	head := "apiVersion: config.kubernetes.io/v1alpha1\nkind: Catalog\nmetadata: {name: a}\nspec:\n  krmFunctions:\n"
	c, found := load(t, map[string]string{
		"b.yaml": head + entry("third"), "a.yaml": head + entry("first") + entry("second"), ".hidden.yaml": "a: b", "README.md": "# no",
	})
	if len(found) > 0 || len(c.Functions) != 1 || c.Functions[0].Versions[0].Runtime.Container.Image != "first" {
		t.Fatalf("%v %+v", found, c)
	}
	told := lines(c.Warnings.Kept)
	for _, want := range []string{
		"a.yaml:7: has the function A.example.com again, which is not used: the first one is in a.yaml:6",
		"b.yaml:6: has the function A.example.com again, which is not used: the first one is in a.yaml:6",
	} {
		if !slices.Contains(told, want) {
			t.Errorf("no %q in %q", want, told)
		}
	}
	c, _ = load(t, map[string]string{"a.yaml": head + "  - {group: a.b, kind: A, versions: [{name: v1, runtime: {container: {image: x}}}, {name: v1}], runtime: {container: {image: y}}}\n"})
	if v := c.Functions[0].Versions; len(v) != 1 || v[0].Runtime.Container.Image != "x" {
		t.Errorf("versions: %+v", v)
	}
}

// A definition is a catalog of one function.
func TestDefinitionOfAFunction(t *testing.T) {
	definition := "apiVersion: config.kubernetes.io/v1alpha1\nkind: KRMFunctionDefinition\nspec:\n" +
		strings.ReplaceAll(strings.SplitAfterN(complete(image), "\n", 6)[5], "\n    ", "\n  ")
	definition = strings.Replace(definition, "  - group", "  group", 1)
	c, found := load(t, map[string]string{"a.yaml": definition, "b.yaml": strings.ReplaceAll(complete(image), "SetLogger", "Other")})
	if len(found) > 0 || len(c.Functions) != 2 {
		t.Fatalf("%v %v", found, c.Functions)
	}
	f, v := c.Find("example.com", "v1", "SetLogger")
	if v == nil || f.Path != "a.yaml" || f.Line != 4 || f.Publisher != "example.com" {
		t.Fatalf("%+v %+v", f, v)
	}
	again, found := load(t, map[string]string{"c.yaml": krmfunctions.Head + string(f.Entry)})
	if len(found) > 0 || again.Functions[0].Name() != f.Name() {
		t.Errorf("as an entry: %v\n%s", found, f.Entry)
	}
	_, found = load(t, map[string]string{"a.yaml": strings.Replace(definition, "group: example.com", "group: a b", 1)})
	if want := []string{`a.yaml:4: group "a b" is not valid in a config`}; !slices.Equal(found, want) {
		t.Errorf("got %q", found)
	}
}

// What is wrong with a function does not keep the others from being used. Its name stays its own.
func TestAFunctionThatIsInvalidStandsAlone(t *testing.T) {
	entry := func(kind, runtime string) string {
		return "  - {group: e.com, kind: " + kind + ", versions: [{name: v1}], runtime: {" + runtime + "}}\n"
	}
	const good, bad = "container: {image: a}", "container: {image: a, sha256: x}"
	c, found := load(t, map[string]string{"a.yaml": entryHead + entry("A", good) + entry("B", bad) + entry("B", good) + entry("C", good) + entry("c", good) +
		entry("D!", good) + entry("A", bad), "b.yaml": entryHead + entry("D", good)})
	want := []string{
		`a.yaml:7: sha256 "x" is malformed: expected 64 hexadecimal digits in lower case`,
		`a.yaml:10: the function "c.e.com" differs only in case from "C.e.com" of a.yaml:9`,
		`a.yaml:11: kind "D!" is not valid in a config`,
		`a.yaml:12: sha256 "x" is malformed: expected 64 hexadecimal digits in lower case`,
	}
	if !slices.Equal(found, want) {
		t.Errorf("violations: %q", found)
	}
	if err := c.Valid(); !errors.As(err, new(*krmfunctions.InvalidError)) {
		t.Errorf("Valid() = %v", err)
	}
	for kind, valid := range map[string]bool{"A": true, "B": false, "C": true, "c": false, "D": true} {
		if f, _ := c.Find("e.com", "v1", kind); (f != nil) != valid || (c.Invalid(kind+".e.com") == nil) != valid {
			t.Errorf("%s: %v %v", kind, f, c.Invalid(kind+".e.com"))
		}
	}
}

// The examples of the KEP are valid catalogs, with a document each.
func TestSeveralCatalogsInAFile(t *testing.T) {
	one := complete(image)
	c, found := load(t, map[string]string{"dir/c.yml": one + "---\n" + strings.ReplaceAll(one, "SetLogger", "Other")})
	if len(found) > 0 || len(c.Functions) != 2 || c.Functions[1].Name() != "Other.example.com" || c.Functions[1].Line != 24 {
		t.Fatalf("%v %+v", found, c)
	}
	if got := c.Named("Other"); len(got) != 1 || got[0].Path != "dir/c.yml" {
		t.Errorf("by its kind: %v", got)
	}
}

func FuzzLoad(f *testing.F) {
	f.Add(complete(image))
	f.Add(complete("{exec: {platform: {bin: a, uri: b}}}"))
	f.Add("a: &a [*a]\n")
	f.Add("apiVersion: config.kubernetes.io/v1alpha1\nkind: KRMFunctionDefinition\nspec:\n  group: a\n  kind: A\n  versions: [{name: v1}]\n  runtime: {starlark: a}\n")
	f.Fuzz(func(t *testing.T, content string) {
		c, err := krmfunctions.Load(t.Context(), fstest.MapFS{"c.yaml": {Data: []byte(content)}})
		if err != nil {
			return
		}
		for _, function := range c.Functions {
			for _, v := range function.Versions {
				if found, version := c.Find(function.Group, v.Name, function.Kind); found != function || version != v || v.Runtime == nil {
					t.Errorf("%s %s is not found", function.Name(), v.Name)
				}
			}
		}
	})
}

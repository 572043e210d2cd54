// SPDX-License-Identifier: Apache-2.0

package filebased

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/winnow-dev/winnow/render/catalog/filebased/jsontext"
)

// facts returns what a package has besides its graph, a line each.
func facts(one *Package) string {
	var text strings.Builder
	line := func(what string, isSet bool, value any) {
		if isSet {
			fmt.Fprintf(&text, "%s: %v\n", what, value)
		}
	}
	line("deprecated", one.Deprecated != "", one.Deprecated)
	for _, channel := range one.Channels {
		line(channel.Name+" deprecated", channel.Deprecated != "", channel.Deprecated)
	}
	for _, bundle := range one.Bundles {
		line(bundle.Name+" deprecated", bundle.Deprecated != "", bundle.Deprecated)
		line(bundle.Name+" provides", bundle.Provides != nil, bundle.Provides)
		line(bundle.Name+" requires", bundle.Dependencies != nil, bundle.Dependencies)
		line(bundle.Name+" supports", bundle.InstallModes != nil, bundle.InstallModes)
	}
	return text.String()
}

// bundleOf loads a catalog with one bundle that has properties, and returns it, or what is wrong.
func bundleOf(t *testing.T, properties ...string) (*Bundle, error) {
	t.Helper()
	text := "schema: olm.package\nname: p\ndefaultChannel: c\n---\nschema: olm.channel\npackage: p\nname: c\nentries: [{name: p.v1}]\n" +
		"---\nschema: olm.bundle\npackage: p\nname: p.v1\nimage: x\nproperties:\n- {type: olm.package, value: {packageName: p, version: 1.0.0}}\n"
	for _, property := range properties {
		text += "- " + property + "\n"
	}
	loaded, err := Load(t.Context(), fstest.MapFS{"p.yaml": {Data: []byte(text)}})
	if err != nil {
		return nil, err
	}
	return loaded.Packages[0].Bundles[0], nil
}

// manifest returns the property of a manifest.
func manifest(text string) string {
	return "{type: olm.bundle.object, value: {data: " + base64.StdEncoding.EncodeToString([]byte(text)) + "}}"
}

func TestFactsOfABundle(t *testing.T) {
	const csv = `{"kind": "ClusterServiceVersion", "spec": {"installModes": [{"type": "OwnNamespace", "supported": true}]}}`
	for _, test := range []struct {
		name       string
		properties []string
		want       string
	}{
		{
			"APIs are sorted, each once", []string{
				"{type: olm.gvk, value: {group: b, version: v1, kind: B}}", "{type: olm.gvk, value: {group: b, version: v1, kind: A}}",
				"{type: olm.gvk, value: {group: a, version: v2, kind: A}}", "{type: olm.gvk, value: {group: b, version: v1, kind: B}}",
			},
			"provides: [a/v2, Kind=A b/v1, Kind=A b/v1, Kind=B]\n",
		},
		{"an API of no group", []string{"{type: olm.gvk, value: {version: v1, kind: Pod}}"}, "provides: [/v1, Kind=Pod]\n"},
		{"letters of keys in another case", []string{"{type: olm.gvk, value: {GROUP: a, Version: v1, kinD: A}}"}, "provides: [a/v1, Kind=A]\n"},
		{"APIs that name none are left out", []string{
			"{type: olm.gvk, value: {group: a, kind: A}}", "{type: olm.gvk, value: {group: a, version: null, kind: A}}", "{type: olm.gvk, value: {version: v1}}", "{type: olm.gvk, value: null}",
		}, ""},
		{
			"dependencies in the order of the properties", []string{
				"{type: olm.package.required, value: {packageName: q, versionRange: '>=1.0.0'}}", "{type: olm.package.required, value: {packageName: q}}",
				"{type: olm.gvk.required, value: {group: a, version: v1, kind: A}}",
			},
			"requires: [the package q >=1.0.0 the package q the API a/v1, Kind=A]\n",
		},
		{"a dependency that names nothing is one", []string{"{type: olm.package.required, value: null}"}, "requires: [the package ]\n"},
		{
			"constraints", []string{
				"{type: olm.constraint, value: {failureMessage: a database is missing, package: {packageName: q, versionRange: '>=1.0.0'}}}",
				"{type: olm.constraint, value: {failureMessage: a database is missing, all: {constraints: [{}, {}]}}}",
				"{type: olm.constraint, value: {all: {constraints: [{}, {}]}}}", "{type: olm.constraint, value: {any: {constraints: [{}]}}}", "{type: olm.constraint, value: {not: {}}}",
				"{type: olm.constraint, value: {cel: {rule: 'a < b'}}}", "{type: olm.constraint, value: {gvk: {group: a, version: v1, kind: A}}}",
			},
			`requires: [the package q >=1.0.0 a database is missing all of 2 constraints one of 1 constraints none of 0 constraints ` +
				`the CEL rule "a < b" the API a/v1, Kind=A]` + "\n",
		},
		{
			"constraints that cannot be read, which OLM's tools accept", []string{
				"{type: olm.constraint, value: 5}", "{type: olm.constraint, value: null}", "{type: olm.constraint, value: {failureMessage: 5}}", "{type: olm.constraint, value: {all: 5}}",
				"{type: olm.constraint, value: {package: {packageName: q}, gvk: {kind: A}}}",
			},
			"requires: [" + strings.TrimSpace(strings.Repeat("a constraint that cannot be read ", 5)) + "]\n",
		},
		{
			"install modes are sorted, those that OLM knows", []string{
				"{type: olm.csv.metadata, value: {installModes: [{type: SingleNamespace, supported: true}, {type: OwnNamespace, supported: true}, {type: OwnNamespace, supported: true}, " +
					"{type: AllNamespaces, supported: false}, {type: Other, supported: true}]}}",
			}, "supports: [OwnNamespace SingleNamespace]\n",
		},
		{"no install mode is supported", []string{"{type: olm.csv.metadata, value: {installModes: [{type: OwnNamespace}]}}"}, "supports: []\n"},
		{"install modes that are not listed are not known", []string{"{type: olm.csv.metadata, value: {installModes: []}}"}, ""},
		{"install modes of null are not known", []string{"{type: olm.csv.metadata, value: {installModes: null}}"}, ""},
		{"metadata of null", []string{"{type: olm.csv.metadata, value: null}"}, ""},
		{"install modes of a manifest in JSON", []string{manifest("\n " + csv)}, "supports: [OwnNamespace]\n"},
		{"install modes of a manifest in YAML", []string{manifest("kind: ClusterServiceVersion\nspec:\n  installModes:\n  - {type: AllNamespaces, supported: true}\n")}, "supports: [AllNamespaces]\n"},
		{"metadata are worth more than a manifest", []string{manifest(csv), "{type: olm.csv.metadata, value: {}}"}, ""},
		{"manifests that tell nothing, which OLM's tools accept", []string{
			manifest(`{"kind": "ClusterServiceVersion"}`), manifest(`{"kind": "ClusterServiceVersion", "spec": 5}`), manifest(`{"kind": ["ClusterServiceVersion"], "spec": {}}`),
			manifest(`{"kind": "ClusterServiceVersion", "spec": {"installModes": {}}}`), manifest(`{"kind": "ClusterServiceVersion", "spec": {"installModes": [5]}}`),
			manifest(`{"kind": "ClusterServiceVersion", "spec": `), manifest(`ClusterServiceVersion`), manifest(`{"x": "ClusterServiceVersion", "spec": {"installModes": [{"type": "OwnNamespace", "supported": true}]}}`),
			manifest(`{"kind": "ClusterServiceVersion", "spec": {"a":` + strings.Repeat("[", 2*jsontext.MaxDepth) + strings.Repeat("]", 2*jsontext.MaxDepth) + `}}`),
		}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			bundle, err := bundleOf(t, test.properties...)
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.ReplaceAll(facts(&Package{Bundles: []*Bundle{bundle}}), "p.v1 ", ""); got != test.want {
				t.Errorf("got:\n%swant:\n%s", got, test.want)
			}
		})
	}
}

// A bundle may have so many APIs that its document has hardly more values than a document may have.
func TestCostOfABundleWithManyAPIs(t *testing.T) {
	for _, test := range []struct {
		name       string
		apis, want int
		of         func(i int) int
	}{
		{"different ones", jsontext.MaxValues/5 - 10, jsontext.MaxValues/5 - 10, func(i int) int { return i }},
		{"the same", jsontext.MaxValues/5 - 10, 1, func(int) int { return 0 }},
		{"too many", jsontext.MaxValues / 5, -1, func(i int) int { return i }},
	} {
		t.Run(test.name, func(t *testing.T) {
			var text strings.Builder
			text.WriteString(`{"schema":"olm.package","name":"p","defaultChannel":"c"}{"schema":"olm.channel","package":"p","name":"c","entries":[{"name":"p.v1"}]}` +
				`{"schema":"olm.bundle","package":"p","name":"p.v1","image":"x","properties":[{"type":"olm.package","value":{"packageName":"p","version":"1.0.0"}}`)
			for i := range test.apis {
				fmt.Fprintf(&text, `,{"type":"olm.gvk","value":{"version":"v1","kind":"K%d"}}`, test.of(i))
			}
			text.WriteString("]}")
			loaded, err := Load(t.Context(), fstest.MapFS{"p.json": {Data: []byte(text.String())}})
			if (err != nil) != (test.want < 0) {
				t.Fatal(err)
			}
			if err != nil {
				return
			}
			if got := len(loaded.Packages[0].Bundles[0].Provides); got != test.want {
				t.Errorf("got %d", got)
			}
		})
	}
}

// Every bundle of the real catalogs has APIs and install modes, and every package says what it is.
func TestFactsOfRealCatalogs(t *testing.T) {
	all := catalogs(t)
	delete(all, "orchard")
	for name, catalog := range all {
		dependencies := 0
		for _, one := range catalog.Packages {
			if about := one.About(); about.DisplayName == "" || about.Description == "" || about.Provider == "" || len(about.Maintainers) == 0 {
				t.Errorf("%s says about itself %+v", one.Name, about)
			}
			for _, bundle := range one.Bundles {
				dependencies += len(bundle.Dependencies)
				if len(bundle.Provides) == 0 || bundle.InstallModes == nil {
					t.Errorf("%s provides %v, supports %v", bundle.Name, bundle.Provides, bundle.InstallModes)
				}
			}
		}
		if want := map[string]int{"fbc": 14}[name]; dependencies != want {
			t.Errorf("%s has %d dependencies", name, dependencies)
		}
	}
}

func TestProviders(t *testing.T) {
	fig := GVK{Group: "example.com", Version: "v1", Kind: "Fig"}
	version := func(text string, provides ...GVK) *Bundle {
		parsed, err := parseVersion(text)
		if err != nil {
			t.Fatal(err)
		}
		return &Bundle{Version: parsed, Provides: provides}
	}
	offer := NewOffer([]*Package{
		{Name: "pear", Bundles: []*Bundle{version("1.0.0", fig), version("2.0.0", fig)}},
		{Name: "fig", Bundles: []*Bundle{version("1.0.0", fig)}},
		{Name: "pear", Bundles: []*Bundle{version("3.0.0", fig)}}, // of another catalog
	})
	for name, c := range map[string]struct {
		on   Dependency
		want []string
	}{
		"an API":                        {Dependency{Type: GVKRequired, API: fig}, []string{"pear", "fig"}},
		"an API that nothing provides":  {Dependency{Type: GVKRequired, API: GVK{Version: "v1", Kind: "Fig"}}, nil},
		"a package":                     {Dependency{Type: PackageRequired, Package: "pear", VersionRange: ">=2.0.0 <3.0.0"}, []string{"pear"}},
		"a package of another version":  {Dependency{Type: PackageRequired, Package: "pear", VersionRange: ">3.0.0"}, nil},
		"a range that cannot be read":   {Dependency{Type: PackageRequired, Package: "pear", VersionRange: "?"}, nil},
		"a package that is not there":   {Dependency{Type: PackageRequired, Package: "kiwi"}, nil},
		"a constraint of several parts": {Dependency{Type: Constraint, Message: "all of 2 constraints"}, nil},
	} {
		if got := offer.Providers(c.on); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

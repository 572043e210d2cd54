// SPDX-License-Identifier: Apache-2.0

package bundle_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/winnow-dev/winnow/cmd/winnow/verbs/imports/bundle"
	"github.com/winnow-dev/winnow/render/catalog/violation"
)

const (
	annotations  = "metadata/annotations.yaml"
	dependencies = "metadata/dependencies.yaml"
	properties   = "metadata/properties.yaml"
	csv          = "manifests/heron.clusterserviceversion.yaml"
	crd          = "manifests/ponds.heron.example.com.yaml"
	config       = "manifests/heron-settings.configmap.yaml"
	other        = "manifests/other.yaml"
	prefix       = "operators.operatorframework.io.bundle."
)

// heron returns the bundle of the examples.
func heron(t *testing.T) fstest.MapFS {
	t.Helper()
	dir := "../../../../../examples/operators/bundles/heron-0.2.0"
	files := fstest.MapFS{}
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := os.ReadFile(filepath.Join(dir, name))
		files[name] = &fstest.MapFile{Data: data}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestReadReturnsWhatTheBundleHas(t *testing.T) {
	b, err := bundle.Read(heron(t))
	if err != nil {
		t.Fatal(err)
	}
	var objects []string
	for _, one := range b.Objects {
		objects = append(objects, one.Kind+"/"+one.Name)
	}
	if want := []string{"ConfigMap/heron-settings", "ClusterServiceVersion/heron.v0.2.0", "CustomResourceDefinition/ponds.heron.example.com"}; !slices.Equal(objects, want) {
		t.Errorf("objects %q, want %q", objects, want)
	}
	if b.Package != "heron" || !slices.Equal(b.Channels, []string{"beta", "stable"}) || b.DefaultChannel != "stable" {
		t.Errorf("package %q, channels %q, default channel %q", b.Package, b.Channels, b.DefaultChannel)
	}
	if want := []bundle.API{{Group: "heron.example.com", Kind: "Pond", Version: "v1"}}; !slices.Equal(b.Provided, want) {
		t.Errorf("it provides %v, want %v", b.Provided, want)
	}
	if len(b.Dependencies) != 2 || b.CSV.Spec.Replaces != "heron.v0.1.0" {
		t.Errorf("dependencies %v, replaces %q", b.Dependencies, b.CSV.Spec.Replaces)
	}
}

func TestReadReportsViolations(t *testing.T) {
	for _, test := range []struct {
		name, file, old, new string
		want                 []string
	}{
		{"an annotation is missing", annotations, "  " + prefix + "package.v1: heron\n", "", []string{
			annotations + ":2: " + prefix + "package.v1 is missing",
		}},
		{"the package is no name", annotations, "package.v1: heron", "package.v1: ../heron", []string{
			annotations + `:5: ` + prefix + `package.v1: "../heron" is no name of a package: a lowercase RFC 1123 label must`,
		}},
		{"a path is another one", annotations, "manifests/", "other/", []string{annotations + `:3: ` + prefix + `manifests.v1 must be manifests/, not "other/"`}},
		{"a channel is a number", annotations, "beta,stable", "4.15", []string{annotations + ":6: " + prefix + "channels.v1 must be a string, not a number"}},
		{"the default channel is empty", annotations, "default.v1: stable", `default.v1: ""`, []string{annotations + ":7: " + prefix + "channel.default.v1 must not be empty"}},
		{"there are no annotations", annotations, "annotations:", "labels:", []string{annotations + ":1: annotations is missing"}},
		{"the annotations are not YAML", annotations, "annotations:", "annotations: [", []string{annotations + ":3: is not valid YAML: "}},
		{"the annotations are in another file", "metadata/more.yaml", "", "annotations: {}\n", []string{
			"metadata/more.yaml: has annotations, which OLM v1 reads only in metadata/annotations.yaml: move them there",
		}},
		{"a range is none", dependencies, `">=1.0.0"`, "latest", []string{
			dependencies + `:2: dependencies: olm.package: version "latest" is no range of versions, such as >=1.2.0 <2.0.0`,
		}},
		{"an API lacks its kind", dependencies, "    kind: Route\n", "", []string{
			dependencies + ":6: dependencies: olm.gvk: value must be a mapping with the strings group and version and kind, none of them empty",
		}},
		{"a dependency has another type", dependencies, "olm.gvk", "olm.crd", []string{
			dependencies + ":6: dependencies: olm.crd: is no type of a dependency: want olm.package, olm.gvk, olm.label or olm.constraint",
		}},
		{"a dependency has no value", dependencies, "  value:\n    packageName: beacon\n    version: \">=1.0.0\"\n", "", []string{dependencies + ":2: dependencies: value is missing"}},
		{"dependencies are no list", dependencies, "dependencies:\n", "dependencies: {}\nmore:\n", []string{dependencies + ":1: dependencies must be a list, not a mapping"}},
		{"a constraint has no rule", dependencies, "- type: olm.gvk\n  value:\n    group: courier.example.com\n    version: v1\n    kind: Route\n", "- type: olm.constraint\n  value: {cel: {}}\n", []string{
			dependencies + ":6: dependencies: olm.constraint: cel must have a rule",
		}},
		{"a constraint has two parts", dependencies, "- type: olm.gvk\n  value:\n    group: courier.example.com\n    version: v1\n    kind: Route\n", "- type: olm.constraint\n  value: {cel: {rule: a}, not: {}}\n", []string{
			dependencies + ":6: dependencies: olm.constraint: value must have one of cel, package, gvk, all, any and not",
		}},
		{"a property is that of the package", properties, "", "properties:\n- type: olm.package\n  value: {packageName: heron, version: 9.9.9}\n", []string{
			properties + ":2: properties: olm.package: the package and its version come from metadata/annotations.yaml and the ClusterServiceVersion: leave it out",
		}},
		{"a property of the operator is no JSON", csv, "capabilities: Basic Install", "olm.properties: nothing", []string{csv + ":6: olm.properties is no list of properties in JSON: "}},
		{"a kind is not supported", other, "", "apiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: a}\n", []string{other + `:2: kind "DaemonSet" is none that a bundle may have: ClusterRole, `}},
		{"a manifest has no name", config, "  name: heron-settings\n", "  labels: {}\n", []string{config + ":4: metadata.name is missing"}},
		{"a file has two manifests", config, "data:\n  interval: \"30s\"\n", "---\nkind: Secret\n", []string{config + ":6: must hold exactly one YAML document, but a second one starts here"}},
		{"a manifest is there twice", other, "", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: heron-settings}\n", []string{other + `:1: ConfigMap "heron-settings" is in ` + config + ", too"}},
		{"there are two versions", other, "", "apiVersion: operators.coreos.com/v1alpha1\nkind: ClusterServiceVersion\nmetadata: {name: b.v1}\nspec: {version: 1.0.0}\n", []string{
			other + ":1: is a second ClusterServiceVersion beside " + csv + ": a bundle is one version of an operator",
		}},
		{"a directory is in manifests", "manifests/more/a.yaml", "", "a: 1\n", []string{"manifests/more: is a directory: OLM v1 refuses it, and other tools do not read it: move the files up, or out of manifests"}},
		{"an owned definition is missing", csv, "name: ponds.heron.example.com", "name: lakes.heron.example.com", []string{
			csv + ":30: spec.customresourcedefinitions.owned: the bundle has no CustomResourceDefinition lakes.heron.example.com with the kind Pond in the version v1",
		}},
		{"an owned version is missing", crd, "- name: v1", "- name: v2", []string{
			csv + ":30: spec.customresourcedefinitions.owned: the bundle has no CustomResourceDefinition ponds.heron.example.com with the kind Pond in the version v1",
		}},
		{"the name of a definition is none", crd, "name: ponds.heron.example.com", "name: ponds", []string{
			crd + `:4: metadata.name must be spec.names.plural.spec.group, "ponds.heron.example.com"`,
		}},
		{"the version is none", csv, "version: 0.2.0", "version: v0.2", []string{csv + `:10: spec.version "v0.2" is no semantic version: `}},
		{"the version is a number", csv, "version: 0.2.0", "version: 0.2", []string{csv + ":10: spec.version must be a string, but is a number"}},
		{"the maintainers are a mapping", csv, "  maintainers:\n  - name", "  maintainers:\n    name", []string{csv + ":16: spec.maintainers must be a list, but is a mapping"}},
		{"the labels of a deployment are numbers", csv, "app: heron\n        spec", "app: 1\n        spec", []string{csv + ":53: spec.install.spec.deployments.label must be a string, but is a number"}},
		{"containers are a mapping", csv, "containers:\n              - name", "containers:\n                name", []string{
			csv + ":54: spec.install.spec.deployments: spec.template.spec.containers must be a list, but is a mapping",
		}},
		{"a container has no image", csv, "                image: registry.example.com/operators/heron:v0.2.0\n", "", []string{
			csv + `:54: spec.install.spec.deployments: the container "heron" has no image`,
		}},
		{"a schema has a number for a type", crd, "type: integer", "type: 1", []string{crd + ":13: spec.versions.schema.openAPIV3Schema.properties.properties.type must be a string, but is a number"}},
		{"the name is too long", csv, "name: heron.v0.2.0", "name: " + strings.Repeat("a", 64), []string{csv + ":4: metadata.name: must be no more than 63 bytes"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			files := heron(t)
			if files[test.file] == nil {
				files[test.file] = &fstest.MapFile{}
			}
			content := strings.Replace(string(files[test.file].Data), test.old, test.new, 1)
			if files[test.file] = (&fstest.MapFile{Data: []byte(content)}); content == "" {
				delete(files, test.file)
			}
			_, err := bundle.Read(files)
			var invalid *violation.InvalidError
			if errors.As(err, &invalid); err != nil && invalid == nil {
				t.Fatal(err)
			}
			var got []string
			for i := range violations(invalid) {
				got = append(got, invalid.Violations[i].String())
			}
			if !slices.EqualFunc(got, test.want, strings.HasPrefix) {
				t.Errorf("violations\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(test.want, "\n"))
			}
		})
	}
}

func violations(invalid *violation.InvalidError) []violation.Violation {
	if invalid == nil {
		return nil
	}
	return invalid.Violations
}

func TestReadIsBounded(t *testing.T) {
	large := heron(t)
	large[other] = &fstest.MapFile{Data: []byte("a: " + strings.Repeat("x", 5<<20))}
	many := heron(t)
	for _, letter := range "abcdefghijkl" {
		many["manifests/"+string(letter)+".yaml"] = &fstest.MapFile{Data: []byte("a: " + strings.Repeat("x", 3<<20))}
	}
	countless := heron(t)
	for i := range 1001 {
		countless["manifests/"+strings.Repeat("a", i%100+1)+strings.Repeat("b", i/100+1)+".yaml"] = &fstest.MapFile{}
	}
	link := heron(t)
	link[other] = &fstest.MapFile{Mode: fs.ModeSymlink, Data: []byte("/etc/passwd")}
	for want, files := range map[string]fs.FS{
		other + ": must be a regular file":                             link,
		other + ": is larger than 4194304 bytes":                       large,
		".: has more than 33554432 bytes in all files together":        many,
		"manifests: has more than 1000 files":                          countless,
		"manifests: is no directory: a bundle has manifests and metad": fstest.MapFS{annotations: {}},
	} {
		_, err := bundle.Read(files)
		var invalid *violation.InvalidError
		if !errors.As(err, &invalid) || !slices.ContainsFunc(invalid.Violations, func(v violation.Violation) bool { return strings.HasPrefix(v.String(), want) }) {
			t.Errorf("want %q: %v", want, err)
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, name := range []string{annotations, dependencies, csv, crd} {
		content, err := os.ReadFile(filepath.Join("../../../../../examples/operators/bundles/heron-0.2.0", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(name, content)
	}
	f.Add(csv, []byte("apiVersion: operators.coreos.com/v1alpha1\nkind: ClusterServiceVersion\nmetadata: {name: a}\nspec:\n  version: 1.0.0\n  CustomResourceDefinitions: {Owned: [null, {name: a.b}]}\n"))
	f.Fuzz(func(t *testing.T, name string, content []byte) {
		files := heron(t)
		if !fs.ValidPath(name) {
			return
		}
		files[name] = &fstest.MapFile{Data: content}
		var invalid *violation.InvalidError
		if b, err := bundle.Read(files); err == nil && (b.Package == "" || len(b.Channels) == 0 || b.CSV.Metadata.Name == "") {
			t.Errorf("a valid bundle lacks its names: %+v", b)
		} else if err != nil && !errors.As(err, &invalid) {
			t.Skip(err) // of the file system
		}
	})
}

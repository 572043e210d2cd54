// SPDX-License-Identifier: Apache-2.0

package backend_test

import (
	"bytes"
	"context"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/fstest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/backend"
	"github.com/winnow-dev/winnow/render/backend/draft"
	"github.com/winnow-dev/winnow/render/backends"
	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/catalog/filebased"
)

var update = flag.Bool("update", false, "write the golden files")

// settings is an instance as a file has it.
type settings struct {
	Backend            string                     `json:"backend"`
	Name               string                     `json:"name"`
	Namespace          string                     `json:"namespace"`
	Version            string                     `json:"version"`
	Values             object                     `json:"values"`
	Overrides          object                     `json:"overrides"`
	ValuesFrom         []v1alpha1.ValuesReference `json:"valuesFrom"`
	DependsOn          []string                   `json:"dependsOn"`
	TargetNamespace    string                     `json:"targetNamespace"`
	CreateNamespace    *bool                      `json:"createNamespace"`
	ReleaseName        string                     `json:"releaseName"`
	StorageNamespace   string                     `json:"storageNamespace"`
	ServiceAccountName string                     `json:"serviceAccountName"`
	Interval           metav1.Duration            `json:"interval"`
	Timeout            metav1.Duration            `json:"timeout"`
	Deploy             v1alpha1.Deploy            `json:"deploy"`
	Suspend            bool                       `json:"suspend"`
	DestroyResources   bool                       `json:"destroyResources"`
	Access             backend.Access             `json:"access"`
	Channels           []string                   `json:"channels"`
	Requested          string                     `json:"requested"`
	Catalog            v1alpha1.CatalogReference  `json:"catalog"`
	CreateGroup        *bool                      `json:"createOperatorGroup"`
}

// object is values with the types that the API server's decoder makes.
type object map[string]any

func (o *object) UnmarshalJSON(data []byte) error { return json.Unmarshal(data, (*map[string]any)(o)) }

func (s settings) instance(t testing.TB, definition []byte) backend.Instance {
	t.Helper()
	application := load(t, definition)
	spec, err := application.Spec()
	if err != nil {
		t.Fatal(err)
	}
	return s.of(application, spec)
}

// ofPackage returns an instance of the only package of a file-based catalog.
func (s settings) ofPackage(t testing.TB, document []byte) backend.Instance {
	t.Helper()
	loaded, err := filebased.Load(t.Context(), fstest.MapFS{"catalog.yaml": {Data: document}})
	if err != nil {
		t.Fatal(err)
	}
	p := loaded.Packages[0]
	instance := s.of(&catalog.Application{Name: p.Name, Kind: catalog.PackageKind}, nil)
	instance.Package = p
	i := slices.IndexFunc(p.Bundles, func(b *filebased.Bundle) bool { return b.Name == s.Version })
	if i < 0 {
		t.Fatalf("no bundle %q", s.Version)
	}
	instance.Bundle = p.Bundles[i]
	return instance
}

func (s settings) of(application *catalog.Application, spec map[string]any) backend.Instance {
	return backend.Instance{
		Name: s.Name, Namespace: s.Namespace, Application: application, Definition: spec, Version: s.Version,
		Values: backend.MergeValues(s.Values, s.Overrides), ValuesFrom: s.ValuesFrom, DependsOn: s.DependsOn,
		TargetNamespace: s.TargetNamespace, CreateNamespace: s.CreateNamespace,
		ReleaseName: s.ReleaseName, StorageNamespace: s.StorageNamespace, ServiceAccountName: s.ServiceAccountName,
		Interval: s.Interval.Duration, Timeout: s.Timeout.Duration, Deploy: s.Deploy, Suspend: s.Suspend,
		DestroyResources: s.DestroyResources, Access: s.Access,
		Channels: s.Channels, Requested: s.Requested, Catalog: s.Catalog, CreateOperatorGroup: s.CreateGroup,
	}
}

func load(t testing.TB, definition []byte) *catalog.Application {
	t.Helper()
	fsys := fstest.MapFS{"applications/app/application.yaml": {Data: definition}}
	loaded, err := catalog.Load(context.Background(), fsys)
	if err != nil {
		t.Fatalf("%v in:\n%.2000s", err, definition)
	}
	return loaded.Applications[0]
}

func read(t testing.TB, path ...string) []byte {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(path...))
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// golden is an instance in testdata.
type golden struct {
	name, dir string
	backend   *draft.Backend
	instance  backend.Instance
}

func goldens(t testing.TB) (all []golden) {
	t.Helper()
	files, err := filepath.Glob("testdata/*/instance.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no golden files: %v", err)
	}
	for _, file := range files {
		dir := filepath.Dir(file)
		var s settings
		if err := yaml.UnmarshalStrict(read(t, file), &s); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		b := backends.Named(s.Backend)
		if b == nil {
			t.Fatalf("%s: no backend %q", file, s.Backend)
		}
		instance := s.ofPackage
		document, err := os.ReadFile(filepath.Join(dir, "catalog.yaml"))
		if err != nil {
			instance, document = s.instance, read(t, dir, "definition.yaml")
		}
		all = append(all, golden{filepath.Base(dir), dir, b, instance(t, document)})
	}
	return all
}

// printed returns the objects as a stream, each with its role.
func printed(t testing.TB, objects []backend.Object) []byte {
	t.Helper()
	var out bytes.Buffer
	for _, o := range objects {
		encoded, err := o.YAML()
		if err != nil {
			t.Fatal(err)
		}
		out.WriteString("---\n# role: " + string(o.Role) + "\n")
		out.Write(encoded)
	}
	return out.Bytes()
}

func TestObjectsAreAsInTheGoldenFiles(t *testing.T) {
	for _, g := range goldens(t) {
		t.Run(g.name, func(t *testing.T) {
			objects, err := g.backend.Build(g.instance)
			if err != nil {
				t.Fatal(err)
			}
			got, file := printed(t, objects), filepath.Join(g.dir, "objects.yaml")
			if *update {
				if err := os.WriteFile(file, got, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if want := read(t, file); !bytes.Equal(got, want) {
				t.Errorf("got:\n%s\nwant:\n%s", got, want)
			}
		})
	}
}

// kkpInstance returns an instance of a definition of KKP, which tests change.
func kkpInstance(t testing.TB, change func(*backend.Instance), spec string) backend.Instance {
	t.Helper()
	return instanceOf(t, "apps.kubermatic.k8c.io/v1", "1.0.0", change, `
  method: helm
  versions:
  - version: 1.0.0
    template: {source: {helm: {url: "https://charts.example.com", chartName: web, chartVersion: 1.0.0}}}
`+spec)
}

func instanceOf(t testing.TB, apiVersion, version string, change func(*backend.Instance), spec string) backend.Instance {
	t.Helper()
	s := settings{Name: "web", Namespace: "apps", Version: version}
	instance := s.instance(t, []byte("apiVersion: "+apiVersion+"\nkind: ApplicationDefinition\nmetadata: {name: web}\nspec:\n"+spec))
	if change != nil {
		change(&instance)
	}
	return instance
}

func build(t testing.TB, b string, instance backend.Instance) []backend.Object {
	t.Helper()
	objects, err := backends.Named(b).Build(instance)
	if err != nil {
		t.Fatal(err)
	}
	return objects
}

func ofRole(t testing.TB, objects []backend.Object, role backend.Role) backend.Object {
	t.Helper()
	for _, o := range objects {
		if o.Role == role {
			return o
		}
	}
	t.Fatalf("no object with the role %s:\n%s", role, printed(t, objects))
	return backend.Object{}
}

const minute = time.Minute

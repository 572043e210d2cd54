// SPDX-License-Identifier: Apache-2.0

package compat

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"

	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"

	"github.com/winnow-dev/winnow/cmd/winnow/crds"
	"github.com/winnow-dev/winnow/render/backend"
	"github.com/winnow-dev/winnow/render/backends"
	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/test/stack"
)

// instances returns an instance of the last version of each definition in a directory of the real ones.
func instances(t *testing.T, dir string) map[string]backend.Instance {
	t.Helper()
	root, err := stack.Root(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	loaded, err := catalog.Load(t.Context(), os.DirFS(filepath.Join(dataDir(t, root), dir)))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]backend.Instance{}
	for _, application := range loaded.Applications {
		instance := backend.Instance{Name: "one", Namespace: "apps", Application: application}
		if instance.Definition, err = application.Spec(); err != nil {
			t.Fatal(err)
		}
		if n := len(application.Versions); n > 0 {
			instance.Version = application.Versions[n-1]
		}
		all[application.Name] = instance
	}
	return all
}

func TestInstancesOfKKPsOwnApplications(t *testing.T) {
	all := instances(t, "kkp/system-applications")
	helm := backends.Named(backend.Helm)
	if _, err := helm.Build(all["cilium"]); err != nil {
		t.Errorf("cilium, whose default values need no cluster of KKP: %v", err)
	}
	autoscaler := all["cluster-autoscaler"]
	var problem *backend.Error
	if _, err := helm.Build(autoscaler); !errors.As(err, &problem) || problem.Path != "spec.defaultValuesBlock.image.tag" {
		t.Errorf("cluster-autoscaler, whose default values need one: %v", err)
	}
	autoscaler.Values = map[string]any{"image": map[string]any{"tag": "v1.35.0"}}
	if _, err := helm.Build(autoscaler); err != nil {
		t.Errorf("cluster-autoscaler with a value: %v", err)
	}
	for name, instance := range all {
		if _, err := backends.Named(backend.ApplicationInstallation).Build(instance); !errors.As(err, &problem) {
			t.Errorf("%s, which KKP installs by itself: %v", name, err)
		}
	}
}

// Values that a schema has as its defaults fit that schema.
func TestInstancesOfCozystacksDefinitions(t *testing.T) {
	all := instances(t, "cozystack/applicationdefinitions")
	root, err := stack.Root(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	set := &crds.Set{}
	loadDefinition(t, root, set, "helm", "github.com/fluxcd/helm-controller", "helm.toolkit.fluxcd.io_helmreleases.yaml")
	for name, instance := range all {
		instance.Values = schemaDefaults(t, instance)
		file, crd := cozystackKind(t, instance.Definition)
		if err := set.LoadFile("", fstest.MapFS{file: {Data: crd}}, file); err != nil {
			t.Fatal(err)
		}
		for _, b := range []string{backend.Helm, backend.CozystackApplication} {
			objects, err := backends.Named(b).Build(instance)
			if err != nil {
				t.Errorf("%s: %s: %v", name, b, err)
				continue
			}
			var stream bytes.Buffer
			for _, object := range objects {
				encoded, err := object.YAML()
				if err != nil {
					t.Fatal(err)
				}
				stream.WriteString("---\n" + string(encoded))
			}
			result, err := set.Check(t.Context(), stream.Bytes())
			if err != nil || len(result.Findings) > 0 || result.Checked != len(objects) {
				t.Errorf("%s: %s: %v, checked %d: %v", name, b, err, result.Checked, result.Findings)
			}
		}
	}
}

func schemaDefaults(t *testing.T, instance backend.Instance) map[string]any {
	t.Helper()
	application, _ := instance.Definition["application"].(map[string]any)
	text, _ := application["openAPISchema"].(string)
	var schema struct {
		Properties map[string]struct {
			Default json.RawMessage `json:"default"`
		} `json:"properties"`
	}
	if err := json.Unmarshal([]byte(text), &schema); err != nil {
		t.Fatal(err)
	}
	values := map[string]any{}
	for name, member := range schema.Properties {
		if member.Default == nil {
			continue
		}
		var value any
		if err := utiljson.Unmarshal(member.Default, &value); err != nil {
			t.Fatal(err)
		}
		values[name] = value
	}
	return values
}

// cozystackKind returns a definition of the kind that Cozystack's API server would serve for one of its
// ApplicationDefinitions, with the same schema. That server itself is not here.
func cozystackKind(t *testing.T, definition map[string]any) (file string, crd []byte) {
	t.Helper()
	application, _ := definition["application"].(map[string]any)
	text, _ := application["openAPISchema"].(string)
	var schema map[string]any
	if err := json.Unmarshal([]byte(text), &schema); err != nil {
		t.Fatal(err)
	}
	plural, _ := application["plural"].(string)
	crd, err := yaml.Marshal(map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": map[string]any{"name": plural + ".apps.cozystack.io"},
		"spec": map[string]any{
			"group": "apps.cozystack.io", "scope": "Namespaced",
			"names": map[string]any{"kind": application["kind"], "plural": plural, "singular": application["singular"]},
			"versions": []any{map[string]any{
				"name": "v1alpha1", "served": true, "storage": true,
				"schema": map[string]any{"openAPIV3Schema": map[string]any{
					"type": "object", "properties": map[string]any{"spec": schema},
				}},
			}},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return plural + ".yaml", crd
}

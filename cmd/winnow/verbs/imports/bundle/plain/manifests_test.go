// SPDX-License-Identifier: Apache-2.0

package plain_test

import (
	"encoding/json"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/winnow-dev/winnow/cmd/winnow/verbs/imports/bundle"
	"github.com/winnow-dev/winnow/cmd/winnow/verbs/imports/bundle/plain"
)

func TestManifestsThatAreThereTwice(t *testing.T) {
	account := func(json string) bundle.Object {
		return bundle.Object{Path: "manifests/a.yaml", Kind: "ServiceAccount", Name: "heron", JSON: []byte(json)}
	}
	permission := bundle.Permission{Account: "heron", Rules: []rbacv1.PolicyRule{{Verbs: []string{"get"}, APIGroups: []string{""}, Resources: []string{"pods"}}}}
	for _, test := range []struct {
		name        string
		permissions []bundle.Permission
		objects     []bundle.Object
		want        string // part of the error; empty without one
	}{
		{"the same permission twice", []bundle.Permission{permission, permission}, nil, ""},
		{"the account of a permission", []bundle.Permission{permission}, []bundle.Object{account(`{"apiVersion":"v1","kind":"ServiceAccount","metadata":{"name":"heron"}}`)}, ""},
		{"the account of a permission, with more", []bundle.Permission{permission}, []bundle.Object{account(`{"apiVersion":"v1","kind":"ServiceAccount","metadata":{"name":"heron","labels":{"a":"b"}}}`)},
			`it has two objects ServiceAccount "heron", and one would replace the other`},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := &bundle.Bundle{Objects: test.objects}
			b.CSV.Metadata.Name, b.CSV.Spec.Install.Strategy, b.CSV.Spec.Modes = "heron.v1.0.0", "deployment", []bundle.Mode{{Type: "AllNamespaces", Supported: true}}
			b.CSV.Spec.Install.Spec.ClusterPermissions = test.permissions
			made, err := plain.Manifests(b, plain.Options{InstallNamespace: "here"})
			if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want %q", err, test.want)
			}
			for _, kind := range []string{"ClusterRole", "ClusterRoleBinding", "ServiceAccount"} {
				if got := strings.Count(string(made), "\nkind: "+kind+"\n"); err == nil && got != 1 {
					t.Errorf("%d objects of the kind %s in\n%s", got, kind, made)
				}
			}
		})
	}
}

func TestObjectsThatCannotBeApplied(t *testing.T) {
	for _, test := range []struct{ name, install, object, want string }{
		{"a deployment without a name", `{"deployments":[{"spec":{}}]}`, `{}`, `spec.install.spec.deployments: "" is no name of a deployment: `},
		{"the name of a deployment is a path", `{"deployments":[{"name":"../a","spec":{}}]}`, `{}`, `spec.install.spec.deployments: "../a" is no name of a deployment: `},
		{"an object that is taken for a list", `{}`, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"items":[]}`,
			"manifests/a.yaml: has the field items, by which kubectl and Flux take it for a list, and apply what is in it instead"},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := &bundle.Bundle{Objects: []bundle.Object{{Path: "manifests/a.yaml", Kind: "ConfigMap", Name: "a", JSON: []byte(test.object)}}}
			b.CSV.Spec.Modes = []bundle.Mode{{Type: "AllNamespaces", Supported: true}}
			if err := json.Unmarshal([]byte(`{"strategy":"deployment","spec":`+test.install+`}`), &b.CSV.Spec.Install); err != nil {
				t.Fatal(err)
			}
			if _, err := plain.Manifests(b, plain.Options{InstallNamespace: "here"}); err == nil || !strings.HasPrefix(err.Error(), test.want) {
				t.Errorf("error %v, want %q", err, test.want)
			}
		})
	}
}

// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"cmp"
	"fmt"
	"strings"
	"testing"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

// serveOLM makes the API server serve the kinds of OLM, for all tests of the package.
func serveOLM(c *liveCluster) {
	c.Helper()
	for _, one := range []struct {
		gvk   schema.GroupVersionKind
		scope apiextensionsv1.ResourceScope
	}{
		{schema.GroupVersionKind{Group: "olm.operatorframework.io", Version: "v1", Kind: "ClusterExtension"}, apiextensionsv1.ClusterScoped},
		{schema.GroupVersionKind{Group: "operators.coreos.com", Version: "v1alpha1", Kind: "Subscription"}, apiextensionsv1.NamespaceScoped},
		{schema.GroupVersionKind{Group: "operators.coreos.com", Version: "v1", Kind: "OperatorGroup"}, apiextensionsv1.NamespaceScoped},
	} {
		crd, singular := definitionsOfGroup(one.gvk.Group), strings.ToLower(one.gvk.Kind)
		crd.Name, crd.Spec.Scope = singular+"s."+one.gvk.Group, one.scope
		crd.Spec.Names = apiextensionsv1.CustomResourceDefinitionNames{
			Kind: one.gvk.Kind, ListKind: one.gvk.Kind + "List", Plural: singular + "s", Singular: singular,
		}
		crd.Spec.Versions[0].Name = one.gvk.Version
		c.serve(crd)
	}
}

// operators packs a catalog of packages, each of one version in one channel.
func operators(t *testing.T, names ...string) []byte {
	t.Helper()
	var files []string
	for _, name := range names {
		files = append(files, name+"/catalog.yaml", strings.ReplaceAll(`schema: olm.package
name: NAME
defaultChannel: stable
---
schema: olm.channel
package: NAME
name: stable
entries: [{name: NAME.v1.0.0}]
---
schema: olm.bundle
package: NAME
name: NAME.v1.0.0
image: registry.example.com/NAME:1
properties:
- {type: olm.package, value: {packageName: NAME, version: 1.0.0}}
- {type: olm.csv.metadata, value: {installModes: [{type: AllNamespaces, supported: true}]}}
`, "NAME", name))
	}
	return catalogArchive(t, files...)
}

// ofOLM has one instance, and no packages.
func ofOLM(name string, instance v1alpha1.Instance) specEdit {
	return func(cs *v1alpha1.CatalogSelection) {
		cs.Spec.Definitions = v1alpha1.DefinitionsOmit
		cs.Spec.Sources = []v1alpha1.SourceReference{{Kind: sourcev1.GitRepositoryKind, Name: "catalog", Format: v1alpha1.FormatFileBased}}
		if instance.Backend == "Subscription" {
			instance.Catalog = &v1alpha1.CatalogReference{Namespace: "olm", Name: "platform"}
		}
		cs.Spec.Instances = map[string]v1alpha1.Instance{name: instance}
	}
}

// Two selections cannot install one package: OLM v1 does it once in a cluster, and OLM v0 once in a namespace.
func TestPackagesAreClaimed(t *testing.T) {
	for _, test := range []struct {
		name       string
		one, other v1alpha1.Instance
		held       string // empty if there is no conflict
	}{
		{"OLM v1", v1alpha1.Instance{Backend: "ClusterExtension", Namespace: "a"}, v1alpha1.Instance{Backend: "ClusterExtension", Namespace: "b"}, "Package WEB"},
		{"OLM v0", v1alpha1.Instance{Backend: "Subscription", Namespace: "a"}, v1alpha1.Instance{Backend: "Subscription", Namespace: "a"},
			"Package a/WEB"},
		{"OLM v0 in another namespace", v1alpha1.Instance{Backend: "Subscription", Namespace: "a"}, v1alpha1.Instance{Backend: "Subscription", Namespace: "b"}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := newCluster(t)
			serveOLM(c)
			web := c.namespace + "-web"
			test.one.Application, test.other.Application = web, web
			c.sourceOf(sourcev1.GitRepositoryKind, c.key("catalog"), operators(t, web))
			c.selection("kkp", guarded, ofOLM(c.namespace+"-one", test.one))
			c.consumer("kkp", "kkp")
			c.consumer("other", "other")
			c.good()
			c.selection("other", guarded, ofOLM(c.namespace+"-two", test.other))
			message := conditions.GetMessage(c.reconcile("other"), meta.ReadyCondition)
			if test.held == "" {
				if strings.Contains(message, "holds") {
					t.Error(message)
				}
				return
			}
			c.equal("message", message, fmt.Sprintf("the CatalogSelection %s/kkp holds %s as well; rename or remove them here, or there",
				c.namespace, strings.ReplaceAll(test.held, "WEB", web)))
		})
	}
}

// A ClusterExtension that lives in the cluster is taken over only as that of the same package in the same namespace.
func TestLiveExtensionsAreTakenOver(t *testing.T) {
	for _, test := range []struct{ name, live, namespace, held string }{
		{"the same package", "WEB", "a", ""},
		{"another package", "database", "a", "package would change from"},
		{"another namespace", "WEB", "b", "targetNamespace would change from"},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := newCluster(t)
			serveOLM(c)
			web := c.namespace + "-web"
			live := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{
				"namespace": test.namespace,
				"source":    map[string]any{"sourceType": "Catalog", "catalog": map[string]any{"packageName": strings.ReplaceAll(test.live, "WEB", web)}},
			}}}
			live.SetAPIVersion("olm.operatorframework.io/v1")
			live.SetKind("ClusterExtension")
			live.SetName(web)
			c.environment.create(live)
			c.sourceOf(sourcev1.GitRepositoryKind, c.key("catalog"), operators(t, web))
			c.selection("kkp", guarded, ofOLM(web, v1alpha1.Instance{Backend: "ClusterExtension", Namespace: "a"}))
			if test.held == "" {
				c.good()
				return
			}
			if held := strings.Join(reasonsOf(c.reconcile("kkp")), "\n"); !strings.Contains(held, test.held) {
				t.Errorf("held is %q, want %s", held, test.held)
			}
		})
	}
}

// What others have installed in the cluster is not overwritten, stopped, or run twice.
func TestOperatorsBesideThoseOfOthers(t *testing.T) {
	const of, with = "operators.coreos.com/v1", "olm.operatorframework.io/v1"
	extension := map[string]any{"namespace": "x", "source": map[string]any{"sourceType": "Catalog", "catalog": map[string]any{"packageName": "WEB"}}}
	for _, test := range []struct {
		name, backend, apiVersion, kind, namespace, object string
		spec                                               map[string]any
		ours                                               bool
		want                                               string // part of what is held, empty for nothing
	}{
		{name: "the same OperatorGroup", apiVersion: of, kind: "OperatorGroup", namespace: "WEB", object: "WEB", spec: map[string]any{"upgradeStrategy": "Default"}},
		{name: "an OperatorGroup with other namespaces", apiVersion: of, kind: "OperatorGroup", namespace: "WEB", object: "WEB",
			spec: map[string]any{"targetNamespaces": []any{"a", "b"}},
			want: "instance WEB: the OperatorGroup WEB/WEB, which this selection has not applied, is for a, b, and would be for all namespaces: " +
				"Flux would change it for all operators of the namespace"},
		{name: "an OperatorGroup with other namespaces, of the selection", apiVersion: of, kind: "OperatorGroup", namespace: "WEB", object: "WEB",
			spec: map[string]any{"targetNamespaces": []any{"a", "b"}}, ours: true},
		{name: "an OperatorGroup with an account", apiVersion: of, kind: "OperatorGroup", namespace: "WEB", object: "WEB",
			spec: map[string]any{"serviceAccountName": "weak"}, want: `is for all namespaces with the account "weak", and would be for all namespaces: `},
		{name: "another OperatorGroup", apiVersion: of, kind: "OperatorGroup", namespace: "WEB", object: "global", spec: map[string]any{},
			want: `instance WEB: the namespace "WEB" has the OperatorGroup "global": OLM stops all operators of a namespace with two; set createOperatorGroup: false`},
		{name: "an OperatorGroup elsewhere", apiVersion: of, kind: "OperatorGroup", namespace: "default", object: "WEB", spec: map[string]any{}},
		{name: "the package by OLM v1", apiVersion: with, kind: "ClusterExtension", object: "WEB", spec: extension,
			want: `instance WEB: the cluster has ClusterExtension.olm.operatorframework.io WEB, by which OLM installs the package "WEB" already`},
		{name: "the package by OLM v0", backend: "ClusterExtension", apiVersion: "operators.coreos.com/v1alpha1", kind: "Subscription", namespace: "WEB", object: "any",
			spec: map[string]any{"name": "WEB"}, want: `instance WEB: the cluster has Subscription.operators.coreos.com WEB/any, by which OLM installs the package "WEB" already`},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := newCluster(t)
			serveOLM(c)
			web := c.namespace
			live := &unstructured.Unstructured{Object: map[string]any{"spec": renamed(test.spec, web)}}
			live.SetAPIVersion(test.apiVersion)
			live.SetKind(test.kind)
			live.SetNamespace(strings.ReplaceAll(test.namespace, "WEB", web))
			live.SetName(strings.ReplaceAll(test.object, "WEB", web))
			if test.ours {
				live.SetLabels(map[string]string{v1alpha1.NameLabel: "kkp", v1alpha1.NamespaceLabel: web})
			}
			c.environment.create(live)
			c.sourceOf(sourcev1.GitRepositoryKind, c.key("catalog"), operators(t, web))
			c.selection("kkp", guarded, ofOLM(web, v1alpha1.Instance{Backend: cmp.Or(test.backend, "Subscription"), Namespace: web}))
			c.consumer("kkp", "kkp")
			c.consumer("again", "kkp")
			if test.want == "" {
				c.good()
				return
			}
			all := reasonsOf(c.reconcile("kkp"))
			held := strings.Join(all, "\n")
			if len(all) != 1 {
				t.Errorf("%d reasons are held", len(all))
			}
			if want := strings.ReplaceAll(test.want, "WEB", web); !strings.Contains(held, want) {
				t.Errorf("held is %q, want %s", held, want)
			}
			// Whoever has looked at it may go on.
			if cs := c.get("kkp"); cs.Status.Held == nil || len(cs.Status.Held.Approve) == 0 {
				t.Errorf("nothing approves %v", cs.Status.Held)
			}
		})
	}
}

// A Subscription that lives follows a channel that somebody has chosen.
func TestALiveSubscriptionKeepsItsChannel(t *testing.T) {
	for _, test := range []struct{ name, channel, want string }{
		{"the same channel", "stable", ""},
		{"no channel", "", ""},
		{"another channel", "alpha", `would follow the channel "stable" instead of "alpha"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := newCluster(t)
			serveOLM(c)
			web := c.namespace
			live := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"name": web, "channel": test.channel}}}
			live.SetAPIVersion("operators.coreos.com/v1alpha1")
			live.SetKind("Subscription")
			live.SetNamespace(web)
			live.SetName(web)
			c.environment.create(live)
			c.sourceOf(sourcev1.GitRepositoryKind, c.key("catalog"), operators(t, web))
			c.selection("kkp", guarded, ofOLM(web, v1alpha1.Instance{Backend: "Subscription", Namespace: web}))
			c.consumer("kkp", "kkp")
			c.consumer("again", "kkp")
			if test.want == "" {
				c.good()
				return
			}
			if held := reasonsOf(c.reconcile("kkp")); len(held) != 1 || !strings.Contains(held[0], test.want) {
				t.Errorf("held are %q, want %s", held, test.want)
			}
		})
	}
}

// renamed returns a spec with WEB replaced in its texts.
func renamed(spec map[string]any, web string) map[string]any {
	all := map[string]any{}
	for key, value := range spec {
		switch v := value.(type) {
		case string:
			value = strings.ReplaceAll(v, "WEB", web)
		case map[string]any:
			value = renamed(v, web)
		}
		all[key] = value
	}
	return all
}

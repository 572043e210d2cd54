// SPDX-License-Identifier: Apache-2.0

package render_test

import (
	"fmt"
	"testing"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/installation"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// objectOfOLM returns an object of the instance web, with its name and namespace and a spec.
func objectOfOLM(apiVersion, kind, namespace, name string, spec map[string]any) map[string]any {
	return map[string]any{
		"apiVersion": apiVersion, "kind": kind, "spec": spec,
		"metadata": map[string]any{"name": name, "namespace": namespace, "annotations": map[string]any{v1alpha1.InstanceAnnotation: "web"}},
	}
}

func extension(name, packageName, namespace string) safeguard.Definition {
	return installation.MainOf(objectOfOLM("olm.operatorframework.io/v1", "ClusterExtension", "", name, map[string]any{
		"namespace": namespace, "source": map[string]any{"sourceType": "Catalog", "catalog": map[string]any{"packageName": packageName}},
	}))
}

func subscription(namespace, name, packageName string) safeguard.Definition {
	return installation.MainOf(objectOfOLM("operators.coreos.com/v1alpha1", "Subscription", namespace, name, map[string]any{"name": packageName, "source": "a", "sourceNamespace": "olm"}))
}

// What cannot be changed in the live object, or means another operator, is an identity.
func TestTheIdentityOfObjectsOfOLM(t *testing.T) {
	watching := func(targets string) safeguard.Definition {
		d := subscription("ns", "web", "web")
		d.Identity[safeguard.TargetsField] = targets
		return d
	}
	for _, test := range []struct {
		name        string
		before, now safeguard.Definition
		want        []string
	}{
		{"the same extension", extension("web", "web", "ns"), extension("web", "web", "ns"), nil},
		{"another package of an extension", extension("web", "web", "ns"), extension("web", "other", "ns"), []string{"application web -> other", "package web -> other"}},
		{"another namespace of an extension", extension("web", "web", "ns"), extension("web", "web", "two"), []string{"targetNamespace ns -> two"}},
		{"another name of an extension", extension("web", "web", "ns"), extension("web2", "web", "ns"), []string{
			"object ClusterExtension.olm.operatorframework.io web -> ClusterExtension.olm.operatorframework.io web2"}},
		{"another package of a subscription", subscription("ns", "web", "web"), subscription("ns", "web", "other"), []string{"application web -> other", "package web -> other"}},
		{"another namespace of a subscription", subscription("ns", "web", "web"), subscription("two", "web", "web"), []string{
			"object Subscription.operators.coreos.com ns/web -> Subscription.operators.coreos.com two/web"}},
		{"OLM v1 for v0", subscription("ns", "web", "web"), extension("web", "web", "ns"), []string{
			"object Subscription.operators.coreos.com ns/web -> ClusterExtension.olm.operatorframework.io web"}},
		{"other namespaces that are watched", watching("all namespaces"), watching("ns"), []string{"targetNamespaces all namespaces -> ns"}},
		{"namespaces that are not known", watching("all namespaces"), subscription("ns", "web", "web"), nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got []string
			for _, change := range safeguard.Compare([]safeguard.Definition{test.before}, []safeguard.Definition{test.now}) {
				if change.Reason != v1alpha1.IdentityChangeReason {
					t.Errorf("the reason is %s", change.Reason)
				}
				got = append(got, fmt.Sprintf("%s %s -> %s", change.Field, change.From, change.To))
			}
			if fmt.Sprintf("%q", got) != fmt.Sprintf("%q", test.want) {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// OLM v1 installs a package once in a cluster, and OLM v0 once in a namespace.
func TestAPackageIsClaimedOnce(t *testing.T) {
	claim := func(d safeguard.Definition) string { return fmt.Sprint(d.Releases()) }
	if a, b := extension("one", "web", "a"), extension("two", "web", "b"); claim(a) != claim(b) {
		t.Errorf("claims %s and %s", claim(a), claim(b))
	}
	if a, b := subscription("ns", "one", "web"), subscription("ns", "two", "web"); claim(a) != claim(b) {
		t.Errorf("claims %s and %s", claim(a), claim(b))
	}
	if a, b := subscription("ns", "one", "web"), subscription("other", "one", "web"); claim(a) == claim(b) {
		t.Errorf("both claim %s", claim(a))
	}
}

// An instance that is renamed takes the package over, which its old object would uninstall.
func TestARenamedInstanceOfAPackage(t *testing.T) {
	before, now := extension("web", "web", "ns"), extension("renamed", "web", "ns")
	now.Instance = "renamed"
	changes := safeguard.Compare([]safeguard.Definition{before}, []safeguard.Definition{now})
	if len(changes) != 1 || changes[0].Reason != v1alpha1.IdentityChangeReason || changes[0].Field != safeguard.InstanceField {
		t.Errorf("the changes are %+v", changes)
	}
}

// Live objects that others made have no annotations.
func TestTheApplicationOfALiveObjectOfOLM(t *testing.T) {
	for _, d := range []safeguard.Definition{extension("any", "web", "ns"), subscription("ns", "any", "web")} {
		if d.Application != "web" {
			t.Errorf("the application of %s is %q", d.Key(), d.Application)
		}
	}
}

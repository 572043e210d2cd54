// SPDX-License-Identifier: Apache-2.0

package guard_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/winnow-dev/winnow/render/guard"
	"github.com/winnow-dev/winnow/render/safeguard"
	"github.com/winnow-dev/winnow/render/selection"
)

func TestOperatorsThatEnterBesideOthers(t *testing.T) {
	const (
		v1 = "{p: {application: plum, backend: ClusterExtension, namespace: ns}}"
		v0 = "{p: {application: plum, backend: Subscription, namespace: ns, createOperatorGroup: false, catalog: {namespace: olm, name: all}}}"
		a  = "{apiVersion: olm.operatorframework.io/v1, kind: ClusterExtension, metadata: {name: NAME}, spec: {source: {catalog: {packageName: plum}}}}"
		b  = "{apiVersion: operators.coreos.com/v1alpha1, kind: Subscription, metadata: {namespace: NS, name: p}, spec: {name: plum}}"
		by = "by which OLM installs the package \"plum\" already"
	)
	of := func(manifest, namespace, name string) string {
		return strings.NewReplacer("NAME", name, "NS", namespace).Replace(manifest)
	}
	for _, test := range []struct {
		name, before, after string // no instances before: nothing was published
		live                []string
		want                []string
	}{
		{name: "nothing lives", after: v0},
		{name: "OLM v0 beside OLM v1", after: v0, live: []string{of(a, "", "x")}, want: []string{"ClusterExtension.olm.operatorframework.io x"}},
		{name: "OLM v1 beside two of OLM v0", after: v1, live: []string{of(b, "ns", ""), of(b, "other", "")},
			want: []string{"Subscription.operators.coreos.com ns/p", "Subscription.operators.coreos.com other/p"}},
		{name: "OLM v0 beside OLM v0", after: v0, live: []string{of(b, "other", "")}},
		{name: "what runs already", before: v0, after: v0, live: []string{of(a, "", "x")}},
		{name: "a move, which is held by its object", before: v1, after: v0, live: []string{of(a, "", "p")}},
		{name: "a move to another instance", before: v1, after: strings.Replace(v0, "{p:", "{q:", 1), live: []string{of(a, "", "p")},
			want: []string{"ClusterExtension.olm.operatorframework.io p"}},
		{name: "a move, beside another one", before: v1, after: v0, live: []string{of(a, "", "p"), of(a, "", "x")}, want: []string{"ClusterExtension.olm.operatorframework.io x"}},
		{name: "an object without a spec", after: v0, live: []string{"{apiVersion: olm.operatorframework.io/v1, kind: ClusterExtension, metadata: {name: x}, spec: [1]}"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			source := operators(t, "plum stable: 1.0.0")
			var published []safeguard.Definition
			if test.before != "" {
				published = recorded(t, installing(t, test.before), source)
			}
			var live []unstructured.Unstructured
			for _, manifest := range test.live {
				var u unstructured.Unstructured
				if err := yaml.Unmarshal([]byte(manifest), &u.Object); err != nil {
					t.Fatal(err)
				}
				live = append(live, u)
			}
			cs := installing(t, test.after)
			changes, err := guard.OperatorConflicts(t.Context(), cs, published, rendered(t, cs, source), live, func(key safeguard.Key) safeguard.Key { return key })
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, c := range changes {
				got = append(got, c.From)
				if message := guard.Describe(c, selection.Result{}); !strings.Contains(message, fmt.Sprintf("instance %s: the cluster has %s, %s", c.Instance, c.From, by)) {
					t.Errorf("the message is %s", message)
				}
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("held are %q, want %q", got, test.want)
			}
		})
	}
}

// What Flux and OLM do to what runs, by the object and by the field that changes.
func TestWhatAnotherIdentityOfAnOperatorDoes(t *testing.T) {
	for _, test := range []struct{ kind, field, want string }{
		{"Subscription", safeguard.ObjectField, "until its ClusterServiceVersion is deleted"},
		{"Subscription", safeguard.PackageField, "until its ClusterServiceVersion is deleted"},
		{"Subscription", safeguard.TargetsField, "would watch other namespaces"},
		{"ClusterExtension", safeguard.ObjectField, "OLM deletes its CustomResourceDefinitions with all their objects"},
		{"ClusterExtension", safeguard.TargetNamespaceField, "Flux applies nothing then"},
		{"HelmRelease", safeguard.ObjectField, "the former one runs on beside the new one"},
		{"HelmRelease", safeguard.ReleaseField, "what runs would be uninstalled, and installed anew"},
	} {
		change := safeguard.Change{Reason: "IdentityChange", Key: safeguard.Key{Kind: test.kind, Name: "web"}, Instance: "web", Field: test.field}
		if got := guard.Describe(change, selection.Result{}); !strings.Contains(got, test.want) {
			t.Errorf("%s %s: the message is %s", test.kind, test.field, got)
		}
	}
}

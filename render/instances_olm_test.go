// SPDX-License-Identifier: Apache-2.0

package render_test

import (
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/fluxcd/pkg/apis/kustomize"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// renderOperators renders the golden case of operators after an edit of the spec and of a file of the catalog.
func renderOperators(t *testing.T, edit func(*v1alpha1.CatalogSelectionSpec), replace ...string) (*render.Result, error) {
	t.Helper()
	const dir = "testdata/golden/operators"
	cs := readSelection(t, dir+"/selection.yaml")
	if edit != nil {
		edit(&cs.Spec)
	}
	files := fstest.MapFS{}
	for _, name := range []string{"cert-manager.yaml", "grafana.yaml"} {
		content, err := fs.ReadFile(os.DirFS(dir+"/catalog"), name)
		if err != nil {
			t.Fatal(err)
		}
		files[name] = &fstest.MapFile{Data: []byte(strings.NewReplacer(replace...).Replace(string(content)))}
	}
	return renderWith(t.Context(), files, cs, true)
}

func TestInstancesOfOnePackage(t *testing.T) {
	for name, test := range map[string]struct {
		instance v1alpha1.Instance
		problem  string
	}{
		"in a cluster with OLM v1": {
			v1alpha1.Instance{Application: "cert-manager", Backend: "ClusterExtension", Namespace: "other"},
			`instance second: application: the package "cert-manager" also belongs to the instance "cert-manager": OLM installs a package once`,
		},
		"in a namespace with OLM v0": {
			v1alpha1.Instance{Application: "grafana-operator", Backend: "Subscription", Namespace: "monitoring", Catalog: &v1alpha1.CatalogReference{Namespace: "olm", Name: "platform"}},
			`instance second: application: the package "monitoring/grafana-operator" also belongs to the instance "grafana"`,
		},
		"with another OperatorGroup": {
			v1alpha1.Instance{Application: "grafana-operator", Backend: "Subscription", Namespace: "monitoring", Channels: []string{"v4"}, Catalog: &v1alpha1.CatalogReference{Namespace: "olm", Name: "platform"}},
			`instance second: namespace: the OperatorGroup of the namespace "monitoring" would differ from the one of the instance "grafana"`,
		},
		"with OLM v0 and OLM v1": {
			v1alpha1.Instance{Application: "cert-manager", Backend: "Subscription", Namespace: "other", CreateOperatorGroup: new(false), Catalog: &v1alpha1.CatalogReference{Namespace: "olm", Name: "platform"}},
			`instance second: application: the package "cert-manager" also belongs to the instance "cert-manager", which has another backend: OLM v0 and OLM v1 cannot both run it`,
		},
		"in another namespace with OLM v0": {
			v1alpha1.Instance{Application: "grafana-operator", Backend: "Subscription", Namespace: "other", Catalog: &v1alpha1.CatalogReference{Namespace: "olm", Name: "platform"}}, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := renderOperators(t, func(spec *v1alpha1.CatalogSelectionSpec) { spec.Instances["second"] = test.instance })
			if test.problem == "" && err != nil || test.problem != "" && (err == nil || !strings.Contains(err.Error(), test.problem)) {
				t.Errorf("err = %v, want %s", err, test.problem)
			}
		})
	}
}

// What a catalog changes of an operator under an unchanged spec.
func TestCatalogsThatChangeOperators(t *testing.T) {
	before, err := renderOperators(t, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name    string
		replace []string
		want    safeguard.Change
	}{
		{"another version", []string{"1.18.2", "1.18.3"}, safeguard.Change{Reason: v1alpha1.InstanceUpgradeReason, From: "1.18.2", To: "1.18.3"}},
		{"a version out of the range, under the same name", []string{"version: 1.18.2", "version: 2.0.0"}, safeguard.Change{}},
		{"a lower version", []string{"version: 1.18.2", "version: 1.18.1"}, safeguard.Change{Reason: v1alpha1.VersionRemovalReason, From: "1.18.2", To: "1.18.1"}},
		{"another default channel", []string{"defaultChannel: v5", "defaultChannel: v4"},
			safeguard.Change{Reason: v1alpha1.VersionRemovalReason, From: "5.18.0", To: "4.10.1"}},
		{"other install modes", []string{"{type: AllNamespaces, supported: true}", "{type: AllNamespaces, supported: false}"},
			safeguard.Change{Reason: v1alpha1.IdentityChangeReason, Field: "targetNamespaces", From: "all namespaces", To: "monitoring"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			after, err := renderOperators(t, nil, test.replace...)
			if err != nil {
				t.Fatal(err)
			}
			changes := safeguard.Compare(instancesOf(before), instancesOf(after))
			if test.want.Reason == "" {
				if len(after.Unresolved) != 1 || after.Unresolved[0].Name != "cert-manager" {
					t.Errorf("unresolved: %+v", after.Unresolved)
				}
				return
			}
			isWanted := func(c safeguard.Change) bool {
				return c.Reason == test.want.Reason && c.Field == test.want.Field && c.From == test.want.From && c.To == test.want.To
			}
			if !slices.ContainsFunc(changes, isWanted) {
				t.Errorf("the changes are %+v, want %+v", changes, test.want)
			}
		})
	}
}

func instancesOf(result *render.Result) []safeguard.Definition {
	var all []safeguard.Definition
	for _, in := range result.Instances {
		all = append(all, in.Main)
	}
	return all
}

// The archive says what the result says.
func TestOperatorsOfAnArtifactAreRead(t *testing.T) {
	result, err := renderOperators(t, nil)
	if err != nil {
		t.Fatal(err)
	}
	read := readBack(t, result)
	read = slices.DeleteFunc(read, func(d safeguard.Definition) bool { return d.Instance == "" })
	if changes := safeguard.Compare(instancesOf(result), read); len(changes) > 0 {
		t.Errorf("what is read differs: %+v", changes)
	}
	if changes := safeguard.Compare(read, instancesOf(result)); len(changes) > 0 {
		t.Errorf("what is read differs: %+v", changes)
	}
}

// A patch can change the namespaces that an operator watches, as it can change the package.
func TestPatchesChangeTheIdentityOfOperators(t *testing.T) {
	before, err := renderOperators(t, nil)
	if err != nil {
		t.Fatal(err)
	}
	after, err := renderOperators(t, func(spec *v1alpha1.CatalogSelectionSpec) {
		spec.Patches = []kustomize.Patch{{
			Target: &kustomize.Selector{Kind: "OperatorGroup", Name: "monitoring"},
			Patch:  "- {op: add, path: /spec, value: {targetNamespaces: [other]}}",
		}}
	})
	if err != nil {
		t.Fatal(err)
	}
	read := readBack(t, after)
	for name, now := range map[string][]safeguard.Definition{"rendered": instancesOf(after), "read": read} {
		now = slices.DeleteFunc(now, func(d safeguard.Definition) bool { return d.Instance == "" })
		changes := safeguard.Compare(instancesOf(before), now)
		if len(changes) != 1 || changes[0].Field != safeguard.TargetsField || changes[0].From != "all namespaces" || changes[0].To != "other" {
			t.Errorf("%s: the changes are %+v", name, changes)
		}
	}
}

// OLM stops all operators of a namespace without an OperatorGroup, also those of others, and goes on with an operator whose
// Subscription is gone.
func TestAnOperatorGroupIsNotPruned(t *testing.T) {
	for _, policy := range []string{v1alpha1.DeletionPolicyDelete, v1alpha1.DeletionPolicyOrphan} {
		result, err := renderOperators(t, func(spec *v1alpha1.CatalogSelectionSpec) { spec.DeletionPolicy = policy })
		if err != nil {
			t.Fatal(err)
		}
		objects, err := result.InstanceObjects(t.Context(), []string{"cert-manager", "grafana"})
		if err != nil {
			t.Fatal(err)
		}
		for key, object := range objects {
			prune, _, _ := unstructured.NestedString(object, "metadata", "annotations", "kustomize.toolkit.fluxcd.io/prune")
			stays := policy == v1alpha1.DeletionPolicyOrphan || key.Kind == "OperatorGroup" || key.Kind == "Namespace"
			if (prune == "disabled") != stays {
				t.Errorf("%s: prune of %s is %q", policy, key, prune)
			}
			// Install modes that change, and that are approved, reach it.
			if ssa, _, _ := unstructured.NestedString(object, "metadata", "annotations", "kustomize.toolkit.fluxcd.io/ssa"); key.Kind == "OperatorGroup" && ssa != "" {
				t.Errorf("%s is applied with %s", key, ssa)
			}
		}
	}
}

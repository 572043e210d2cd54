// SPDX-License-Identifier: Apache-2.0

package backend_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/backend"
	"github.com/winnow-dev/winnow/render/backends"
	"github.com/winnow-dev/winnow/render/catalog/filebased"
	"github.com/winnow-dev/winnow/render/catalog/filebased/graph"
)

// packageOf returns a file-based catalog of the package web, whose channel stable has a bundle of each version.
func packageOf(versions ...string) []byte {
	var text strings.Builder
	text.WriteString("schema: olm.package\nname: web\ndefaultChannel: stable\n---\nschema: olm.channel\npackage: web\nname: stable\nentries:\n")
	for i, version := range versions {
		fmt.Fprintf(&text, "- {name: web-%s", version)
		if i > 0 {
			fmt.Fprintf(&text, ", replaces: web-%s", versions[i-1])
		}
		text.WriteString("}\n")
	}
	for _, version := range versions {
		fmt.Fprintf(&text, "---\nschema: olm.bundle\npackage: web\nname: web-%s\nimage: registry.example.com/web:1\nproperties:\n- {type: olm.package, value: {packageName: web, version: %s}}\n", version, version)
	}
	return []byte(text.String())
}

// packageInstance returns an instance of the package web, which tests change.
func packageInstance(t testing.TB, change func(*backend.Instance), versions ...string) backend.Instance {
	t.Helper()
	if len(versions) == 0 {
		versions = []string{"1.0.0"}
	}
	s := settings{Name: "web", Namespace: "apps", TargetNamespace: "web", Version: "web-" + versions[0]}
	instance := s.ofPackage(t, packageOf(versions...))
	if change != nil {
		change(&instance)
	}
	return instance
}

func TestExtensionsThatAreRefused(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(*backend.Instance)
		want   []problem
	}{
		{"no namespace", func(i *backend.Instance) { i.TargetNamespace = "" }, []problem{{"namespace", "is missing"}}},
		{"values", func(i *backend.Instance) { i.Values = map[string]any{"a": "b"} }, []problem{{"values", "instanceOverrides"}}},
		{"what OLM does not have", func(i *backend.Instance) {
			i.ReleaseName, i.StorageNamespace, i.Interval, i.Timeout, i.Suspend, i.DestroyResources = "a", "b", minute, minute, true, true
			i.DependsOn, i.ValuesFrom = []string{"a"}, []v1alpha1.ValuesReference{{Kind: "Secret", Name: "a"}}
		}, []problem{{"dependsOn", "whose Kustomization"}, {"destroyResources", ""}, {"interval", ""}, {"releaseName", ""}, {"storageNamespace", ""}, {"suspend", ""}, {"timeout", ""}, {"valuesFrom", "reads no values"}}},
		{"a long range", func(i *backend.Instance) { i.Requested = ">=1.0.0" + strings.Repeat(" !=1.2.3", 8) }, []problem{{"version", "71 bytes"}}},
		{"a channel that OLM v1 cannot name", func(i *backend.Instance) { i.Channels = []string{"stable", "original_40"} }, []problem{{"channels[1]", "cannot be selected"}}},
		{"a catalog in a namespace", func(i *backend.Instance) { i.Catalog = v1alpha1.CatalogReference{Namespace: "olm", Name: "a"} }, []problem{{"catalog.namespace", "no namespace"}}},
		{"a catalog that is none", func(i *backend.Instance) { i.Catalog.Name = "A b" }, []problem{{"catalog.name", "not valid"}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := backends.Named(backend.ClusterExtension).Build(packageInstance(t, test.change))
			checkProblems(t, err, test.want...)
		})
	}
}

func TestPackagesAndDefinitionsHaveTheirBackends(t *testing.T) {
	for _, b := range backends.All() {
		isOLM := b.Type == backend.ClusterExtension || b.Type == backend.Subscription
		instance, want := packageInstance(t, nil), "installs no packages of OLM"
		if isOLM {
			instance, want = kkpInstance(t, nil, ""), "installs packages of OLM"
		}
		_, err := b.Build(instance)
		checkProblems(t, err, problem{"backend", want})
	}
	_, err := backends.Named(backend.Helm).Build(kkpInstance(t, func(i *backend.Instance) {
		i.Channels, i.Catalog.Name = []string{"stable"}, "a"
	}, ""))
	checkProblems(t, err, problem{"channels", "leave it out"}, problem{"catalog", "leave it out"})
}

// OLM v1 knows versions only.
func TestABundleByItsName(t *testing.T) {
	byName := func(i *backend.Instance) { i.Requested = i.Bundle.Name }
	alone := func(i *backend.Instance) {
		byName(i)
		i.Channels = []string{"alone"}
		i.Package.Channels = append(i.Package.Channels, &filebased.Channel{Name: "alone", Entries: []graph.Entry{{Name: i.Bundle.Name}}})
	}
	deprecated := func(version string) func(*backend.Instance) {
		return func(i *backend.Instance) {
			byName(i)
			for _, bundle := range i.Package.Bundles {
				if bundle.Name == "web-"+version {
					bundle.Deprecated = "old"
				}
			}
		}
	}
	for _, test := range []struct {
		name     string
		change   func(*backend.Instance)
		versions []string
		problem  string
	}{
		{"is its version", byName, []string{"1.0.0", "1.1.0"}, ""},
		{"without a version is that of another bundle", byName, []string{"1.0.0+1", "1.0.0+2"}, `"web-1.0.0+2"`},
		{"that OLM prefers to another one", byName, []string{"1.0.0+2", "1.0.0+1"}, ""},
		{"that is alone in its channel", alone, []string{"1.0.0+1", "1.0.0+2"}, ""},
		{"that OLM prefers to a deprecated one", deprecated("1.0.0+2"), []string{"1.0.0+1", "1.0.0+2"}, ""},
		{"that is deprecated", deprecated("1.0.0+2"), []string{"1.0.0+2", "1.0.0+1"}, `"web-1.0.0+1"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			instance := packageInstance(t, test.change, test.versions...)
			_, err := backends.Named(backend.ClusterExtension).Build(instance)
			if test.problem != "" {
				checkProblems(t, err, problem{"version", test.problem})
			} else if err != nil {
				t.Error(err)
			}
		})
	}
}

func TestNotesOnExtensions(t *testing.T) {
	const account = "serviceAccountName is not set: OLM before 1.11 refuses a ClusterExtension without it"
	for _, test := range []struct {
		name   string
		change func(*backend.Instance)
		want   []string
	}{
		{"no account", nil, []string{account}},
		{"an account, and a range", func(i *backend.Instance) { i.ServiceAccountName, i.Requested = "a", "~1.0" }, nil},
		{"one version", func(i *backend.Instance) { i.ServiceAccountName, i.Requested = "a", "v1.0.0" }, []string{
			"version names one version, which OLM refuses where an upgrade needs several steps: name a range that ends with it, such as <=1.0.0"}},
		{"one bundle", func(i *backend.Instance) { i.ServiceAccountName, i.Requested = "a", i.Bundle.Name }, []string{
			"version names one version, which OLM refuses where an upgrade needs several steps: name a range that ends with it, such as <=1.0.0"}},
		{"dependencies", func(i *backend.Instance) {
			i.ServiceAccountName, i.Bundle = "a", &filebased.Bundle{Name: "b", Dependencies: []filebased.Dependency{{Package: "c"}}}
		}, []string{`application resolves to the bundle "b", which has dependencies: OLM v1 installs no such bundle, so use the backend Subscription`}},
		{"other install modes", func(i *backend.Instance) {
			i.ServiceAccountName, i.Bundle = "a", &filebased.Bundle{Name: "b", InstallModes: []string{"OwnNamespace", "SingleNamespace"}}
		}, []string{`application resolves to the bundle "b", which does not support the install mode AllNamespaces, only OwnNamespace, SingleNamespace: OLM v1 installs for all namespaces, so use the backend Subscription`}},
		{"no install modes", func(i *backend.Instance) {
			i.ServiceAccountName, i.Bundle = "a", &filebased.Bundle{Name: "b", InstallModes: []string{"AllNamespaces"}}
		}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got []string
			for _, note := range backends.Notes(backend.ClusterExtension, packageInstance(t, test.change)) {
				got = append(got, note.Field+" "+note.Message)
			}
			if fmt.Sprintf("%q", got) != fmt.Sprintf("%q", test.want) {
				t.Errorf("got %q\nwant %q", got, test.want)
			}
		})
	}
}

// subscribed returns an instance of the package web for a Subscription.
func subscribed(t testing.TB, change func(*backend.Instance)) backend.Instance {
	t.Helper()
	return packageInstance(t, func(i *backend.Instance) {
		bundle := *i.Bundle
		bundle.InstallModes = []string{"AllNamespaces", "OwnNamespace"}
		i.Bundle, i.Catalog = &bundle, v1alpha1.CatalogReference{Namespace: "olm", Name: "platform"}
		if change != nil {
			change(i)
		}
	})
}

func TestSubscriptionsThatAreRefused(t *testing.T) {
	no := false
	for _, test := range []struct {
		name   string
		change func(*backend.Instance)
		want   []problem
	}{
		{"nothing", nil, nil},
		{"no namespace", func(i *backend.Instance) { i.TargetNamespace = "" }, []problem{{"namespace", "is missing"}}},
		{"what OLM does not have", func(i *backend.Instance) {
			i.ReleaseName, i.ValuesFrom = "a", []v1alpha1.ValuesReference{{Kind: "Secret", Name: "a"}}
		}, []problem{{"releaseName", ""}, {"valuesFrom", "values.envFrom"}}},
		{"a version", func(i *backend.Instance) { i.Requested = "~1.0" }, []problem{{"version", "the head of the channel"}}},
		{"two channels", func(i *backend.Instance) { i.Channels = []string{"a", "b"} }, []problem{{"channels", "follows one"}}},
		{"no catalog", func(i *backend.Instance) { i.Catalog = v1alpha1.CatalogReference{} }, []problem{{"catalog", "CatalogSource"}}},
		{"a catalog without a namespace", func(i *backend.Instance) { i.Catalog.Namespace = "" }, []problem{{"catalog", "CatalogSource"}}},
		{"a catalog that is none", func(i *backend.Instance) { i.Catalog.Namespace, i.Catalog.Name = "a.b", "A" }, []problem{{"catalog.name", ""}, {"catalog.namespace", ""}}},
		{"values that are none", func(i *backend.Instance) {
			i.Values = map[string]any{"env": map[string]any{}, "resource": map[string]any{}, "resources": []any{}, "volumes": "a"}
		}, []problem{{"values.env", "must be a list"}, {"values.resource", "spec.config"}, {"values.resources", "must be a mapping"}, {"values.volumes", "must be a list"}}},
		{"install modes that are not known", func(i *backend.Instance) { i.Bundle.InstallModes = nil }, []problem{{"createOperatorGroup", "does not tell"}}},
		{"other install modes", func(i *backend.Instance) { i.Bundle.InstallModes = []string{"MultiNamespace", "SingleNamespace"} },
			[]problem{{"createOperatorGroup", `supports MultiNamespace, SingleNamespace, and neither`}}},
		{"no install modes", func(i *backend.Instance) { i.Bundle.InstallModes = []string{} }, []problem{{"createOperatorGroup", "supports no install mode"}}},
		{"another OperatorGroup", func(i *backend.Instance) { i.Bundle.InstallModes, i.CreateOperatorGroup = nil, &no }, nil},
		{"an account of another OperatorGroup", func(i *backend.Instance) { i.ServiceAccountName, i.CreateOperatorGroup = "a", &no },
			[]problem{{"serviceAccountName", "set it there"}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := backends.Named(backend.Subscription).Build(subscribed(t, test.change))
			if test.want == nil && err == nil {
				return
			}
			checkProblems(t, err, test.want...)
		})
	}
}

// OLM allows one OperatorGroup in a namespace.
func TestInstancesOfANamespaceShareTheOperatorGroup(t *testing.T) {
	objects := func(name string, change func(*backend.Instance)) []backend.Object {
		return build(t, backend.Subscription, subscribed(t, func(i *backend.Instance) {
			if i.Name = name; change != nil {
				change(i)
			}
		}))
	}
	union, err := backend.Union(map[string][]backend.Object{"a": objects("a", nil), "b": objects("b", nil)})
	if err != nil || len(union) != 4 {
		t.Errorf("%d objects, %v, want a Namespace, an OperatorGroup and two Subscriptions", len(union), err)
	}
	for name, change := range map[string]func(*backend.Instance){
		"other namespaces": func(i *backend.Instance) { i.Bundle.InstallModes = []string{"OwnNamespace"} },
		"another account":  func(i *backend.Instance) { i.ServiceAccountName = "a" },
	} {
		_, err := backend.Union(map[string][]backend.Object{"a": objects("a", nil), "b": objects("b", change)})
		if err == nil || !strings.Contains(err.Error(), `the OperatorGroup of the namespace "web" would differ from the one of the instance "a"`) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestTheNamespacesThatAnOperatorWatches(t *testing.T) {
	no := false
	for want, change := range map[string]func(*backend.Instance){
		"all namespaces": nil,
		"web":            func(i *backend.Instance) { i.Bundle.InstallModes = []string{"OwnNamespace"} },
		"":               func(i *backend.Instance) { i.CreateOperatorGroup = &no },
	} {
		objects, err := backends.Named(backend.Subscription).Build(subscribed(t, change))
		if err != nil {
			t.Fatal(err)
		}
		main := backend.MainOf(objects)
		if targets := backend.TargetsIn(main, objects); targets != want || backend.IdentityOf(main).Package != "web" {
			t.Errorf("%q of the package %q, want %q", targets, backend.IdentityOf(main).Package, want)
		}
	}
}

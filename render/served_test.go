// SPDX-License-Identifier: Apache-2.0

package render_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render"
)

// serving sets the catalog of the golden case of operators, whose instances then name no catalog.
func serving(kind, namespace string, edit func(*v1alpha1.CatalogSelectionSpec)) func(*v1alpha1.CatalogSelectionSpec) {
	return func(spec *v1alpha1.CatalogSelectionSpec) {
		spec.Push = &v1alpha1.Push{
			URL: "oci://registry.example.com:5000/operators", Type: v1alpha1.PushCatalogImage,
			Catalog: &v1alpha1.PushCatalog{Kind: kind, Namespace: namespace},
		}
		if edit != nil {
			edit(spec)
		}
	}
}

// catalogsIn returns the images of the catalogs of an artifact.
func catalogsIn(t *testing.T, result *render.Result) (images []string) {
	t.Helper()
	for _, path := range result.Tree.Paths() {
		content, _ := result.Tree.Content(path)
		if !bytes.Contains(content, []byte("\nkind: ClusterCatalog\n")) && !bytes.Contains(content, []byte("\nkind: CatalogSource\n")) {
			continue
		}
		for line := range strings.Lines(string(content)) {
			if strings.Contains(line, "registry.example.com") {
				_, image, _ := strings.Cut(strings.TrimSpace(line), ": ")
				images = append(images, image)
			}
		}
	}
	return images
}

func TestTheImageOfTheServedCatalog(t *testing.T) {
	rendered := func(edit func(*v1alpha1.CatalogSelectionSpec), replace ...string) string {
		t.Helper()
		result, err := renderOperators(t, edit, replace...)
		if err != nil {
			t.Fatal(err)
		}
		images := catalogsIn(t, result)
		if len(images) != 1 {
			t.Fatalf("the artifact has the catalogs %q", images)
		}
		if len(result.Supporting) == 0 || !strings.HasPrefix(images[0], "registry.example.com:5000/operators@sha256:") {
			t.Errorf("the image is %s", images[0])
		}
		return images[0]
	}
	first := rendered(serving("ClusterCatalog", "", nil))
	for name, same := range map[string]func(*v1alpha1.CatalogSelectionSpec){
		"the same spec":             serving("ClusterCatalog", "", nil),
		"another kind":              serving("CatalogSource", "olm", nil),
		"no instances":              serving("ClusterCatalog", "", func(s *v1alpha1.CatalogSelectionSpec) { s.Instances = nil }),
		"how it is pushed":          serving("ClusterCatalog", "", func(s *v1alpha1.CatalogSelectionSpec) { s.Push.Insecure, s.Push.Tags = true, []string{"v1"} }),
		"the metadata of objects":   serving("ClusterCatalog", "", func(s *v1alpha1.CatalogSelectionSpec) { s.CommonMetadata = nil }),
		"the policy about deletion": serving("ClusterCatalog", "", func(s *v1alpha1.CatalogSelectionSpec) { s.DeletionPolicy = v1alpha1.DeletionPolicyDelete }),
	} {
		if got := rendered(same); got != first {
			t.Errorf("%s: the image is %s, and was %s", name, got, first)
		}
	}
	if rendered(serving("ClusterCatalog", "", nil), "1.18.2", "1.18.3") == first {
		t.Error("other packages have the same image")
	}
}

func TestCatalogsWithoutPackages(t *testing.T) {
	result, err := renderOperators(t, serving("ClusterCatalog", "", func(s *v1alpha1.CatalogSelectionSpec) {
		s.Exclude, s.Instances = []string{"cert-manager", "grafana-operator"}, nil
	}))
	if err != nil {
		t.Fatal(err)
	}
	if images := catalogsIn(t, result); len(images) > 0 {
		t.Errorf("the artifact has the catalogs %q", images)
	}
}

func TestServedCatalogsThatAreRefused(t *testing.T) {
	type spec = v1alpha1.CatalogSelectionSpec
	at := func(url string) func(*spec) { return func(s *spec) { s.Push.URL = url } }
	for _, test := range []struct {
		name, kind, namespace string
		edit                  func(*spec)
		want                  string
	}{
		{"another type", "ClusterCatalog", "", func(s *spec) { s.Push.Type = "" }, "spec.push.catalog: Forbidden: needs type: CatalogImage"},
		{"without definitions", "ClusterCatalog", "", func(s *spec) { s.Definitions = v1alpha1.DefinitionsOmit }, "spec.push.catalog: Forbidden: needs definitions: Publish"},
		{"another kind", "Catalog", "", nil, `spec.push.catalog.kind: Unsupported value: "Catalog"`},
		{"a ClusterCatalog in a namespace", "ClusterCatalog", "olm", nil, "spec.push.catalog.namespace: Forbidden"},
		{"a CatalogSource in no namespace", "CatalogSource", "", nil, `spec.push.catalog.namespace: Invalid value: ""`},
		{"a namespace that leads out", "CatalogSource", "../olm", nil, `spec.push.catalog.namespace: Invalid value: "../olm"`},
		{"a repository with a tag", "ClusterCatalog", "", at("oci://registry.example.com/a:v1"), "spec.push.url: Invalid value"},
		{"a repository with a digest", "ClusterCatalog", "", at("oci://registry.example.com/a@sha256:00"), "spec.push.url: Invalid value"},
		{"a repository that OLM cannot parse", "ClusterCatalog", "", at("oci://registry.example.com/a..b"), "spec.push.url: Invalid value"},
		{"a repository that is too long", "ClusterCatalog", "", at("oci://registry.example.com/" + strings.Repeat("a", 250)), "spec.push.url: Invalid value"},
		{"another scheme", "ClusterCatalog", "", at("https://registry.example.com/a"), "spec.push.url: Invalid value"},
		{"YAML in the address", "ClusterCatalog", "", at("oci://registry.example.com/a\nb"), "spec.push.url: Invalid value"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := renderOperators(t, serving(test.kind, test.namespace, test.edit))
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("err = %v\nwant %s", err, test.want)
			}
		})
	}
}

// OLM v0 installs the head of a channel: a version that the catalog of the selection has at its head is enforced by it.
func TestVersionsOfSubscriptions(t *testing.T) {
	type spec = v1alpha1.CatalogSelectionSpec
	const head = "5.18.0"
	for _, test := range []struct {
		name, kind, version string
		catalog             *v1alpha1.CatalogReference
		problem, unresolved string
	}{
		{name: "a range that has the head", kind: "CatalogSource", version: "5.x"},
		{name: "the head", kind: "CatalogSource", version: head},
		{name: "the head by its bundle", kind: "CatalogSource", version: "grafana-operator.v" + head},
		{name: "a range below the head", kind: "CatalogSource", version: "<5.18",
			unresolved: `OLM v0 installs the head of the channel, which is 5.18.0, and not "<5.18": narrow the package with spec.versions, such as {names: [grafana-operator], constraint: "<5.18"}`},
		{name: "a word", kind: "CatalogSource", version: "newest", unresolved: `and not "newest": narrow the package with spec.versions`},
		{name: "a catalog of others", kind: "CatalogSource", version: "5.x", catalog: &v1alpha1.CatalogReference{Namespace: "olm", Name: "platform"},
			problem: "instance grafana: version: is not known to OLM v0"},
		{name: "a ClusterCatalog", kind: "ClusterCatalog", problem: "instance grafana: catalog: must have the name"},
	} {
		t.Run(test.name, func(t *testing.T) {
			namespace := map[string]string{"CatalogSource": "olm"}[test.kind]
			result, err := renderOperators(t, serving(test.kind, namespace, func(s *spec) {
				s.Instances = map[string]v1alpha1.Instance{"grafana": {
					Application: "grafana-operator", Backend: "Subscription", Namespace: "monitoring", Version: test.version, Catalog: test.catalog,
				}}
			}))
			switch {
			case test.problem != "":
				if err == nil || !strings.Contains(err.Error(), test.problem) {
					t.Errorf("err = %v, want %s", err, test.problem)
				}
			case err != nil:
				t.Error(err)
			case test.unresolved == "":
				if len(result.Instances) != 1 || result.Instances[0].Version != head {
					t.Errorf("the instances are %+v, and %v is unresolved", result.Instances, result.Unresolved)
				}
			case len(result.Unresolved) != 1 || !strings.Contains(result.Unresolved[0].Reason, test.unresolved) || !result.Unresolved[0].OfVersion:
				t.Errorf("unresolved: %v\nwant %s", result.Unresolved, test.unresolved)
			}
		})
	}
}

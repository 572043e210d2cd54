package gitops

import (
	"reflect"
	"strings"
	"testing"
)

// Each head may change the objects of a cluster: the change is among the objects, or unknown.
func TestNoChangeIsOverlooked(t *testing.T) {
	const fromHere = "  sourceRef: {kind: GitRepository, name: fleet}\n"
	plain := cluster("")
	follow := func(name, spec string) string {
		return "---\napiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: " + name +
			", namespace: flux-system}\nspec:\n" + spec
	}
	here := func(name, path string) string { return follow(name, "  path: ./"+path+"\n"+fromHere) }
	excluding := func(name, application string) string {
		return selectionOf(name) + "spec: {sources: [{name: p-catalog}], exclude: ['" + application + "']}\n"
	}
	catalog := func(spec string) string {
		return "---\napiVersion: source.toolkit.fluxcd.io/v1\nkind: OCIRepository\nmetadata: {name: catalog, namespace: flux-system}\nspec: {" + spec + "}\n"
	}
	settings := func(value string) string {
		return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\ndata: {A: " + value + "}\n"
	}
	other := func(tag string) string {
		return "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {name: other, namespace: flux-system}\n" +
			"spec: {url: 'https://example.com/other', ref: {tag: " + tag + "}}\n" +
			follow("tenants", "  path: ./\n  sourceRef: {kind: GitRepository, name: other}\n")
	}
	fleet := func(spec string) string {
		return strings.Replace(plain["cluster/flux.yaml"], `fleet.git"`, `fleet.git", `+spec, 1)
	}
	escaped := func(application string) string {
		return strings.NewReplacer("apiVersion: catalog.winnow", `"api\u0056ersion": "catalog\u002ewinnow`, "v1alpha1\n", "v1alpha1\"\n").Replace(excluding("apps", application))
	}
	marked := func(mark string) string {
		return strings.Replace(excluding("apps", "a"), "metadata: {", "metadata: {annotations: {kustomize.toolkit.fluxcd.io/"+mark+"}, ", 1)
	}
	list := "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: source.toolkit.fluxcd.io/v1, kind: GitRepository, metadata: {name: fleet, namespace: flux-system}, " +
		"spec: {url: 'https://git.example.com/org/fleet'}}\n- {apiVersion: kustomize.toolkit.fluxcd.io/v1, kind: Kustomization, " +
		"metadata: {name: apps, namespace: flux-system}, spec: {path: ./apps, sourceRef: {kind: GitRepository, name: fleet}}}\n"
	tests := []struct {
		name string
		base map[string]string
		head []string
		// unknown is part of a sentence; empty if the objects differ.
		unknown string
	}{
		{"a Kustomization of another cluster", with(plain,
			"cluster/more.yaml", follow("one", "  path: ./one\n  kubeConfig: {secretRef: {name: one}}\n"+fromHere)+follow("two", "  path: ./two\n  kubeConfig: {configMapRef: {name: two}}\n"+fromHere),
			"one/s.yaml", excluding("x", "a"), "two/s.yaml", excluding("x", "a")),
			[]string{"two/s.yaml", excluding("x", "b")}, ""},
		{"another repository at the path of the cluster", map[string]string{"flux.yaml": other("v1"), "s.yaml": excluding("x", "a")},
			[]string{"flux.yaml", other("v2")}, ".: Kustomization flux-system/tenants is not of this repository, and differs"},
		{"a Kustomization that is resumed", cluster("  suspend: true\n"), []string{"cluster/flux.yaml", plain["cluster/flux.yaml"]},
			"cluster: Kustomization flux-system/apps is resumed"},
		{"a source with a prefix", with(plain, "cluster/more.yaml", here("src", "src"), "apps/selection.yaml", excluding("apps", "a"),
			"src/kustomization.yaml", "namePrefix: p-\nresources: [oci.yaml]\n", "src/oci.yaml", catalog("ref: {tag: v1}")),
			[]string{"src/oci.yaml", catalog("ref: {tag: v2}")}, ""},
		{"variables with a prefix", with(cluster("  postBuild: {substituteFrom: [{kind: ConfigMap, name: p-settings}]}\n"), "cluster/more.yaml", here("src", "src"),
			"apps/selection.yaml", excluding("apps", "${A}"),
			"src/kustomization.yaml", "namePrefix: p-\nnamespace: flux-system\nresources: [c.yaml]\n", "src/c.yaml", settings("a")),
			[]string{"src/c.yaml", settings("b")}, ""},
		{"the default of a variable that nothing has", with(cluster("  postBuild: {substituteStrategy: Always}\n"), "apps/selection.yaml", excluding("apps", "${A:=a}")),
			[]string{"apps/selection.yaml", excluding("apps", "${A:=b}")}, ""},
		{"one of two Kustomizations of a name", with(plain, "cluster/more.yaml", here("a", "a")+here("b", "b"), "a/k.yaml", here("z", "z1"), "b/k.yaml", here("z", "z2"),
			"z1/s.yaml", excluding("x", "a"), "z2/s.yaml", excluding("x", "b")), []string{"b/k.yaml", here("z", "z3")},
			"cluster: the Kustomization flux-system/z is there several times, and which one wins is known in the cluster only: by Kustomization flux-system/a, Kustomization flux-system/b"},
		{"one of two selections of a name", with(plain, "cluster/more.yaml", here("a", "a")+here("b", "b"), "a/s.yaml", excluding("x", "a"), "b/s.yaml", excluding("x", "b")),
			[]string{"b/s.yaml", excluding("x", "c")}, "cluster: the CatalogSelection flux-system/x is there several times"},
		{"directories that are checked out no more", plain, []string{"cluster/flux.yaml", fleet("sparseCheckout: [cluster]")}, "its path apps is not in "},
		{"another repository that is included", plain, []string{"cluster/flux.yaml", fleet("include: [{repository: {name: x}}]")}, "has spec.include, which is not evaluated here"},
		{"Kustomizations in a list", map[string]string{"cluster/flux.yaml": list, "apps/kustomization.yaml": "resources: [s.yaml]\n", "apps/s.yaml": excluding("x", "a")},
			[]string{"apps/kustomization.yaml", "namePrefix: p-\nresources: [s.yaml]\n"}, ""},
		{"a selection that Flux has left alone", with(plain, "apps/selection.yaml", marked("reconcile: Disabled")), []string{"apps/selection.yaml", excluding("apps", "a")},
			"cluster: the CatalogSelection flux-system/apps is applied again: its live state is not in the commit before"},
		{"a selection that was applied once", with(plain, "apps/selection.yaml", marked("ssa: IfNotPresent")), []string{"apps/selection.yaml", excluding("apps", "a")},
			"cluster: the CatalogSelection flux-system/apps is applied again"},
		{"a group in escapes", with(plain, "apps/selection.yaml", escaped("a")), []string{"apps/selection.yaml", escaped("b")}, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			commits(t, test.base, with(nil, test.head...))
			compared := compareHead(t, Options{})
			got := strings.Join(compared.Unknown, "\n")
			if !strings.Contains(got, test.unknown) || test.unknown == "" && got != "" {
				t.Errorf("unknown is %q, want %q", got, test.unknown)
			}
			if same := reflect.DeepEqual(said(compared.Base), said(compared.Head)); test.unknown == "" && same {
				t.Errorf("both commits say %q", said(compared.Head))
			}
		})
	}
}

// said maps the cluster and name of selections and catalogs to their specs.
func said(state State) map[string]string {
	found := map[string]string{}
	for _, o := range state.Objects {
		if kind := o.GetKind(); kind == "CatalogSelection" || kind == "OCIRepository" {
			found[o.Cluster+" "+kind+" "+o.GetName()] = yamlOf(o.Object["spec"])
		}
	}
	return found
}

// A misspelt path is reported, whatever the other paths.
func TestPathsThatAreNowhereAreMissing(t *testing.T) {
	commits(t, cluster(""), map[string]string{"new/x.yaml": "kind: X\n"})
	compared := compareHead(t, Options{Paths: []string{"cluster", "clutser", "new", "apps/selection.yml"}})
	if want := []string{"clutser", "apps/selection.yml"}; !reflect.DeepEqual(compared.Missing, want) {
		t.Errorf("missing is %q, want %q", compared.Missing, want)
	}
}

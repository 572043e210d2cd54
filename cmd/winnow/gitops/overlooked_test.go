// SPDX-License-Identifier: Apache-2.0

package gitops

import (
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/winnow-dev/winnow/cmd/winnow/documents"
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
	remote := func(tenant string) string {
		text := follow("apps", "  path: ./"+tenant+"\n  kubeConfig: {secretRef: {name: kubeconfig}}\n"+fromHere)
		return strings.NewReplacer("flux-system", tenant, "name: fleet}", "name: fleet, namespace: flux-system}").Replace(text)
	}
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
	const transformer = "apiVersion: builtin\nkind: PatchTransformer\nmetadata: {name: t}\ntarget: {kind: CatalogSelection}\n"
	replace := func(application string) string {
		return "- {op: replace, path: /spec/exclude/0, value: " + application + "}\n"
	}
	mirror := func(url string) string {
		return "---\napiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {name: mirror, namespace: flux-system}\nspec: {url: '" + url + "'}\n"
	}
	from := func(name, source string) string {
		return follow(name, "  path: ./"+name+"\n  sourceRef: {kind: "+source+"}\n")
	}
	generated := func(dir string) string {
		return "---\napiVersion: source.extensions.fluxcd.io/v1beta1\nkind: ArtifactGenerator\nmetadata: {name: made, namespace: flux-system}\n" +
			"spec: {sources: [{alias: repo, kind: GitRepository, name: fleet}], artifacts: [{name: made, copy: [{from: '@repo/" + dir + "/**', to: '@artifact/'}]}]}\n"
	}
	instance := func(dir, patch string) string {
		return "apiVersion: fluxcd.controlplane.io/v1\nkind: FluxInstance\nmetadata: {name: flux, namespace: flux-system}\nspec:\n" +
			"  sync: {kind: GitRepository, url: 'https://git.example.com/org/fleet', ref: refs/heads/main, path: " + dir + "}\n  kustomize: {patches: [" + patch + "]}\n"
	}
	inFlux := func(object string) string {
		return strings.Replace(object, "metadata: {", "metadata: {namespace: flux-system, ", 1)
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
		{"clusters whose kubeConfigs have one name in two namespaces", with(plain, "cluster/more.yaml", remote("one")+remote("two"),
			"one/s.yaml", excluding("x", "a"), "two/s.yaml", excluding("x", "b")), []string{"two/s.yaml", excluding("x", "c")}, ""},
		{"another repository at the path of the cluster", map[string]string{"flux.yaml": other("v1"), "s.yaml": excluding("x", "a")},
			[]string{"flux.yaml", other("v2")}, ".: Kustomization flux-system/tenants applies files that are not read here, and differs"},
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
		{"a variable that is set", with(cluster("  postBuild: {substituteStrategy: Always}\n"), "apps/selection.yaml", excluding("apps", "${A}")),
			[]string{"cluster/flux.yaml", cluster("  postBuild: {substitute: {A: a}}\n")["cluster/flux.yaml"]}, ""},
		{"the shard of the root, by commonMetadata", map[string]string{attackFile: attackRoot("", ""), attackS: attackSelection("a")},
			[]string{attackFile, attackRoot("", "  commonMetadata: {labels: {sharding.fluxcd.io/key: b}}\n")}, "differs in its shard"},
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
		{"the patch that a transformer names", with(plain, "apps/selection.yaml", excluding("apps", "a"), "apps/kustomization.yaml", "resources: [selection.yaml]\ntransformers: [t.yaml]\n",
			"apps/t.yaml", transformer+"path: p.yaml\n", "apps/p.yaml", replace("b")), []string{"apps/p.yaml", replace("c")}, ""},
		{"one with a space in its name", with(plain, "apps/selection.yaml", excluding("apps", "a"), "apps/kustomization.yaml", "resources: [selection.yaml]\ntransformers: [t.yaml]\n",
			"apps/t.yaml", transformer+"path: a patch.yaml\n", "apps/a patch.yaml", replace("b")), []string{"apps/a patch.yaml", replace("c")}, ""},
		{"the variables that a generator names", with(plain, "apps/selection.yaml", excluding("apps", "a"),
			"apps/kustomization.yaml", "resources: [selection.yaml]\ngenerators: [g.yaml]\nreplacements: [{path: r.yaml}]\n",
			"apps/g.yaml", "apiVersion: builtin\nkind: ConfigMapGenerator\nmetadata: {name: v}\nenvs: [v.env]\noptions: {disableNameSuffixHash: true}\n",
			"apps/r.yaml", "source: {kind: ConfigMap, name: v, fieldPath: data.x}\ntargets: [{select: {kind: CatalogSelection}, fieldPaths: [spec.exclude.0]}]\n",
			"apps/v.env", "x=b\n"), []string{"apps/v.env", "x=c\n"}, ""},
		{"a directory of transformers", with(plain, "apps/selection.yaml", excluding("apps", "a"), "apps/kustomization.yaml", "resources: [selection.yaml]\ntransformers: [./tr]\n",
			"apps/tr/kustomization.yaml", "resources: [t.yaml]\n", "apps/tr/t.yaml", transformer+"path: p.yaml\n", "apps/p.yaml", replace("b")), []string{"apps/p.yaml", replace("c")},
			"Kustomization flux-system/apps cannot be built here, and differs"},
		{"another copy of a source", with(plain, "cluster/more.yaml", here("src", "src"), "apps/selection.yaml", excluding("apps", "a")+"---\n"+strings.ReplaceAll(catalog("ref: {tag: v1}"), "name: catalog", "name: p-catalog"),
			"src/oci.yaml", strings.ReplaceAll(catalog("ref: {tag: v1}"), "name: catalog", "name: p-catalog")),
			[]string{"src/oci.yaml", strings.ReplaceAll(catalog("ref: {tag: v2}"), "name: catalog", "name: p-catalog")}, "the OCIRepository flux-system/p-catalog is there several times"},
		{"another copy of variables", with(cluster("  postBuild: {substituteFrom: [{kind: ConfigMap, name: settings}]}\n"), "cluster/more.yaml", here("src", "src"),
			"apps/selection.yaml", excluding("apps", "${A}"), "cluster/c.yaml", inFlux(settings("a")), "src/c.yaml", inFlux(settings("a"))),
			[]string{"src/c.yaml", inFlux(settings("b"))}, "the ConfigMap flux-system/settings is there several times"},
		{"the source of the second copy of a selection", with(plain, "cluster/more.yaml", here("a", "a"), "apps/selection.yaml", excluding("x", "a"),
			"a/s.yaml", strings.ReplaceAll(excluding("x", "a"), "p-catalog", "catalog")+catalog("ref: {tag: v1}")),
			[]string{"a/s.yaml", strings.ReplaceAll(excluding("x", "a"), "p-catalog", "catalog") + catalog("ref: {tag: v2}")}, "the CatalogSelection flux-system/x is there several times"},
		{"the path of the second copy of a Kustomization", with(plain, "cluster/more.yaml", here("a", "a")+here("b", "b"), "a/k.yaml", here("z", "z1"), "b/k.yaml", here("z", "z2"),
			"z1/s.yaml", excluding("x", "a"), "z2/s.yaml", excluding("x", "a")), []string{"z2/s.yaml", excluding("x", "b")}, "the Kustomization flux-system/z is there several times"},
		{"the files of a repository with others in it", with(plain, "cluster/flux.yaml", fleet("include: [{repository: {name: x}}]"), "apps/selection.yaml", excluding("apps", "a")),
			[]string{"apps/selection.yaml", excluding("apps", "b")}, "has spec.include, which is not evaluated here; it may have apps/selection.yaml"},
		{"a branch by its whole name", with(plain, "cluster/flux.yaml", fleet("ref: {name: refs/heads/main}"), "apps/selection.yaml", excluding("apps", "a")),
			[]string{"apps/selection.yaml", excluding("apps", "b")}, ""},
		{"this repository by another host", with(plain, "cluster/more.yaml", mirror("ssh://git@alt.example.com:443/org/fleet")+from("b", "GitRepository, name: mirror"),
			"b/s.yaml", excluding("b", "a")), []string{"b/s.yaml", excluding("b", "b")}, "which no remote of this repository has; pass --repository flux-system/mirror=. if it is this repository; it may have b/s.yaml"},
		{"a source that is nowhere", with(plain, "cluster/more.yaml", from("b", "GitRepository, name: manual"), "b/kustomization.yaml", "resources: [../c]\n", "c/kustomization.yaml", "resources: [s.yaml]\n",
			"c/s.yaml", excluding("b", "a")), []string{"c/s.yaml", excluding("b", "b")}, "is not in this repository; pass --repository flux-system/manual=. if it is this repository; it may have c/s.yaml"},
		{"a path with an unknown variable", with(plain, "cluster/more.yaml", here("more", "more")+"  postBuild: {substituteFrom: [{kind: ConfigMap, name: nowhere}]}\n", "more/k.yaml", here("b", "b/${ENV}/c"),
			"b/prod/c/s.yaml", excluding("b", "a")), []string{"b/prod/c/s.yaml", excluding("b", "b")}, "its path is known in the cluster only: ${ENV} is of the ConfigMap flux-system/nowhere"},
		{"a base of this repository by its URL", with(plain, "apps/kustomization.yaml", "resources: ['https://git.example.com/org/Fleet.git//base?ref=main']\n", "base/kustomization.yaml", "resources: [s.yaml]\n",
			"base/s.yaml", excluding("b", "a")), []string{"base/s.yaml", excluding("b", "b")}, "differ: https://git.example.com/org/Fleet.git//base?ref=main"},
		{"a component of this repository by its URL", with(plain, "apps/kustomization.yaml", "resources: [selection.yaml]\ncomponents: ['git@git.example.com:org/fleet//base']\n",
			"base/kustomization.yaml", "kind: Component\nnamePrefix: a-\n"), []string{"base/kustomization.yaml", "kind: Component\nnamePrefix: b-\n"}, "cannot be built here, and differs"},
		{"the patches of a FluxInstance", map[string]string{"prod/flux.yaml": instance("prod", "{target: {kind: Kustomization}, patch: a}"), "prod/s.yaml": excluding("x", "a")},
			[]string{"prod/flux.yaml", instance("prod", "{target: {kind: Kustomization}, patch: b}")}, "prod: its FluxInstance differs"},
		{"the path of a FluxInstance", map[string]string{"flux.yaml": instance("prod", ""), "prod/s.yaml": excluding("x", "a"), "other/s.yaml": excluding("x", "a")},
			[]string{"flux.yaml", instance("other", "")}, "prod: its FluxInstance differs"},
		{"files of an artifact", with(plain, "cluster/more.yaml", generated("b")+from("x", "ExternalArtifact, name: made"), "b/x/s.yaml", excluding("b", "a")),
			[]string{"b/x/s.yaml", excluding("b", "b")}, "its source is the ExternalArtifact flux-system/made, which no CatalogSelection publishes; it may have b/x/s.yaml"},
		{"the patches of files of an artifact", with(plain, "cluster/more.yaml", generated("b")+from("x", "ExternalArtifact, name: made"), "b/x/s.yaml", excluding("b", "a")),
			[]string{"cluster/more.yaml", generated("b") + from("x", "ExternalArtifact, name: made") + "  targetNamespace: other\n"}, "Kustomization flux-system/x applies files that are not read here, and differs"},
		{"the files that an artifact has", with(plain, "cluster/more.yaml", generated("b")+from("x", "ExternalArtifact, name: made")),
			[]string{"cluster/more.yaml", generated("c") + from("x", "ExternalArtifact, name: made")}, "Kustomization flux-system/x applies files that are not read here, and differs"},
		{"a file whose name may be an address", with(plain, "apps/kustomization.yaml", "resources: [s@prod.yaml, a@1/s.yaml]\n", "apps/a@1/s.yaml", excluding("x", "a"),
			"apps/s@prod.yaml", excluding("apps", "a")), []string{"apps/s@prod.yaml", excluding("apps", "b")}, ""},
		{"a directory whose name may be an address", with(plain, "apps/kustomization.yaml", "resources: [a@1]\n", "apps/a@1/kustomization.yaml", "resources: [s.yaml]\n", "apps/a@1/s.yaml", excluding("apps", "a")),
			[]string{"apps/a@1/s.yaml", excluding("apps", "b")}, ""},
		{"a file whose name is an address", with(plain, "apps/kustomization.yaml", "resources: [a@1/b/s.yaml]\n", "apps/a@1/b/s.yaml", excluding("apps", "a")),
			[]string{"apps/a@1/b/s.yaml", excluding("apps", "b")}, "a@1/b/s.yaml is both a file and an address"},
		{"a patch whose name may be an address", with(plain, "apps/selection.yaml", excluding("apps", "a"),
			"apps/kustomization.yaml", "resources: [selection.yaml]\npatches: [{path: p@prod.yaml, target: {kind: CatalogSelection}}]\n", "apps/p@prod.yaml", replace("b")),
			[]string{"apps/p@prod.yaml", replace("c")}, ""},
		{"a selection that commonMetadata kept from Flux", cluster("  commonMetadata: {annotations: {kustomize.toolkit.fluxcd.io/reconcile: disabled}}\n"),
			[]string{"cluster/flux.yaml", plain["cluster/flux.yaml"]}, "cluster: the CatalogSelection flux-system/apps is applied again"},
		{"a source that is resumed", with(plain, "cluster/flux.yaml", fleet("suspend: true")), []string{"cluster/flux.yaml", plain["cluster/flux.yaml"]},
			"cluster: Kustomization flux-system/apps is applied again, because its source is resumed"},
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

// A change of files that the cluster does not get is not unknown.
func TestWhatIsOfAnotherRepositoryIsNotUnknown(t *testing.T) {
	const kustomization = "---\napiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: other, namespace: flux-system}\nspec:\n"
	source := func(url, ref string) string {
		return "---\napiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {name: other, namespace: flux-system}\nspec: {url: '" + url + "'" + ref + "}\n"
	}
	const other = "  sourceRef: {kind: GitRepository, name: other}\n"
	tests := map[string]string{
		"the same path of another repository":    source("https://git.example.com/org/other", "") + kustomization + "  path: ./b\n" + other,
		"the same path of a tag":                 source("https://git.example.com/org/fleet", ", ref: {tag: v1}") + kustomization + "  path: ./b\n" + other,
		"a path that a cluster is built from":    source("https://alt.example.com/org/fleet", "") + kustomization + "  path: ./apps\n" + other,
		"all of a source that is nowhere":        kustomization + "  path: ./\n" + other,
		"an artifact of which nothing is known":  kustomization + "  path: ./b\n  sourceRef: {kind: ExternalArtifact, name: other}\n",
		"an artifact that a selection publishes": kustomization + "  path: ./b\n  sourceRef: {kind: ExternalArtifact, name: apps}\n",
		"a manifest of a registry":               kustomization + "  path: ./b\n  sourceRef: {kind: OCIRepository, name: other}\n---\napiVersion: source.toolkit.fluxcd.io/v1\nkind: OCIRepository\nmetadata: {name: other, namespace: flux-system}\nspec: {url: 'oci://x.example.com/y'}\n",
	}
	for name, more := range tests {
		t.Run(name, func(t *testing.T) {
			commits(t, with(cluster(""), "cluster/more.yaml", more, "b/s.yaml", selectionOf("b")), map[string]string{"b/s.yaml": selectionOf("c"), "apps/selection.yaml": selectionOf("d")})
			if compared := compareHead(t, Options{Paths: []string{"cluster"}}); len(compared.Unknown) > 0 {
				t.Errorf("unknown is %q", compared.Unknown)
			}
		})
	}
}

// A FluxInstance patches the controllers of Flux as well.
func TestPatchesOfControllersAreNotUnknown(t *testing.T) {
	instance := func(patch string) string {
		return "apiVersion: fluxcd.controlplane.io/v1\nkind: FluxInstance\nmetadata: {name: flux, namespace: flux-system}\nspec:\n" +
			"  sync: {kind: GitRepository, url: 'https://git.example.com/org/fleet', ref: refs/heads/main, path: prod}\n  kustomize: {patches: [" + patch + "]}\n"
	}
	for _, patch := range []string{"{target: {kind: Deployment, name: '.*'}, patch: a}", "{patch: 'kind: Deployment'}", "{target: {kind: Deploy.*}, patch: 'kind: Kustomization'}"} {
		commits(t, map[string]string{"prod/flux.yaml": instance(""), "prod/s.yaml": selectionOf("x")}, map[string]string{"prod/flux.yaml": instance(patch)})
		if compared := compareHead(t, Options{}); len(compared.Unknown) > 0 {
			t.Errorf("%s: unknown is %q", patch, compared.Unknown)
		}
	}
}

// The files of a submodule are not known, and are in the artifact of a source that recurses into it.
func TestSubmodulesAreUnknownWhereTheyDiffer(t *testing.T) {
	recursing := func(recurses bool, more ...string) map[string]string {
		files := with(cluster(""), more...)
		files["cluster/flux.yaml"] = strings.Replace(files["cluster/flux.yaml"], `fleet.git"`, fmt.Sprintf(`fleet.git", recurseSubmodules: %t`, recurses), 1)
		return files
	}
	tests := []struct {
		name, module string
		paths        []string
		files        map[string]string
		unknown      string
	}{
		{"the path of a Kustomization", "sub", nil, recursing(true, "cluster/more.yaml", pathKustomization("sub")), "its path sub is in a submodule"},
		{"below the path of a Kustomization", "apps/x/sub", nil, recursing(true), "apps/x/sub (a submodule at bbbbbbbbbbbb)"},
		{"below the path of a Kustomization whose source leaves it out", "apps/x/sub", nil, recursing(false), ""},
		{"one that no Kustomization applies", "x/sub", nil, recursing(true), ""},
		{"a path", "apps/sub", []string{"apps/sub"}, recursing(false), "apps/sub is in a submodule"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			commits(t, test.files, nil)
			if err := os.MkdirAll(test.module, 0o750); err != nil {
				t.Fatal(err)
			}
			for _, id := range []string{"a", "b"} {
				git(t, "tag", "-f", "base")
				git(t, "update-index", "--add", "--cacheinfo", "160000,"+strings.Repeat(id, 40)+","+test.module)
				git(t, "commit", "-q", "-m", id)
			}
			got := strings.Join(compareHead(t, Options{Paths: test.paths}).Unknown, "\n")
			if !strings.Contains(got, test.unknown) || test.unknown == "" && got != "" {
				t.Errorf("unknown is %q, want %q", got, test.unknown)
			}
		})
	}
}

func pathKustomization(dir string) string {
	return "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: other, namespace: flux-system}\n" +
		"spec: {path: ./" + dir + ", sourceRef: {kind: GitRepository, name: fleet}}\n"
}

// --repository names a source that exists. With the wrong directory, what differs is unknown.
func TestRepositoriesAreNamedAsTheirSources(t *testing.T) {
	commits(t, cluster(""), map[string]string{"apps/selection.yaml": selectionOf("other")})
	git(t, "remote", "set-url", "origin", "https://git.example.com/me/fork")
	for _, misspelt := range []string{"fleeet=.", "flux_system/fleet=."} {
		options := Options{Paths: []string{"."}, Repositories: []string{misspelt}, Keep: func([]byte) bool { return true }}
		if _, err := Compare(t.Context(), git(t, "rev-parse", "base"), git(t, "rev-parse", "HEAD"), options); err == nil || !strings.Contains(err.Error(), "has the source") {
			t.Errorf("%s: the error is %v", misspelt, err)
		}
	}
	compared := compareHead(t, Options{Paths: []string{"cluster"}, Repositories: []string{"fleet=cluster"}})
	if got := strings.Join(compared.Unknown, "\n"); !strings.Contains(got, "its path cluster/apps is not in the repository, with the directory of --repository; it may have apps/selection.yaml") {
		t.Errorf("unknown is %q", got)
	}
	if compared := compareHead(t, Options{Paths: []string{"cluster"}, Repositories: []string{"fleet=."}}); len(compared.Unknown) > 0 {
		t.Errorf("unknown is %q", compared.Unknown)
	}
}

// A catalog that is files of this repository is compared by these.
func TestCatalogsOfThisRepositoryAreUnknown(t *testing.T) {
	selecting := func(source string) string { return selectionOf("apps") + "spec: {sources: [{" + source + "}]}\n" }
	tests := []struct {
		name, source, more string
		file               string
		differs            bool
	}{
		{"a path of the repository", "kind: GitRepository, name: fleet, path: ./catalog", "", "catalog/applications/loki/x.txt", true},
		{"another path", "kind: GitRepository, name: fleet, path: ./catalog", "", "other/x.txt", false},
		{"another repository", "kind: GitRepository, name: other, path: ./catalog", "---\napiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\n" +
			"metadata: {name: other, namespace: flux-system}\nspec: {url: 'https://git.example.com/org/other'}\n", "catalog/x.txt", false},
		{"an artifact", "kind: ExternalArtifact, name: made", "---\napiVersion: source.extensions.fluxcd.io/v1beta1\nkind: ArtifactGenerator\nmetadata: {name: m, namespace: flux-system}\n" +
			"spec: {sources: [{alias: r, kind: GitRepository, name: fleet}], artifacts: [{name: made, copy: [{from: '@r/catalog/**', to: '@artifact/'}]}]}\n", "catalog/x.txt", true},
		{"a source that is nowhere", "kind: GitRepository, name: manual, path: ./catalog", "", "catalog/x.txt", true},
		{"a catalog of a registry", "name: fleet", "", "catalog/x.txt", false},
	}
	for _, test := range tests {
		for _, clustered := range []bool{true, false} {
			t.Run(fmt.Sprint(test.name, " ", clustered), func(t *testing.T) {
				files := with(cluster(""), "cluster/more.yaml", test.more, "apps/selection.yaml", selecting(test.source), test.file, "a")
				if !clustered {
					files = map[string]string{"plain/all.yaml": strings.SplitN(files["cluster/flux.yaml"], "---", 2)[0] + test.more + "---\n" + files["apps/selection.yaml"], test.file: "a"}
				}
				commits(t, files, map[string]string{test.file: "b"})
				compared := compareHead(t, Options{})
				hidden := func(state State) (all string) {
					for _, o := range state.Objects {
						all += o.Hidden
					}
					for _, f := range state.Files {
						all += f.Hidden
					}
					return all
				}
				if differs := hidden(compared.Base) != hidden(compared.Head); differs != test.differs || len(compared.Unknown) > 0 {
					t.Errorf("that it differs is %t, want %t; unknown is %q", differs, test.differs, compared.Unknown)
				}
			})
		}
	}
}

// said maps the cluster and name of selections and catalogs to their specs.
func said(state State) map[string]string {
	found := map[string]string{}
	for _, o := range state.Objects {
		if kind := o.GetKind(); kind == "CatalogSelection" || kind == "OCIRepository" {
			found[o.Cluster+" "+kind+" "+o.GetName()] = documents.YAMLOf(o.Object["spec"])
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

// SPDX-License-Identifier: Apache-2.0

package gitops

import (
	"bytes"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/winnow-dev/winnow/cmd/winnow/documents"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/manifest"
)

// attack is a change that a cluster gets, in files that differ between two commits.
type attack struct {
	name       string
	base, head map[string]string
	// removed are files of the base that the head lacks.
	removed []string
	options Options
}

func (a attack) compare(t *testing.T) *Comparison {
	t.Helper()
	commits(t, a.base, nil)
	for _, name := range a.removed {
		if err := os.RemoveAll(name); err != nil {
			t.Fatal(err)
		}
	}
	for name := range a.head {
		_ = os.Remove(name)
	}
	put(t, a.head)
	git(t, "add", "-A")
	git(t, "commit", "-q", "-m", "head")
	if a.options.Paths == nil {
		a.options.Paths = []string{"."}
	}
	a.options.Keep = func(content []byte) bool { // as the package selections has it
		return documents.Mentions(content, "CatalogSelection", manifest.SourceGroup, "ExternalArtifact") ||
			bytes.Contains(content, []byte(manifest.KustomizationGroup)) && bytes.Contains(content, []byte("OCIRepository"))
	}
	compared, err := Compare(t.Context(), git(t, "rev-parse", "base"), git(t, "rev-parse", "HEAD"), a.options)
	if err != nil {
		t.Fatal(err)
	}
	return compared
}

func attackRoot(source, kustomization string) string {
	return sync("flux-system", "./clusters/p", source, kustomization)
}

func attackK(name, dir, more string) string {
	return "---\napiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: " + name + ", namespace: flux-system}\nspec:\n  path: " + dir + "\n" + more
}

const (
	attackFile = "clusters/p/flux-system/gotk-sync.yaml"
	attackS    = "clusters/p/s.yaml"
	fromFlux   = "  sourceRef: {kind: GitRepository, name: flux-system}\n"
)

func attackSelection(application string) string {
	return selectionOf("x") + "spec: {sources: [{name: catalog}], exclude: ['" + application + "']}\n"
}

func attackInstance(name, dir, patches string) string {
	return "---\napiVersion: fluxcd.controlplane.io/v1\nkind: FluxInstance\nmetadata: {name: flux, namespace: " + name + "}\nspec:\n" +
		"  sync: {kind: GitRepository, url: 'https://git.example.com/org/fleet', ref: refs/heads/main, path: " + dir + "}\n  kustomize: {patches: [" + patches + "]}\n"
}

func attackSource(name, spec string) string {
	return "---\napiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {name: " + name + ", namespace: flux-system}\nspec: {url: 'https://git.example.com/org/fleet'" + spec + "}\n"
}

func attackMap(name, value string) string {
	return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name + ", namespace: flux-system}\ndata: {X: " + value + "}\n"
}

// Each head changes what the cluster has: the change must be among the objects, or unknown.
func TestNoAttackIsOverlooked(t *testing.T) {
	for _, test := range attackTests() {
		t.Run(test.name, func(t *testing.T) { judge(t, test) })
	}
}

func attackTests() []attack {
	plain := map[string]string{attackFile: attackRoot("", ""), attackS: attackSelection("a")}
	ignore := "  ignore: |\n    /clusters/p/off/\n"
	onlyRoot := "---\n" + strings.SplitN(attackRoot("", ""), "---\n", 2)[1]
	return []attack{
		{name: ".sourceignore links to a link", base: with(plain, "patterns", "s.yaml\n"), head: map[string]string{".sourceignore": "-> x", "x": "-> patterns"}},
		{name: ".sourceignore links through a linked directory", base: with(plain, "b/patterns", "s.yaml\n"), head: map[string]string{".sourceignore": "-> a/patterns", "a": "-> b"}},
		{name: "the filter goes in the commit that moves the file below it", base: with(plain, attackFile, attackRoot(ignore, "")),
			head: map[string]string{attackFile: attackRoot("", ""), "clusters/p/off/s.yaml": attackSelection("a")}, removed: []string{attackS}},
		{name: "the variable is renamed with its use", base: with(plain, attackFile, attackRoot("", "  postBuild: {substitute: {A: a}}\n"), attackS, attackSelection("${A}")),
			head: map[string]string{attackFile: attackRoot("", "  postBuild: {substitute: {B: a}}\n"), attackS: attackSelection("${B}")}},
		{name: "variables of the root are applied by another Kustomization", base: with(plain, attackFile, attackRoot("", "  postBuild: {substituteFrom: [{kind: ConfigMap, name: v}]}\n")+attackK("vars", "./vars", fromFlux), attackS, attackSelection("${X}"), "vars/v.yaml", attackMap("v", "a")),
			head: map[string]string{"vars/v.yaml": attackMap("v", "b")}},
		{name: "variables known later, two wait", base: with(plain, attackFile, attackRoot("", "")+attackK("a", "./a", fromFlux+"  postBuild: {substituteFrom: [{kind: ConfigMap, name: v, optional: true}]}\n")+
			attackK("b", "./b", fromFlux+"  postBuild: {substituteFrom: [{kind: ConfigMap, name: nowhere, optional: true}]}\n"), "a/s.yaml", strings.ReplaceAll(attackSelection("${X:=z}"), "name: x", "name: yy"), "b/v.yaml", attackMap("v", "a")),
			head: map[string]string{"b/v.yaml": attackMap("v", "b")}},
		{name: "nested clusters, outer has a kustomization file", base: with(plain, "clusters/kustomization.yaml", "resources: [hub.yaml]\n", "clusters/hub.yaml", attackSource("hub", "")+attackK("hub", "./clusters", "  sourceRef: {kind: GitRepository, name: hub}\n")),
			head: map[string]string{attackFile: attackRoot("  ignore: s.yaml\n", "")}},
		{name: "large sync file", base: with(plain, attackFile, attackRoot("", "")+strings.Repeat("# padding of the file\n", 60000)), head: map[string]string{".sourceignore": "/clusters/p/s.yaml\n"}},
		{name: "a ResourceSet makes the variables", base: with(plain, attackFile, attackRoot("", "")+attackK("a", "./a", fromFlux+"  postBuild: {substituteFrom: [{kind: ConfigMap, name: v}]}\n"), "a/s.yaml", strings.ReplaceAll(attackSelection("${X}"), "name: x", "name: yy"),
			"clusters/p/rs.yaml", "apiVersion: fluxcd.controlplane.io/v1\nkind: ResourceSet\nmetadata: {name: r, namespace: flux-system}\nspec: {inputs: [{x: a}], resources: [{apiVersion: v1, kind: ConfigMap, metadata: {name: v, namespace: flux-system}, data: {X: '<< inputs.x >>'}}]}\n"),
			head: map[string]string{"clusters/p/rs.yaml": "apiVersion: fluxcd.controlplane.io/v1\nkind: ResourceSet\nmetadata: {name: r, namespace: flux-system}\nspec: {inputs: [{x: b}], resources: [{apiVersion: v1, kind: ConfigMap, metadata: {name: v, namespace: flux-system}, data: {X: '<< inputs.x >>'}}]}\n"}},
		{name: "a ResourceSet composes the group", base: with(plain, "clusters/p/rs.yaml", "apiVersion: fluxcd.controlplane.io/v1\nkind: ResourceSet\nmetadata: {name: r, namespace: flux-system}\nspec:\n  inputs: [{x: a}]\n  resourcesTemplate: |\n    << \"api\" >>Version: << \"catalog.\" >>winnow.dev/v1alpha1\n    kind: CatalogSelection\n    metadata: {name: yy, namespace: a}\n    spec: {exclude: [<< inputs.x >>]}\n"),
			head: map[string]string{"clusters/p/rs.yaml": "apiVersion: fluxcd.controlplane.io/v1\nkind: ResourceSet\nmetadata: {name: r, namespace: flux-system}\nspec:\n  inputs: [{x: b}]\n  resourcesTemplate: |\n    << \"api\" >>Version: << \"catalog.\" >>winnow.dev/v1alpha1\n    kind: CatalogSelection\n    metadata: {name: yy, namespace: a}\n    spec: {exclude: [<< inputs.x >>]}\n"}},
		{name: "a chart composes the group", base: with(plain, "clusters/p/r.yaml", "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: r, namespace: flux-system}\nspec:\n  chart: {spec: {chart: ./charts/x, sourceRef: {kind: GitRepository, name: flux-system}}}\n", "charts/x/Chart.yaml", "apiVersion: v2\nname: x\nversion: 1.0.0\n",
			"charts/x/templates/s.yaml", "{{ \"api\" }}Version: {{ \"catalog.\" }}winnow.dev/v1alpha1\nkind: CatalogSelection\nspec: {exclude: [{{ .Values.x }}]}\n", "charts/x/values.yaml", "x: a\n"),
			head: map[string]string{"charts/x/values.yaml": "x: b\n"}},
		{name: "a kustomization file patches the sync of a FluxInstance", base: map[string]string{"clusters/p/flux/i.yaml": attackInstance("flux-system", "clusters/p", ""), "clusters/p/kustomization.yaml": "resources: [flux/i.yaml, s.yaml]\n", attackS: attackSelection("a")},
			head: map[string]string{"clusters/p/kustomization.yaml": "resources: [flux/i.yaml, s.yaml]\npatches: [{target: {kind: FluxInstance}, patch: '[{\"op\": \"replace\", \"path\": \"/spec/sync/path\", \"value\": \"clusters/q\"}]'}]\n"}},
		{name: "a kustomization file patches the patches of a FluxInstance", base: map[string]string{"clusters/p/flux/i.yaml": attackInstance("flux-system", "clusters/p", ""), "clusters/p/kustomization.yaml": "resources: [flux/i.yaml, s.yaml]\n", attackS: attackSelection("a")},
			head: map[string]string{"clusters/p/kustomization.yaml": "resources: [flux/i.yaml, s.yaml]\npatches:\n- target: {kind: FluxInstance}\n  patch: |\n    - op: add\n      path: /spec/kustomize/patches/-\n      value: {target: {kind: GitRepository}, patch: \"- {op: add, path: /spec/ignore, value: s.yaml}\"}\n"}},
		{name: "an overlay sets the path of a FluxInstance", base: map[string]string{"flux/i.yaml": attackInstance("flux-system", "none", ""), "flux/kustomization.yaml": "resources: [i.yaml]\n", attackS: attackSelection("a"),
			"clusters/p/kustomization.yaml": "resources: [../../flux, s.yaml]\npatches: [{target: {kind: FluxInstance}, patch: '[{\"op\": \"replace\", \"path\": \"/spec/sync/path\", \"value\": \"clusters/p\"}]'}]\n", "clusters/q/a.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"},
			head: map[string]string{"clusters/p/kustomization.yaml": "resources: [../../flux, s.yaml]\npatches: [{target: {kind: FluxInstance}, patch: '[{\"op\": \"replace\", \"path\": \"/spec/sync/path\", \"value\": \"clusters/q\"}]'}]\n"}},
		{name: "two FluxInstances of one path", base: map[string]string{"i/a.yaml": attackInstance("a", "clusters/p", ""), "i/b.yaml": attackInstance("b", "clusters/p", ""), attackS: attackSelection("a")},
			head: map[string]string{"i/a.yaml": attackInstance("a", "clusters/p", "{target: {kind: GitRepository}, patch: '- {op: add, path: /spec/ignore, value: s.yaml}'}")}},
		{name: "a patch of a FluxInstance with a kind in escapes", base: map[string]string{"i/a.yaml": attackInstance("flux-system", "clusters/p", ""), attackS: attackSelection("a")},
			head: map[string]string{"i/a.yaml": attackInstance("flux-system", "clusters/p", `{patch: "apiVersion: source.toolkit.fluxcd.io/v1\nkind: \"Git\\u0052epository\"\nmetadata: {name: flux-system, namespace: flux-system}\nspec: {ignore: s.yaml}\n"}`)}},
		{name: "an artifact of files that a generator of kustomize has as well", base: with(plain, "clusters/p/more.yaml", attackSource("fleet", "")+"---\napiVersion: source.extensions.fluxcd.io/v1beta1\nkind: ArtifactGenerator\nmetadata: {name: made, namespace: flux-system}\n"+
			"spec: {sources: [{alias: repo, kind: GitRepository, name: fleet}], artifacts: [{name: made, copy: [{from: '@repo/b/**', to: '@artifact/'}]}]}\n"+attackK("z", "./x", "  sourceRef: {kind: ExternalArtifact, name: made}\n"), "b/x/s.yaml", strings.ReplaceAll(attackSelection("a"), "name: x", "name: yy")),
			head: map[string]string{"b/x/s.yaml": strings.ReplaceAll(attackSelection("b"), "name: x", "name: yy"), "clusters/p/d.yaml": strings.TrimPrefix(attackK("d", "./d", fromFlux), "---\n"), "d/kustomization.yaml": "configMapGenerator: [{name: d, files: [../b/x/s.yaml]}]\n"}},
		{name: "files of a source that is nowhere, which a generator has as well", base: with(plain, "clusters/p/more.yaml", strings.TrimPrefix(attackK("z", "./z", "  sourceRef: {kind: GitRepository, name: manual}\n"), "---\n"), "z/s.yaml", strings.ReplaceAll(attackSelection("a"), "name: x", "name: yy")),
			head: map[string]string{"z/s.yaml": strings.ReplaceAll(attackSelection("b"), "name: x", "name: yy"), "clusters/p/d.yaml": strings.TrimPrefix(attackK("d", "./d", fromFlux), "---\n"), "d/kustomization.yaml": "configMapGenerator: [{name: d, files: [../z/s.yaml]}]\n"}},
		{name: "an include with --repository", base: plain, head: map[string]string{attackFile: attackRoot("  include: [{repository: {name: x}, toPath: clusters/p}]\n", "")}, options: Options{Repositories: []string{"flux-system=."}}},
		{name: "a missing directory to check out with --repository", base: plain, head: map[string]string{attackFile: attackRoot("  sparseCheckout: [clusters, nowhere]\n", "")}, options: Options{Repositories: []string{"flux-system=."}}},
		{name: "the source is verified by a key that is nowhere", base: plain, head: map[string]string{attackFile: attackRoot("  verify: {mode: HEAD, secretRef: {name: nowhere}}\n", "")}},
		{name: "the root is suspended", base: plain, head: map[string]string{attackFile: attackRoot("", "  suspend: true\n")}},
		{name: "the source is suspended", base: plain, head: map[string]string{attackFile: attackRoot("  suspend: true\n", "")}},
		{name: "the root depends on nothing that exists", base: plain, head: map[string]string{attackFile: attackRoot("", "  dependsOn: [{name: nowhere}]\n")}},
		{name: "the account of the root", base: plain, head: map[string]string{attackFile: attackRoot("", "  serviceAccountName: nowhere\n")}},
		{name: "a Kustomization below one that cannot be built here", base: with(plain, attackFile, attackRoot("", "")+attackK("a", "./a", fromFlux), "a/kustomization.yaml", "resources: [k.yaml]\ncomponents: ['https://github.com/x/y//z?ref=v1.0.0']\n", "a/k.yaml", strings.TrimPrefix(attackK("vars", "./vars", fromFlux), "---\n")+
			attackK("z", "./z", fromFlux+"  postBuild: {substituteFrom: [{kind: ConfigMap, name: v}]}\n"), "z/s.yaml", strings.ReplaceAll(attackSelection("${X}"), "name: x", "name: yy"), "vars/v.yaml", attackMap("v", "a")),
			head: map[string]string{"vars/v.yaml": attackMap("v", "b")}},
		{name: "an absolute link that is taken for one of the repository", base: with(plain, ".sourceignore", "-> /patterns", "patterns", "/clusters/p/late/\n", "clusters/p/c.yaml", attackMap("c", "c")),
			head: map[string]string{"clusters/p/late/c.yaml": attackMap("c", "c")}},
		{name: "the patches of the root and what they patch", base: plain,
			head: map[string]string{attackFile: attackRoot("", "  patches: [{target: {kind: CatalogSelection}, patch: '- {op: replace, path: /spec/exclude/0, value: a}'}]\n"), attackS: attackSelection("b")}},
		{name: "the path of a Kustomization and its file", base: with(plain, attackFile, attackRoot("", "")+attackK("a", "./v1", fromFlux+"  prune: true\n"), "v1/s.yaml", strings.ReplaceAll(attackSelection("a"), "name: x", "name: yy"), "v1/c.yaml", attackMap("c", "c")),
			head: map[string]string{attackFile: attackRoot("", "") + attackK("a", "./v2", fromFlux+"  prune: true\n"), "v2/s.yaml": strings.ReplaceAll(attackSelection("a"), "name: x", "name: yy")}, removed: []string{"v1/s.yaml"}},
		{name: "the ignored directory of a child source and its file", base: with(plain, attackFile, attackRoot("", "")+attackSource("fleet", ", ignore: /apps/off/")+attackK("a", "./apps", "  prune: true\n  sourceRef: {kind: GitRepository, name: fleet}\n"), "apps/s.yaml", strings.ReplaceAll(attackSelection("a"), "name: x", "name: yy")),
			head: map[string]string{attackFile: attackRoot("", "") + attackSource("fleet", "") + attackK("a", "./apps", "  prune: true\n  sourceRef: {kind: GitRepository, name: fleet}\n"), "apps/off/s.yaml": strings.ReplaceAll(attackSelection("a"), "name: x", "name: yy")}, removed: []string{"apps/s.yaml"}},
		{name: "the same two roots of hub and spoke in nested clusters, another file of the inner", base: with(plain, "clusters/kustomization.yaml", "resources: [hub.yaml]\n", "clusters/hub.yaml", attackSource("hub", "")+attackK("hub", "./clusters", "  sourceRef: {kind: GitRepository, name: hub}\n")),
			head: map[string]string{attackFile: attackRoot("", "  patches: [{target: {kind: CatalogSelection}, patch: '- {op: replace, path: /spec/exclude/0, value: z}'}]\n")}},
		{name: "a Secret for the source that is nowhere", base: plain, head: map[string]string{attackFile: attackRoot("  secretRef: {name: nowhere}\n", "")}},
		{name: "the FluxInstance is removed by a patch", base: map[string]string{"clusters/p/flux/i.yaml": attackInstance("flux-system", "clusters/p", ""), "clusters/p/kustomization.yaml": "resources: [flux/i.yaml, s.yaml]\n", attackS: attackSelection("a")},
			head: map[string]string{"clusters/p/kustomization.yaml": "resources: [s.yaml]\n"}},
		{name: "as 06, with --repository", base: map[string]string{attackFile: onlyRoot + attackK("src", "./src", fromFlux), attackS: attackSelection("a"), "src/g.yaml": attackSource("flux-system", "")},
			head: map[string]string{"src/g.yaml": attackSource("flux-system", ", ignore: s.yaml")}, options: Options{Repositories: []string{"flux-system=."}}},
		{name: "as 06, and the child has another source", base: map[string]string{attackFile: onlyRoot + attackSource("fleet", "") + attackK("src", "./src", "  sourceRef: {kind: GitRepository, name: fleet}\n"), attackS: attackSelection("a"), "src/g.yaml": attackSource("flux-system", "")},
			head: map[string]string{"src/g.yaml": attackSource("flux-system", ", ignore: s.yaml")}},
		{name: "a decoy of the source without a namespace", base: plain, head: map[string]string{"clusters/p/a.yaml": strings.Replace(strings.TrimPrefix(attackSource("flux-system", ""), "---\n"), ", namespace: flux-system", "", 1), attackFile: attackRoot("  ignore: s.yaml\n", "")}},
		{name: "the variables of the consumer", base: with(plain, "clusters/p/c.yaml", consumer("  prune: true\n  postBuild: {substituteFrom: [{kind: ConfigMap, name: v}]}\n"), "clusters/p/v.yaml", attackMap("v", "a")), head: map[string]string{"clusters/p/v.yaml": attackMap("v", "b")}},
		{name: "the variables of the consumer by another Kustomization", base: with(plain, attackFile, attackRoot("", "")+attackK("vars", "./vars", fromFlux), "clusters/p/c.yaml", consumer("  prune: true\n  postBuild: {substituteFrom: [{kind: ConfigMap, name: v}]}\n"), "vars/v.yaml", attackMap("v", "a")), head: map[string]string{"vars/v.yaml": attackMap("v", "b")}},
		{name: "a Kustomization is renamed, and gets a source of another branch", base: with(plain, attackFile, attackRoot("", "")+attackK("a", "./a", fromFlux), "a/s.yaml", strings.ReplaceAll(attackSelection("a"), "name: x", "name: yy")),
			head: map[string]string{attackFile: attackRoot("", "") + attackSource("evil", ", ref: {branch: evil}") + attackK("a2", "./a", "  sourceRef: {kind: GitRepository, name: evil}\n")}},
		{name: "a Kustomization of another branch is new", base: with(plain, attackFile, attackRoot("", "")+attackK("a", "./a", fromFlux), "a/s.yaml", strings.ReplaceAll(attackSelection("a"), "name: x", "name: yy")),
			head: map[string]string{attackFile: attackRoot("", "") + attackK("a", "./a", fromFlux) + attackSource("evil", ", ref: {branch: evil}") + attackK("a2", "./a", "  sourceRef: {kind: GitRepository, name: evil}\n")}},
		{name: "a new Kustomization of another branch has nothing here", base: with(plain, "c/c.yaml", attackMap("c", "c")),
			head: map[string]string{attackFile: attackRoot("", "") + attackSource("evil", ", ref: {branch: evil}") + attackK("a2", "./c", "  sourceRef: {kind: GitRepository, name: evil}\n")}},
		{name: "an owner that is nowhere", base: plain, head: map[string]string{attackS: owned(attackSelection("a"))}},
		{name: "the root gets an owner that is nowhere", base: plain, head: map[string]string{attackFile: owned(attackRoot("", ""))}},
		{name: "the consumer gets an owner that is nowhere", base: with(plain, "clusters/p/c.yaml", consumer("  prune: true\n")), head: map[string]string{"clusters/p/c.yaml": owned(consumer("  prune: true\n"))}},
		{name: ".sourceignore has the FluxInstance", base: map[string]string{"clusters/p/flux/i.yaml": attackInstance("flux-system", "clusters/p", ""), attackS: attackSelection("a")},
			head: map[string]string{".sourceignore": "/clusters/p/flux\n"}},
		{name: "the root deletes a Kustomization and its copy stays in another one that is suspended", base: with(plain, attackFile, attackRoot("", "")+attackK("a", "./a", fromFlux+"  prune: true\n")+attackK("b", "./a", fromFlux+"  prune: true\n  suspend: true\n"), "a/s.yaml", strings.ReplaceAll(attackSelection("a"), "name: x", "name: yy")),
			head: map[string]string{attackFile: attackRoot("", "") + attackK("b", "./a", fromFlux+"  prune: true\n  suspend: true\n")}},
		{name: "the Kustomization of the selection gets a kubeConfig of the same name elsewhere", base: with(plain, attackFile, attackRoot("", "")+attackK("a", "./a", fromFlux+"  kubeConfig: {secretRef: {name: e}}\n"), "a/s.yaml", strings.ReplaceAll(attackSelection("a"), "name: x", "name: yy")),
			head: map[string]string{attackFile: attackRoot("", "") + attackK("a", "./a", fromFlux+"  kubeConfig: {configMapRef: {name: e}}\n")}},
		{name: "the key in the kubeConfig", base: with(plain, attackFile, attackRoot("", "")+attackK("a", "./a", fromFlux+"  kubeConfig: {secretRef: {name: e}}\n"), "a/s.yaml", strings.ReplaceAll(attackSelection("a"), "name: x", "name: yy")),
			head: map[string]string{attackFile: attackRoot("", "") + attackK("a", "./a", fromFlux+"  kubeConfig: {secretRef: {name: e, key: other}}\n")}},
		{name: ".sourceignore has a part of the catalog", base: with(plain, attackS, selectionOf("x")+"spec: {sources: [{kind: GitRepository, name: flux-system, path: catalog}]}\n", "catalog/applications/loki/a.yaml", "a: b\n", ".sourceignore", "/none\n"),
			head: map[string]string{".sourceignore": "/catalog/applications/loki\n"}},
		{name: ".sourceignore has a part of a chart", base: with(plain, "clusters/p/r.yaml", "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: r, namespace: flux-system}\nspec:\n  chart: {spec: {chart: ./charts/x, reconcileStrategy: Revision, sourceRef: {kind: GitRepository, name: flux-system}}}\n", "charts/x/Chart.yaml", "apiVersion: v2\nname: x\nversion: 1.0.0\n",
			"charts/x/templates/s.yaml", attackSelection("{{ .Values.x }}"), ".sourceignore", "/none\n"), head: map[string]string{".sourceignore": "/charts/x/templates\n"}},
		{name: "the source of a chart leaves out a part of it", base: with(plain, "clusters/p/r.yaml", "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: r, namespace: flux-system}\nspec:\n  chart: {spec: {chart: ./charts/x, reconcileStrategy: Revision, sourceRef: {kind: GitRepository, name: flux-system}}}\n", "charts/x/Chart.yaml", "apiVersion: v2\nname: x\nversion: 1.0.0\n",
			"charts/x/templates/s.yaml", attackSelection("{{ .Values.x }}")), head: map[string]string{attackFile: attackRoot("  ignore: /charts/x/templates\n", "")}},
		{name: "a directory that is built alone, and another one that includes it without the selection", base: map[string]string{"apps/kustomization.yaml": "resources: [s.yaml]\n", "apps/s.yaml": attackSelection("a")},
			head: map[string]string{"apps/s.yaml": attackSelection("b"), "d/kustomization.yaml": "resources: [../apps]\nconfigMapGenerator: [{name: d, literals: [a=b]}]\npatches: [{target: {kind: CatalogSelection}, patch: '{\"apiVersion\": \"catalog.winnow.dev/v1alpha1\", \"kind\": \"CatalogSelection\", \"metadata\": {\"name\": \"x\"}, \"$patch\": \"delete\"}'}]\n"}},
		{name: "a plain file, and a directory that includes it without the selection", base: map[string]string{"apps/s.yaml": attackSelection("a")},
			head: map[string]string{"apps/s.yaml": attackSelection("b"), "d/kustomization.yaml": "resources: [../apps/s.yaml]\npatches: [{target: {kind: CatalogSelection}, patch: '{\"apiVersion\": \"catalog.winnow.dev/v1alpha1\", \"kind\": \"CatalogSelection\", \"metadata\": {\"name\": \"x\"}, \"$patch\": \"delete\"}'}]\n"}},
		{name: "a plain file, and a generator that has it", base: map[string]string{"apps/s.yaml": attackSelection("a")},
			head: map[string]string{"apps/s.yaml": attackSelection("b"), "d/kustomization.yaml": "configMapGenerator: [{name: d, files: [../apps/s.yaml]}]\n"}},
		{name: "a plain file that no Kustomization of the cluster applies, and a generator that has it", base: with(plain, "apps/s.yaml", strings.ReplaceAll(attackSelection("a"), "name: x", "name: yy")),
			head: map[string]string{"apps/s.yaml": strings.ReplaceAll(attackSelection("b"), "name: x", "name: yy"), "clusters/p/kustomization.yaml": "resources: [flux-system/gotk-sync.yaml, s.yaml]\nconfigMapGenerator: [{name: d, namespace: d, files: [../../apps/s.yaml]}]\n"}},
	}
}

// judge fails if a comparison tells nothing.
func judge(t *testing.T, test attack) {
	t.Helper()
	compared := test.compare(t)
	if len(compared.Unknown)+len(compared.External) == 0 && reflect.DeepEqual(read(compared.Base), read(compared.Head)) {
		t.Errorf("nothing differs: both commits say %q; clusters %q; notes:\n%s", said(compared.Head), compared.Clusters, strings.Join(compared.Notes, "\n"))
	}
}

func consumer(spec string) string {
	return strings.TrimPrefix(attackK("consumer", "./", "  sourceRef: {kind: ExternalArtifact, name: x}\n"+spec), "---\n")
}

func owned(file string) string {
	return strings.ReplaceAll(file, "metadata: {", "metadata: {ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: nowhere, uid: 6c1b7a3e-0000-4000-8000-000000000000}], ")
}

// Each head changes nothing that a cluster has: nothing is unknown.
func TestHarmlessChangesAreNotUnknown(t *testing.T) {
	plain := map[string]string{attackFile: attackRoot("", ""), attackS: attackSelection("a")}
	tests := []attack{
		{name: "a chart with an apiVersion by a helper", base: with(plain, "clusters/p/r.yaml", "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: r, namespace: flux-system}\nspec:\n  chart: {spec: {chart: ./charts/x, sourceRef: {kind: GitRepository, name: flux-system}}}\n", "charts/x/Chart.yaml", "apiVersion: v2\nname: x\nversion: 1.0.0\n",
			"charts/x/templates/i.yaml", "apiVersion: {{ include \"common.capabilities.ingress.apiVersion\" . }}\nkind: Ingress\n", "charts/x/values.yaml", "a: a\n"), head: map[string]string{"charts/x/values.yaml": "a: b\n"}},
		{name: "a chart with a schema with escapes", base: with(plain, "clusters/p/r.yaml", "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: r, namespace: flux-system}\nspec:\n  chart: {spec: {chart: ./charts/x, sourceRef: {kind: GitRepository, name: flux-system}}}\n", "charts/x/Chart.yaml", "apiVersion: v2\nname: x\nversion: 1.0.0\n",
			"charts/x/values.schema.json", `{"description": "caf\u00e9"}`, "charts/x/values.yaml", "a: a\n"), head: map[string]string{"charts/x/values.yaml": "a: b\n"}},
		{name: "a comment in the sync of a FluxInstance", base: map[string]string{"clusters/p/i.yaml": attackInstance("flux-system", "clusters/p", ""), attackS: attackSelection("a")}, head: map[string]string{"clusters/p/i.yaml": "# a\n" + attackInstance("flux-system", "./clusters/p", "")}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			compared := test.compare(t)
			if len(compared.Unknown) > 0 {
				t.Errorf("unknown is %q", compared.Unknown)
			}
		})
	}
}

// read returns what is said of a state, with its plain files and what is hidden.
func read(state State) map[string]string {
	all := said(state)
	for _, o := range state.Objects {
		all["hidden "+o.Cluster+o.GetKind()+o.GetName()] = o.Hidden
	}
	for _, f := range state.Files {
		all["file "+f.Path] = string(f.Content)
	}
	return all
}

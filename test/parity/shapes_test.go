// SPDX-License-Identifier: Apache-2.0

package parity

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/winnow-dev/winnow/test/farm"
)

// shape is a GitOps repository: a line for each file, with the path, the function that writes it, and arguments. A word stands
// for $1 for each of those in braces, and its number for $n. Paths of clusters are arguments of commands.
type shape struct{ name, clusters, files string }

// shapes are like flux2-kustomize-helm-example, flux2-multi-tenancy, a cluster at home, a fleet with stages, and test/farm.
var shapes = []shape{
	{"environments", "clusters/staging apps/production", `
apps/base/{source}/kustomization.yaml: kustomization catalog.yaml
apps/base/{source}/catalog.yaml: catalog catalog v1.0.0
apps/base/{delivery,network,storage}/kustomization.yaml: kustomization selection.yaml consumer.yaml
apps/base/{delivery,network,storage}/selection.yaml: selection $1
apps/base/{delivery,network,storage}/consumer.yaml: applied $1 ExternalArtifact $1
apps/{staging,production}/kustomization.yaml: overlay v1.$n.0 ../base/source ../base/delivery ../base/network ../base/storage
apps/{staging,production}/exclude.yaml: exclusion network flux-system
clusters/{staging,production}/flux-system/gotk-sync.yaml: bootstrapped clusters/$1
clusters/{staging,production}/apps.yaml: path apps apps/$1`},
	{"tenants", "clusters/production", `
tenants/base/{dev-team,ops-team}/kustomization.yaml: kustomization namespace.yaml sync.yaml
tenants/base/{dev-team,ops-team}/namespace.yaml: namespace $1
tenants/base/{dev-team,ops-team}/sync.yaml: tenant $1
tenants/{staging,production}/kustomization.yaml: overlay v1.$n.0 ../base/dev-team ../base/ops-team
tenants/{staging,production}/exclude.yaml: exclusion dev-team dev-team
clusters/{staging,production}/flux-system/gotk-sync.yaml: bootstrapped clusters/$1
clusters/{staging,production}/tenants.yaml: path tenants tenants/$1`},
	{"home", "kubernetes/flux kubernetes/apps/set-1", `
kubernetes/{flux}/flux-system/gotk-sync.yaml: bootstrapped kubernetes/flux
kubernetes/flux/{apps}.yaml: path apps kubernetes/apps
kubernetes/flux/{settings}.yaml: settings v1.0.0
kubernetes/flux/{catalog}.yaml: catalog catalog v1.1.0
kubernetes/{apps}/kustomization.yaml: kustomization set-0/ks.yaml set-1/ks.yaml set-2/ks.yaml set-3/ks.yaml set-4/ks.yaml set-5/ks.yaml
kubernetes/apps/{set-0,set-1,set-2,set-3,set-4,set-5}/ks.yaml: path apply-$1 kubernetes/apps/$1/app app-1$n
kubernetes/apps/{set-0,set-1,set-2,set-3,set-4,set-5}/app/kustomization.yaml: kustomization selection.yaml
kubernetes/apps/{set-0,set-1,set-2}/app/selection.yaml: consumed $1
kubernetes/apps/{set-3,set-4,set-5}/app/selection.yaml: variable $1`},
	{"stages", "spokes/production", `
clusters/{hub}/flux-system/gotk-sync.yaml: bootstrapped clusters/hub
clusters/hub/{catalog}.yaml: catalog catalog v1.2.0
clusters/hub/{one,two}.yaml: consumed $1
spokes/{staging,production,edge}/kustomization.yaml: kustomization applications.yaml
spokes/{staging,production,edge}/applications.yaml: stage $n`},
	{"farm", "clusters/c001 rings/edge", ""},
}

// repository returns the files of the shape, with digests of rendered artifacts.
func (s shape) repository(r *rand.Rand, digests []string) map[string]string {
	if s.files == "" {
		return farm.Farm{Clusters: 12, Registry: host, PlainHTTP: true}.Files()
	}
	files := map[string]string{}
	for line := range strings.SplitSeq(strings.TrimSpace(s.files), "\n") {
		path, call, _ := strings.Cut(line, ": ")
		before, words, _ := strings.Cut(path, "{")
		words, after, _ := strings.Cut(words, "}")
		for n, word := range strings.Split(words, ",") {
			args := strings.Fields(strings.NewReplacer("$1", word, "$n", fmt.Sprint(n)).Replace(call))
			files[before+word+after] = written(r, digests[n], args[0], args[1:])
		}
	}
	return files
}

// written returns what a function of a shape writes.
func written(r *rand.Rand, digest, function string, args []string) string {
	const toolkit = ".toolkit.fluxcd.io/v1"
	name := args[0]
	switch function {
	case "namespace":
		return "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: " + name + "\n"
	case "settings":
		return "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: cluster-settings\n  namespace: flux-system\ndata:\n  catalog_tag: " + name + "\n"
	case "kustomization":
		return "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources:\n- " + strings.Join(args, "\n- ") + "\n"
	case "overlay":
		return written(r, "", "kustomization", args[1:]) + "patches:\n- path: exclude.yaml\n- target:\n    kind: OCIRepository\n  patch: |\n    - op: replace\n      path: /spec/ref/tag\n      value: " + name + "\n"
	case "exclusion":
		return "apiVersion: catalog.winnow.dev/v1alpha1\nkind: CatalogSelection\nmetadata:\n  name: " + name + "\n  namespace: " + args[1] + "\nspec:\n  exclude: [app-05]\n"
	case "catalog":
		return object("source"+toolkit, "OCIRepository", name, "  insecure: true\n  url: oci://"+host+"/catalogs/model\n  ref:\n    tag: "+args[1]+"\n")
	case "stage":
		return object("source"+toolkit, "OCIRepository", "applications", "  insecure: true\n  url: oci://"+host+"/rendered/hub\n  ref:\n    digest: "+digest+"\n") +
			written(r, "", "applied", []string{"applications", "OCIRepository", "applications"})
	case "applied":
		return "---\n" + object("kustomize"+toolkit, "Kustomization", name, "  prune: true\n  sourceRef:\n    kind: "+args[1]+"\n    name: "+args[2]+"\n")
	case "path":
		text := written(r, "", "applied", []string{name, "GitRepository", "flux-system"}) + "  path: ./" + args[1] + "\n"
		for _, skipped := range args[2:] {
			text += "  postBuild:\n    substitute:\n      skipped: " + skipped + "\n    substituteFrom:\n    - kind: ConfigMap\n      name: cluster-settings\n"
		}
		return text
	case "bootstrapped":
		return object("source"+toolkit, "GitRepository", "flux-system", "  ref:\n    branch: main\n  url: https://git.example.com/org/fleet.git\n") + written(r, "", "path", []string{"flux-system", name})
	case "consumed":
		return written(r, "", "selection", args) + written(r, "", "applied", []string{name, "ExternalArtifact", name})
	case "sourced":
		return strings.Replace(written(r, "", "consumed", args), "- name: catalog\n", "- name: "+name+"\n", 1) + "---\n" + written(r, "", "catalog", args)
	case "variable":
		return strings.Replace(written(r, "", "sourced", []string{name, "${catalog_tag:=v1.0.0}"}), "exclude: [app-12]", "exclude: [\"${skipped}\"]", 1)
	case "tenant":
		return strings.ReplaceAll(written(r, "", "sourced", []string{name, "v1.0.0"}), "namespace: flux-system", "namespace: "+name)
	}
	return chosen(r, name)
}

// object returns an object that Flux or Winnow reconciles.
func object(version, kind, name, spec string) string {
	return "apiVersion: " + version + "\nkind: " + kind + "\nmetadata:\n  name: " + name + "\n  namespace: flux-system\nspec:\n  interval: 10m\n  suspend: false\n" + spec
}

func selection(name, more string) string {
	return object("catalog.winnow.dev/v1alpha1", "CatalogSelection", name, "  sources:\n  - name: catalog\n"+more)
}

// chosen returns a random selection.
func chosen(r *rand.Rand, name string) string {
	text := "  deletionPolicy: " + []string{"Orphan", "Delete"}[r.IntN(2)] + "\n  exclude: [app-12]\n" + members[r.IntN(len(members))]
	text += []string{"", "  safeguards:\n    approve: [app-13]\n", "  safeguards:\n    approve:\n    - app-13\n"}[r.IntN(3)]
	if r.IntN(4) > 0 {
		text += "  limit:\n    nameSelector:\n"
		for _, n := range r.Perm(len(applications))[:6] {
			text += "    - " + applications[n] + "\n"
		}
	}
	return selection(name, text)
}

// members are of the spec of a selection.
var members = []string{
	"  versions:\n  - latest: 2\n", "  versions:\n  - names: [app-02]\n    constraint: \">=1.1.0\"\n", "  provenance: Object\n", "  platform:\n    kubernetes: [1.32.1]\n",
	"  values:\n  - names: [app-02, app-04]\n    overrides:\n      key1: 7\n", "  omitFields: [default, defaultVersion]\n", "  push:\n    url: oci://registry.example.com/rendered/other\n",
	"  patches:\n  - target:\n      kind: ApplicationDefinition\n    patch: |\n      - op: add\n        path: /spec/displayName\n        value: v1\n",
	"  mirrors:\n  - from: charts.example.com\n    to: oci://registry.internal/charts\n", "  commonMetadata:\n    labels:\n      example.com/team: platform\n",
	"  definitions: Omit\n  instances:\n    one:\n      application: app-01\n      version: 1.1.0\n      values:\n        key1: 3\n    app-02:\n      dependsOn: [one]\n",
	"  instances:\n    app-03:\n      version: \"^1\"\n      namespace: default\n",
}

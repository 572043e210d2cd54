// SPDX-License-Identifier: Apache-2.0

package selections

import (
	"context"
	"maps"
	"strings"
	"testing"

	"github.com/winnow-dev/winnow/cmd/winnow/gitops/promotions"
	"github.com/winnow-dev/winnow/render"
)

// unapproved is a change that may lose something of what a stage runs, and that nobody has approved.
type unapproved struct {
	name       string
	base, head map[string]string
	// paths are those of the command line, by default all.
	paths []string
}

// assertStopped reports changes that pass --fail-on held,unknown.
func assertStopped(t *testing.T, all ...unapproved) {
	t.Helper()
	for _, a := range all {
		t.Run(a.name, func(t *testing.T) {
			base, head := commits(t, a.base, a.head)
			if a.paths == nil {
				a.paths = []string{"."}
			}
			report, err := Compare(t.Context(), base, head, Options{Paths: a.paths, Rendered: promotions.NewRegistry((&artifactsOf{}).open)})
			if err != nil {
				t.Fatal(err)
			}
			if len(report.Trips([]string{"held", "unknown"})) == 0 {
				t.Errorf("it passes the check, with the notes\n%s\n%s", strings.Join(promoted(report), "\n"), strings.Join(report.Notes, "\n"))
			}
		})
	}
}

// ofFlux returns a Kustomization of a directory of this repository.
func ofFlux(name, path, more string) string {
	return "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: " + name + ", namespace: flux-system}\n" +
		"spec:\n  path: ./" + path + "\n  prune: true\n  sourceRef: {kind: GitRepository, name: flux-system}\n" + more + "---\n"
}

// fluxSystem returns the source of the repository, and the Kustomization of a cluster.
func fluxSystem(url, ref string) string {
	return "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {name: flux-system, namespace: flux-system}\n" +
		"spec:\n  url: " + url + "\n  ref: {" + ref + "}\n---\n" + ofFlux("flux-system", "clusters/a", "")
}

const (
	ownURL       = "https://git.example.com/org/fleet"
	emptyMap     = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: nothing, namespace: default}\n---\n"
	stageInGit   = "clusters/a/apps.yaml"
	syncOfA      = "clusters/a/sync.yaml"
	ownNamespace = "apiVersion: v1\nkind: Namespace\nmetadata: {name: fleet}\n"
)

// What a cluster gets from then on is another branch, which no check has seen: with an older digest, or without the stage.
func TestAClusterThatFollowsAnotherBranchIsUnknown(t *testing.T) {
	stage := spoke("v2", "") + consuming("apps", "  prune: true\n")
	base := map[string]string{syncOfA: fluxSystem(ownURL, "branch: main"), stageInGit: stage}
	child := map[string]string{syncOfA: fluxSystem(ownURL, "branch: main") + gitRepository("infra", "branch: main") + fromInfra, "infra/apps.yaml": stage}
	assertStopped(t,
		unapproved{"another branch", base, map[string]string{syncOfA: fluxSystem(ownURL, "branch: mine")}, nil},
		unapproved{"another branch by its name", base, map[string]string{syncOfA: fluxSystem(ownURL, "name: refs/heads/mine")}, nil},
		unapproved{"another port of the host", base, map[string]string{syncOfA: fluxSystem("https://git.example.com:8443/org/fleet", "branch: main")}, nil},
		unapproved{
			"a Kustomization of another branch",
			map[string]string{syncOfA: fluxSystem(ownURL, "branch: main") + gitRepository("old", "branch: old") + ofFlux("infra", "infra", ""), "infra/apps.yaml": stage},
			map[string]string{syncOfA: fluxSystem(ownURL, "branch: main") + gitRepository("old", "branch: old") + strings.Replace(fromInfra, "name: infra}\n---", "name: old}\n---", 1)}, nil,
		},
		unapproved{"the branch of a Kustomization", child, map[string]string{syncOfA: fluxSystem(ownURL, "branch: main") + gitRepository("infra", "branch: mine") + fromInfra}, nil},
	)
}

const fromInfra = "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: infra, namespace: flux-system}\n" +
	"spec:\n  path: ./infra\n  prune: true\n  sourceRef: {kind: GitRepository, name: infra}\n---\n"

func gitRepository(name, ref string) string {
	return "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {name: " + name + ", namespace: flux-system}\n" +
		"spec:\n  url: " + ownURL + "\n  ref: {" + ref + "}\n---\n"
}

// A tenant whose directory a Kustomization of the cluster applies adds the OCIRepository of the stage once more, with another
// digest, in a way that its file does not have the word OCIRepository. Flux applies both in turn.
func TestASecondOCIRepositoryThatIsComposedIsUnknown(t *testing.T) {
	stage, apps := spoke("v3", ""), consuming("apps", "  prune: true\n")
	base := func(ofTenant string) map[string]string {
		return map[string]string{
			syncOfA:             fluxSystem(ownURL, "branch: main") + ofFlux("sources", "sources", "") + ofFlux("tenant", "tenant", ofTenant) + apps,
			"sources/apps.yaml": spoke("v2", ""), "tenant/one.yaml": emptyMap,
		}
	}
	kind := func(as string) map[string]string {
		return map[string]string{"tenant/two.yaml": strings.Replace(stage, "kind: OCIRepository", "kind: "+as, 1)}
	}
	assertStopped(t,
		unapproved{"as it is", base(""), kind("OCIRepository"), nil},
		unapproved{"a text in two lines", base(""), kind("\"OCIRepo\\\n  sitory\""), nil},
		unapproved{"a variable", base("  postBuild: {substitute: {rest: Repository}}\n"), kind("OCI${rest}"), nil},
		unapproved{"a name in two lines", base(""), map[string]string{"tenant/two.yaml": strings.Replace(stage, "name: applications", "name: \"applica\\\n    tions\"", 1)}, nil},
	)
}

// A directory that leads to no selection is not built. What leads to one, or to a stage, without the text of its API group, is
// not found.
func TestAKustomizationThatIsComposedIsFollowed(t *testing.T) {
	sync := fluxSystem(ownURL, "branch: main") + ofFlux("tenant", "tenant", "  postBuild: {substitute: {dot: .}}\n")
	base := map[string]string{syncOfA: sync, stageInGit: spoke("v2", "") + consuming("apps", "  prune: true\n"), "tenant/one.yaml": emptyMap}
	other := strings.ReplaceAll(spoke("v3", "")+consuming("theirs", ""), "applications", "theirs")
	as := func(written string) string {
		return strings.ReplaceAll(other, "apiVersion: kustomize.toolkit.fluxcd.io/v1", written)
	}
	assertStopped(t,
		unapproved{"as it is", base, map[string]string{"tenant/two.yaml": other}, nil},
		unapproved{"a variable", base, map[string]string{"tenant/two.yaml": as("apiVersion: kustomize${dot}toolkit.fluxcd.io/v1")}, nil},
		unapproved{"a replacement", base, map[string]string{
			"tenant/two.yaml": as("apiVersion: x/v1") + "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: group, namespace: default}\ndata: {group: kustomize.toolkit.fluxcd.io}\n",
			"tenant/kustomization.yaml": "resources: [one.yaml, two.yaml]\nreplacements:\n- source: {kind: ConfigMap, name: group, fieldPath: data.group}\n" +
				"  targets: [{select: {kind: Kustomization}, options: {delimiter: /, index: 0}, fieldPaths: [apiVersion]}]\n",
		}, nil},
	)
}

// source-watcher makes an ExternalArtifact of the artifact that the OCIRepository has pulled: the Kustomization gets another
// one with another digest.
func TestAStageBehindAnArtifactGeneratorIsNotTheSame(t *testing.T) {
	const generator = "apiVersion: source.extensions.fluxcd.io/v1beta1\nkind: ArtifactGenerator\nmetadata: {name: generator, namespace: flux-system}\nspec:\n" +
		"  sources: [{alias: all, kind: OCIRepository, name: applications}]\n  artifacts: [{name: made, copy: [{from: '@all/**', to: '@artifact/'}]}]\n---\n"
	apps := generator + strings.Replace(consuming("apps", "  prune: true\n"), "kind: OCIRepository, name: applications", "kind: ExternalArtifact, name: made", 1)
	sync := fluxSystem(ownURL, "branch: main")
	assertStopped(t, unapproved{"a digest without loki", map[string]string{syncOfA: sync, stageInGit: spoke("v2", "") + apps}, map[string]string{stageInGit: spoke("v3", "") + apps}, nil})
}

// Where a CatalogSelection is lost in this way, the report says so. A spoke has none.
func TestWhatDeletesAStageIsUnknown(t *testing.T) {
	apps := consuming("apps", "  prune: true\n")
	stage := spoke("v2", "") + apps
	const crd = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: applicationdefinitions.apps.kubermatic.k8c.io}\n" +
		"spec: {group: apps.kubermatic.k8c.io}\n"
	sync := fluxSystem(ownURL, "branch: main")
	two := sync + ofFlux("one", "one", "") + ofFlux("two", "two", "")
	assertStopped(t,
		unapproved{
			"the namespace of its Kustomization",
			map[string]string{syncOfA: sync, stageInGit: strings.ReplaceAll(stage, "namespace: flux-system", "namespace: fleet"), "clusters/a/namespace.yaml": ownNamespace},
			map[string]string{"clusters/a/namespace.yaml": ""}, nil,
		},
		unapproved{
			"the CustomResourceDefinition of what it has",
			map[string]string{syncOfA: sync, stageInGit: stage, "clusters/a/crd.yaml": crd}, map[string]string{"clusters/a/crd.yaml": ""}, nil,
		},
		unapproved{
			"its Kustomization is applied by another one, and the former one prunes it",
			map[string]string{syncOfA: two, "one/apps.yaml": stage, "two/one.yaml": emptyMap},
			map[string]string{"one/apps.yaml": emptyMap, "two/apps.yaml": stage}, nil,
		},
	)
}

// A file that nothing builds is compared as well, where it is a PATH: only its digest is.
func TestAStageInAFileThatNothingBuildsIsCompared(t *testing.T) {
	const file = "apps.yaml"
	apps := consuming("apps", "  prune: true\n")
	base := map[string]string{file: spoke("v2", "") + apps}
	of := func(name, content string) unapproved {
		return unapproved{name, base, map[string]string{file: content}, []string{file}}
	}
	assertStopped(t,
		of("the Kustomization drops what it applies by patches", spoke("v2", "")+consuming("apps", "  prune: true\n  patches: [{patch: '[{op: remove, path: /spec/versions/0}]', target: {name: argocd}}]\n")),
		of("the Kustomization applies another path", spoke("v2", "")+consuming("apps", "  prune: true\n  path: ./applications\n")),
		of("the Kustomization has another source", spoke("v2", "")+strings.Replace(apps, "kind: OCIRepository", "kind: GitRepository", 1)),
		of("the Kustomization leaves", spoke("v2", "")),
		of("both leave", emptyMap),
		of("the OCIRepository leaves files out", spoke("v2", "  ignore: /applications/loki.yaml\n")+apps),
	)
}

// Two Kustomizations have had an OCIRepository of one name for a year. The report has a note on that; no change of another file
// passes the check all the same.
func TestTwoOCIRepositoriesThatStayTheSameStopNobody(t *testing.T) {
	sync := fluxSystem(ownURL, "branch: main") + ofFlux("one", "one", "") + ofFlux("two", "two", "") + consuming("apps", "")
	base, head := commits(t, map[string]string{syncOfA: sync, "one/apps.yaml": spoke("v1", ""), "two/apps.yaml": spoke("v2", ""), "other.yaml": emptyMap},
		map[string]string{"other.yaml": strings.Replace(emptyMap, "nothing", "something", 1)})
	report, err := Compare(t.Context(), base, head, Options{Paths: []string{"."}, Rendered: promotions.NewRegistry((&artifactsOf{}).open)})
	if err != nil {
		t.Fatal(err)
	}
	if found := report.Trips([]string{"held", "unknown"}); len(found) > 0 {
		t.Errorf("the check fails: %q", found)
	}
}

// A patch of the Kustomization drops the first version. The new artifact has the same versions in another order, so that Flux
// removes a version that runs. That is a note, with a green check.
func TestPatchesOfTheKustomizationOfAStageAreUnknown(t *testing.T) {
	apps := consuming("apps", "  prune: true\n  patches: [{patch: '[{\"op\": \"remove\", \"path\": \"/spec/versions/0\"}]', target: {name: argocd}}]\n")
	base, head := commits(t, map[string]string{stageInGit: spoke("one", "") + apps}, map[string]string{stageInGit: spoke("two", "") + apps})
	open := func(ctx context.Context, address string, _ bool) (render.Artifact, error) {
		applications := "argocd=1,2,3"
		if strings.HasSuffix(address, digestOf("two")) {
			applications = "argocd=3,2,1,4"
		}
		result, err := artifactWith(ctx, applications)
		return render.Artifact{Result: result}, err
	}
	report, err := Compare(t.Context(), base, head, Options{Paths: []string{"."}, Rendered: promotions.NewRegistry(open)})
	if err != nil {
		t.Fatal(err)
	}
	if len(report.Trips([]string{"held", "unknown"})) == 0 {
		t.Errorf("it passes the check: %s", strings.Join(promoted(report), "\n"))
	}
}

// A change that is green, because the digest stays the same, adds lines where they do not take effect, or makes the annotation
// follow the digest. From then on a change of the digest alone, which shows no line, would lose something.
func TestWhatAnEarlierChangeHasAddedNamesNothing(t *testing.T) {
	apps := consuming("apps", "  prune: true\n")
	sync := fluxSystem(ownURL, "branch: main")
	anchored := func(release string) string {
		return strings.Replace(spoke(release, "", "catalog.winnow.dev/approve: &digest "+digestOf(release)), "{digest: "+digestOf(release)+"}", "{digest: *digest}", 1)
	}
	const built, patched = "resources: [sync.yaml, apps.yaml]\n", "patches: [{path: more/patch.yaml}]\n"
	patch := spoke("v3", "", approving("loki"))
	base := map[string]string{syncOfA: sync, stageInGit: spoke("v2", "") + apps, "clusters/a/kustomization.yaml": built}
	with := func(file, content string) map[string]string {
		all := maps.Clone(base)
		all[file] = content
		return all
	}
	assertStopped(t,
		unapproved{"a patch", with("clusters/a/more/patch.yaml", patch), map[string]string{"clusters/a/kustomization.yaml": built + patched}, nil},
		unapproved{
			"a patch in a file of another name", with("attic/patch.txt", patch),
			map[string]string{"attic/patch.txt": "", "clusters/a/more/patch.yaml": patch, "clusters/a/kustomization.yaml": built + patched}, nil,
		},
		unapproved{
			"a file that nothing builds, and that gets another name", map[string]string{"a.yaml": spoke("v2", "", approving("loki"))},
			map[string]string{"a.yaml": "", "b.yaml": spoke("v3", "", approving("loki"))}, nil,
		},
		unapproved{"an anchor", map[string]string{syncOfA: sync, stageInGit: anchored("v2") + apps}, map[string]string{stageInGit: anchored("v3") + apps}, nil},
	)
}

// A stage is the line ref.digest of an OCIRepository. Its Kustomization may be in another repository, or where it is not found:
// winnow promote says so, and the check passes.
func TestAStageWhoseKustomizationIsNotFoundIsCompared(t *testing.T) {
	const built = "spokes/a/kustomization.yaml"
	sync := fluxSystem(ownURL, "branch: main")
	large := "# " + strings.Repeat("x", 1<<20) + "\n" + consuming("apps", "  prune: true\n")
	assertStopped(t,
		unapproved{"in a directory that kustomize builds", map[string]string{built: "resources: [apps.yaml]\n", "spokes/a/apps.yaml": spoke("v2", "")}, map[string]string{"spokes/a/apps.yaml": spoke("v3", "")}, nil},
		unapproved{"in the directory of a cluster", map[string]string{syncOfA: sync, stageInGit: spoke("v2", "")}, map[string]string{stageInGit: spoke("v3", "")}, nil},
		unapproved{"in a file", map[string]string{"spokes/a.yaml": spoke("v2", "")}, map[string]string{"spokes/a.yaml": spoke("v3", "")}, nil},
		unapproved{"a Kustomization in a large file", map[string]string{"spokes/a/apps.yaml": spoke("v2", ""), "spokes/a/large.yaml": large}, map[string]string{"spokes/a/apps.yaml": spoke("v3", "")}, nil},
	)
}

// SPDX-License-Identifier: Apache-2.0

package selections

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/promotions"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/diff"
	"github.com/winnow-dev/winnow/render/selection"
	"github.com/winnow-dev/winnow/render/yamledit"
)

// releases are the rendered artifacts of the tests: v3 lacks loki, and v5 a version of argocd.
var releases = map[string]string{
	"v1": "argocd=1,2 loki=1", "v2": "argocd=1,2,3 loki=1", "v3": "argocd=1,2,3", "v4": "argocd=1,2,3 velero=1", "v5": "argocd=2,3 velero=1", "v6": "argocd=2,3,4 velero=1",
}

func digestOf(name string) string { return fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(name))) }

// artifactsOf counts what is pulled.
type artifactsOf struct{ opened []string }

func (o *artifactsOf) open(ctx context.Context, address string, plainHTTP bool) (render.Artifact, error) {
	if plainHTTP {
		address = "insecure " + address
	}
	o.opened = append(o.opened, address)
	_, digest, _ := strings.Cut(address, "@")
	for _, name := range []string{"other", "another"} {
		if digest == digestOf(name) {
			return render.Artifact{Other: "its artifactType is another one"}, nil
		}
	}
	if digest == digestOf("hangs") || digest == digestOf("hangs too") {
		return render.Artifact{}, context.DeadlineExceeded
	}
	for name, applications := range releases {
		if digest == digestOf(name) {
			result, err := artifactWith(ctx, applications)
			return render.Artifact{Result: result}, err
		}
	}
	return render.Artifact{}, fmt.Errorf("%s: not found", address)
}

// artifactWith returns the artifact of applications, as it is read from a registry.
func artifactWith(ctx context.Context, applications string) (*render.Result, error) {
	files := fstest.MapFS{}
	for one := range strings.FieldsSeq(applications) {
		name, versions, _ := strings.Cut(one, "=")
		text := "apiVersion: apps.kubermatic.k8c.io/v1\nkind: ApplicationDefinition\nmetadata: {name: " + name + "}\nspec:\n  versions:\n"
		for version := range strings.SplitSeq(versions, ",") {
			text += "  - version: " + version + ".0.0\n"
		}
		files["applications/"+name+"/application.yaml"] = &fstest.MapFile{Data: []byte(text)}
	}
	loaded, err := render.LoadFS(ctx, "catalog", files, render.CatalogLocation{})
	if err != nil {
		return nil, err
	}
	cs := &v1alpha1.CatalogSelection{}
	cs.Name, cs.Namespace, cs.Spec.Sources = "datacenter", "fleet", []v1alpha1.SourceReference{{Name: "catalog"}}
	options, err := render.FromSpec(cs)
	if err != nil {
		return nil, err
	}
	rendered, err := render.Render(ctx, []selection.Source{{Catalog: loaded}}, options)
	if err != nil {
		return nil, err
	}
	var packed bytes.Buffer
	if err := rendered.WriteArchive(&packed); err != nil {
		return nil, err
	}
	return render.ReadResult(ctx, &packed)
}

// spoke returns an OCIRepository with the digest of a release, and more fields of its spec and annotations.
func spoke(release, more string, annotations ...string) string {
	text := "apiVersion: source.toolkit.fluxcd.io/v1\nkind: OCIRepository\nmetadata:\n  name: applications\n  namespace: flux-system\n"
	if len(annotations) > 0 {
		text += "  annotations:\n    " + strings.Join(annotations, "\n    ") + "\n"
	}
	ref := "digest: " + digestOf(release)
	if tag, follows := strings.CutPrefix(release, "tag "); follows {
		ref = "tag: " + tag
	}
	return text + "spec:\n  url: oci://example.com/datacenter\n  ref: {" + ref + "}\n" + more + "---\n"
}

// consuming returns the Kustomization of the OCIRepository.
func consuming(name, more string) string {
	return "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: " + name + ", namespace: flux-system}\n" +
		"spec:\n  sourceRef: {kind: OCIRepository, name: applications}\n" + more + "---\n"
}

// approving returns the annotation with lines.
func approving(lines ...string) string {
	return "catalog.winnow.dev/approve: " + yamledit.Scalar(lines, 6)
}

// promoted returns the promotions and the unknown parts of a report in words.
func promoted(report *diff.Report) (all []string) {
	for _, s := range report.Selections {
		line := s.Cluster + " " + string(s.EffectOn())
		for _, a := range s.Applications {
			line += "; " + a.Name + " " + string(a.Change)
		}
		if s.Held != nil {
			line += "; " + map[bool]string{true: "approved", false: "approve " + strings.Join(s.Held.Approve, " ")}[s.Held.Approved]
			line += strings.Join(append([]string{""}, s.Held.BaseApprovals...), "; base ") + strings.TrimSuffix("; in "+s.Held.File, "; in ")
		}
		for _, sentence := range append(slices.Clone(s.Unknown), s.Notes...) {
			line += "; " + sentence
		}
		for _, l := range s.Loosened {
			line += "; " + l.Field
		}
		all = append(all, line)
	}
	for i, line := range append(all, report.Unknown...) {
		for name := range maps.Keys(releases) {
			line = strings.ReplaceAll(line, digestOf(name), name)
		}
		if all = append(all[:i], line); i >= len(report.Selections) {
			all[i] = "unknown: " + line
		}
	}
	return all
}

func TestAPromotionIsComparedWithWhatTheStageRuns(t *testing.T) {
	const file, differs = "spokes/a/apps.yaml", "unknown: spokes/a: Kustomization flux-system/apps applies files that are not read here, and differs: its source is the OCIRepository flux-system/applications"
	const namespace = "apiVersion: v1\nkind: Namespace\nmetadata: {name: flux-system}\n---\n"
	apps := consuming("apps", "")
	for _, test := range []struct {
		name          string
		before, after string
		want          []string
	}{
		{"nothing is lost", spoke("v1", "") + apps, spoke("v2", "") + apps, []string{"spokes/a changed; argocd updated"}},
		{"an application is lost", spoke("v2", "") + apps, spoke("v3", "") + apps, []string{"spokes/a held; loki removed; approve loki; in " + file}},
		{"the change names it", spoke("v2", "") + apps, spoke("v3", "", approving("loki")) + apps, []string{"spokes/a changed; loki removed; approved"}},
		{"the change names it in quotes", spoke("v2", "") + apps, spoke("v3", "", "catalog.winnow.dev/approve: 'loki'") + apps, []string{"spokes/a changed; loki removed; approved"}},
		{"the change names one of two losses", spoke("v1", "") + apps, spoke("v5", "", approving("loki")) + apps,
			[]string{"spokes/a held; argocd updated; loki removed; velero added; approve argocd/1.0.0; in " + file}},
		{"the change names both losses", spoke("v1", "") + apps, spoke("v5", "", approving("argocd/1.0.0", "loki")) + apps, []string{"spokes/a changed; argocd updated; loki removed; velero added; approved"}},
		{"the change names any version", spoke("v4", "") + apps, spoke("v5", "", approving("argocd/*")) + apps, []string{"spokes/a changed; argocd updated; approved"}},
		{"the change names another application", spoke("v2", "") + apps, spoke("v3", "", approving("argocd")) + apps, []string{"spokes/a held; loki removed; approve loki; in " + file}},
		{"the line was there before", spoke("v2", "", approving("loki")) + apps, spoke("v3", "", approving("loki")) + apps,
			[]string{"spokes/a held; loki removed; approve loki#2; base loki; in " + file}},
		{"the line was there before, and has a number", spoke("v2", "", approving("loki")) + apps, spoke("v3", "", approving("loki", "loki#2")) + apps,
			[]string{"spokes/a changed; loki removed; approved"}},
		{"the line was there before with a number, and leaves", spoke("v2", "", approving("loki#4")) + apps, spoke("v3", "") + apps,
			[]string{"spokes/a held; loki removed; approve loki#5; in " + file}},
		{"a line of two was there before", spoke("v1", "", approving("loki")) + apps, spoke("v5", "", approving("argocd/1.0.0", "loki")) + apps,
			[]string{"spokes/a held; argocd updated; loki removed; velero added; approve loki#2; base loki; in " + file}},
		{"a line is malformed", spoke("v4", "") + apps, spoke("v5", "", approving("argocd@1.0.0")) + apps,
			[]string{"spokes/a held; argocd updated; approve argocd/1.0.0; in " + file + `; the annotation catalog.winnow.dev/approve: "argocd@1.0.0" names nothing: it does not begin with the name of an application, Instance/ or the kind of an object (did you mean "argocd/1.0.0"?)`}},
		{"a line is about an application that neither artifact has", spoke("v2", "") + apps, spoke("v3", "", approving("lokki")) + apps,
			[]string{"spokes/a held; loki removed; approve loki; in " + file + `; the annotation catalog.winnow.dev/approve: no application is called lokki (did you mean "loki"?)`}},
		{"a line about an application that has left stays", spoke("v3", "", approving("loki")) + apps, spoke("v4", "", approving("loki")) + apps, []string{"spokes/a changed; velero added"}},
		{"the digest of an earlier release", spoke("v2", "", approving(digestOf("v2"))) + apps, spoke("v3", "", approving(digestOf("v2"), digestOf("v3"))) + apps,
			[]string{"spokes/a held; loki removed; approve loki; in " + file + "; the annotation catalog.winnow.dev/approve: the digest v2 names nothing: name what leaves" +
				"; the annotation catalog.winnow.dev/approve: the digest v3 names nothing: name what leaves"}},
		// Each step was reviewed, or not, for another stage.
		{"five revisions are skipped", spoke("v1", "") + apps, spoke("v6", "") + apps, []string{"spokes/a held; argocd updated; loki removed; velero added; approve loki argocd/1.0.0; in " + file}},
		{"a rollback", spoke("v4", "") + apps, spoke("v3", "") + apps, []string{"spokes/a held; velero removed; approve velero; in " + file}},
		{"another repository", spoke("v2", "") + apps, strings.ReplaceAll(spoke("v3", ""), "example.com", "mirror.example.com") + apps, []string{"spokes/a held; loki removed; approve loki; in " + file}},
		{"an address without TLS", spoke("v1", "  insecure: true\n") + apps, spoke("v2", "  insecure: true\n") + apps, []string{"spokes/a changed; argocd updated"}},
		{"the old digest is gone", spoke("gone", "") + apps, spoke("v3", "") + apps, []string{"spokes/a unknown; before: oci://example.com/datacenter@" + digestOf("gone") + ": not found"}},
		{"the new digest is nowhere", spoke("v3", "") + apps, spoke("gone", "") + apps, []string{"spokes/a unknown; after: oci://example.com/datacenter@" + digestOf("gone") + ": not found"}},
		{"it followed a tag", spoke("tag latest", "") + apps, spoke("v3", "") + apps, []string{"spokes/a unknown; before: it follows the tag latest: what the cluster has applied is not known"}},
		{"it follows a tag from now on", spoke("v3", "") + apps, spoke("tag latest", "") + apps,
			[]string{"spokes/a unknown; after: it follows the tag latest from now on: what that gets reaches the cluster without a comparison"}},
		{"it is new", namespace, spoke("v3", "") + apps, []string{"spokes/a unknown; before: there is no digest: what the cluster has applied is not known"}},
		{"an artifact of others", spoke("other", "") + apps, spoke("another", "") + apps, []string{differs}},
		{"an artifact of others that is new", namespace, spoke("other", "") + apps, []string{differs}},
		{"an artifact of others instead", spoke("v1", "") + apps, spoke("other", "") + apps,
			[]string{"spokes/a unknown; after: oci://example.com/datacenter@" + digestOf("other") + " is no artifact that Winnow has rendered: its artifactType is another one"}},
		{"a tag of others", spoke("tag v1", "") + apps, spoke("tag v2", "") + apps, []string{differs + ", which follows the tag v2: what that gets is not compared"}},
		{"two Kustomizations of one OCIRepository", spoke("v2", "") + apps + consuming("more", "  path: ./\n"), spoke("v3", "") + apps + consuming("more", "  path: ./\n"), []string{"spokes/a held; loki removed; approve loki; in " + file}},
		{"the Kustomization differs as well", spoke("v1", "") + apps, spoke("v2", "") + consuming("apps", "  targetNamespace: x\n"),
			[]string{"spokes/a changed; argocd updated; its Kustomization flux-system/apps has spec.targetNamespace: what these change is not compared",
				"unknown: spokes/a: Kustomization flux-system/apps, which applies OCIRepository flux-system/applications, differs in spec.targetNamespace: the effect on the applications is not evaluated"}},
		{"it takes other files", spoke("v1", "") + apps, spoke("v2", "  ignore: x\n") + apps, []string{"spokes/a changed; argocd updated; spec.ignore of its OCIRepository is not evaluated here",
			"unknown: spokes/a: OCIRepository flux-system/applications has another spec.ignore or spec.layerSelector: what Flux takes from the artifact is known in the cluster only"}},
		{"it is not verified any more", spoke("v1", "  verify: {provider: cosign}\n") + apps, spoke("v2", "") + apps, []string{"spokes/a loosened; argocd updated; spec.verify"}},
		{"aliases", strings.Replace(spoke("v2", ""), "ref: {digest:", "ref: &ref {digest:", 1) + apps, strings.Replace(spoke("v3", ""), "digest: ", "digest: &digest ", 1) + apps,
			[]string{"spokes/a held; loki removed; approve loki; in " + file}},
		{"a digest that is none", strings.Replace(spoke("v1", ""), digestOf("v1"), "sha256:12", 1) + apps, spoke("v1", "") + apps,
			[]string{"spokes/a unknown; before: oci://example.com/datacenter@sha256:12: not found"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			base, head := commits(t, map[string]string{file: test.before}, map[string]string{file: test.after})
			report, err := Compare(t.Context(), base, head, Options{Paths: []string{"."}, Rendered: promotions.NewRegistry((&artifactsOf{}).open)})
			if err != nil {
				t.Fatal(err)
			}
			if got := promoted(report); !slices.Equal(got, test.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(test.want, "\n"))
			}
		})
	}
}

// What several Kustomizations and files have to do with one promotion.
func TestThePlacesOfPromotions(t *testing.T) {
	apps := consuming("apps", "")
	jsonPatch := func(release string) string {
		return "resources: [apps.yaml]\npatches:\n- target: {kind: OCIRepository}\n  patch: |\n    - {op: replace, path: /spec/ref/digest, value: '" + digestOf(release) + "'}\n"
	}
	other := strings.NewReplacer("name: applications", "name: others").Replace
	held := func(cluster, file string) string {
		return cluster + " held; loki removed; approve loki" + strings.TrimSuffix("; in "+file, "; in ")
	}
	for _, test := range []struct {
		name        string
		base, head  map[string]string
		paths       []string
		want, pulls []string
	}{
		{
			"a base of two clusters",
			map[string]string{
				"base/apps.yaml": spoke("v2", "") + apps, "base/kustomization.yaml": "resources: [apps.yaml]\n",
				"clusters/a/kustomization.yaml": "resources: [../../base]\n", "clusters/b/kustomization.yaml": "resources: [../../base]\n",
			},
			map[string]string{"base/apps.yaml": spoke("v3", "") + apps}, []string{"."},
			[]string{held("base", "base/apps.yaml"), held("clusters/a", "base/apps.yaml"), held("clusters/b", "base/apps.yaml")}, []string{"v3", "v2"},
		},
		{
			"a base that is outside of the paths",
			map[string]string{
				"base/apps.yaml": spoke("v2", "") + apps, "base/kustomization.yaml": "resources: [apps.yaml]\n", "clusters/a/kustomization.yaml": "resources: [../../base]\n",
			},
			map[string]string{"base/apps.yaml": spoke("v3", "") + apps}, []string{"clusters/a"},
			[]string{held("clusters/a", "")}, []string{"v3", "v2"},
		},
		{
			"a patch with the digest",
			map[string]string{
				"base/apps.yaml": spoke("v1", "") + apps, "base/kustomization.yaml": "resources: [apps.yaml]\n",
				"clusters/a/kustomization.yaml": "resources: [../../base]\npatches: [{path: digest.yaml}]\n", "clusters/a/digest.yaml": spoke("v2", ""),
			},
			map[string]string{"clusters/a/digest.yaml": spoke("v3", "")}, []string{"clusters/a"},
			[]string{held("clusters/a", "clusters/a/digest.yaml")}, []string{"v2", "v3"},
		},
		{
			"a patch with an annotation of its own ends, and the base has one that approved the digest for others",
			map[string]string{
				"base/apps.yaml": spoke("v3", "", approving("loki")) + apps, "base/kustomization.yaml": "resources: [apps.yaml]\n",
				"clusters/a/kustomization.yaml": "resources: [../../base]\npatches: [{path: digest.yaml}]\n", "clusters/a/digest.yaml": spoke("v2", "", approving("argocd")),
			},
			map[string]string{"clusters/a/kustomization.yaml": "resources: [../../base]\n"}, []string{"base", "clusters/a"},
			[]string{"clusters/a held; loki removed; approve loki#2; base loki; in base/apps.yaml"}, []string{"v2", "v3"},
		},
		{
			"a digest of a JSON patch",
			map[string]string{
				"clusters/a/apps.yaml":          spoke("v1", "") + apps,
				"clusters/a/kustomization.yaml": jsonPatch("v2"),
			},
			map[string]string{"clusters/a/kustomization.yaml": jsonPatch("v3")},
			[]string{"clusters/a"},
			[]string{held("clusters/a", "")}, []string{"v2", "v3"},
		},
		{
			"a file that nothing builds, which is resumed", map[string]string{"apps.yaml": spoke("v1", "  suspend: true\n") + apps}, map[string]string{"apps.yaml": spoke("v2", "") + apps}, []string{"apps.yaml"},
			[]string{" changed; argocd updated",
				"unknown: apps.yaml: OCIRepository flux-system/applications is resumed: what was applied last is older than the commit before, so that more may change than this report shows"}, []string{"v1", "v2"},
		},
		{
			"a file that nothing builds", map[string]string{"apps.yaml": spoke("v2", "") + apps}, map[string]string{"apps.yaml": spoke("v3", "") + apps}, []string{"apps.yaml"},
			[]string{held("", "apps.yaml")}, []string{"v2", "v3"},
		},
		{
			"two OCIRepositories of one name", map[string]string{"apps.yaml": spoke("v2", "") + spoke("v1", "") + apps}, map[string]string{"apps.yaml": spoke("v3", "") + spoke("v1", "") + apps},
			[]string{"apps.yaml"}, []string{"unknown: apps.yaml: OCIRepository flux-system/applications: there are several: apps.yaml and apps.yaml have one"}, nil,
		},
		{
			"an OCIRepository with the annotation, which another Kustomization applies from now on",
			map[string]string{"apps.yaml": spoke("v2", "") + other(spoke("v3", "", approving("loki"))) + apps},
			map[string]string{"apps.yaml": spoke("v2", "") + other(spoke("v3", "", approving("loki"))) + other(apps)}, []string{"apps.yaml"},
			[]string{" held; loki removed; approve loki#2; base loki; in apps.yaml"}, []string{"v2", "v3"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			base, head := commits(t, test.base, test.head)
			opener := &artifactsOf{}
			report, err := Compare(t.Context(), base, head, Options{Paths: test.paths, Rendered: promotions.NewRegistry(opener.open)})
			if err != nil {
				t.Fatal(err)
			}
			if got := promoted(report); !slices.Equal(got, test.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(test.want, "\n"))
			}
			if len(opener.opened) != len(test.pulls) {
				t.Errorf("pulled %q", opener.opened)
			}
			if classes := report.Classified(); len(test.pulls) > 0 && len(classes) != 1 {
				t.Errorf("there are %d classes", len(classes))
			}
		})
	}
}

// A pull request alone must not make winnow send credentials in the clear.
func TestAPromotionSaysWhetherItsRegistryHasTLS(t *testing.T) {
	base, head := commits(t, map[string]string{"apps.yaml": spoke("v1", "") + consuming("apps", "")}, map[string]string{"apps.yaml": spoke("v2", "  insecure: true\n") + consuming("apps", "")})
	opener := &artifactsOf{}
	if _, err := Compare(t.Context(), base, head, Options{Paths: []string{"apps.yaml"}, Rendered: promotions.NewRegistry(opener.open)}); err != nil {
		t.Fatal(err)
	}
	want := []string{"oci://example.com/datacenter@" + digestOf("v1"), "insecure oci://example.com/datacenter@" + digestOf("v2")}
	if !slices.Equal(opener.opened, want) {
		t.Errorf("pulled %q, want %q", opener.opened, want)
	}
}

// Whoever reviews the promotion of 100 clusters reads one entry.
func TestTheSamePromotionOfManyClustersIsOneClass(t *testing.T) {
	base, head := map[string]string{}, map[string]string{}
	for n := range 100 {
		file := fmt.Sprintf("clusters/c%03d/apps.yaml", n)
		base[file], head[file] = spoke("v1", "")+consuming("apps", ""), spoke("v6", "")+consuming("apps", "")
	}
	older, newer := commits(t, base, head)
	opener := &artifactsOf{}
	report, err := Compare(t.Context(), older, newer, Options{Paths: []string{"."}, Rendered: promotions.NewRegistry(opener.open)})
	if err != nil {
		t.Fatal(err)
	}
	classes := report.Classified()
	if len(classes) != 1 || classes[0].Effect != diff.EffectHeld || len(classes[0].Selections) != 100 || len(opener.opened) != 2 {
		t.Errorf("there are %d classes, and %d artifacts were pulled", len(classes), len(opener.opened))
	}
	if found := report.Trips([]string{"held", "unknown"}); len(found) != 1 || found[0] != "held: loki (Removal), argocd (VersionRemoval)" && found[0] != "held: argocd (VersionRemoval), loki (Removal)" {
		t.Errorf("found %q", found)
	}
}

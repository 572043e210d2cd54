// SPDX-License-Identifier: Apache-2.0

package selections

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/cmd/winnow/diffview"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/selection"
)

// shipping opens catalogs of KKP: name_version_version-name_version.
func shipping(ctx context.Context, address string, _ v1alpha1.SourceReference, _ bool) (selection.Source, error) {
	files := fstest.MapFS{}
	for one := range strings.SplitSeq(address[strings.LastIndexByte(address, ':')+1:], "-") {
		name, versions, _ := strings.Cut(one, "_")
		text := "apiVersion: apps.kubermatic.k8c.io/v1\nkind: ApplicationDefinition\nmetadata: {name: " + name + "}\nspec:\n  method: helm\n  versions:\n"
		for v := range strings.SplitSeq(versions, "_") {
			text += "  - version: " + v + ".0.0\n"
		}
		files["applications/"+name+"/application.yaml"] = &fstest.MapFile{Data: []byte(text)}
	}
	loaded, err := render.LoadFS(ctx, address, files, render.CatalogLocation{})
	return selection.Source{Digest: "sha256:" + strings.Repeat("01", 32), Catalog: loaded}, err
}

// A review says that Winnow keeps an application only where a selection claims it that the cluster gets from this commit.
func TestWhatIsNoMove(t *testing.T) {
	const lets, remote, hidden = "  deletionPolicy: Delete\n  safeguards: {onRemoval: Publish}\n", "  kubeConfig: {secretRef: {name: k}}\n", "postBuild: {substituteFrom: [{kind: Secret, name: v}]}, "
	const push = "  push: {url: 'oci://registry.example.com/rendered'}\n"
	const gone, alive = "  deletionPolicy: Delete\n", "kept alive by Winnow: x"
	ks := func(name, more string) string { return strings.ReplaceAll(applying(more), "name: apps", "name: "+name) }
	has := func(more string) string { return limited("others", more, "z, x") }
	of := func(name, text string) string { return strings.Replace(text, "name: catalog", "name: "+name, 1) }
	by := func(spec, name string) string { // applies the directory, in the namespace
		text := strings.Replace(following("all", name), "namespace: fleet}\nspec: {", "namespace: "+name+"}\nspec: {"+spec, 1)
		return strings.Replace(text, "name: fleet}", "name: fleet, namespace: fleet}", 1)
	}
	secret := func(v string) string {
		return "apiVersion: v1\nkind: Secret\nmetadata: {name: v, namespace: fleet}\nstringData: {V: " + v + "}\n"
	}
	catalog := pulling("  ref: {tag: x_1-y_1-z_1}\n")
	base := bootstrapped(map[string]string{
		"prod/a.yaml": limited("apps", lets, "x, y"), "prod/ak.yaml": ks("apps", ""), "prod/b.yaml": catalog, "prod/c.yaml": has(""), "prod/ck.yaml": ks("others", ""),
	})
	head := map[string]string{"prod/a.yaml": limited("apps", lets, "y")}
	enters := with(base, "prod/c.yaml", limited("others", "", "z"))
	apart := with(base, "prod/c.yaml", "") // the receiver is elsewhere
	two, left := with(base, "prod/a.yaml", limited("apps", gone, "x, y"), "prod/c.yaml", limited("others", "", "z")), map[string]string{"prod/a.yaml": limited("apps", gone, "y"), "prod/c.yaml": has(""), "dev/a.yaml": limited("apps", gone, "y")}
	for _, name := range []string{"a", "ak", "b", "flux"} {
		two["dev/"+name+".yaml"] = strings.ReplaceAll(two["prod/"+name+".yaml"], "./prod", "./dev")
	}
	tests := []struct {
		name       string
		base, head map[string]string
		not, want  string
	}{
		{"no Kustomization", with(base, "prod/ck.yaml", ""), head, alive, ""},
		{"a tenant without a Kustomization", with(base, "prod/ck.yaml", "", "prod/c.yaml", strings.Replace(has(""), "namespace: fleet", "namespace: tenant", 1),
			"prod/t.yaml", strings.Replace(catalog, "namespace: fleet", "namespace: tenant", 1)), head, alive, ""},
		{"a Kustomization that leaves", base, with(head, "prod/ck.yaml", ""), alive, ""},
		{"what has no Kustomization lets nobody wait", with(base, "prod/ck.yaml", "", "prod/c.yaml", limited("others", "", "x"), "prod/a.yaml", limited("apps", lets, "z, y")),
			map[string]string{"prod/a.yaml": limited("apps", lets, "z, x")}, "publishes nothing", ""},
		{"a kubeConfig of the receiver", with(base, "prod/ck.yaml", ks("others", remote)), head, alive, ""},
		{"a kubeConfig of the giver", with(base, "prod/ak.yaml", ks("apps", remote)), head, alive, ""},
		{"kubeConfigs of one name in two namespaces", with(apart, "prod/ck.yaml", "", "prod/a.yaml", "", "prod/ak.yaml", "", "prod/r.yaml", by("kubeConfig: {secretRef: {name: k}}, ", "berlin")+by("kubeConfig: {secretRef: {name: k}}, ", "paris"),
			"berlin/a.yaml", limited("apps", lets, "x, y"), "berlin/ak.yaml", ks("apps", ""), "berlin/b.yaml", catalog, "paris/c.yaml", of("second", has("")), "paris/ck.yaml", ks("others", ""), "paris/b.yaml", of("second", catalog)),
			map[string]string{"berlin/a.yaml": limited("apps", lets, "y")}, alive, ""},
		{"the Kustomization of the giver leaves", enters, with(head, "prod/ak.yaml", "", "prod/c.yaml", has("")), alive, "MOVE: "},
		{"the Kustomization of the giver is renamed", enters, with(head, "prod/ak.yaml", strings.Replace(ks("apps", ""), "name: apps", "name: renamed", 1), "prod/c.yaml", has("")), alive, "MOVE: "},
		{"one of two Kustomizations of the giver leaves", with(enters, "prod/two.yaml", strings.Replace(ks("apps", ""), "name: apps", "name: two", 1)),
			with(head, "prod/two.yaml", "", "prod/c.yaml", has("")), alive, "MOVE: "},
		{"the Namespace of the giver leaves", with(enters, "prod/n.yaml", "apiVersion: v1\nkind: Namespace\nmetadata: {name: fleet}\n"), with(head, "prod/n.yaml", "", "prod/c.yaml", has("")), alive, "MOVE: "},
		{"the Kustomization of the giver leaves a file", with(enters, "prod/flux.yaml", ""), with(head, "prod/ak.yaml", "", "prod/c.yaml", has("")), alive, "MOVE: "},
		{"the Kustomization of the giver has another parent", with(enters, "prod/ak.yaml", "", "prod/t.yaml", following("old", "old")+following("new", "new"), "old/ak.yaml", ks("apps", ""), "old/s.yaml", secret("a"), "new/s.yaml", secret("b")),
			with(head, "old/ak.yaml", "", "new/ak.yaml", ks("apps", ""), "prod/c.yaml", has("")), alive, "MOVE: "},
		{"a giver that leaves with its Kustomization", with(enters, "prod/a.yaml", limited("apps", lets, "x")),
			map[string]string{"prod/a.yaml": "", "prod/ak.yaml": "", "prod/c.yaml": has("")}, alive, "MOVE: "},
		{"a giver that leaves before its Kustomization", with(enters, "prod/a.yaml", limited("apps", lets, "x")),
			map[string]string{"prod/a.yaml": "", "prod/c.yaml": has("")}, alive, "keep the Kustomization of the selection that is removed"},
		{"a prefix of the receiver", with(base, "prod/ck.yaml", ks("others", "  namePrefix: t-\n")), head, alive, ""},
		{"a prefix of the giver", with(base, "prod/ak.yaml", ks("apps", "  namePrefix: t-\n")), head, alive, ""},
		{"a variable of a Secret", with(apart, "prod/t.yaml", by(hidden, "fleet"), "fleet/c.yaml", has("  exclude: ['${V}']\n")), head, alive, ""},
		{"a source that Flux does not pull", with(base, "prod/d.yaml", of("old", pulling("  suspend: true\n  ref: {tag: y_1-z_1}\n")), "prod/c.yaml", of("old", has(""))),
			with(head, "prod/d.yaml", of("old", pulling("  suspend: true\n  ref: {tag: x_1-z_1}\n"))), alive, ""},
		{"an edit that Flux does not apply", with(base, "prod/c.yaml", untouched(limited("others", "", "z"))), with(head, "prod/c.yaml", untouched(has(""))), alive, ""},
		{"an edit below a suspended Kustomization", with(apart, "prod/t.yaml", by("suspend: true, ", "fleet"), "fleet/c.yaml", limited("others", "", "z")), with(head, "fleet/c.yaml", has("")), alive, ""},
		{"a Kustomization that goes over, back to who lost it", with(base, "prod/c.yaml", "", "prod/ck.yaml", ""),
			map[string]string{"prod/c.yaml": limited("others", lets, "y"), "prod/ak.yaml": applying("  sourceRef: {kind: ExternalArtifact, name: others}\n")}, "to fleet/apps", ""},
		{"versions that the receiver lets go", with(base, "prod/b.yaml", pulling("  ref: {tag: x_1_2-y_1}\n"), "prod/d.yaml", of("second", pulling("  ref: {tag: x_2-z_1}\n")),
			"prod/c.yaml", of("second", limited("others", "  safeguards: {onVersionRemoval: Publish}\n", "z"))),
			with(head, "prod/c.yaml", of("second", has("  safeguards: {onVersionRemoval: Publish}\n"))), "", "1.0.0: the safeguards let it pass"},
		{"versions that are held although the Kustomization of the giver leaves", with(base, "prod/b.yaml", pulling("  ref: {tag: x_1_2-y_1}\n"), "prod/d.yaml", of("second", pulling("  ref: {tag: x_2-z_1}\n")),
			"prod/c.yaml", of("second", limited("others", "", "z"))), with(head, "prod/c.yaml", of("second", has("")), "prod/ak.yaml", ""), "", "versions that would be removed: 1.0.0"},
		{"a move with a push although the Kustomization of the giver leaves", with(enters, "prod/a.yaml", limited("apps", lets+push, "x, y")),
			map[string]string{"prod/a.yaml": limited("apps", lets+push, "y"), "prod/c.yaml": has(""), "prod/ak.yaml": ""}, alive, "MOVE: "},
		{"a message of another cluster", two, left, "dev: would be removed, because limit.nameSelector does not name it; it moves to", ""},
		{"a part of a variable", with(base, "prod/s.yaml", secret("berlin"), "prod/t.yaml", by(hidden, "fleet"), "prod/ak.yaml", "", "fleet/ak.yaml", ks("apps", "  namePrefix: '${V:0:3}'\n")),
			map[string]string{"prod/s.yaml": secret("paris")}, "", "UNKNOWN"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			older, newer := commits(t, test.base, test.head)
			report, err := Compare(t.Context(), older, newer, Options{Paths: []string{"."}, Open: shipping})
			if err != nil {
				t.Fatal(err)
			}
			var text bytes.Buffer
			diffview.Text(&text, report, diffview.View{})
			for _, s := range report.Selections {
				if s.Held != nil {
					text.WriteString(" " + s.Cluster + ": " + s.Held.Reasons[0].Message)
				}
			}
			said := strings.Join(strings.Fields(text.String()), " ")
			if test.not != "" && strings.Contains(said, test.not) || !strings.Contains(said, test.want) {
				t.Error(said)
			}
		})
	}
}

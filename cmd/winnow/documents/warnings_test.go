// SPDX-License-Identifier: Apache-2.0

package documents

import (
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/winnow-dev/winnow/cmd/winnow/selectionfile"
	"github.com/winnow-dev/winnow/render/selectionrule"
)

const consumer = `apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: apps, namespace: fleet}
spec: {interval: 1h, prune: true, sourceRef: {kind: ExternalArtifact, name: apps}, `

func sourceWith(kind, spec string) string {
	return "apiVersion: source.toolkit.fluxcd.io/v1\nkind: " + kind + "\nmetadata: {name: catalog, namespace: fleet}\nspec: " + spec + "\n"
}

// selecting returns a CatalogSelection of one source, with more fields in its spec.
func selecting(more string) string {
	return "apiVersion: catalog.winnow.dev/v1alpha1\nkind: CatalogSelection\nmetadata: {name: apps, namespace: fleet}\n" +
		"spec:\n  sources: [{name: catalog}]\n" + more
}

func TestWarnings(t *testing.T) {
	const ranged, exact = "  instances: {app: {version: ~1.0}}\n", "  instances: {app: {version: 1.0.0}}\n"
	pinned := sourceWith("OCIRepository", "{url: 'oci://r.example.com/c', ref: {tag: v1.0.0}}")
	git := func(ref string) string {
		return sourceWith("GitRepository", "{url: 'https://g.example.com/c', ref: "+ref+"}")
	}
	moving, noWait, renamed := []string{selectionrule.MovingSource}, []string{selectionrule.NoWait}, []string{selectionrule.Renamed}
	tests := []struct {
		name, spec, kind string
		beside           string
		want             []string
	}{
		{"no instance", "", "", sourceWith("OCIRepository", "{url: 'oci://r.example.com/c'}") + "---\n" + consumer + "}\n", nil},
		{"nothing beside", ranged, "", "", nil},
		{"the tag of a version", ranged, "", pinned, nil},
		{"a digest", ranged, "", sourceWith("OCIRepository", "{url: 'oci://r.example.com/c', ref: {tag: latest, digest: 'sha256:00'}}"), nil},
		{"no tag", ranged, "", sourceWith("OCIRepository", "{url: 'oci://r.example.com/c'}"), moving},
		{"a tag that moves", ranged, "", sourceWith("OCIRepository", "{url: 'oci://r.example.com/c', ref: {tag: v1}}"), moving},
		{"a range of tags", ranged, "", sourceWith("OCIRepository", "{url: 'oci://r.example.com/c', ref: {tag: v1.0.0, semver: 1.x}}"), moving},
		{"a tag that moves under an exact version", exact, "", sourceWith("OCIRepository", "{url: 'oci://r.example.com/c'}"), nil},
		{"the default version", "  instances: {app: {}}\n", "", sourceWith("OCIRepository", "{url: 'oci://r.example.com/c'}"), moving},
		{"an application without versions", "  instances: {app: {backend: Application}}\n", "", sourceWith("OCIRepository", "{url: 'oci://r.example.com/c'}"), nil},
		{"every upgrade is held", ranged + "  safeguards: {onInstanceUpgrade: Hold}\n", "", sourceWith("OCIRepository", "{url: 'oci://r.example.com/c'}"), nil},
		{"a branch", ranged, "GitRepository", git("{branch: main}"), moving},
		{"a tag of Git", ranged, "GitRepository", git("{tag: v1}"), nil},
		{"a commit", ranged, "GitRepository", git("{branch: main, commit: abc}"), nil},
		{"a reference of Git", ranged, "GitRepository", git("{name: refs/tags/v1}"), nil},
		{"another reference of Git", ranged, "GitRepository", git("{name: refs/heads/main, tag: v1}"), moving},
		{"a bucket", ranged, "Bucket", sourceWith("Bucket", "{bucketName: b}"), moving},
		{"another source", ranged, "", strings.ReplaceAll(sourceWith("OCIRepository", "{}"), "name: catalog", "name: other"), nil},
		{"it waits", exact, "", consumer + "wait: true}\n", nil},
		{"it has health checks", exact, "", consumer + "healthChecks: [{kind: HelmRelease, name: app}]}\n", nil},
		{"it does not wait", exact, "", consumer + "wait: false}\n", noWait},
		{"one of another artifact", exact, "", strings.ReplaceAll(consumer, "ExternalArtifact, name: apps", "ExternalArtifact, name: others") + "}\n", nil},
		{"one of another namespace", exact, "", strings.ReplaceAll(consumer, "namespace: fleet", "namespace: others") + "}\n", nil},
		{"one without a namespace", exact, "", strings.ReplaceAll(consumer, ", namespace: fleet", "") + "}\n", noWait},
		{"a prefix", exact, "", consumer + "wait: true, namePrefix: p-, nameSuffix: -s}\n", renamed},
		{"a namespace", exact, "", consumer + "wait: true, targetNamespace: other}\n", renamed},
		{"OLM before 1.11", "  instances: {app: {backend: ClusterExtension, version: ~1.0}, other: {backend: ClusterExtension, version: ~1.0}}\n", "", pinned, []string{selectionrule.Note}},
		{"one version of a package", "  instances: {app: {backend: ClusterExtension, version: 1.0.0, serviceAccountName: a}}\n", "", pinned, []string{selectionrule.Note}},
		{"a range of a package", "  instances: {app: {backend: ClusterExtension, version: ~1.0, serviceAccountName: a}}\n", "", pinned, nil},
		{"OLM v0", "  instances: {app: {backend: Subscription}}\n", "", pinned, nil},
		{"what cannot be read", exact, "", "kind: [kustomize.toolkit.fluxcd.io\n---\n" + consumer + "wait: maybe}\n", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			document := selecting(tt.spec)
			if tt.kind != "" {
				document = strings.Replace(document, "{name: catalog}", "{name: catalog, kind: "+tt.kind+"}", 1)
			}
			found, err := selectionfile.Parse(t.Context(), "apps.yaml", []byte(document))
			if err != nil {
				t.Fatal(err)
			}
			beside := ReadFiles(t.Context(), []File{{Path: "apps.yaml", Content: []byte(document)}, {Path: "beside.yaml", Content: []byte(tt.beside)}})
			var got []string
			for _, w := range beside.Warnings(Selection{CatalogSelection: found[0].CatalogSelection, Origin: Origin{File: "apps.yaml"}}, nil) {
				got = append(got, w.Rule)
				if found[0].Line(w.Field) == 0 {
					t.Errorf("%s has no line", w.Field)
				}
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestMisspelt(t *testing.T) {
	other := func(source string) string {
		return "---\napiVersion: catalog.winnow.dev/v1alpha1\nkind: CatalogSelection\nmetadata: {name: others, namespace: fleet}\nspec:\n  sources: [{name: " + source + "}]\n"
	}
	near := strings.Replace(sourceWith("OCIRepository", "{}"), "name: catalog", "name: catalogs", 1)
	applying := func(artifact string) string {
		return strings.Replace(consumer, "ExternalArtifact, name: apps", "ExternalArtifact, name: "+artifact, 1) + "}\n"
	}
	for name, test := range map[string]struct{ beside, want string }{
		"nothing beside":                       {"", ""},
		"the source":                           {sourceWith("OCIRepository", "{}"), ""},
		"the source of another kind":           {strings.Replace(near, "kind: OCI", "kind: Git", 1), ""},
		"one with almost its name":             {near, "spec.sources[0]"},
		"one with almost its name, of others":  {near + other("catalogs"), ""},
		"the name in another namespace":        {strings.Replace(sourceWith("OCIRepository", "{}"), "fleet", "other", 1), "spec.sources[0]"},
		"something else":                       {strings.Replace(near, "catalogs", "charts", 1), ""},
		"its consumer":                         {applying("apps"), ""},
		"one of almost its name":               {applying("aps"), "metadata.name"},
		"one of almost its name beside it":     {applying("apps") + "---\n" + strings.Replace(applying("aps"), "metadata: {name: apps", "metadata: {name: aps", 1), ""},
		"one of another artifact":              {applying("infrastructure"), ""},
		"one of almost its name, and of other": {applying("others") + other("other"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			document := selecting("")
			found, err := selectionfile.Parse(t.Context(), "apps.yaml", []byte(document))
			if err != nil {
				t.Fatal(err)
			}
			beside := ReadFiles(t.Context(), []File{{Path: "apps.yaml", Content: []byte(document)}, {Path: "beside.yaml", Content: []byte(test.beside)}})
			got := ""
			for _, w := range beside.Misspelt(Selection{CatalogSelection: found[0].CatalogSelection, Origin: Origin{File: "apps.yaml"}}) {
				got += w.Field
				if w.Rule != selectionrule.Reference || found[0].Line(w.Field) == 0 {
					t.Errorf("%v, in line %d", w, found[0].Line(w.Field))
				}
			}
			if got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// What the warnings of renamed objects claim, as Flux's Kustomizations have kustomize do it.
func TestWhatKustomizeRenames(t *testing.T) {
	const objects = `apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: app, namespace: fleet}
spec:
  chartRef: {kind: OCIRepository, name: app-0123456789}
  valuesFrom: [{kind: ConfigMap, name: app-defaults-0123456789}]
---
apiVersion: source.toolkit.fluxcd.io/v1
kind: OCIRepository
metadata: {name: app-0123456789, namespace: fleet}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: app-defaults-0123456789, namespace: fleet}
---
apiVersion: v1
kind: Namespace
metadata: {name: one}
`
	build := func(objects, more string) (string, error) {
		fs := filesys.MakeFsInMemory()
		for name, content := range map[string]string{"objects.yaml": objects, "kustomization.yaml": "resources: [objects.yaml]\n" + more} {
			if err := fs.WriteFile(name, []byte(content)); err != nil {
				t.Fatal(err)
			}
		}
		built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(fs, ".")
		if err != nil {
			return "", err
		}
		text, err := built.AsYaml()
		return string(text), err
	}
	prefixed, err := build(objects, "namePrefix: p-\n")
	for _, want := range []string{"  name: p-app-0123456789\n", "    name: app-0123456789\n", "  name: p-app-defaults-0123456789\n", "  - kind: ConfigMap\n    name: app-defaults-0123456789\n"} {
		if err != nil || !strings.Contains(prefixed, want) {
			t.Errorf("%v: %s does not have %q", err, prefixed, want)
		}
	}
	moved, err := build(objects, "namespace: other\n")
	for _, want := range []string{"kind: HelmRelease\nmetadata:\n  name: app\n  namespace: other\n", "kind: Namespace\nmetadata:\n  name: other\n"} {
		if err != nil || !strings.Contains(moved, want) {
			t.Errorf("%v: %s does not have %q", err, moved, want)
		}
	}
	if _, err := build(objects+"---\napiVersion: v1\nkind: Namespace\nmetadata: {name: two}\n", "namespace: other\n"); err == nil {
		t.Error("two Namespaces get the same name")
	}
}

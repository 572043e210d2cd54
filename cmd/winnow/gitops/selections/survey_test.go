// SPDX-License-Identifier: Apache-2.0

package selections

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/winnow-dev/winnow/cmd/winnow/gitops/promotions"
	"github.com/winnow-dev/winnow/test/farm"
)

// hub is a selection that pushes to the repository of the stages.
const hub = `apiVersion: catalog.winnow.dev/v1alpha1
kind: CatalogSelection
metadata: {name: datacenter, namespace: fleet}
spec:
  sources: [{name: catalog}]
  push: {url: oci://example.com/datacenter, tags: [latest]}
---
apiVersion: source.toolkit.fluxcd.io/v1
kind: OCIRepository
metadata: {name: catalog, namespace: fleet}
spec:
  url: oci://registry.example.com/catalogs/farm
  ref: {tag: v1.0.0}
`

// found returns a survey in words.
func found(s *Survey) (all []string) {
	for _, p := range s.Published {
		line := p.In() + ": " + p.Name
		for i, r := range p.References {
			line += " of " + p.Sources[i].Name + " at " + r.Catalog
		}
		if p.Side != nil {
			line += fmt.Sprintf(", %d selected", p.Side.Result.Selection.Selected)
		}
		all = append(all, strings.Join(append([]string{line}, p.Unread()...), "; "))
	}
	for _, stage := range s.Stages {
		line := "stage " + stage.In() + ": " + stage.Name
		if stage.Artifact.Result != nil {
			for _, d := range stage.Artifact.Result.Definitions {
				line += " " + d.Name + "=" + strings.Join(d.Versions, ",")
			}
		}
		if stage.Err != nil {
			line += "; " + stage.Err.Error()
		}
		for name := range releases {
			line = strings.ReplaceAll(line, digestOf(name), name)
		}
		all = append(all, line)
	}
	return all
}

func TestLook(t *testing.T) {
	for _, test := range []struct {
		name  string
		files map[string]string
		want  []string
	}{
		{
			"a hub with two stages, and an artifact of others", map[string]string{
				"hub/hub.yaml": hub, "spokes/a/apps.yaml": spoke("v2", "") + consuming("apps", ""), "spokes/b/apps.yaml": spoke("v1", "") + consuming("apps", ""),
				"spokes/c/apps.yaml": strings.ReplaceAll(spoke("other", ""), "datacenter", "others") + consuming("apps", ""),
			},
			[]string{
				"hub/hub.yaml: datacenter of catalog at oci://registry.example.com/catalogs/farm:v1.0.0, 40 selected",
				"stage spokes/a: applications argocd=1.0.0,2.0.0,3.0.0 loki=1.0.0", "stage spokes/b: applications argocd=1.0.0,2.0.0 loki=1.0.0",
			},
		},
		{
			"a stage that follows the tag of the hub, and one of others", map[string]string{
				"hub/hub.yaml": hub, "spokes/a/apps.yaml": spoke("tag latest", "") + consuming("apps", ""),
				"spokes/b/apps.yaml": strings.ReplaceAll(spoke("tag latest", ""), "datacenter", "others") + consuming("apps", ""),
			},
			[]string{
				"hub/hub.yaml: datacenter of catalog at oci://registry.example.com/catalogs/farm:v1.0.0, 40 selected",
				"stage spokes/a: applications; oci://example.com/datacenter:latest: not found",
			},
		},
		{
			"a source that is missing, and a spec that is invalid", map[string]string{
				"a/selection.yaml": strings.ReplaceAll(hub, "[{name: catalog}]", "[{name: missing}]"), "b/selection.yaml": strings.ReplaceAll(hub, "tags:", "tag:"),
			},
			[]string{
				"a/selection.yaml: datacenter of  at ; source missing: no OCIRepository of this name is among the files",
				"b/selection.yaml: datacenter; spec.push.tag: unknown field",
			},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			if err := farm.Commit(t.Context(), dir, test.files); err != nil {
				t.Skip(err)
			}
			var artifacts artifactsOf
			s, err := Look(t.Context(), "HEAD", "HEAD", Options{
				Dir: dir, Paths: []string{"."}, Open: farm.Open, Rendered: promotions.NewRegistry(artifacts.open),
			})
			if err != nil {
				t.Fatal(err)
			}
			got := found(s)
			if !slices.EqualFunc(got, test.want, strings.HasPrefix) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(test.want, "\n"))
			}
			if here, err := os.Getwd(); err != nil || strings.HasPrefix(here, dir) {
				t.Errorf("the working directory is %s: %v", here, err)
			}
		})
	}
}

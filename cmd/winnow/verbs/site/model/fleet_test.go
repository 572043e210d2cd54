// SPDX-License-Identifier: Apache-2.0

package model

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/promotions"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/repository"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/selections"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/diff"
	"github.com/winnow-dev/winnow/render/safeguard"
	"github.com/winnow-dev/winnow/render/selection"
	"github.com/winnow-dev/winnow/test/farm"
)

// surveyOf returns what a repository with two sets of files publishes. The newest catalog is shown.
func surveyOf(t *testing.T, before, changes map[string]string) Survey {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "repository")
	if err := farm.Commit(t.Context(), dir, before, changes); err != nil {
		t.Skip(err)
	}
	git := repository.Git{Dir: dir}
	s := Survey{Since: map[string]time.Time{}, Catalogs: map[*catalog.Catalog]*Catalog{}}
	var err error
	if s.Base, s.Head, err = git.Commits(t.Context(), "HEAD~1..HEAD"); err != nil {
		t.Fatal(err)
	}
	loaded := map[string]selection.Source{}
	s.Survey, err = selections.Look(t.Context(), s.Base, s.Head, selections.Options{
		Dir: dir, Paths: []string{"."},
		Open: func(ctx context.Context, address string, ref v1alpha1.SourceReference, plainHTTP bool) (selection.Source, error) {
			source, err := farm.Open(ctx, address, ref, plainHTTP)
			loaded[address] = source
			return source, err
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	var newest *Catalog
	for _, tag := range []string{farm.Third, farm.Second, farm.First} {
		address := "oci://registry.example.com/catalogs/farm:" + tag
		if source := loaded[address]; source.Catalog != nil {
			if newest == nil {
				if newest, err = NewCatalog(t.Context(), "catalog", address, source.Digest, source.Catalog); err != nil {
					t.Fatal(err)
				}
			}
			s.Catalogs[source.Catalog] = newest
		}
	}
	return s
}

// matrix returns a fleet as text: its columns, the rows of some applications, and what needs somebody.
func matrix(f *Fleet, unread []Unread, names ...string) string {
	var out strings.Builder
	for _, c := range f.Columns {
		fmt.Fprintf(&out, "column %s%s of %s, %d held\n", c.Stage, strings.Join(c.Clusters, " "), strings.Join(c.Sources, " "), c.Held)
	}
	for _, name := range names {
		for _, row := range f.Rows {
			if row.Name != name {
				continue
			}
			fmt.Fprintf(&out, "%s in %d:", row.Name, row.In)
			for _, c := range row.Cells {
				fmt.Fprintf(&out, " [%s]", strings.TrimSpace(fmt.Sprint(c.State, " ", c.Latest, " ", c.Rule, " ", strings.Join(c.Held, ";"))))
			}
			fmt.Fprintln(&out)
		}
	}
	for _, h := range f.Held {
		fmt.Fprintf(&out, "held in %s: %s\n%s%s %s\n", strings.Join(h.Where, " "), strings.Join(h.Reasons, "; "), h.Lines, h.File, h.Advice)
	}
	for _, b := range f.Behind {
		fmt.Fprintf(&out, "behind: %s runs %s, not %s of %s\n", strings.Join(b.Clusters, " "), b.Runs, b.Newest, b.Repository)
	}
	for _, d := range f.Different {
		fmt.Fprintf(&out, "different: %s runs %v\n", d.Repository, d.Revisions)
	}
	for _, u := range f.Upgrades {
		fmt.Fprintf(&out, "upgrade of %s to %s from %v\n", u.Row.Name, u.Latest, u.From)
	}
	for _, u := range unread {
		fmt.Fprintf(&out, "unread: %s: %s\n", u.Where, u.Reason)
	}
	return out.String()
}

func TestAFleetIsGroupedByContent(t *testing.T) {
	f := farm.Farm{Clusters: 6, Registry: "registry.example.com"}
	for _, test := range []struct {
		name    string
		changes map[string]string
		want    string
	}{
		{"the same everywhere", map[string]string{"README.md": "text"}, `column clusters/c001 clusters/c002 clusters/c003 clusters/c004 clusters/c005 clusters/c006 of farm:v1.0.0, 0 held
app-01 in 6: [in 2.0.0 selected]
app-02 in 6: [in 2.0.0 selected]
app-40 in 0: [out  exclude]
`},
		{"three effects", f.Effects(), `column clusters/c001 of farm:v2.0.0, 2 held
column clusters/c002 clusters/c003 of farm:v1.1.0, 0 held
column clusters/c004 clusters/c005 clusters/c006 of farm:v1.0.0, 0 held
app-01 in 5: [held   would be removed, because no source has it] [in 2.1.0 selected] [in 2.0.0 selected]
app-02 in 5: [held 2.0.0 selected versions would be removed: 1.0.0] [in 2.1.0 selected] [in 2.0.0 selected]
app-40 in 0: [out  exclude] [out  exclude] [out  exclude]
held in clusters/c001: app-01: would be removed, because no source has it; app-02: versions would be removed: 1.0.0
patches:
- target: {group: catalog.winnow.dev, kind: CatalogSelection, name: applications}
  patch: |
    apiVersion: catalog.winnow.dev/v1alpha1
    kind: CatalogSelection
    metadata:
      name: applications
    spec:
      safeguards:
        approve:
        - app-01
        - app-02/1.0.0
rings/canary/kustomization.yaml 
behind: clusters/c004 clusters/c005 clusters/c006 runs :v1.0.0, not :v2.0.0 of oci://registry.example.com/catalogs/farm
behind: clusters/c002 clusters/c003 runs :v1.1.0, not :v2.0.0 of oci://registry.example.com/catalogs/farm
`},
		{"an upgrade that some have", map[string]string{"rings/canary/source.yaml": f.Everywhere(farm.Second)["rings/canary/source.yaml"]}, `column clusters/c001 of farm:v1.1.0, 0 held
column clusters/c002 clusters/c003 clusters/c004 clusters/c005 clusters/c006 of farm:v1.0.0, 0 held
app-01 in 6: [in 2.1.0 selected] [in 2.0.0 selected]
app-02 in 6: [in 2.1.0 selected] [in 2.0.0 selected]
app-40 in 0: [out  exclude] [out  exclude]
behind: clusters/c002 clusters/c003 clusters/c004 clusters/c005 clusters/c006 runs :v1.0.0, not :v1.1.0 of oci://registry.example.com/catalogs/farm
upgrade of app-01 to 2.1.0 from [{2.0.0 [clusters/c002 clusters/c003 clusters/c004 clusters/c005 clusters/c006]}]
upgrade of app-02 to 2.1.0 from [{2.0.0 [clusters/c002 clusters/c003 clusters/c004 clusters/c005 clusters/c006]}]
upgrade of app-03 to 2.1.0 from [{2.0.0 [clusters/c002 clusters/c003 clusters/c004 clusters/c005 clusters/c006]}]
`},
		{"a catalog that is missing", map[string]string{"rings/canary/source.yaml": f.Everywhere("v9.9.9")["rings/canary/source.yaml"]}, `column clusters/c002 clusters/c003 clusters/c004 clusters/c005 clusters/c006 of farm:v1.0.0, 0 held
app-01 in 5: [in 2.0.0 selected]
app-02 in 5: [in 2.0.0 selected]
app-40 in 0: [out  exclude]
behind: clusters/c002 clusters/c003 clusters/c004 clusters/c005 clusters/c006 runs :v1.0.0, not :v9.9.9 of oci://registry.example.com/catalogs/farm
unread: clusters/c001: CatalogSelection flux-system/applications: pulling oci://registry.example.com/catalogs/farm:v9.9.9: not found
`},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := surveyOf(t, f.Files(), test.changes)
			fleet, unread := NewFleet(s)
			if got := matrix(fleet, unread, "app-01", "app-02", "app-40"); got != test.want {
				t.Errorf("got\n%s\nwant\n%s", got, test.want)
			}
		})
	}
}

// Stages stand side by side, that with the newest artifact first, and each is a column of its own.
func TestStagesAreColumns(t *testing.T) {
	stage := func(dir, digest string, versions ...string) promotions.State {
		rendered := &render.Result{Definitions: []safeguard.Definition{{Kind: "ApplicationDefinition", Name: "argocd", Versions: versions}}}
		s := promotions.State{Artifact: render.Artifact{Result: rendered}}
		s.Kind, s.Name, s.File, s.Reference.Catalog = "OCIRepository", "applications", dir+"/apps.yaml", "oci://example.com/rendered@"+digest
		return s
	}
	lost := stage("spokes/edge", "sha256:c")
	lost.Artifact.Result, lost.Err = nil, errors.New("oci://example.com/rendered@sha256:c: not found")
	s := Survey{
		Survey: &selections.Survey{Report: diff.New(), Stages: []promotions.State{
			stage("spokes/production", "sha256:a", "1.0.0", "2.0.0"), stage("spokes/staging", "sha256:b", "2.0.0", "3.0.0"), lost,
		}},
		Since: map[string]time.Time{
			"oci://example.com/rendered@sha256:a": time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), "oci://example.com/rendered@sha256:b": time.Date(2026, 1, 8, 0, 0, 0, 0, time.UTC),
			"oci://example.com/rendered@sha256:c": time.Date(2025, 1, 8, 0, 0, 0, 0, time.UTC),
		},
		Clusters: map[string][]string{"spokes/production/apps.yaml": {"berlin", "oslo"}},
	}
	s.Report.Selections = []*diff.Selection{{
		Name: "applications", File: "spokes/staging/apps.yaml", Promotion: &diff.Promotion{Annotation: "catalog.winnow.dev/approve"},
		Held: &diff.Held{Reasons: []v1alpha1.HeldReason{{Application: "argocd", Message: "versions would be removed: 1.0.0"}}, Approve: []string{"argocd/1.0.0"}, File: "spokes/staging/apps.yaml"},
	}}
	const want = `column spokes/staging of rendered@sha256:b, 1 held
column spokes/productionberlin oslo of rendered@sha256:a, 0 held
argocd in 2: [held 3.0.0  versions would be removed: 1.0.0] [in 2.0.0]
held in spokes/staging/apps.yaml: argocd: versions would be removed: 1.0.0
metadata:
  annotations:
    catalog.winnow.dev/approve: argocd/1.0.0
spokes/staging/apps.yaml 
behind: berlin oslo runs @sha256:a, not @sha256:b of oci://example.com/rendered
behind: spokes/edge runs @sha256:c, not @sha256:b of oci://example.com/rendered
unread: spokes/edge/apps.yaml: OCIRepository applications: oci://example.com/rendered@sha256:c: not found
`
	fleet, unread := NewFleet(s)
	if got := matrix(fleet, unread, "argocd"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if fleet.Clusters != 4 {
		t.Errorf("there are %d clusters", fleet.Clusters)
	}
}

func TestTheNewestRevision(t *testing.T) {
	day := func(n int) time.Time { return time.Date(2026, 1, n, 0, 0, 0, 0, time.UTC) }
	since := map[string]time.Time{"r@sha256:a": day(1), "r@sha256:b": day(2), "r:edge": day(3), "r@sha256:d": day(2)}
	for _, test := range []struct {
		name      string
		revisions []string
		want      string
	}{
		{"one", []string{":main"}, ":main"},
		{"tags in the order of their numbers", []string{":v1.10.0", ":v1.9.0"}, ":v1.10.0"},
		{"digests in the order of Git", []string{"@sha256:a", "@sha256:b"}, "@sha256:b"},
		{"a tag that is no version", []string{":edge", "@sha256:b"}, ":edge"},
		{"two that Git has named at the same time", []string{"@sha256:b", "@sha256:d"}, ""},
		{"an older one, and two of the same time", []string{"@sha256:a", "@sha256:b", "@sha256:d"}, ""},
		{"two of the same time, and a newer one", []string{"@sha256:b", "@sha256:d", ":edge"}, ":edge"},
		{"tags of the same number", []string{":1.0.0", ":v1.0.0"}, ""},
		{"one of which Git does not tell", []string{"@sha256:a", "@sha256:c"}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got, known := Newest("r", test.revisions, since); got != test.want || known != (test.want != "") {
				t.Errorf("Newest() = %q, %t, want %q", got, known, test.want)
			}
		})
	}
}

func TestSplit(t *testing.T) {
	for address, want := range map[string][2]string{
		"oci://host/a/b:v1":          {"oci://host/a/b", ":v1"},
		"oci://host:5000/a":          {"oci://host:5000/a", ""},
		"oci://host:5000/a@sha256:b": {"oci://host:5000/a", "@sha256:b"},
	} {
		if repository, revision := Split(address); repository != want[0] || revision != want[1] {
			t.Errorf("Split(%s) = %s, %s", address, repository, revision)
		}
	}
}

func TestWhatCannotBeReadIsGroupedByItsCause(t *testing.T) {
	got := CausesOf([]Unread{{"a", "pulling x: 401 Unauthorized"}, {"b", "odd"}, {"c", "odd"}, {"", "connection refused"}})
	want := []Cause{
		{"odd", "", []string{"b", "c"}},
		{"pulling x: 401 Unauthorized", "Log in to the registry: winnow reads Docker's configuration.", []string{"a"}},
		{"connection refused", "Is the registry up, and reachable from here?", nil},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestASentenceOfWinnowHasItsOwnAdvice(t *testing.T) {
	for _, reason := range []string{
		`no version of the application argocd is in the range "^3"; it has 2.13.0`, "replacing the variables of ConfigMap a: several objects have the name a then",
		"source catalog: its ref.semver is not resolved here: name a tag or a digest", "${REGION} has no value: Flux 2.9 and later apply nothing of its Kustomization",
		`parsing the range ">>1": improper constraint`, "spec.values: is a template with the variable \"$x\", which is not allowed here",
	} {
		if got := remedyOf(reason); got != "" {
			t.Errorf("%s: %s", reason, got)
		}
	}
}

func TestAGroupIsNamedByItsDirectory(t *testing.T) {
	for want, of := range map[string]Column{
		"spokes/staging": {Stage: "spokes/staging", Clusters: []string{"berlin"}}, "clusters/a": {Clusters: []string{"clusters/a"}}, "": {},
		"clusters (a ...)": {Clusters: []string{"clusters/a", "clusters/b"}}, "x/prod (a1 ...)": {Clusters: []string{"x/prod/a1", "x/prod/a2"}}, "a": {Clusters: []string{"a", "b"}},
	} {
		if got := of.Name(); got != want {
			t.Errorf("the name is %q, want %q", got, want)
		}
	}
}

// SPDX-License-Identifier: Apache-2.0

package diff_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/diff"
)

// of returns the report on a selection of a cluster that loses an application, as edits change it.
func of(cluster string, edits ...func(*diff.Selection)) *diff.Selection {
	s := diff.NewSelection("", "")
	s.Namespace, s.Name, s.Cluster, s.File = "flux-system", "apps", cluster, cluster+"/apps.yaml"
	s.To = &diff.State{Revision: "latest@sha256:" + cluster, Available: 9, Selected: 5}
	s.Applications = append(s.Applications, diff.Application{Name: "loki", Change: diff.Removed, Cause: diff.CauseCatalog})
	for _, edit := range edits {
		edit(s)
	}
	return s
}

func heldBy(entry string, edits ...func(*diff.Held)) func(*diff.Selection) {
	return func(s *diff.Selection) {
		s.Held = &diff.Held{Reasons: []v1alpha1.HeldReason{{Reason: v1alpha1.RemovalReason, Application: "loki", Message: "would be removed"}}, Approve: []string{entry}}
		for _, edit := range edits {
			edit(s.Held)
		}
	}
}

func TestSelectionsWithTheSameEffectAreOneClass(t *testing.T) {
	losing := func(name string) func(*diff.Selection) {
		return func(s *diff.Selection) { s.Applications[0].Name = name }
	}
	valued := func(lines string) func(*diff.Selection) {
		return func(s *diff.Selection) {
			s.Applications[0].Values = &diff.Values{Field: "values", Added: 1, Diff: lines}
		}
	}
	below := func(key string) func(*diff.Selection) {
		return func(s *diff.Selection) {
			s.Applications[0].Values = &diff.Values{Field: "values", Added: 1, Diff: "+  enabled: true\n", Where: key}
		}
	}
	failing := func(text string) func(*diff.Selection) {
		return func(s *diff.Selection) {
			s.Unknown = []string{strings.ReplaceAll(text, "CLUSTER", s.Cluster[strings.LastIndex(s.Cluster, "/")+1:])}
		}
	}
	for _, test := range []struct {
		name string
		a, b *diff.Selection
		one  bool
	}{
		{"the same changes, from and to other states", of("clusters/a"), of("clusters/b", func(s *diff.Selection) { s.To, s.SpecChanged = nil, true }), true},
		{"another name and file", of("clusters/a"), of("clusters/b", func(s *diff.Selection) { s.Name, s.File = "others", "base.yaml" }), true},
		{"the same line of values below another key", of("clusters/a", below("server")), of("clusters/b", below("persistence")), false},
		{"another application", of("clusters/a"), of("clusters/b", losing("argocd")), false},
		{"another cause", of("clusters/a"), of("clusters/b", func(s *diff.Selection) { s.Applications[0].Cause = diff.CauseSpec }), false},
		{"the same line", of("clusters/a", heldBy("loki")), of("clusters/b", heldBy("loki")), true},
		{"another line", of("clusters/a", heldBy("loki")), of("clusters/b", heldBy("loki/1.0.0")), false},
		{"another number of it", of("clusters/a", heldBy("loki")), of("clusters/b", heldBy("loki#2")), false},
		{"the file that takes the approval", of("clusters/a", heldBy("loki", func(h *diff.Held) { h.File = "a.yaml" })), of("clusters/b", heldBy("loki")), true},
		{"a hold, and none", of("clusters/a", heldBy("loki")), of("clusters/b"), false},
		{"a hold that is approved, and one that is not", of("clusters/a", heldBy("loki")), of("clusters/b", heldBy("loki", func(h *diff.Held) { h.Approved = true })), false},
		{"an error with the name of its cluster", of("clusters/a", failing("overlays/CLUSTER/x.yaml is missing")), of("clusters/b", failing("overlays/CLUSTER/x.yaml is missing")), true},
		{"another error", of("clusters/a", failing("401")), of("clusters/b", failing("404")), false},
		{"the lines around those that change", of("clusters/a", valued(" host: a\n+x: 1\n")), of("clusters/b", valued(" host: b\n+x: 1\n")), true},
		{"other lines", of("clusters/a", valued("+x: 1\n")), of("clusters/b", valued("+x: 2\n")), false},
		// The name of a cluster must not hide what it loses.
		{"clusters with the names of what they lose", of("clusters/loki"), of("clusters/argocd", losing("argocd")), false},
	} {
		t.Run(test.name, func(t *testing.T) {
			classes := diff.New(test.a, test.b).Classified()
			if one := len(classes) == 1; one != test.one {
				t.Errorf("%d classes", len(classes))
			}
			if test.one && len(classes[0].Selections) != 2 {
				t.Errorf("%+v", classes[0].Selections)
			}
		})
	}
}

func TestClassesBeginWithDecisions(t *testing.T) {
	report := diff.New(
		of("clusters/changed"),
		of("clusters/nothing", func(s *diff.Selection) { s.Change, s.Applications = diff.Unchanged, nil }),
		of("clusters/loosened", func(s *diff.Selection) { s.Loosened = []diff.Loosened{{Field: "spec.deletionPolicy"}} }),
		of("clusters/lost", func(s *diff.Selection) { s.Error = "after: it is invalid" }),
		of("clusters/held", heldBy("loki"), func(s *diff.Selection) { s.Loosened = []diff.Loosened{{Field: "spec.deletionPolicy"}} }),
	)
	report.Same = []diff.Place{{Cluster: "clusters/same", Name: "apps"}}
	var got []string
	for _, c := range report.Classified() {
		got = append(got, fmt.Sprint(c.Effect, " ", c.Selections[0].Cluster, " ", len(c.Selections)))
	}
	want := []string{
		"held clusters/held 1", "unknown clusters/lost 1", "loosened clusters/loosened 1", "changed clusters/changed 1", "unchanged clusters/nothing 2",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestRemarksAreGrouped(t *testing.T) {
	report := diff.New()
	report.Places = map[string]bool{"clusters/a": true, "clusters/ab": true, "clusters/b": true}
	got := report.Remarks([]string{
		"clusters/a: it cannot be built: overlays/a/x.yaml is missing", "a note: on nothing", "clusters/b: it cannot be built: overlays/b/x.yaml is missing",
		"clusters/ab: it cannot be built: overlays/a/x.yaml is missing", "clusters/a: other", "clusters/a: other", "a note: on nothing",
	})
	want := []diff.Remark{
		{Places: []string{"clusters/a", "clusters/b"}, Text: "it cannot be built: overlays/a/x.yaml is missing", Alike: true},
		{Text: "a note: on nothing"},
		{Places: []string{"clusters/ab"}, Text: "it cannot be built: overlays/a/x.yaml is missing"},
		{Places: []string{"clusters/a"}, Text: "other"},
	}
	if fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

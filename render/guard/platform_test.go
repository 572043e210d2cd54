// SPDX-License-Identifier: Apache-2.0

package guard_test

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/guard"
)

// withFacts is a source of the applications argocd and nginx. The versions of argocd are words such as
// 2.0.0=stable=>=1.34: a channel, and the Kubernetes that the version requires.
func withFacts(t *testing.T, argocd string) guard.Source {
	t.Helper()
	fsys := fstest.MapFS{}
	add := func(name, words string) {
		document := "apiVersion: apps.kubermatic.k8c.io/v1\nkind: ApplicationDefinition\nmetadata: {name: " + name + "}\nspec:\n  versions:\n"
		metadata := "tier: gold\nversions:\n  0.0.1: {}\n"
		for word := range strings.FieldsSeq(words) {
			part := strings.SplitN(word+"==", "=", 3)
			document += "  - {version: " + part[0] + "}\n"
			metadata += "  " + part[0] + ": {channels: [" + part[1] + "]"
			if requires := strings.TrimRight(part[2], "="); requires != "" {
				metadata += ", requires: {kubernetes: '" + requires + "'}"
			}
			metadata += "}\n"
		}
		fsys["applications/"+name+"/application.yaml"] = &fstest.MapFile{Data: []byte(document)}
		fsys["applications/"+name+"/metadata.yaml"] = &fstest.MapFile{Data: []byte(metadata)}
	}
	if argocd != "" {
		add("argocd", argocd)
	}
	add("nginx", "1.0.0")
	return loaded(t, "catalog", fsys)
}

func TestWhatThePlatformDropsIsHeld(t *testing.T) {
	on := func(versions ...string) specEdit {
		return func(s *v1alpha1.CatalogSelectionSpec) { s.Platform = &v1alpha1.Platform{Kubernetes: versions} }
	}
	channels := func(names ...string) specEdit {
		return func(s *v1alpha1.CatalogSelectionSpec) {
			s.Versions = []v1alpha1.VersionRule{{Channels: names, Names: []string{"argocd"}}}
		}
	}
	const requiring = "2.0.0=fast=>=1.34 1.0.0=stable=>=1.31"
	const removed = "Removal argocd 2.0.0 1.0.0: would be removed, because none of its versions runs on the platform (kubernetes 1.30.1): " +
		"2.0.0 requires kubernetes >=1.34, 1.0.0 requires kubernetes >=1.31"
	const dropped = "VersionRemoval argocd 2.0.0: versions would be removed: 2.0.0; by spec.platform: 2.0.0 requires kubernetes >=1.34"
	const lost = "VersionRemoval argocd 2.0.0: versions would be removed: 2.0.0"
	for _, test := range []struct {
		name          string
		before, after specEdit
		then, now     string // now is then without it
		want          []string
	}{
		{name: "when an edit adds the platform", before: noEdit, after: on("1.33.2"), then: requiring, want: []string{dropped}},
		{name: "when an edit lists another version", before: on("1.34.0", "1.33.2"), after: on("1.33.2"), then: requiring, want: []string{dropped}},
		{name: "when an edit drops every version", before: noEdit, after: on("1.30.1"), then: requiring, want: []string{removed}},
		{name: "when the catalog begins to require something", before: on("1.33.2"), after: on("1.33.2"), then: "2.0.0 1.0.0", now: requiring, want: []string{dropped}},
		{name: "when the catalog loses it with the edit", before: noEdit, after: on("1.33.2"), then: requiring, now: "1.0.0=stable=>=1.31", want: []string{lost}},
		{name: "but not what the edit excludes as well", before: noEdit, after: all(on("1.30.1"), exclude("argocd")), then: requiring},
		{name: "also where a rule of the edit drops it as well", before: noEdit, after: all(on("1.33.2"), constrain("<2", "argocd")), then: requiring, want: []string{dropped}},
		{name: "also what latest drops, because a newer version runs now", before: all(on("1.33.2"), latest), after: all(on("1.34.0"), latest), then: requiring,
			want: []string{"VersionRemoval argocd 1.0.0: versions would be removed: 1.0.0"}},
		{name: "also what an edit of the channels drops", before: noEdit, after: channels("stable"), then: requiring, want: []string{lost}},
		{name: "also what a misspelt channel drops", before: channels("fast", "stable"), after: channels("fast", "stabel"), then: requiring,
			want: []string{"VersionRemoval argocd 1.0.0: versions would be removed: 1.0.0"}},
		{name: "also what is in no channel any more", before: channels("stable", "fast"), after: channels("stable", "fast"), then: requiring, now: "2.0.0 1.0.0=stable", want: []string{lost}},
		{name: "nothing when the platform is removed again", before: on("1.33.2"), after: noEdit, then: requiring},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.now == "" {
				test.now = test.then
			}
			_, reasons := decided(t, recorded(t, edit(test.before), withFacts(t, test.then)), edit(test.after), withFacts(t, test.now))
			var got []string
			for _, reason := range reasons {
				got = append(got, strings.Join(append([]string{reason.Reason, reason.Application}, reason.Versions...), " ")+": "+reason.Message)
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("held:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(test.want, "\n"))
			}
		})
	}
}

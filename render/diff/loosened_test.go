// SPDX-License-Identifier: Apache-2.0

package diff_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/diff"
	"github.com/winnow-dev/winnow/render/diff/protection"
)

func TestAnEditThatLoosensIsAFinding(t *testing.T) {
	type spec = v1alpha1.CatalogSelectionSpec
	tests := []struct {
		name   string
		before func(*spec)
		now    func(*spec)
		want   []string
	}{
		{name: "the same values, written out", now: func(s *spec) {
			s.Safeguards = v1alpha1.Safeguards{OnRemoval: "Hold", OnVersionRemoval: "Hold", OnIdentityChange: "Hold",
				OnSourceChange: "Publish", OnMajorUpgrade: "Publish"}
			s.Cluster = v1alpha1.Cluster{Bypass: "Honor", Serve: "Compared"}
			s.OmitFields = []string{"selector", "enforced", "default", "defaultVersion"}
		}},
		{name: "what protects more", before: func(s *spec) {
			s.DeletionPolicy, s.Safeguards.OnRemoval, s.Cluster.Bypass, s.OmitFields = "Delete", "Publish", "Ignore", []string{}
		}},
		{
			name: "safeguards, of which some hold by default", now: func(s *spec) {
				s.Safeguards = v1alpha1.Safeguards{OnRemoval: "Publish", OnVersionRemoval: "Publish", OnIdentityChange: "Publish",
					OnSourceChange: "Publish", OnMajorUpgrade: "Publish"}
			},
			want: []string{
				"spec.safeguards.onRemoval Hold->Publish",
				"spec.safeguards.onVersionRemoval Hold->Publish", "spec.safeguards.onIdentityChange Hold->Publish",
			},
		},
		{
			name: "safeguards that held on request", now: func(s *spec) { s.Safeguards.OnMajorUpgrade = "Publish" },
			before: func(s *spec) { s.Safeguards.OnSourceChange, s.Safeguards.OnMajorUpgrade = "Hold", "Hold" },
			want:   []string{"spec.safeguards.onSourceChange Hold->Publish", "spec.safeguards.onMajorUpgrade Hold->Publish"},
		},
		{
			name: "prune, bypass and serve",
			now:  func(s *spec) { s.DeletionPolicy, s.Cluster.Bypass, s.Cluster.Serve = "Delete", "Ignore", "Always" },
			want: []string{"spec.deletionPolicy Orphan->Delete", "spec.cluster.bypass Honor->Ignore", "spec.cluster.serve Compared->Always"},
		},
		{
			name: "the catalog of what is pushed",
			before: func(s *spec) {
				s.Push = &v1alpha1.Push{URL: "oci://registry.example.com/a", Type: "CatalogImage", Catalog: &v1alpha1.PushCatalog{Kind: "ClusterCatalog"}}
			},
			want: []string{"spec.push.catalog ClusterCatalog->none", "spec.push oci://registry.example.com/a->none"},
		},
		{
			name: "another repository, or fewer tags, of what is pushed",
			before: func(s *spec) {
				s.Push = &v1alpha1.Push{URL: "oci://registry.example.com/a", Tags: []string{"latest", "stable", "edge"}}
			},
			now: func(s *spec) {
				s.Push = &v1alpha1.Push{URL: "oci://registry.example.com/b", Tags: []string{"next", "latest"}}
			},
			want: []string{"spec.push.url oci://registry.example.com/a->oci://registry.example.com/b", "spec.push.tags [latest, stable, edge]->[next, latest]"},
		},
		{
			name:   "more tags of what is pushed",
			before: func(s *spec) { s.Push = &v1alpha1.Push{URL: "oci://registry.example.com/a"} },
			now: func(s *spec) {
				s.Push = &v1alpha1.Push{URL: "oci://registry.example.com/a", Tags: []string{"next", "latest"}}
			},
		},
		{
			name: "another kind of the catalog of what is pushed",
			before: func(s *spec) {
				s.Push = &v1alpha1.Push{URL: "oci://registry.example.com/a", Type: "CatalogImage", Catalog: &v1alpha1.PushCatalog{Kind: "ClusterCatalog"}}
			},
			now: func(s *spec) {
				s.Push = &v1alpha1.Push{URL: "oci://registry.example.com/b", Type: "CatalogImage", Catalog: &v1alpha1.PushCatalog{Kind: "CatalogSource", Namespace: "olm"}}
			},
			want: []string{"spec.push.catalog ClusterCatalog->CatalogSource", "spec.push.url oci://registry.example.com/a->oci://registry.example.com/b"},
		},
		{
			name: "mirrors and signatures",
			before: func(s *spec) {
				s.RequireMirrors, s.Sources[0].RequireVerified = true, true
				s.Mirrors = []v1alpha1.Mirror{{From: "charts.example.com", To: "registry.internal"}}
			},
			want: []string{"spec.requireMirrors true->false", "spec.sources[catalog].requireVerified true->false"},
		},
		{
			name: "the limit of a source before others",
			before: func(s *spec) {
				s.Sources = append(s.Sources, v1alpha1.SourceReference{Name: "more"})
				s.Sources[0].Limit, s.Sources[1].Limit = &v1alpha1.Limit{NameSelector: []string{"a"}}, &v1alpha1.Limit{NameSelector: []string{"a"}}
			},
			now: func(s *spec) {
				s.Sources = append(s.Sources, v1alpha1.SourceReference{Name: "more"})
				s.Sources[0].Limit = &v1alpha1.Limit{}
			},
			want: []string{"spec.sources[catalog].limit set->none"},
		},
		{
			name: "the limit of the only source", before: func(s *spec) { s.Sources[0].Limit = &v1alpha1.Limit{NameSelector: []string{"a"}} },
		},
		{
			name: "mirrors without TLS",
			before: func(s *spec) {
				s.Mirrors = []v1alpha1.Mirror{
					{From: "a.example", To: "a.internal"}, {From: "b.example", To: "b.internal", Helm: &v1alpha1.MirrorHelm{Insecure: true}},
					{From: "c.example", To: "c.internal", Helm: &v1alpha1.MirrorHelm{}},
				}
			},
			now: func(s *spec) {
				s.Mirrors = []v1alpha1.Mirror{
					{From: "b.example", To: "oci://b.internal", Helm: &v1alpha1.MirrorHelm{Insecure: true}},
					{From: "a.example", To: "oci://a.internal", Helm: &v1alpha1.MirrorHelm{Insecure: true}},
					{From: "d.example", To: "oci://d.internal", Helm: &v1alpha1.MirrorHelm{PlainHTTP: true}},
				}
			},
			want: []string{"spec.mirrors[a.example].helm.insecure false->true", "spec.mirrors[d.example].helm.plainHTTP false->true"},
		},
		{
			name: "a component of the platform", before: func(s *spec) {
				s.Platform = &v1alpha1.Platform{Kubernetes: []string{"1.32.9", "1.33.2"}, KKP: []string{"2.29.1"}}
			},
			now:  func(s *spec) { s.Platform = &v1alpha1.Platform{KKP: []string{"2.30.0"}} },
			want: []string{"spec.platform.kubernetes [1.32.9, 1.33.2]->[]"},
		},
		{
			name: "the platform", before: func(s *spec) {
				s.Platform = &v1alpha1.Platform{Kubernetes: []string{"1.32.9"}, KKP: []string{"2.29.1"}}
			},
			want: []string{"spec.platform.kubernetes [1.32.9]->[]", "spec.platform.kkp [2.29.1]->[]"},
		},
		{name: "a platform that is new", now: func(s *spec) { s.Platform = &v1alpha1.Platform{Kubernetes: []string{"1.32.9"}} }},
		{
			name: "nothing is omitted any more", now: func(s *spec) { s.OmitFields = []string{} },
			want: []string{"spec.omitFields [default, enforced, selector]->[]"},
		},
		{
			name: "a list that leaves out the defaults", now: func(s *spec) { s.OmitFields = []string{"enforced", "selector.datacenters", "defaultVersion"} },
			want: []string{"spec.omitFields [default, enforced, selector]->[enforced, selector.datacenters, defaultVersion]"},
		},
		{
			name: "a field below one that is omitted", before: func(s *spec) { s.OmitFields = []string{"selector.datacenters"} },
			now: func(s *spec) { s.OmitFields = []string{"selector"} },
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			source := sourceOf(t, sumA, files{"a": versions("1.0.0")})
			s := compare(t, side(t, selectionWith(test.before), source), side(t, selectionWith(test.now), source))
			var got, found []string
			for _, l := range s.Loosened {
				got = append(got, fmt.Sprintf("%s %s->%s", l.Field, l.From, l.To))
				found = append(found, l.Effect)
			}
			if !slices.Equal(got, test.want) || slices.Contains(found, "") {
				t.Errorf("loosened %q\nwant     %q", got, test.want)
			}
			if trips := diff.New(s).Trips([]string{"safeguards"}); len(trips) > 0 != (len(test.want) > 0) {
				t.Errorf("--fail-on safeguards finds %q", trips)
			}
		})
	}
}

func TestASignatureIsNoLongerAskedFor(t *testing.T) {
	selection := func(sources ...v1alpha1.SourceReference) *v1alpha1.CatalogSelection {
		return &v1alpha1.CatalogSelection{Spec: v1alpha1.CatalogSelectionSpec{Sources: sources}}
	}
	a, b := v1alpha1.SourceReference{Name: "a"}, v1alpha1.SourceReference{Name: "b"}
	signed := func(ref v1alpha1.SourceReference) v1alpha1.SourceReference {
		ref.RequireVerified = true
		return ref
	}
	for _, test := range []struct {
		name     string
		from, to *v1alpha1.CatalogSelection
		want     int
	}{
		{"of the same source", selection(signed(a)), selection(a), 1},
		{"of one that takes its place", selection(signed(a)), selection(b), 1},
		{"of one of two", selection(signed(a), signed(b)), selection(a, signed(b)), 1},
		{"it is", selection(signed(a)), selection(signed(a)), 0},
		{"a source that takes its place is signed, too", selection(signed(a)), selection(signed(b)), 0},
		{"the unsigned one was there before", selection(signed(a), b), selection(b), 0},
		{"an unsigned one comes beside it", selection(signed(a)), selection(signed(a), b), 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			if found := protection.Loosen(test.from, test.to, false); len(found) != test.want {
				t.Errorf("loosened %+v, want %d", found, test.want)
			}
		})
	}
}

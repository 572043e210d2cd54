// SPDX-License-Identifier: Apache-2.0

package selection_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/catalog/metadata"
	"github.com/winnow-dev/winnow/render/selection"
)

// described returns a source with the application a, whose versions are words such as
// 1.0.0:stable,fast:old:kubernetes>=1.31,kkp>=2: channels, deprecation and requirements.
func described(words string) []selection.Source {
	application := &catalog.Application{Name: "a"}
	for word := range strings.FieldsSeq(words) {
		part := strings.Split(word+":::", ":")
		facts := metadata.Version{Name: part[0], Deprecated: part[2]}
		if part[1] != "" {
			facts.Channels = strings.Split(part[1], ",")
		}
		for requirement := range strings.SplitSeq(part[3], ",") {
			if i := strings.IndexAny(requirement, "><=~^"); i > 0 {
				facts.Requires = append(facts.Requires, metadata.Requirement{Component: requirement[:i], Constraint: requirement[i:]})
			}
		}
		application.Versions = append(application.Versions, part[0])
		application.Metadata.Versions = append(application.Metadata.Versions, facts)
	}
	slices.SortFunc(application.Metadata.Versions, func(a, b metadata.Version) int { return strings.Compare(a.Name, b.Name) })
	return []selection.Source{{Name: "kkp", Catalog: &catalog.Catalog{Applications: []*catalog.Application{application}}}}
}

func platform(t *testing.T, kubernetes, kkp string) *selection.Platform {
	t.Helper()
	p := &selection.Platform{}
	for _, c := range [][2]string{{"kubernetes", kubernetes}, {"kkp", kkp}} {
		if c[1] == "" {
			continue
		}
		if err := p.Add(c[0], strings.Fields(c[1])); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

func TestAPlatformDropsVersions(t *testing.T) {
	for _, test := range []struct {
		name, versions, kubernetes, kkp, rules string
		want                                   string // versions, or the rule and the reason
	}{
		{name: "that need a newer one", versions: "2.0.0:::kubernetes>=1.34 1.0.0:::kubernetes>=1.31", kubernetes: "1.33.2", want: "1.0.0"},
		{name: "none that runs on one of those listed", versions: "2.0.0:::kubernetes>=1.33 1.0.0:::kubernetes<1.33", kubernetes: "1.32.9 v1.33.2+k3s1", want: "2.0.0 1.0.0"},
		{name: "by each component", versions: "2.0.0:::kubernetes>=1.31,kkp>=2.30 1.0.0:::kubernetes>=1.31,kkp>=2.29", kubernetes: "1.33.2", kkp: "2.29.1", want: "1.0.0"},
		{name: "none for what it does not list", versions: "2.0.0:::kkp>=9,openshift>=9", kubernetes: "1.33.2", want: "2.0.0"},
		{name: "none without requirements", versions: "2.0.0 1.0.0:stable", kubernetes: "1.33.2", want: "2.0.0 1.0.0"},
		{name: "before latest counts", versions: "3.0.0:::kubernetes>=1.40 2.0.0 1.0.0", kubernetes: "1.33.2", rules: "||1", want: "2.0.0"},
		{name: "all of them", versions: "2.0.0:::kubernetes>=1.34 1.0.0:::kkp<2", kubernetes: "1.32.9 1.33.2", kkp: "2.29.1", want: "platform: none of its versions runs on " +
			"the platform (kubernetes 1.32.9 or 1.33.2, kkp 2.29.1): 2.0.0 requires kubernetes >=1.34, 1.0.0 requires kkp <2"},
		{name: "and rules drop the others", versions: "2.0.0:::kubernetes>=1.34 1.0.0", kubernetes: "1.33.2", rules: "|>=2|",
			want: `versions: none of the versions that earlier rules leave it satisfies the constraint ">=2": 1.0.0`},
		{name: "of an application that has some", versions: "", kubernetes: "1.33.2", want: ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			criteria := selection.Criteria{Platform: platform(t, test.kubernetes, test.kkp)}
			if test.rules != "" {
				criteria.Versions = []selection.VersionRule{rule(t, test.rules)}
			}
			d := choose(t, described(test.versions), criteria).Decisions[0]
			got := strings.Join(d.Versions, " ")
			if !d.Selected {
				got = d.Rule + ": " + d.Reason
			}
			if got != test.want {
				t.Errorf("got %s\nwant %s", got, test.want)
			}
		})
	}
}

func TestAPlatformRefuses(t *testing.T) {
	for _, version := range []string{"", "1.32", "1", "latest", "1.32.9-gke.1", "01.2.3", "1.32.x", ">=1.32.0", "1.2." + strings.Repeat("1", 64), "99999999999999999999.0.0"} {
		if err := (&selection.Platform{}).Add("kubernetes", []string{version}); err == nil {
			t.Errorf("Add() accepts %q", version)
		}
	}
}

func TestTheReasonSaysWhatThePlatformDrops(t *testing.T) {
	sources := described("4.0.0:::kubernetes>=1.34 3.0.0 2.0.0 1.0.0")
	for _, test := range []struct{ rules, want string }{
		{"||5", "selected: nothing limits the selection; platform drops 1 of its 4 versions"},
		{"||2", "selected: nothing limits the selection; platform drops 1 of its 4 versions; versions keeps 2 of the other 3"},
	} {
		result := choose(t, sources, selection.Criteria{Platform: platform(t, "1.33.2", ""), Versions: []selection.VersionRule{rule(t, test.rules)}})
		if got := decided(t, result, "a"); got != test.want {
			t.Errorf("decision: %s, want %s", got, test.want)
		}
	}
}

func TestExplainSaysWhatThePlatformChecks(t *testing.T) {
	for _, test := range []struct{ name, versions, want string }{
		{"nothing to check", "1.0.0", "pass: no version requires anything else than the platform has (kubernetes 1.33.2)"},
		{"what it drops", "2.0.0:::kubernetes>=1.34 1.0.0", "pass: 1 of its 2 versions run on the platform (kubernetes 1.33.2): 2.0.0 requires kubernetes >=1.34"},
		{"what is not checked", "2.0.0:::openshift>=4,kkp>=9 1.0.0:::kkp>=2", "pass: no version requires anything else than the platform has (kubernetes 1.33.2); " +
			"not checked are requirements on kkp, openshift, which spec.platform does not list"},
		{"both, of what is out", "2.0.0:::kubernetes>=1.34,kkp>=9", "fail: none of its versions runs on the platform (kubernetes 1.33.2): 2.0.0 requires kubernetes >=1.34; " +
			"not checked are requirements on kkp, which spec.platform does not list"},
		{"nothing of what has no versions", "", "not set: "},
	} {
		t.Run(test.name, func(t *testing.T) {
			explained, err := selection.Explain(t.Context(), described(test.versions), selection.Criteria{Platform: platform(t, "1.33.2", "")}, "a")
			if err != nil {
				t.Fatal(err)
			}
			for _, v := range explained.Verdicts {
				if got := string(v.Outcome) + ": " + v.Reason; v.Rule == selection.RulePlatform && got != test.want {
					t.Errorf("got %s\nwant %s", got, test.want)
				}
			}
		})
	}
}

func TestRulesKeepChannelsAndDropWhatIsDeprecated(t *testing.T) {
	const versions = "3.0.0:fast 2.1.0:stable,fast 2.0.0:stable:old 1.0.0::older 0.9.0"
	for _, test := range []struct {
		name string
		rule v1alpha1.VersionRule
		want string
	}{
		{"one channel", v1alpha1.VersionRule{Channels: []string{"stable"}}, "2.1.0 2.0.0"},
		{"one of several channels", v1alpha1.VersionRule{Channels: []string{"stable", "fast"}}, "3.0.0 2.1.0 2.0.0"},
		{"the latest of a channel", v1alpha1.VersionRule{Channels: []string{"stable"}, Latest: 1}, "2.1.0"},
		{"a channel within a range", v1alpha1.VersionRule{Channels: []string{"fast"}, Constraint: "<3"}, "2.1.0"},
		{"what is not deprecated", v1alpha1.VersionRule{Deprecated: v1alpha1.DeprecatedDrop}, "3.0.0 2.1.0 0.9.0"},
		{"what is not deprecated of a channel", v1alpha1.VersionRule{Channels: []string{"stable"}, Deprecated: v1alpha1.DeprecatedDrop}, "2.1.0"},
		{"a channel that no version is in", v1alpha1.VersionRule{Channels: []string{"stabel", "alpha"}},
			`versions: none of its versions is in the channel "alpha" or "stabel": 3.0.0, 2.1.0, 2.0.0, 1.0.0, 0.9.0`},
		{"everything at once", v1alpha1.VersionRule{Channels: []string{"stable"}, Constraint: "<2.1", Deprecated: v1alpha1.DeprecatedDrop},
			`versions: none of its versions satisfies the constraint "<2.1" and is in the channel "stable" and is not deprecated: 3.0.0, 2.1.0, 2.0.0, 1.0.0, 0.9.0`},
	} {
		t.Run(test.name, func(t *testing.T) {
			made, err := selection.NewVersionRule(test.rule)
			if err != nil {
				t.Fatal(err)
			}
			d := choose(t, described(versions), selection.Criteria{Versions: []selection.VersionRule{made}}).Decisions[0]
			got := strings.Join(d.Versions, " ")
			if !d.Selected {
				got = d.Rule + ": " + d.Reason
			}
			if got != test.want {
				t.Errorf("got %s\nwant %s", got, test.want)
			}
		})
	}
}

func TestExpressionsReadChannels(t *testing.T) {
	sources := described("2.0.0:stable,fast 1.0.0:stable")
	facts := &sources[0].Catalog.Applications[0].Metadata
	facts.Versions = append(facts.Versions, metadata.Version{Name: "9.9.9", Channels: []string{"gone"}})
	for expression, want := range map[string]bool{
		`"stable" in app.channels`:                     true,
		`app.channels == ["fast", "stable"]`:           true,
		`has(app.channels)`:                            true,
		`app.channels.exists(c, c == "gone")`:          false,
		`app.versions.all(v, size(app.channels) == 2)`: true,
	} {
		result := choose(t, sources, selection.Criteria{Expression: compile(t, expression)})
		if got := result.Selected == 1; got != want {
			t.Errorf("%s is %t, want %t", expression, got, want)
		}
	}
	if choose(t, described("1.0.0"), selection.Criteria{Expression: compile(t, "has(app.channels)")}).Selected != 0 {
		t.Error("an application without channels has some")
	}
}

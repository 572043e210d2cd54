// SPDX-License-Identifier: Apache-2.0

package selection_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/selection"
	"github.com/winnow-dev/winnow/render/selection/expression"
)

// plum has 1.0.0 to 3.0.0+2 in stable, 3.0.0+2 and 4.0.0-rc.1 in candidate, and 1.0.0 in old, which is deprecated.
const plum = `schema: olm.package
name: plum
defaultChannel: stable
---
schema: olm.channel
package: plum
name: stable
entries: [{name: plum.v1.0.0}, {name: plum.v2.0.0, replaces: plum.v1.0.0}, {name: plum.v3.0.0-1, replaces: plum.v2.0.0}, {name: plum.v3.0.0-2, replaces: plum.v3.0.0-1}]
---
schema: olm.channel
package: plum
name: candidate
entries: [{name: plum.v3.0.0-2}, {name: plum.v4.0.0-rc.1, replaces: plum.v3.0.0-2}]
---
schema: olm.channel
package: plum
name: old
entries: [{name: plum.v1.0.0}]
---
schema: olm.deprecations
package: plum
entries:
- {reference: {schema: olm.channel, name: old}, message: Use stable.}
- {reference: {schema: olm.bundle, name: plum.v2.0.0}, message: It is sour.}
---
`

func bundleOf(name, version string) string {
	return fmt.Sprintf(`schema: olm.bundle
package: plum
name: %s
image: example.com/plum
properties:
- {type: olm.package, value: {packageName: plum, version: %s}}
- {type: olm.gvk, value: {group: fruit.example.com, version: v1, kind: Plum}}
- {type: olm.package.required, value: {packageName: water, versionRange: '>=1.0.0'}}
---
`, name, version)
}

func operators(t *testing.T) []selection.Source {
	t.Helper()
	text := plum + bundleOf("plum.v1.0.0", "1.0.0") + bundleOf("plum.v2.0.0", "2.0.0") + bundleOf("plum.v3.0.0-1", "3.0.0+1") +
		bundleOf("plum.v3.0.0-2", "3.0.0+2") + bundleOf("plum.v4.0.0-rc.1", "4.0.0-rc.1")
	loaded, err := catalog.Load(t.Context(), fstest.MapFS{"plum.yaml": {Data: []byte(text)}})
	if err != nil {
		t.Fatal(err)
	}
	return []selection.Source{{Name: "operators", Catalog: loaded}}
}

func TestVersionsOfAPackage(t *testing.T) {
	type criteria = v1alpha1.VersionRule
	for name, test := range map[string]struct {
		rules []criteria
		// want has the channels with their versions, from the highest, "2.0.0+1" of plum.v2.0.0-1; or the error.
		want    string
		repairs int
	}{
		"no rule":                      {nil, "candidate: v4.0.0-rc.1 v3.0.0-2, old: v1.0.0, stable: v3.0.0-2 v3.0.0-1 v2.0.0 v1.0.0", 0},
		"a rule for others":            {[]criteria{{Names: []string{"lemon"}, Latest: 1}}, "candidate: v4.0.0-rc.1 v3.0.0-2, old: v1.0.0, stable: v3.0.0-2 v3.0.0-1 v2.0.0 v1.0.0", 0},
		"a range":                      {[]criteria{{Constraint: ">=2.0.0"}}, "candidate: v3.0.0-2, stable: v3.0.0-2 v3.0.0-1 v2.0.0", 0},
		"the latest of each channel":   {[]criteria{{Latest: 1}}, "candidate: v4.0.0-rc.1, old: v1.0.0, stable: v3.0.0-2", 0},
		"the two latest":               {[]criteria{{Latest: 2}}, "candidate: v4.0.0-rc.1 v3.0.0-2, old: v1.0.0, stable: v3.0.0-2 v3.0.0-1", 0},
		"a channel":                    {[]criteria{{Channels: []string{"stable"}}}, "stable: v3.0.0-2 v3.0.0-1 v2.0.0 v1.0.0", 0},
		"the latest of a channel":      {[]criteria{{Channels: []string{"stable"}}, {Latest: 1}}, "stable: v3.0.0-2", 0},
		"another default channel":      {[]criteria{{Channels: []string{"candidate"}, DefaultChannel: "candidate"}}, "candidate: v4.0.0-rc.1 v3.0.0-2", 0},
		"the last rule says":           {[]criteria{{Channels: []string{"candidate"}, DefaultChannel: "gone"}, {DefaultChannel: "candidate"}}, "candidate: v4.0.0-rc.1 v3.0.0-2", 0},
		"the default channel is gone":  {[]criteria{{Channels: []string{"candidate"}}}, "application plum: pruning packages: plum: no bundle is kept in the default channel \"stable\": name another one by defaultChannel: \"candidate\"", 0},
		"an unknown default channel":   {[]criteria{{DefaultChannel: "gone"}}, "application plum: pruning packages: plum: there is no channel \"gone\", which defaultChannel names: kept are \"candidate\", \"old\", \"stable\"", 0},
		"without what is deprecated":   {[]criteria{{Deprecated: v1alpha1.DeprecatedDrop}}, "candidate: v4.0.0-rc.1 v3.0.0-2, stable: v3.0.0-2 v3.0.0-1 v2.0.0 v1.0.0", 1},
		"strictly":                     {[]criteria{{Deprecated: v1alpha1.DeprecatedDrop, Strict: true}}, "application plum: pruning packages: plum: other entries than those that match would be kept, which strict forbids: package plum: channel stable keeps plum.v2.0.0: upgrades from plum.v1.0.0 to the head plum.v3.0.0-2 lead through it", 0},
		"nothing matches":              {[]criteria{{Constraint: ">=9"}}, "none of its versions satisfies the constraint \">=9\": plum.v4.0.0-rc.1, plum.v3.0.0-2, plum.v3.0.0-1, plum.v2.0.0, plum.v1.0.0", 0},
		"nothing is left for the next": {[]criteria{{Constraint: "<2"}, {Constraint: ">=9"}}, "none of the versions that earlier rules leave it satisfies the constraint \">=9\": plum.v1.0.0", 0},
	} {
		t.Run(name, func(t *testing.T) {
			var rules []selection.VersionRule
			for _, c := range test.rules {
				rule, err := selection.NewVersionRule(c)
				if err != nil {
					t.Fatal(err)
				}
				rules = append(rules, rule)
			}
			got, repairs := "", 0
			result, err := selection.Select(t.Context(), operators(t), selection.Criteria{Versions: rules})
			switch {
			case err != nil:
				got = err.Error()
			case !result.Decisions[0].Selected:
				got = result.Decisions[0].Reason
			default:
				got, repairs = channelsOf(result.Decisions[0]), len(result.Decisions[0].Repairs)
			}
			if got != test.want || repairs != test.repairs {
				t.Errorf("got %s, with %d repairs; want %s, with %d", got, repairs, test.want, test.repairs)
			}
		})
	}
}

// channelsOf returns what is kept, and checks that the versions of the decision are these.
func channelsOf(d selection.Decision) string {
	var channels, all []string
	for _, channel := range d.Kept.Channels() {
		all = append(all, channel.Versions...)
		channels = append(channels, channel.Name+": "+strings.ReplaceAll(strings.Join(channel.Versions, " "), "plum.", ""))
	}
	for _, version := range d.Application.Versions {
		if slices.Contains(all, version) != slices.Contains(d.Versions, version) {
			channels = append(channels, "the versions differ in "+version)
		}
	}
	return strings.Join(channels, ", ")
}

func TestExpressionsOnPackages(t *testing.T) {
	for source, want := range map[string]bool{
		`app.kind == "olm.package" && app.group == ""`:                                               true,
		`app.gvks.exists(g, g.group == "fruit.example.com" && g.kind == "Plum")`:                     true,
		`app.gvks.exists(g, g.kind == "Lemon")`:                                                      false,
		`app.gvks.size() == 1 && has(app.gvks)`:                                                      true,
		`app.requires.exists(r, r.package == "water")`:                                               true,
		`app.requires.map(r, r.versionRange) == [">=1.0.0"]`:                                         true,
		`app.versions == ["4.0.0-rc.1", "3.0.0+2", "3.0.0+1", "2.0.0", "1.0.0"]`:                     true,
		`semver(app.latestVersion) > semver("3.9.0")`:                                                true,
		`"stable" in app.channels && "old" in app.channels`:                                          true,
		`has(app.spec.defaultChannel)`:                                                               false,
		`app.deprecated == "" && app.tier == "" && app.labels.size() == 0 && !has(app.objectLabels)`: true,
	} {
		compiled, err := expression.Compile(source)
		if err != nil {
			t.Errorf("%s: %v", source, err)
			continue
		}
		result, err := selection.Select(t.Context(), operators(t), selection.Criteria{Expression: compiled})
		if err != nil || result.Decisions[0].Selected != want {
			t.Errorf("%s is %t: %v", source, result.Selected == 1, err)
		}
	}
}

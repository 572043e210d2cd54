// SPDX-License-Identifier: Apache-2.0

package guard_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"k8s.io/apimachinery/pkg/types"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/guard"
	"github.com/winnow-dev/winnow/render/safeguard"
	"github.com/winnow-dev/winnow/render/selection"
)

// operators is a source of packages. A line is a package with channels, "plum stable: 1.0.0 2.0.0>1.0.0 | fast: 2.0.0";
// an entry is "version>replaced!skipped@image". The first channel is the default one.
func operators(t *testing.T, lines ...string) guard.Source {
	t.Helper()
	fsys := fstest.MapFS{}
	for _, line := range append(lines, "other stable: 1.0.0") {
		name, channels, _ := strings.Cut(line, " ")
		text, seen, images := "", []string{}, map[string]string{}
		for i, channel := range strings.Split(channels, " | ") {
			channelName, entries, _ := strings.Cut(channel, ": ")
			if i == 0 {
				text = fmt.Sprintf("schema: olm.package\nname: %s\ndefaultChannel: %s\n", name, channelName)
			}
			text += fmt.Sprintf("---\nschema: olm.channel\npackage: %s\nname: %s\nentries:\n", name, channelName)
			for entry := range strings.FieldsSeq(entries) {
				entry, image, _ := strings.Cut(entry, "@")
				entry, skipped, _ := strings.Cut(entry, "!")
				version, replaced, _ := strings.Cut(entry, ">")
				text += fmt.Sprintf("- {name: %s.v%s", name, version)
				if replaced != "" {
					text += fmt.Sprintf(", replaces: %s.v%s", name, replaced)
				}
				if skipped != "" {
					text += fmt.Sprintf(", skips: [%s.v%s]", name, skipped)
				}
				text += "}\n"
				images[version] = cmp.Or(image, "x")
				if !slices.Contains(seen, version) {
					seen = append(seen, version)
				}
			}
		}
		for _, version := range seen {
			text += fmt.Sprintf("---\nschema: olm.bundle\npackage: %[1]s\nname: %[1]s.v%[2]s\nimage: %[3]q\nproperties: [{type: olm.package, value: {packageName: %[1]s, version: %[2]q}}]\n", name, version, images[version])
		}
		fsys[name+".yaml"] = &fstest.MapFile{Data: []byte(text)}
	}
	loaded, err := render.LoadFS(t.Context(), "operators", fsys, render.CatalogLocation{})
	if err != nil {
		t.Fatal(err)
	}
	return guard.Source{Kind: "OCIRepository", Name: types.NamespacedName{Namespace: "flux-system", Name: "operators"}, Catalog: loaded}
}

// readBack returns what a status has of a publication.
func readBack(t *testing.T, last guard.Published) guard.Published {
	t.Helper()
	written, err := json.Marshal(last.Definitions)
	if err != nil {
		t.Fatal(err)
	}
	last.Definitions = nil
	if err := json.Unmarshal(written, &last.Definitions); err != nil {
		t.Fatal(err)
	}
	return last
}

func TestWhatIsStrandedIsHeld(t *testing.T) {
	type spec = v1alpha1.CatalogSelectionSpec
	everything := func(*spec) {}
	rule := func(change func(*v1alpha1.VersionRule)) func(*spec) {
		return func(s *spec) {
			s.Versions = []v1alpha1.VersionRule{{Names: []string{"plum"}}}
			change(&s.Versions[0])
		}
	}
	above := func(constraint string) func(*spec) {
		return rule(func(r *v1alpha1.VersionRule) { r.Constraint = constraint })
	}
	latest := rule(func(r *v1alpha1.VersionRule) { r.Latest = 1 })
	inChannel := func(names ...string) func(*spec) {
		return rule(func(r *v1alpha1.VersionRule) { r.Channels, r.DefaultChannel = names, names[0] })
	}
	const stranded = "Stranded plum"
	for name, test := range map[string]struct {
		before, after func(*spec)
		then, now     string
		want          []string
	}{
		"nothing changes":                        {everything, everything, "plum stable: 1.0.0", "plum stable: 1.0.0", nil},
		"a version that is replaced":             {everything, everything, "plum stable: 1.0.0", "plum stable: 2.0.0>1.0.0", nil},
		"a version that is skipped":              {everything, everything, "plum stable: 1.0.0", "plum stable: 2.0.0!1.0.0", nil},
		"a version that is gone":                 {everything, everything, "plum stable: 1.0.0 1.1.0>1.0.0", "plum stable: 2.0.0>1.1.0", []string{stranded + " stable [plum.v1.0.0]"}},
		"a channel that is gone":                 {everything, everything, "plum stable: 1.0.0 | fast: 1.0.0", "plum stable: 1.0.0", []string{stranded + " fast [plum.v1.0.0]"}},
		"another default channel, with upgrades": {everything, everything, "plum stable: 1.0.0 | fast: 1.0.0 2.0.0>1.0.0", "plum fast: 1.0.0 2.0.0>1.0.0 | stable: 1.0.0", nil},
		"another default channel, without upgrades": {everything, everything, "plum stable: 1.0.0 | fast: 2.0.0", "plum fast: 2.0.0 | stable: 1.0.0",
			[]string{stranded + " fast [plum.v1.0.0]"}},
		"an edit that names another default channel": {everything, rule(func(r *v1alpha1.VersionRule) { r.DefaultChannel = "fast" }),
			"plum stable: 1.0.0 | fast: 2.0.0", "plum stable: 1.0.0 | fast: 2.0.0 3.0.0>2.0.0", nil},
		"an edit that keeps the default channel": {everything, rule(func(r *v1alpha1.VersionRule) { r.DefaultChannel = "stable" }),
			"plum stable: 1.0.0 | fast: 2.0.0", "plum fast: 2.0.0 | stable: 1.0.0", nil},
		"a package that is gone":       {everything, everything, "plum stable: 1.0.0", "lemon stable: 1.0.0", []string{"Removal plum  [plum.v1.0.0]"}},
		"the latest moves on":          {latest, latest, "plum stable: 1.0.0", "plum stable: 1.0.0 2.0.0>1.0.0", nil},
		"the latest leaves one behind": {latest, latest, "plum stable: 1.0.0", "plum stable: 1.0.0 2.0.0>1.0.0 3.0.0>2.0.0", []string{stranded + " stable [plum.v1.0.0]"}},
		"an edit leaves one behind":    {everything, above(">=3"), "plum stable: 1.0.0 2.0.0>1.0.0 3.0.0>2.0.0", "plum stable: 1.0.0 2.0.0>1.0.0 3.0.0>2.0.0", nil},
		"an edit, while the catalog adds": {everything, above(">=3"), "plum stable: 1.0.0 2.0.0>1.0.0 3.0.0>2.0.0",
			"plum stable: 1.0.0 2.0.0>1.0.0 3.0.0>2.0.0 4.0.0>3.0.0", nil},
		"an edit, while the catalog takes as well": {everything, above(">=2"), "plum stable: 1.0.0 2.0.0>1.0.0 3.0.0>2.0.0", "plum stable: 4.0.0>3.0.0",
			[]string{stranded + " stable [plum.v2.0.0 plum.v1.0.0]"}},
		"an edit that drops a channel": {everything, inChannel("fast"), "plum stable: 1.0.0 | fast: 1.0.0", "plum stable: 1.0.0 | fast: 1.0.0", nil},
		"an edit with a misspelt channel": {everything, inChannel("fast", "stabel"), "plum stable: 1.0.0 | fast: 1.0.0", "plum stable: 1.0.0 | fast: 1.0.0",
			[]string{"UnknownName   []"}},
		"an edit that drops a channel, while the catalog drops the other": {everything, inChannel("fast", "slow"), "plum stable: 1.0.0 | fast: 1.0.0 | slow: 1.0.0",
			"plum stable: 1.0.0 | fast: 1.0.0", []string{stranded + " slow [plum.v1.0.0]"}},
	} {
		t.Run(name, func(t *testing.T) {
			last := readBack(t, recorded(t, edit(test.before), operators(t, test.then)))
			now, cs := operators(t, test.now), edit(test.after)
			var got []string
			for _, c := range guard.Decide(t.Context(), last, guard.Next{Selection: cs, Sources: []guard.Source{now}, Result: rendered(t, cs, now)}).Held {
				got = append(got, fmt.Sprintf("%s %s %s %v", c.Reason, c.Key.Name, c.Channel, c.Versions))
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("held are %q, want %q", got, test.want)
			}
		})
	}
}

func TestAnotherImageOfABundleIsAChangeOfItsSource(t *testing.T) {
	for name, test := range map[string]struct {
		onSourceChange string
		now            string
		want           []string
	}{
		"the same image":             {v1alpha1.SafeguardHold, "plum stable: 1.0.0 2.0.0>1.0.0", nil},
		"another image":              {v1alpha1.SafeguardHold, "plum stable: 1.0.0@y 2.0.0>1.0.0", []string{"bundles would have another image: plum.v1.0.0"}},
		"another image, published":   {v1alpha1.SafeguardPublish, "plum stable: 1.0.0@y 2.0.0>1.0.0", nil},
		"another image of a new one": {v1alpha1.SafeguardHold, "plum stable: 1.0.0 2.0.0>1.0.0 3.0.0>2.0.0@y", nil},
	} {
		t.Run(name, func(t *testing.T) {
			cs := edit(func(s *v1alpha1.CatalogSelectionSpec) { s.Safeguards.OnSourceChange = test.onSourceChange })
			last := readBack(t, recorded(t, cs, operators(t, "plum stable: 1.0.0 2.0.0>1.0.0")))
			now := operators(t, test.now)
			result := rendered(t, cs, now)
			held := guard.Decide(t.Context(), last, guard.Next{Selection: cs, Sources: []guard.Source{now}, Result: result}).Held
			var got []string
			for _, reason := range guard.Reasons(held, selection.Result{}) {
				got = append(got, reason.Message)
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("held are %q, want %q", got, test.want)
			}
		})
	}
}

func TestARecordOfAPackageIsChecked(t *testing.T) {
	for _, record := range []string{`{}`, `{"n":"plum","d":"stable"}`, `7`} {
		var read safeguard.Definition
		if err := json.Unmarshal([]byte(`{"kind":"olm.package","name":"plum","package":`+record+`}`), &read); err == nil {
			t.Errorf("%s is read as a package", record)
		}
	}
}

func TestWithoutTheContentAnEditExcusesNothing(t *testing.T) {
	then := operators(t, "plum stable: 1.0.0 2.0.0>1.0.0 3.0.0>2.0.0")
	last := readBack(t, recorded(t, edit(func(*v1alpha1.CatalogSelectionSpec) {}), then))
	last.Sources = guard.Leaner(last.Sources)
	if last.Sources == nil || guard.Leaner(last.Sources) != nil {
		t.Fatalf("the record is %v", last.Sources)
	}
	cs := edit(func(s *v1alpha1.CatalogSelectionSpec) {
		s.Versions = []v1alpha1.VersionRule{{Names: []string{"plum"}, Constraint: ">=3"}}
	})
	now := operators(t, "plum stable: 1.0.0 2.0.0>1.0.0 3.0.0>2.0.0 4.0.0>3.0.0")
	held := guard.Decide(t.Context(), last, guard.Next{Selection: cs, Sources: []guard.Source{now}, Result: rendered(t, cs, now)}).Held
	if len(held) != 1 || held[0].Reason != v1alpha1.StrandedReason || !slices.Equal(held[0].Versions, []string{"plum.v1.0.0"}) {
		t.Errorf("held are %v", held)
	}
}

// What an expression reads of a content is not known without it: an edit by it does not excuse that a package goes.
func TestWithoutTheContentNoExpressionExcusesARemoval(t *testing.T) {
	for _, expression := range []string{
		`app.name == "other" || app.gvks.size() > 0`, `app.name == "other" || app.requires.size() > 0`,
		`app.name == "other" || "stable" in app.channels`, `app.name == "other" || app.versions.size() > 0`,
		`app.name == "other" || app.latestVersion != ""`,
	} {
		last := readBack(t, recorded(t, edit(func(*v1alpha1.CatalogSelectionSpec) {}), operators(t, "plum stable: 1.0.0")))
		last.Sources = guard.Leaner(last.Sources)
		cs := edit(func(s *v1alpha1.CatalogSelectionSpec) { s.Limit = &v1alpha1.Limit{Expression: expression} })
		now := operators(t)
		held := guard.Decide(t.Context(), last, guard.Next{Selection: cs, Sources: []guard.Source{now}, Result: rendered(t, cs, now)}).Held
		if len(held) != 1 || held[0].Reason != v1alpha1.RemovalReason || held[0].Key.Name != "plum" {
			t.Errorf("%s: held are %v", expression, held)
		}
	}
}

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

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/guard"
	"github.com/winnow-dev/winnow/render/safeguard"
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
	return loaded(t, "operators", fsys)
}

func TestWhatIsStrandedIsHeld(t *testing.T) {
	rule := func(change func(*v1alpha1.VersionRule)) specEdit {
		return func(s *v1alpha1.CatalogSelectionSpec) {
			s.Versions = []v1alpha1.VersionRule{{Names: []string{"plum"}}}
			change(&s.Versions[0])
		}
	}
	above := func(constraint string) specEdit {
		return rule(func(r *v1alpha1.VersionRule) { r.Constraint = constraint })
	}
	latest := rule(func(r *v1alpha1.VersionRule) { r.Latest = 1 })
	inChannel := func(names ...string) specEdit {
		return rule(func(r *v1alpha1.VersionRule) { r.Channels, r.DefaultChannel = names, names[0] })
	}
	defaulting := func(name string) specEdit {
		return rule(func(r *v1alpha1.VersionRule) { r.DefaultChannel = name })
	}
	const inStable, inFast = "plum/plum.v1.0.0:channel/stable", "plum/plum.v1.0.0:channel/fast"
	const three = "plum stable: 1.0.0 2.0.0>1.0.0 3.0.0>2.0.0"
	for name, test := range map[string]struct {
		before, after specEdit
		then, now     string
		want          []string
	}{
		"nothing changes":                           {noEdit, noEdit, "plum stable: 1.0.0", "plum stable: 1.0.0", nil},
		"a version that is replaced":                {noEdit, noEdit, "plum stable: 1.0.0", "plum stable: 2.0.0>1.0.0", nil},
		"a version that is skipped":                 {noEdit, noEdit, "plum stable: 1.0.0", "plum stable: 2.0.0!1.0.0", nil},
		"a version that is gone":                    {noEdit, noEdit, "plum stable: 1.0.0 1.1.0>1.0.0", "plum stable: 2.0.0>1.1.0", []string{inStable}},
		"a channel that is gone":                    {noEdit, noEdit, "plum stable: 1.0.0 | fast: 1.0.0", "plum stable: 1.0.0", []string{inFast}},
		"another default channel, with upgrades":    {noEdit, noEdit, "plum stable: 1.0.0 | fast: 1.0.0 2.0.0>1.0.0", "plum fast: 1.0.0 2.0.0>1.0.0 | stable: 1.0.0", nil},
		"another default channel, without upgrades": {noEdit, noEdit, "plum stable: 1.0.0 | fast: 2.0.0", "plum fast: 2.0.0 | stable: 1.0.0", []string{inFast}},
		"an edit that keeps the default channel":    {noEdit, defaulting("stable"), "plum stable: 1.0.0 | fast: 2.0.0", "plum fast: 2.0.0 | stable: 1.0.0", nil},
		"an edit of the default channel":            {noEdit, defaulting("fast"), "plum stable: 1.0.0 | fast: 2.0.0", "plum stable: 1.0.0 | fast: 2.0.0 3.0.0>2.0.0", []string{inFast}},
		"a package that is gone":                    {noEdit, noEdit, "plum stable: 1.0.0", "lemon stable: 1.0.0", []string{"plum"}},
		"the latest moves on":                       {latest, latest, "plum stable: 1.0.0", "plum stable: 1.0.0 2.0.0>1.0.0", nil},
		"the latest leaves one behind":              {latest, latest, "plum stable: 1.0.0", three, []string{inStable}},
		"an edit leaves one behind":                 {noEdit, above(">=3"), three, three, []string{inStable}},
		"an edit, while the catalog takes as well":  {noEdit, above(">=2"), three, "plum stable: 4.0.0>3.0.0", []string{"plum/plum.v2.0.0:channel/stable", inStable}},
		"an edit that drops a channel":              {noEdit, inChannel("fast"), "plum stable: 1.0.0 | fast: 1.0.0", "plum stable: 1.0.0 | fast: 1.0.0", []string{inStable}},
	} {
		t.Run(name, func(t *testing.T) {
			verdict, _ := decided(t, recorded(t, edit(test.before), operators(t, test.then)), edit(test.after), operators(t, test.now))
			holds(t, verdict, test.want...)
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
			_, reasons := decided(t, recorded(t, cs, operators(t, "plum stable: 1.0.0 2.0.0>1.0.0")), cs, operators(t, test.now))
			if got := messages(reasons); !slices.Equal(got, test.want) {
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

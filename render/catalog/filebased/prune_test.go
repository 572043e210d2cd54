// SPDX-License-Identifier: Apache-2.0

package filebased

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

func TestPruneRepairsChannels(t *testing.T) {
	const chain = "a: 1.0.0 1.1.0>1.0.0 1.2.0>1.1.0 2.0.0>1.2.0"
	for _, test := range []struct {
		name     string
		channels []string
		keep     []string
		want     string
	}{
		{"an upper bound of a chain needs no repair", []string{chain}, []string{"1.0.0", "1.1.0"}, "a: 1.0.0 1.1.0\n"},
		{"a lower bound neither: the last entry may replace an absent one", []string{chain}, []string{"1.2.0", "2.0.0"}, "a: 1.2.0 2.0.0\n"},
		{
			"the entries between two that are kept are added",
			[]string{chain}, []string{"1.0.0", "2.0.0"},
			"a: 1.0.0 1.1.0 1.2.0 2.0.0\n" +
				"Add a 1.1.0: upgrades from p.v1.0.0 to the head p.v2.0.0 lead through it\n" +
				"Add a 1.2.0: upgrades from p.v1.0.0 to the head p.v2.0.0 lead through it\n",
		},
		{
			"an entry that skips another one is between, and what is behind it is not added",
			[]string{"a: 1.0.0 1.1.0>1.0.0 1.2.0!1.0.0,1.1.0 2.0.0>1.2.0"}, []string{"1.0.0", "2.0.0"},
			"a: 1.0.0 1.2.0 2.0.0\nAdd a 1.2.0: upgrades from p.v1.0.0 to the head p.v2.0.0 lead through it\n",
		},
		{
			"of several heads the highest stays where nothing leads to the others",
			[]string{"a: 1.0.0 1.1.0 1.2.0!1.0.0,1.1.0"}, []string{"1.0.0", "1.1.0"},
			"a: 1.1.0\nDrop a 1.0.0: it is a second head, and no entry leads from it to the head p.v1.1.0\n",
		},
		{
			"the highest version is a head, whatever its place and name",
			[]string{"a: 10.0.0 9.0.0 11.0.0!9.0.0,10.0.0"}, []string{"9.0.0", "10.0.0"},
			"a: 10.0.0\nDrop a 9.0.0: it is a second head, and no entry leads from it to the head p.v10.0.0\n",
		},
		{
			"a head that goes may leave another one behind",
			[]string{"a: 1.0.0 1.0.1>1.0.0 2.0.0 3.0.0!1.0.0,1.0.1,2.0.0"}, []string{"1.0.0", "1.0.1", "2.0.0"},
			"a: 2.0.0\n" +
				"Drop a 1.0.0: it is a second head, and no entry leads from it to the head p.v2.0.0\n" +
				"Drop a 1.0.1: it is a second head, and no entry leads from it to the head p.v2.0.0\n",
		},
		{
			"an entry is stranded behind one that is skipped",
			[]string{"a: 1.0.0 1.1.0>1.0.0 2.0.0!1.1.0 3.0.0>2.0.0!1.0.0,1.1.0"}, []string{"1.0.0", "1.1.0", "2.0.0"},
			"a: 1.1.0 2.0.0\nDrop a 1.0.0: no upgrade leads from it to the head p.v2.0.0\n",
		},
		{
			"a stranded entry is connected by what is between",
			[]string{"a: 1.0.0 1.1.0>1.0.0 1.2.0>1.0.0 2.0.0>1.2.0!1.1.0"}, []string{"1.0.0", "1.1.0", "2.0.0"},
			"a: 1.0.0 1.1.0 1.2.0 2.0.0\nAdd a 1.2.0: upgrades from p.v1.0.0 to the head p.v2.0.0 lead through it\n",
		},
		{
			"entries that replace each other have no head",
			[]string{"a: 1.0.0>1.1.0 1.1.0>1.0.0 2.0.0!1.0.0,1.1.0"}, []string{"1.0.0", "1.1.0"},
			"a: 1.1.0\nDrop a 1.0.0: every entry that is kept is replaced or skipped by another one of them\n",
		},
		{
			"a cycle below a head",
			[]string{"a: 1.0.0>1.1.0 1.1.0>1.0.0 1.2.0>1.1.0 2.0.0!1.0.0,1.1.0,1.2.0"}, []string{"1.0.0", "1.1.0", "1.2.0"},
			"a: 1.1.0 1.2.0\nDrop a 1.0.0: it is part of a cycle of entries that replace each other\n",
		},
		{"a channel without entries goes", []string{chain, "b: 1.0.0 2.0.0>1.0.0"}, []string{"a/1.0.0", "a/1.1.0"}, "a: 1.0.0 1.1.0\n"},
		{
			"channels are independent",
			[]string{chain, "b: 1.0.0 2.0.0>1.0.0"}, []string{"2.0.0", "b/1.0.0"},
			"a: 2.0.0\nb: 1.0.0 2.0.0\n",
		},
		{
			"build metadata orders what semantic versions do not",
			[]string{"a: 1.0.0+9 1.0.0+10 2.0.0!1.0.0+9,1.0.0+10"}, []string{"1.0.0+9", "1.0.0+10"},
			"a: 1.0.0+10\nDrop a 1.0.0+9: it is a second head, and no entry leads from it to the head p.v1.0.0+10\n",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			of := named(t, graphs(t, test.channels...), "p")
			pruned, decisions, err := of.Prune(Keep{Bundle: only(test.keep...)})
			if err != nil {
				t.Fatal(err)
			}
			if got := shown(pruned, decisions); got != test.want {
				t.Errorf("got:\n%swant:\n%s", got, test.want)
			}
			_, _, err = of.Prune(Keep{Bundle: only(test.keep...), Strict: true})
			var refused *PruneError
			if errors.As(err, &refused) != (len(decisions) > 0) {
				t.Errorf("strict: %v with %d decisions", err, len(decisions))
			}
			entries := map[string]bool{}
			for _, channel := range pruned.Channels {
				for _, entry := range channel.Entries {
					entries[entry.Name] = true
				}
			}
			if kept := len(pruned.Bundles); kept != len(entries) {
				t.Errorf("%d bundles of %d entries", kept, len(entries))
			}
		})
	}
}

func TestPruneRefuses(t *testing.T) {
	of := named(t, graphs(t, "a: 1.0.0 1.1.0 2.0.0!1.0.0,1.1.0", "b: 2.0.0"), "p")
	for _, test := range []struct {
		name string
		keep Keep
		want string
	}{
		{"a package without a bundle", Keep{Bundle: only("3.0.0")}, "pruning packages: p: no bundle is kept in any channel"},
		{
			"a default channel that goes", Keep{Bundle: only("b/2.0.0")},
			`pruning packages: p: no bundle is kept in the default channel "a": name another one by defaultChannel: "b"`,
		},
		{
			"another default channel that goes", Keep{DefaultChannel: "b", Bundle: only("1.0.0")},
			`pruning packages: p: no bundle is kept in the default channel "b": name another one by defaultChannel: "a"`,
		},
		{
			"another default channel that is not there", Keep{DefaultChannel: "c"},
			`pruning packages: p: there is no channel "c", which defaultChannel names: kept are "a", "b"`,
		},
		{
			"everything at once", Keep{DefaultChannel: "b", Strict: true, Bundle: only("1.0.0", "1.1.0")},
			`pruning packages: p: no bundle is kept in the default channel "b": name another one by defaultChannel: "a", ` +
				`p: other entries than those that match would be kept, which strict forbids: ` +
				`package p: channel a drops p.v1.0.0: it is a second head, and no entry leads from it to the head p.v1.1.0`,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			pruned, _, err := of.Prune(test.keep)
			var refused *PruneError
			if pruned != nil || !errors.As(err, &refused) || err.Error() != test.want {
				t.Errorf("got %v, want %s", err, test.want)
			}
		})
	}
}

func TestPruneKeepsAllByDefault(t *testing.T) {
	catalog, err := Load(t.Context(), os.DirFS("testdata/orchard"))
	if err != nil {
		t.Fatal(err)
	}
	lemon := named(t, catalog, "lemon")
	pruned, decisions, err := lemon.Prune(Keep{})
	if err != nil || len(decisions) > 0 {
		t.Fatal(pruned, decisions, err)
	}
	if !slices.Equal(pruned.Blobs, lemon.Blobs) {
		t.Error("blobs changed")
	}
}

func TestPruneKeepsBytes(t *testing.T) {
	catalog, err := Load(t.Context(), os.DirFS("testdata/orchard"))
	if err != nil {
		t.Fatal(err)
	}
	var decisions []Decision
	files := ""
	for _, test := range []struct {
		name string
		keep Keep
	}{
		{"lemon", Keep{DefaultChannel: "candidate", Bundle: only("1.1.0", "1.1.1", "candidate/2.0.0-rc.1", "candidate/2.1.0")}},
		{"plum", Keep{Bundle: func(channel string, bundle *Bundle) bool { return channel == "v1" && bundle.Name != "plum-v1.0.0-1" }}},
	} {
		pruned, explained, err := named(t, catalog, test.name).Prune(test.keep)
		if err != nil {
			t.Fatal(err)
		}
		decisions = append(decisions, explained...)
		for _, file := range pruned.Files() {
			files += fmt.Sprintf("-- %s/%s --\n%s", pruned.Name, file.Name, file.Data)
		}
	}
	got := fmt.Sprintln(decisions) + files
	const golden = "testdata/pruned.txt"
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil || got != string(want) {
		t.Errorf("%v, got:\n%s", err, got)
	}
}

// What cannot be cut out of the text is written as JSON, with the same meaning.
func TestPruneOfUnusualDocuments(t *testing.T) {
	const bundles = "---\nschema: olm.bundle\npackage: p\nname: p.v1\nimage: x\nproperties: [{type: olm.package, value: {packageName: p, version: 1.0.0}}]\n" +
		"---\nschema: olm.bundle\npackage: p\nname: p.v2\nimage: x\nproperties: [{type: olm.package, value: {packageName: p, version: 2.0.0}}]\n"
	const head = "schema: olm.package\nname: p\ndefaultChannel: c\n"
	const channel = "---\nschema: olm.channel\npackage: p\nname: c\n"
	for _, test := range []struct{ name, catalog, want string }{
		{
			"a list at the end, without a line break",
			head + bundles + channel + "entries:\n- name: p.v1\n- name: p.v2\n  replaces: p.v1",
			"schema: olm.channel\npackage: p\nname: c\nentries:\n- name: p.v2\n  replaces: p.v1",
		},
		{
			"a list that is indented, with comments and texts that look like elements",
			head + bundles + channel + "entries:\n    # one\n    -   name: p.v1\n        x: |\n\n          - name: p.v2\n         # no\n\n    # two\n\n    # too\n    - # here\n" +
				"      name: p.v2\n      replaces: p.v1\n# end\nproperties:\n- {type: a, value: b}\n",
			"schema: olm.channel\npackage: p\nname: c\nentries:\n    # one\n    # two\n\n    # too\n    - # here\n" +
				"      name: p.v2\n      replaces: p.v1\n# end\nproperties:\n- {type: a, value: b}\n",
		},
		{
			"brackets in quotes and comments",
			head + bundles + channel + "entries: [ # a ] in a comment\n {name: \"p.v1\", x: \"]\", y: ']''', z: it's}, {name: p.v2, replaces: p.v1},]\n",
			"schema: olm.channel\npackage: p\nname: c\nentries: [ {name: p.v2, replaces: p.v1}]\n",
		},
		{
			"an alias of what goes",
			head + bundles + channel + "entries:\n- &a {name: p.v1}\n- {name: p.v2, replaces: p.v1}\nx: *a\n",
			`{"entries":[{"name":"p.v2","replaces":"p.v1"}],"name":"c","package":"p","schema":"olm.channel","x":{"name":"p.v1"}}`,
		},
		{
			"keys in another case",
			head + bundles + "---\nSCHEMA: olm.channel\nPackage: p\nname: c\nENTRIES:\n- name: p.v1\n- name: p.v2\n  replaces: p.v1\n",
			"SCHEMA: olm.channel\nPackage: p\nname: c\nENTRIES:\n- name: p.v2\n  replaces: p.v1\n",
		},
		{
			"a merge key",
			head + bundles + channel + "<<: {entries: [{name: p.v1}, {name: p.v2, replaces: p.v1}]}\n",
			`{"entries":[{"name":"p.v2","replaces":"p.v1"}],"name":"c","package":"p","schema":"olm.channel"}`,
		},
		{
			"lines that end with CR LF",
			strings.ReplaceAll(head+bundles+channel+"entries:\n- name: p.v1\n- name: p.v2\n  replaces: p.v1\n", "\n", "\r\n"),
			"schema: olm.channel\r\npackage: p\r\nname: c\r\nentries:\r\n- name: p.v2\r\n  replaces: p.v1\r\n",
		},
		{
			"equal keys in JSON",
			`{"schema":"olm.channel","package":"p","name":"c","entries":[],"entries":[{"name":"p.v1"},{"name":"p.v2","replaces":"p.v1"}]}` + "\n---\n" + head + bundles,
			`{"entries":[{"name":"p.v2","replaces":"p.v1"}],"name":"c","package":"p","schema":"olm.channel"}`,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			catalog, err := Load(t.Context(), fstest.MapFS{"p.yaml": {Data: []byte(test.catalog)}})
			if err != nil {
				t.Fatal(err)
			}
			pruned, _, err := named(t, catalog, "p").Prune(Keep{Bundle: only("2.0.0")})
			if err != nil {
				t.Fatal(err)
			}
			if got := string(pruned.Channels[0].Blob.Data); got != test.want {
				t.Errorf("got:\n%q\nwant:\n%q", got, test.want)
			}
			rewritten(t, &Catalog{Packages: []*Package{pruned}})
		})
	}
}

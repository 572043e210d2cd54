// SPDX-License-Identifier: Apache-2.0

package filebased

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// graphs makes a catalog of the package p. A channel is "name: entries", an entry is "version>replaced!skipped,skipped",
// and the first channel is the default one.
func graphs(t *testing.T, channels ...string) *Catalog {
	t.Helper()
	var text strings.Builder
	name := func(version string) string { return "p.v" + version }
	seen := map[string]bool{}
	for i, channel := range channels {
		channelName, entries, _ := strings.Cut(channel, ": ")
		if i == 0 {
			fmt.Fprintf(&text, "---\nschema: olm.package\nname: p\ndefaultChannel: %s\n", channelName)
		}
		fmt.Fprintf(&text, "---\nschema: olm.channel\npackage: p\nname: %s\nentries:\n", channelName)
		for entry := range strings.FieldsSeq(entries) {
			entry, skips, _ := strings.Cut(entry, "!")
			version, replaces, _ := strings.Cut(entry, ">")
			fmt.Fprintf(&text, "- name: %s\n", name(version))
			if replaces != "" {
				fmt.Fprintf(&text, "  replaces: %s\n", name(replaces))
			}
			if skips != "" {
				fmt.Fprintf(&text, "  skips: [%s]\n", name(strings.ReplaceAll(skips, ",", ", "+name(""))))
			}
			seen[version] = true
		}
	}
	for _, version := range slices.Sorted(maps.Keys(seen)) {
		fmt.Fprintf(&text, "---\nschema: olm.bundle\npackage: p\nname: %s\nimage: x\nproperties:\n- {type: olm.package, value: {packageName: p, version: %s}}\n", name(version), version)
	}
	loaded, err := Load(t.Context(), fstest.MapFS{"p.yaml": {Data: []byte(text.String())}})
	if err != nil {
		t.Fatal(err)
	}
	return loaded
}

// only keeps bundles by version, "channel/version" those of one channel.
func only(versions ...string) func(string, *Bundle) bool {
	return func(channel string, bundle *Bundle) bool {
		return slices.Contains(versions, bundle.Version.String()) || slices.Contains(versions, channel+"/"+bundle.Version.String())
	}
}

// shown returns the entries of a package's channels, and the decisions.
func shown(pruned *Package, decisions []Decision) string {
	var text strings.Builder
	for _, channel := range pruned.Channels {
		text.WriteString(channel.Name + ":")
		for _, entry := range channel.Entries {
			text.WriteString(" " + strings.TrimPrefix(entry.Name, "p.v"))
		}
		text.WriteString("\n")
	}
	for _, decision := range decisions {
		fmt.Fprintf(&text, "%s %s %s: %s\n", decision.Action, decision.Channel, strings.TrimPrefix(decision.Bundle, "p.v"), decision.Reason)
	}
	return text.String()
}

// named returns the package with a name.
func named(t *testing.T, catalog *Catalog, name string) *Package {
	t.Helper()
	i := slices.IndexFunc(catalog.Packages, func(p *Package) bool { return p.Name == name })
	if i < 0 {
		t.Fatalf("there is no package %s", name)
	}
	return catalog.Packages[i]
}

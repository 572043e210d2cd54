// SPDX-License-Identifier: Apache-2.0

package filebased

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/winnow-dev/winnow/render/catalog/filebased/graph"
	"github.com/winnow-dev/winnow/render/catalog/filebased/shape"
	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/spelling"
)

// check reports what is wrong with a package.
func (p *packageCheck) check(found *report) {
	result := p.result
	switch {
	case len(result.Channels) == 0:
		found.at(result.blob, nil, "the package %s has no channel", excerpt.Quoted(result.Name))
	case result.DefaultChannel == "":
		found.at(result.blob, nil, "must have a defaultChannel")
	case p.channels[result.DefaultChannel] == nil:
		found.at(result.blob, shape.FieldPath{"defaultChannel"}, "there is no channel %s in the package", excerpt.Quoted(result.DefaultChannel))
	}
	if problem := p.tooLarge(); problem != "" {
		found.at(result.blob, nil, "the package %s has %s", excerpt.Quoted(result.Name), problem)
		return
	}
	used := map[string]bool{}
	for _, channel := range result.Channels {
		p.checkChannel(channel, used, found)
	}
	for _, bundle := range result.Bundles {
		switch {
		case bundle.Name == "":
			found.at(bundle.Blob, nil, "must have a name")
		case !used[bundle.Name]:
			found.at(bundle.Blob, shape.FieldPath{"name"}, "no channel has an entry %s", excerpt.Quoted(bundle.Name))
		}
	}
	p.checkVersions(found)
	p.checkDeprecations(found)
}

// tooLarge describes what the package has too much of.
func (p *packageCheck) tooLarge() string {
	entries, skips := 0, 0
	for _, channel := range p.result.Channels {
		if len(channel.Entries) > maxEntries {
			return fmt.Sprintf("more than %d entries in the channel %s", maxEntries, excerpt.Quoted(channel.Name))
		}
		entries += len(channel.Entries)
		for _, entry := range channel.Entries {
			skips += len(entry.Skips)
		}
	}
	switch {
	case len(p.result.Channels) > maxEntries, len(p.result.Bundles) > maxEntries:
		return fmt.Sprintf("more than %d channels or bundles", maxEntries)
	case entries > maxAllEntries:
		return fmt.Sprintf("more than %d entries in all channels together", maxAllEntries)
	case skips > maxSkips:
		return fmt.Sprintf("entries that skip more than %d names together", maxSkips)
	}
	return ""
}

// checkChannel reports what is wrong with the entries of a channel, and marks their bundles as used.
func (p *packageCheck) checkChannel(channel *Channel, used map[string]bool, found *report) {
	if len(channel.Entries) == 0 {
		found.at(channel.Blob, shape.FieldPath{"entries"}, "the channel %s has no entry", excerpt.Quoted(channel.Name))
		return
	}
	first, distinct := map[string]int{}, true
	for i, entry := range channel.Entries {
		at := shape.FieldPath{"entries", i}
		if other, taken := first[entry.Name]; taken {
			found.at(channel.Blob, at, "is the entry %s again, first as number %d", excerpt.Quoted(entry.Name), other+1)
			distinct = false
			continue
		}
		first[entry.Name], used[entry.Name] = i, true
		p.checkEntry(channel, i, found)
	}
	if distinct {
		p.checkGraph(channel, found)
	}
}

func (p *packageCheck) checkEntry(channel *Channel, i int, found *report) {
	entry, at := channel.Entries[i], shape.FieldPath{"entries", i}
	switch {
	case entry.Name == "":
		found.at(channel.Blob, at, "must have a name")
	case p.bundles[entry.Name] == nil:
		found.at(channel.Blob, at, "there is no bundle %s in the package", excerpt.Quoted(entry.Name))
	}
	for j, skip := range entry.Skips {
		if skip == "" {
			found.at(channel.Blob, shape.FieldPath{"entries", i, "skips", j}, "skips an empty name")
		}
	}
	if _, err := graph.ParseRange(entry.SkipRange); err != nil {
		found.at(channel.Blob, shape.FieldPath{"entries", i, "skipRange"}, "is not a range of versions: %v: %s", err, excerpt.Quoted(entry.SkipRange))
	}
}

// checkVersions reports bundles that share a version.
func (p *packageCheck) checkVersions(found *report) {
	first := map[string]*Bundle{}
	for _, bundle := range p.result.Bundles {
		text := bundle.Version.String()
		if other, taken := first[text]; taken {
			found.at(bundle.Blob, nil, "has the version %s of the bundle %s in %s: build metadata or a release tells them apart",
				excerpt.Quoted(text), excerpt.Quoted(other.Name), other.Blob.where())
			continue
		}
		first[text] = bundle
	}
}

func (p *packageCheck) checkDeprecations(found *report) {
	blob := p.result.deprecations
	first := map[Reference]int{}
	for i, entry := range p.deprecations {
		at := shape.FieldPath{"entries", i}
		if other, taken := first[entry.Reference]; taken {
			found.at(blob, at, "deprecates %s again, first as number %d", excerpt.Quoted(cmp.Or(entry.Reference.Name, p.result.Name)), other+1)
		}
		first[entry.Reference] = i
		if entry.Message == "" {
			found.at(blob, at, "must have a message")
		}
		p.checkReference(blob, shape.FieldPath{"entries", i, "reference"}, entry.Reference, found)
	}
}

func (p *packageCheck) checkReference(blob *Blob, at shape.FieldPath, to Reference, found *report) {
	switch to.Schema {
	case SchemaPackage:
		if to.Name != "" {
			found.at(blob, slices.Concat(at, shape.FieldPath{"name"}), "must be empty: a reference to the package has no name")
		}
	case SchemaChannel:
		if p.channels[to.Name] == nil {
			found.at(blob, at, "there is no channel %s in the package", excerpt.Quoted(to.Name))
		}
	case SchemaBundle:
		if p.bundles[to.Name] == nil {
			found.at(blob, at, "there is no bundle %s in the package", excerpt.Quoted(to.Name))
		}
	case "":
		found.at(blob, at, "must have a schema")
	default:
		found.at(blob, slices.Concat(at, shape.FieldPath{"schema"}), "must be %s, %s or %s: %s", SchemaPackage, SchemaChannel, SchemaBundle, excerpt.Quoted(to.Schema))
	}
}

// checkGraph reports what is wrong with the upgrades of a channel whose entries have different names.
func (p *packageCheck) checkGraph(channel *Channel, found *report) {
	g := graph.New(channel.Entries, func(string) bool { return true })
	at := func(name string) shape.FieldPath {
		return shape.FieldPath{"entries", slices.IndexFunc(channel.Entries, func(e graph.Entry) bool { return e.Name == name })}
	}
	switch len(g.Heads) {
	case 0:
		found.at(channel.Blob, shape.FieldPath{"entries"}, "the channel %s has no head: every entry is replaced or skipped by one", excerpt.Quoted(channel.Name))
		return
	case 1:
	default:
		found.at(channel.Blob, at(g.Heads[1]), "the channel %s has %d heads, but only one entry may be neither replaced nor skipped: %s%s",
			excerpt.Quoted(channel.Name), len(g.Heads), nameList(g.Heads), p.misspelt(channel, g.Heads))
		return
	}
	chain, cycle := g.Chain(g.Heads[0])
	if len(cycle) > 0 {
		found.at(channel.Blob, at(cycle[0]), "the channel %s has a cycle of entries that replace each other: %s", excerpt.Quoted(channel.Name), nameList(cycle))
		return
	}
	if stranded := g.Stranded(channel.Entries, chain); len(stranded) > 0 {
		found.at(channel.Blob, at(stranded[0]), "the channel %s has %d stranded entries, from which no upgrade leads to the head %s: %s",
			excerpt.Quoted(channel.Name), len(stranded), excerpt.Quoted(g.Heads[0]), nameList(stranded))
	}
}

// misspelt describes the entry of a channel with several heads that replaces a name close to a lower one of these, and no entry;
// empty if there is none.
func (p *packageCheck) misspelt(channel *Channel, heads []string) string {
	for i, entry := range channel.Entries {
		upper := p.bundles[entry.Name]
		if upper == nil || entry.Replaces == "" || slices.ContainsFunc(channel.Entries, func(e graph.Entry) bool { return e.Name == entry.Replaces }) {
			continue
		}
		meant := spelling.Typo(entry.Replaces, slices.DeleteFunc(slices.Clone(heads), func(head string) bool {
			return p.bundles[head] == nil || p.bundles[head].Version.Compare(upper.Version) >= 0
		}))
		if meant != "" {
			return fmt.Sprintf("; entries[%d] replaces %s, which is no entry: did you mean %s?", i, excerpt.Quoted(entry.Replaces), excerpt.Quoted(meant))
		}
	}
	return ""
}

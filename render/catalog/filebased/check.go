package filebased

import (
	"cmp"
	"fmt"
	"slices"
)

// check reports what is wrong with a package.
func (p *packageCheck) check(found *report) {
	result := p.result
	switch {
	case len(result.Channels) == 0:
		found.at(result.blob, nil, "the package %s has no channel", quote(result.Name))
	case result.DefaultChannel == "":
		found.at(result.blob, nil, "must have a defaultChannel")
	case p.channels[result.DefaultChannel] == nil:
		found.at(result.blob, place{"defaultChannel"}, "there is no channel %s in the package", quote(result.DefaultChannel))
	}
	if problem := p.tooLarge(); problem != "" {
		found.at(result.blob, nil, "the package %s has %s", quote(result.Name), problem)
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
			found.at(bundle.Blob, place{"name"}, "no channel has an entry %s", quote(bundle.Name))
		}
	}
	p.checkVersions(found)
	p.checkDeprecations(found)
}

// tooLarge says what the package has too much of.
func (p *packageCheck) tooLarge() string {
	entries, skips := 0, 0
	for _, channel := range p.result.Channels {
		if len(channel.Entries) > maxEntries {
			return fmt.Sprintf("more than %d entries in the channel %s", maxEntries, quote(channel.Name))
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
		found.at(channel.Blob, place{"entries"}, "the channel %s has no entry", quote(channel.Name))
		return
	}
	first, distinct := map[string]int{}, true
	for i, entry := range channel.Entries {
		at := place{"entries", i}
		if other, taken := first[entry.Name]; taken {
			found.at(channel.Blob, at, "is the entry %s again, first as number %d", quote(entry.Name), other+1)
			distinct = false
			continue
		}
		first[entry.Name], used[entry.Name] = i, true
		p.checkEntry(channel, i, found)
	}
	if distinct {
		checkGraph(channel, found)
	}
}

func (p *packageCheck) checkEntry(channel *Channel, i int, found *report) {
	entry, at := channel.Entries[i], place{"entries", i}
	switch {
	case entry.Name == "":
		found.at(channel.Blob, at, "must have a name")
	case p.bundles[entry.Name] == nil:
		found.at(channel.Blob, at, "there is no bundle %s in the package", quote(entry.Name))
	}
	for j, skip := range entry.Skips {
		if skip == "" {
			found.at(channel.Blob, place{"entries", i, "skips", j}, "skips an empty name")
		}
	}
	if _, err := parseRange(entry.SkipRange); err != nil {
		found.at(channel.Blob, place{"entries", i, "skipRange"}, "is not a range of versions: %v: %s", err, quote(entry.SkipRange))
	}
}

// checkVersions reports bundles that share a version.
func (p *packageCheck) checkVersions(found *report) {
	first := map[string]*Bundle{}
	for _, bundle := range p.result.Bundles {
		text := bundle.Version.String()
		if other, taken := first[text]; taken {
			found.at(bundle.Blob, nil, "has the version %s of the bundle %s in %s: build metadata or a release tells them apart",
				quote(text), quote(other.Name), other.Blob.where())
			continue
		}
		first[text] = bundle
	}
}

func (p *packageCheck) checkDeprecations(found *report) {
	blob := p.result.deprecations
	first := map[Reference]int{}
	for i, entry := range p.deprecations {
		at := place{"entries", i}
		if other, taken := first[entry.Reference]; taken {
			found.at(blob, at, "deprecates %s again, first as number %d", quote(cmp.Or(entry.Reference.Name, p.result.Name)), other+1)
		}
		first[entry.Reference] = i
		if entry.Message == "" {
			found.at(blob, at, "must have a message")
		}
		p.checkReference(blob, place{"entries", i, "reference"}, entry.Reference, found)
	}
}

func (p *packageCheck) checkReference(blob *Blob, at place, to Reference, found *report) {
	switch to.Schema {
	case SchemaPackage:
		if to.Name != "" {
			found.at(blob, slices.Concat(at, place{"name"}), "must be empty: a reference to the package has no name")
		}
	case SchemaChannel:
		if p.channels[to.Name] == nil {
			found.at(blob, at, "there is no channel %s in the package", quote(to.Name))
		}
	case SchemaBundle:
		if p.bundles[to.Name] == nil {
			found.at(blob, at, "there is no bundle %s in the package", quote(to.Name))
		}
	case "":
		found.at(blob, at, "must have a schema")
	default:
		found.at(blob, slices.Concat(at, place{"schema"}), "must be %s, %s or %s: %s", SchemaPackage, SchemaChannel, SchemaBundle, quote(to.Schema))
	}
}

package diff

import (
	"cmp"
	"slices"

	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/catalog/filebased"
	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/selection"
)

// Package has the changes of a package of operators, as far as the selection keeps it.
type Package struct {
	// DefaultChannel is the change of the default channel; nil when it stays.
	DefaultChannel *Field `json:"defaultChannel,omitempty"`
	// Channels that change, sorted by name.
	Channels []Channel `json:"channels"`
	// Provides are the APIs, and Requires the dependencies, that heads of channels newly have, or have no more.
	Provides []API         `json:"provides"`
	Requires []Requirement `json:"requires"`
	// Repairs are sentences about entries of channels that stay, or go, against the rules for versions.
	Repairs []Repair `json:"repairs"`
	// Documents counts those that change and that OLM has no meaning for.
	Documents int `json:"documents,omitempty"`
}

// Channel is the change of a channel of a package of operators.
type Channel struct {
	Name string `json:"name"`
	// Change is added, removed or updated.
	Change Change `json:"change"`
	// Head is the change of the head; nil when it stays.
	Head *Head `json:"head,omitempty"`
	// Added and Removed count the versions that the channel has newly, or has no more, where it stays.
	Added   int `json:"added,omitempty"`
	Removed int `json:"removed,omitempty"`
	// Stranded are the versions that nothing in the channel succeeds any more, and those of the former default channel
	// that nothing in this one succeeds, which takes its place.
	Stranded []string `json:"stranded,omitempty"`
	// Deprecated is the message of a channel that was not deprecated, or not there, before.
	Deprecated string `json:"deprecated,omitempty"`
	// Fields are the first changes of the document, and of the entries that stay, and the number of further ones.
	Fields        []Field `json:"fields,omitempty"`
	FieldsOmitted int     `json:"fieldsOmitted,omitempty"`
}

// Head is the change of the head of a channel. From is absent for a channel that is added, To for one that is removed.
type Head struct {
	From *Bundle `json:"from,omitempty"`
	To   *Bundle `json:"to,omitempty"`
	// Kind of the step as in Step; empty without From or To.
	Kind string `json:"kind,omitempty"`
}

// Bundle is a version of a package of operators.
type Bundle struct {
	Version string `json:"version"`
	// Number is the semantic version, with the release if there is one.
	Number string `json:"number"`
}

// API is one that a package of operators begins, or ceases, to provide.
type API struct {
	Group   string `json:"group,omitempty"`
	Version string `json:"version"`
	Kind    string `json:"kind"`
	// Change is added or removed.
	Change Change `json:"change"`
	// Channels whose heads begin or cease to provide it.
	Channels []string `json:"channels"`
}

// Requirement is what a package of operators begins, or ceases, to require.
type Requirement struct {
	// Text for people, such as "the package plum >=1.0.0".
	Text string `json:"text"`
	// Type is that of the property: olm.package.required, olm.gvk.required or olm.constraint.
	Type string `json:"type"`
	// Package and VersionRange, or Group, Version and Kind, are absent for a constraint of several parts.
	Package      string `json:"package,omitempty"`
	VersionRange string `json:"versionRange,omitempty"`
	Group        string `json:"group,omitempty"`
	Version      string `json:"version,omitempty"`
	Kind         string `json:"kind,omitempty"`
	// Change is added or removed.
	Change Change `json:"change"`
	// Channels whose heads begin or cease to require it.
	Channels []string `json:"channels"`
}

// Repair is a sentence about entries that was not true, or is no more.
type Repair struct {
	Change Change `json:"change"`
	Text   string `json:"text"`
}

// comparePackages returns the changes of a package that enters, leaves or stays; nil when all facts of it stay.
func comparePackages(before, after *filebased.Package, stranded map[string][]string) *Package {
	p := &Package{Channels: []Channel{}, Provides: []API{}, Requires: []Requirement{}, Repairs: []Repair{}}
	was, is := headsOf(before), headsOf(after)
	if before != nil && after != nil && before.DefaultChannel != after.DefaultChannel {
		p.DefaultChannel = &Field{Path: "defaultChannel", From: before.DefaultChannel, To: after.DefaultChannel}
	}
	for _, name := range channelNames(before, after) {
		c := compareChannel(channelOf(before, name), channelOf(after, name), was[name], is[name])
		c.Stranded = stranded[name]
		if c.Change == Unchanged && len(c.Stranded) > 0 {
			c.Change = Updated // as the default channel
		}
		if c.Change != Unchanged {
			p.Channels = append(p.Channels, c)
		}
	}
	for _, found := range changedFacts(was, is, func(b *filebased.Bundle) []filebased.GVK { return b.Provides }) {
		p.Provides = append(p.Provides, API{
			Group: found.fact.Group, Version: found.fact.Version, Kind: found.fact.Kind, Change: found.change, Channels: found.channels,
		})
	}
	for _, found := range changedFacts(was, is, func(b *filebased.Bundle) []filebased.Dependency { return b.Dependencies }) {
		f := found.fact
		p.Requires = append(p.Requires, Requirement{
			Text: excerpt.To(f.String(), maxField), Type: f.Type, Package: f.Package, VersionRange: f.VersionRange,
			Group: f.API.Group, Version: f.API.Version, Kind: f.API.Kind, Change: found.change, Channels: found.channels,
		})
	}
	slices.SortFunc(p.Provides, func(a, b API) int {
		return cmp.Or(cmp.Compare(a.Change, b.Change), cmp.Compare(a.Group, b.Group), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Version, b.Version))
	})
	slices.SortFunc(p.Requires, func(a, b Requirement) int {
		return cmp.Or(cmp.Compare(a.Change, b.Change), cmp.Compare(a.Text, b.Text), cmp.Compare(a.Type, b.Type))
	})
	return p
}

// IsPackage reports whether the application is a package of operators, which no cluster has a definition of.
func (a Application) IsPackage() bool { return a.Kind == catalog.PackageKind }

// isEmpty reports whether nothing of the package changes.
func (p *Package) isEmpty() bool {
	return p.DefaultChannel == nil && len(p.Channels)+len(p.Provides)+len(p.Requires)+len(p.Repairs)+p.Documents == 0
}

// headsOf returns the heads of the channels of a package, which may be nil.
func headsOf(p *filebased.Package) map[string]*filebased.Bundle {
	if p == nil {
		return nil
	}
	return p.Heads()
}

// channelNames returns the names of the channels of both packages, sorted and each once.
func channelNames(packages ...*filebased.Package) []string {
	var names []string
	for _, p := range packages {
		if p == nil {
			continue
		}
		for _, channel := range p.Channels {
			names = append(names, channel.Name)
		}
	}
	return sorted(names)
}

// channelOf returns a channel of a package, which may be nil; nil without one.
func channelOf(p *filebased.Package, name string) *filebased.Channel {
	if p == nil {
		return nil
	}
	for _, channel := range p.Channels {
		if channel.Name == name {
			return channel
		}
	}
	return nil
}

// changedFact is a fact that heads of channels begin or cease to have.
type changedFact[T comparable] struct {
	fact     T
	change   Change
	channels []string
}

// changedFacts compares the heads of each channel. A channel that is added adds what no head had, and one that is removed
// removes what no head has: who used it has to go to another one.
func changedFacts[T comparable](was, is map[string]*filebased.Bundle, of func(*filebased.Bundle) []T) []changedFact[T] {
	all := map[changedKey[T]]*changedFact[T]{}
	var order []*changedFact[T]
	collect := func(from, to map[string]*filebased.Bundle, change Change) {
		anywhere := factsOf(from, of)
		for _, channel := range sortedKeys(to) {
			known := anywhere
			if head := from[channel]; head != nil {
				known = factsOf(map[string]*filebased.Bundle{channel: head}, of)
			}
			for _, fact := range of(to[channel]) {
				if known[fact] {
					continue
				}
				key := changedKey[T]{fact, change}
				if all[key] == nil {
					all[key] = &changedFact[T]{fact: fact, change: change}
					order = append(order, all[key])
				}
				if !slices.Contains(all[key].channels, channel) {
					all[key].channels = append(all[key].channels, channel)
				}
			}
		}
	}
	collect(was, is, Added)
	collect(is, was, Removed)
	found := make([]changedFact[T], 0, len(order))
	for _, one := range order {
		found = append(found, *one)
	}
	return found
}

type changedKey[T comparable] struct {
	fact   T
	change Change
}

func factsOf[T comparable](heads map[string]*filebased.Bundle, of func(*filebased.Bundle) []T) map[T]bool {
	facts := map[T]bool{}
	for _, head := range heads {
		for _, fact := range of(head) {
			facts[fact] = true
		}
	}
	return facts
}

// compareRepairs returns the sentences that only one of two decisions has.
func compareRepairs(before, after selection.Decision) []Repair {
	repairs := []Repair{}
	for _, text := range after.Repairs {
		if !slices.Contains(before.Repairs, text) {
			repairs = append(repairs, Repair{Added, text})
		}
	}
	for _, text := range before.Repairs {
		if !slices.Contains(after.Repairs, text) {
			repairs = append(repairs, Repair{Removed, text})
		}
	}
	return repairs
}

// shorten replaces the fields of a package, which may be nil, by their numbers.
func (p *Package) shorten() {
	if p == nil {
		return
	}
	for i := range p.Channels {
		c := &p.Channels[i]
		c.Fields, c.FieldsOmitted = nil, c.FieldsOmitted+len(c.Fields)
	}
}

package safeguard

import (
	"encoding/json"
	"errors"
	"slices"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/catalog/filebased"
	"github.com/winnow-dev/winnow/render/identity"
)

// Package is a package of operators as it is published. In JSON it is a record of what is compared: its channels, and the
// names and versions of its bundles. Images are compared as origins of the Definition.
type Package struct{ of *filebased.Package }

// NewPackage returns what is compared of a package.
func NewPackage(of *filebased.Package) *Package { return &Package{of} }

// MarshalJSON implements json.Marshaler.
func (p Package) MarshalJSON() ([]byte, error) {
	record := p.of.Record()
	record.APIs = nil
	for i, bundle := range record.Bundles {
		record.Bundles[i] = filebased.RecordBundle{Name: bundle.Name, Version: bundle.Version, Release: bundle.Release}
	}
	return json.Marshal(record)
}

// UnmarshalJSON implements json.Unmarshaler.
func (p *Package) UnmarshalJSON(data []byte) error {
	var record filebased.Record
	if err := json.Unmarshal(data, &record); err != nil {
		return err
	}
	if p.of = record.Package(); p.of == nil {
		return errors.New("a package is not valid")
	}
	return nil
}

// ImageOrigins returns the origins of bundles by their names: digests of their images, empty for a bundle without one.
func (p *Package) ImageOrigins(names []string) Origins {
	images := make(map[string]string, len(p.of.Bundles))
	for _, bundle := range p.of.Bundles {
		images[bundle.Name] = bundle.Image
	}
	origins := make(Origins, len(names))
	for i, name := range names {
		origins[i] = identity.OriginOf(images[name])
	}
	return origins
}

// numbers returns the semantic versions of the bundles.
func (p *Package) numbers() []string {
	var numbers []string
	for _, bundle := range p.of.Bundles {
		numbers = append(numbers, bundle.Version.Semver())
	}
	return numbers
}

// packageChanges returns the changes of a package that stays: for each channel the versions that are Stranded, those of
// a default channel that another one takes the place of as well, and a MajorUpgrade.
func packageChanges(before, now Definition) []Change {
	var changes []Change
	was, is := before.Package.of, now.Package.of
	strand := func(channel *filebased.Channel, next string) {
		change := before.change(v1alpha1.StrandedReason)
		change.Channel, change.Versions = next, stranded(channel, next, was, is)
		if next != channel.Name {
			change.From = channel.Name
		}
		if len(change.Versions) > 0 {
			changes = append(changes, change)
		}
	}
	for _, channel := range was.Channels {
		strand(channel, channel.Name)
		if channel.Name == was.DefaultChannel && channel.Name != is.DefaultChannel {
			strand(channel, is.DefaultChannel)
		}
	}
	if from, to, rises := majorRise(before.Package.numbers(), now.Package.numbers()); rises {
		upgrade := before.change(v1alpha1.MajorUpgradeReason)
		upgrade.From, upgrade.To = from, to
		changes = append(changes, upgrade)
	}
	return changes
}

// stranded returns the bundles of a channel that a package had, and that have no way to what the channel next has now: it
// neither has them, nor anything that OLM takes for their successor.
func stranded(channel *filebased.Channel, next string, before, now *filebased.Package) []string {
	var successions filebased.Successions
	if i := slices.IndexFunc(now.Channels, func(c *filebased.Channel) bool { return c.Name == next }); i >= 0 {
		successions = now.Channels[i].Successions()
	}
	entries := make(map[string]bool, len(channel.Entries))
	for _, entry := range channel.Entries {
		entries[entry.Name] = true
	}
	var lost []string
	for _, bundle := range before.Bundles {
		if entries[bundle.Name] && !successions.Has(bundle.Name, bundle.Version) {
			lost = append(lost, bundle.Name)
		}
	}
	return lost
}

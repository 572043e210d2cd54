// SPDX-License-Identifier: Apache-2.0

package safeguard

import (
	"slices"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/catalog/filebased"
	"github.com/winnow-dev/winnow/render/each"
)

// packageChanges returns the changes of a package that stays: the Stranded versions of each channel, and of a default
// channel for its successor, and a MajorUpgrade.
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
	return append(changes, before.majorRise(before.Package.numbers(), now.Package.numbers())...)
}

// stranded returns the bundles of a channel that a package had, and that have no way to what the channel next has now: it
// neither has them, nor anything that OLM takes for their successor.
func stranded(channel *filebased.Channel, next string, before, now *filebased.Package) []string {
	var successions filebased.Successions
	if i := slices.IndexFunc(now.Channels, func(c *filebased.Channel) bool { return c.Name == next }); i >= 0 {
		successions = now.Channels[i].Successions()
	}
	entries := channel.EntryNames()
	lost := each.Where(before.Bundles, func(b *filebased.Bundle) bool { return entries.Has(b.Name) && !successions.Has(b.Name, b.Version) })
	return each.Map(lost, func(b *filebased.Bundle) string { return b.Name })
}

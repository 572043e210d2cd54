// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"

	"github.com/winnow-dev/winnow/cmd/winnow/plaintext"
	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/selection"
)

// Package is what list and explain state about a package of operators, and show too.
type Package struct {
	DefaultChannel string           `json:"defaultChannel"`
	Channels       []channelSummary `json:"channels"`
}

// MaxListed bounds the values of a list about a package of operators in output for people.
const MaxListed = 20

type channelSummary struct {
	Name string `json:"name"`
	// Head is the name of the bundle to which OLM upgrades, and Number its version.
	Head   string `json:"head"`
	Number string `json:"number"`
	// Entries counts the versions.
	Entries    int    `json:"entries"`
	Deprecated string `json:"deprecated,omitempty"`
}

// SummarizePackage returns the channels of a package of operators, or nil for other contents.
func SummarizePackage(content catalog.Content) *Package {
	of := catalog.PackageOf(content)
	if of == nil {
		return nil
	}
	heads := of.Heads()
	summary := &Package{DefaultChannel: of.DefaultChannel, Channels: []channelSummary{}}
	for _, channel := range of.Channels {
		one := channelSummary{Name: channel.Name, Entries: len(channel.Entries), Deprecated: channel.Deprecated}
		if head := heads[channel.Name]; head != nil {
			one.Head, one.Number = head.Name, head.Version.String()
		}
		summary.Channels = append(summary.Channels, one)
	}
	return summary
}

// summarizeKept returns the channels that a selection keeps, or the catalog's if it does not select the package.
func summarizeKept(d selection.Decision) *Package {
	if d.Selected && d.Kept != nil {
		return SummarizePackage(d.Kept)
	}
	return SummarizePackage(d.Application.Content)
}

// Lines describes the channels for people.
func (s *Package) Lines() []string {
	if s == nil {
		return nil
	}
	all := []string{"default channel: " + excerpt.Of(s.DefaultChannel)}
	for _, c := range s.Channels {
		text := fmt.Sprintf("channel %s: head %s, %s", excerpt.Of(c.Name), excerpt.Of(c.Number), plaintext.Count(c.Entries, "version"))
		if c.Deprecated != "" {
			text += "; deprecated: " + c.Deprecated
		}
		all = append(all, text)
	}
	return excerpt.First(all, 1+MaxListed, 0, func(more int) string { return plaintext.Count(more, "further channel") })
}

// RepairLines returns the first repairs for people, and the number of the others.
func RepairLines(repairs []string) []string {
	return excerpt.First(repairs, MaxListed, 0, func(more int) string { return plaintext.Count(more, "further repair") })
}

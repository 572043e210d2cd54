// SPDX-License-Identifier: Apache-2.0

package listing

import (
	"slices"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/bounds"
	"github.com/winnow-dev/winnow/render/selection"
)

const (
	// maxDeprecatedLines bounds status.deprecated, in lines of a terminal.
	maxDeprecatedLines = 100
	// maxDeprecatedVersions bounds the versions, and the channels, with one message.
	maxDeprecatedVersions = 20
	// maxVersion bounds a version, or a channel, in bytes.
	maxVersion = 64
)

// listDeprecated returns the content of status.deprecated: the first messages that fit, by application. Versions of an
// application with the same message are one entry, and so are channels.
func listDeprecated(s selection.Result) []v1alpha1.DeprecatedStatus {
	var all []v1alpha1.DeprecatedStatus
	room := maxDeprecatedLines
	for _, d := range s.Applications() {
		for _, entry := range deprecatedOf(d) {
			if room -= bounds.Lines([]string{entry.Application, entry.Message}, entry.Versions, entry.Channels); room < 0 {
				return all
			}
			all = append(all, entry)
		}
	}
	return all
}

// deprecatedOf returns the message about the application as a whole first, then those about channels, then those about
// versions.
func deprecatedOf(d selection.Decision) []v1alpha1.DeprecatedStatus {
	var entries []v1alpha1.DeprecatedStatus
	metadata := d.Application.Metadata
	if message := bounds.Truncate(metadata.Deprecated, maxNote); message != "" {
		entries = append(entries, v1alpha1.DeprecatedStatus{Application: d.Application.Name, Message: message})
	}
	channels := func(e *v1alpha1.DeprecatedStatus) *[]string { return &e.Channels }
	if d.Kept != nil {
		for _, channel := range d.Kept.Channels() {
			entries = addDeprecated(entries, d, channels, channel.Name, channel.Deprecated)
		}
	}
	versions := func(e *v1alpha1.DeprecatedStatus) *[]string { return &e.Versions }
	for _, version := range d.Versions {
		entries = addDeprecated(entries, d, versions, version, metadata.Versions.Of(version).Deprecated)
	}
	return entries
}

// addDeprecated adds a name, unless it has no message, to the list of the entry with this message, or to a new entry.
func addDeprecated(entries []v1alpha1.DeprecatedStatus, d selection.Decision, list func(*v1alpha1.DeprecatedStatus) *[]string,
	name, message string) []v1alpha1.DeprecatedStatus {
	message = bounds.Truncate(message, maxNote)
	if message == "" {
		return entries
	}
	i := slices.IndexFunc(entries, func(e v1alpha1.DeprecatedStatus) bool { return len(*list(&e)) > 0 && e.Message == message })
	if i < 0 {
		i = len(entries)
		entries = append(entries, v1alpha1.DeprecatedStatus{Application: d.Application.Name, Message: message})
	}
	if names := list(&entries[i]); len(*names) < maxDeprecatedVersions {
		*names = append(*names, bounds.Truncate(name, maxVersion))
	}
	return entries
}

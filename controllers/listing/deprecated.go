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
	// maxDeprecatedVersions bounds the versions with one message.
	maxDeprecatedVersions = 20
	// maxVersion bounds a version in bytes.
	maxVersion = 64
)

// listDeprecated returns the content of status.deprecated: the first messages that fit, by application. Versions of an
// application with the same message are one entry.
func listDeprecated(s selection.Result) []v1alpha1.DeprecatedStatus {
	var all []v1alpha1.DeprecatedStatus
	room := maxDeprecatedLines
	for _, d := range s.Applications() {
		for _, entry := range deprecatedOf(d) {
			if room -= bounds.Lines([]string{entry.Application, entry.Message}, entry.Versions); room < 0 {
				return all
			}
			all = append(all, entry)
		}
	}
	return all
}

// deprecatedOf returns the message about the application as a whole first, without versions, then those about versions.
func deprecatedOf(d selection.Decision) []v1alpha1.DeprecatedStatus {
	var entries []v1alpha1.DeprecatedStatus
	metadata := d.Application.Metadata
	if message := bounds.Truncate(metadata.Deprecated, maxNote); message != "" {
		entries = append(entries, v1alpha1.DeprecatedStatus{Application: d.Application.Name, Message: message})
	}
	for _, version := range d.Versions {
		message := bounds.Truncate(metadata.Versions.Of(version).Deprecated, maxNote)
		if message == "" {
			continue
		}
		i := slices.IndexFunc(entries, func(e v1alpha1.DeprecatedStatus) bool { return len(e.Versions) > 0 && e.Message == message })
		if i < 0 {
			i = len(entries)
			entries = append(entries, v1alpha1.DeprecatedStatus{Application: d.Application.Name, Message: message})
		}
		if len(entries[i].Versions) < maxDeprecatedVersions {
			entries[i].Versions = append(entries[i].Versions, bounds.Truncate(version, maxVersion))
		}
	}
	return entries
}

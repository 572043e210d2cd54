// SPDX-License-Identifier: Apache-2.0

package listing

import (
	"fmt"
	"slices"
	"strings"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/bounds"
	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/selection"
)

// Bounds of the lists of applications in the status: kubectl describe prints each value on a line of its own,
// which a terminal wraps. The safeguards do not need these lists.
const (
	// maxApplicationLines bounds status.applications, in lines of a terminal.
	maxApplicationLines = 150
	// maxExcluded bounds status.excluded: a longer list is replaced by its length in the summary.
	maxExcluded = 20
	// maxNote bounds a note, and maxNotedVersions the versions in it.
	maxNote          = 240
	maxNotedVersions = 5
)

// listApplications returns the content of status.applications: all applications of the artifact if they fit,
// else those with notes that fit.
func listApplications(s selection.Result) []v1alpha1.ApplicationStatus {
	shadowed := shadowedSources(s)
	var all, noted []v1alpha1.ApplicationStatus
	room, roomForNoted := maxApplicationLines, maxApplicationLines
	for _, d := range s.Applications() {
		app := v1alpha1.ApplicationStatus{
			Name: d.Application.Name, Source: d.Source, Tier: d.Application.Metadata.Tier, Versions: d.Versions,
			Notes: notes(d, shadowed[d.Application.Name]),
		}
		lines := bounds.Lines([]string{app.Name, app.Source, app.Tier}, app.Notes, app.Versions)
		if room -= lines; room >= 0 {
			all = append(all, app)
		}
		if len(app.Notes) > 0 && lines <= roomForNoted {
			roomForNoted -= lines
			noted = append(noted, app)
		}
	}
	if room >= 0 {
		return all
	}
	return noted
}

// shadowedSources maps applications to the further sources that have them.
func shadowedSources(s selection.Result) map[string][]string {
	sources := map[string][]string{}
	for _, d := range s.Decisions {
		if d.Rule == selection.RuleShadowed {
			sources[d.Application.Name] = append(sources[d.Application.Name], d.Source)
		}
	}
	return sources
}

// notes describes the deprecation, the further sources, the merged and the omitted versions of an application.
func notes(d selection.Decision, shadowed []string) []string {
	var notes []string
	if message := d.Application.Metadata.Deprecated; message != "" {
		notes = append(notes, "deprecated: "+message)
	}
	if len(shadowed) > 0 {
		notes = append(notes, "also in "+strings.Join(shadowed, ", "))
	}
	for _, added := range d.Added() {
		notes = append(notes, fmt.Sprintf("%s from %s", excerpt.List(added.Versions, maxNotedVersions, excerpt.Of), added.Source))
	}
	if all := d.Application.Versions; len(d.Versions) < len(all) {
		left := slices.DeleteFunc(slices.Clone(all), func(v string) bool { return slices.Contains(d.Versions, v) })
		first := excerpt.First(left, maxNotedVersions, 0, func(int) string { return "..." })
		notes = append(notes, fmt.Sprintf("without %d of %d versions: %s", len(left), len(all), strings.Join(first, ", ")))
	}
	for i := range notes {
		notes[i] = bounds.Truncate(notes[i], maxNote)
	}
	return notes
}

// listExcluded returns the names of the available applications that are not in the artifact; none if there are
// more than maxExcluded.
func listExcluded(s selection.Result) []string {
	if s.Excluded > maxExcluded {
		return nil
	}
	var names []string
	for _, d := range s.Decisions {
		if !d.Selected && d.Rule != selection.RuleShadowed && d.Rule != selection.RuleSourceLimit {
			names = append(names, d.Application.Name)
		}
	}
	return names
}

// sourceRevision returns a short revision of a source: the tag of an OCIRepository, or else the revision with
// twelve digits of its checksum.
func sourceRevision(source v1alpha1.SourceStatus) string {
	tag, _, tagged := strings.Cut(source.Revision, "@")
	if tagged && source.Kind == sourcev1.OCIRepositoryKind {
		return tag
	}
	return bounds.ShortRevision(source.Revision)
}

// SPDX-License-Identifier: Apache-2.0

// Package listing writes a publication into the status of a selection, for people and at a readable length.
// It must not know how it was published, nor what the safeguards compare.
package listing

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/bounds"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/installation"
	"github.com/winnow-dev/winnow/render/selection"
)

// Publication is a render that is published as an artifact.
type Publication struct {
	Artifact meta.Artifact
	Result   *render.Result
	// Sources of the render, at least one.
	Sources []v1alpha1.SourceStatus
	// Took is the time from the beginning of the reconciliation.
	Took time.Duration
	// SourceChanges is the number of versions from another source than in the previous revision; nil if the
	// revision is the same.
	SourceChanges *int
}

// After returns a status after the publication.
func (p Publication) After(status *v1alpha1.CatalogSelectionStatus) v1alpha1.CatalogSelectionStatus {
	next := *status.DeepCopy()
	last := status.Artifact
	if last == nil || last.Revision != p.Artifact.Revision || last.Digest != p.Artifact.Digest {
		next.History.Upsert(p.Artifact.Digest, time.Now(), p.Took.Round(time.Millisecond),
			v1alpha1.SucceededReason, map[string]string{"revision": p.Artifact.Revision})
	}
	next.Artifact = &p.Artifact
	next.Sources, next.SourceRevision = p.Sources, sourceRevision(p.Sources[0])
	summary := summarize(p.Result)
	if last := status.Summary; last != nil {
		summary.Bypassed, summary.Unmanaged, summary.Orphaned = last.Bypassed, last.Unmanaged, last.Orphaned // until SyncMarks counts them again
		summary.SourceChanges = last.SourceChanges
	}
	if p.SourceChanges != nil {
		summary.SourceChanges = bounds.Count(*p.SourceChanges)
	}
	next.Summary = summary
	next.Applications = listApplications(p.Result.Selection)
	next.ApplicationsTruncated = len(next.Applications) < p.Result.Selection.Selected
	next.Instances = listInstances(p.Result.Instances, status.Instances)
	next.Excluded = listExcluded(p.Result.Selection)
	next.Deprecated = listDeprecated(p.Result.Selection)
	return next
}

func summarize(result *render.Result) *v1alpha1.Summary {
	s := result.Selection
	return &v1alpha1.Summary{
		Available:          bounds.Count(s.Available),
		Selected:           bounds.Count(s.Selected),
		Instances:          bounds.Count(len(result.Instances)),
		Excluded:           bounds.Count(s.Excluded),
		Shadowed:           bounds.Count(s.Shadowed),
		Deprecated:         bounds.Count(s.Deprecated),
		DeprecatedVersions: bounds.Count(s.DeprecatedVersions),
		Unmirrored:         bounds.Count(len(unmirroredHosts(result))),
	}
}

// maxListedInstances bounds status.instances.
const maxListedInstances = 256

// listInstances returns the content of status.instances. An instance whose object is listed already keeps its state
// until the object is read again.
func listInstances(instances []installation.Instance, last []v1alpha1.InstanceStatus) []v1alpha1.InstanceStatus {
	return each.Map(instances[:min(len(instances), maxListedInstances)], func(in installation.Instance) v1alpha1.InstanceStatus {
		listed := v1alpha1.InstanceStatus{
			Name: in.Name, Application: in.Application, Source: in.Source, Version: in.Version, Backend: in.Backend,
			Object: in.Main.Kind + " " + in.Main.Key().FullName(),
		}
		i := slices.IndexFunc(last, func(l v1alpha1.InstanceStatus) bool { return l.Name == in.Name && l.Object == listed.Object })
		if i >= 0 {
			listed.InstanceState = last[i].InstanceState
		}
		return listed
	})
}

func unmirroredHosts(result *render.Result) map[string]bool {
	hosts := map[string]bool{}
	for _, a := range result.Addresses {
		for _, host := range a.Uncovered() {
			hosts[host.Host] = true
		}
	}
	return hosts
}

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

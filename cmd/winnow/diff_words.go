package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/winnow-dev/winnow/render/diff"
)

// What the formats for people say in the same words.

const offlineNote = "Unknown without --live: which definitions live in the cluster already (adoption), and which of them are bypassed."

// offline reports whether the cluster could have been looked at, but was not.
func offline(s *diff.Selection) bool {
	return !s.Live && s.To != nil && s.Error == "" && len(s.Unknown) == 0
}

func nameOf(s *diff.Selection) string {
	name := s.Namespace + "/" + s.Name
	if where := strings.TrimSuffix(s.Cluster+": "+s.File, ": "); s.Cluster != "" {
		name += " (" + where + ")"
	} else if s.File != "" {
		name += " (" + s.File + ")"
	}
	return plain(name)
}

// headline says how much changes.
func headline(s *diff.Selection) string {
	switch {
	case s.Error != "":
		return "not compared: " + s.Error
	case len(s.Unknown) > 0:
		return "not compared"
	case s.Change == diff.Removed:
		return "the selection is removed"
	}
	var parts []string
	if s.Change == diff.Added {
		parts = append(parts, "a new selection")
	}
	for _, counted := range [][]string{applicationCounts(s.Counts), versionCounts(s.Counts)} {
		if len(counted) > 0 {
			parts = append(parts, strings.Join(counted, ", "))
		}
	}
	if len(parts) == 0 {
		parts = append(parts, "nothing changes")
	}
	return fmt.Sprintf("%s (%d of %s selected)", strings.Join(parts, "; "), s.To.Selected, count(s.To.Available, "application"))
}

type counted struct {
	n    int
	word string
}

func applicationCounts(c diff.Counts) []string {
	return counts([]counted{{c.Removed, "removed"}, {c.Updated, "updated"}, {c.Added, "added"}}, "application")
}

func versionCounts(c diff.Counts) []string {
	return counts([]counted{
		{c.VersionsRemoved, "removed"}, {c.SourceChanges, "with another source"},
		{c.VersionsReplaced - c.SourceChanges, "changed"}, {c.VersionsAdded, "added"},
	}, "version")
}

// counts names the thing once.
func counts(all []counted, thing string) []string {
	var parts []string
	for _, one := range all {
		switch {
		case one.n == 0:
		case len(parts) == 0:
			parts = append(parts, count(one.n, thing)+" "+one.word)
		default:
			parts = append(parts, fmt.Sprintf("%d %s", one.n, one.word))
		}
	}
	return parts
}

func heldHeadline(h *diff.Held) string {
	if h.Approved {
		return "Held unless approved, and spec.safeguards.approve has it: it is published"
	}
	return "HELD: nothing of this is published"
}

func named(application string) string {
	if application == "" {
		return ""
	}
	return application + ": "
}

// approval says how to release what is held, in lines.
func approval(h *diff.Held) []string {
	if h.Approved || len(h.Approve) == 0 {
		return nil
	}
	var lines []string
	for _, entry := range h.BaseApprovals {
		lines = append(lines, strings.Split(wrap(baseApproval(plain(entry)), ""), "\n")...)
	}
	return append(append(lines, approveHeadline), approveYAML(h)...)
}

const approveHeadline = "To publish it all the same, add to the CatalogSelection:"

// unknownNamespace is a note: a render has the namespace of its selection in each object.
const unknownNamespace = "its file has no namespace: with another one than default, the checksum of this render is another"

// approvesRender reports whether what is held is released by the checksum of the render.
func approvesRender(h *diff.Held) bool {
	return h != nil && slices.ContainsFunc(h.Approve, h.NamesRender)
}

// baseApproval says why an entry approves nothing.
func baseApproval(entry string) string {
	return fmt.Sprintf("%s in spec.safeguards.approve was there before this change, and approves nothing of it: "+
		"it is used up, or was reviewed with another change.", entry)
}

func approveYAML(h *diff.Held) []string {
	lines := []string{"  spec:", "    safeguards:", "      approve:"}
	for _, entry := range h.Approve {
		if h.NamesRender(entry) {
			entry += " # (this render)"
		}
		lines = append(lines, "      - "+entry)
	}
	return lines
}

func applicationHeadline(a diff.Application) string {
	switch a.Change {
	case diff.Removed:
		return "removed " + by(a.Cause) + ", because " + a.Reason
	case diff.Added:
		return "added"
	case diff.Unchanged:
		return "its definition stays as it is"
	}
	if h := a.Highest; h != nil {
		return fmt.Sprintf("updated, %s -> %s (%s)", h.From, h.To, h.Kind)
	}
	return "updated"
}

// by says whose doing a loss is.
func by(cause diff.Cause) string {
	if cause == diff.CauseSpec {
		return "by the edit of the selection"
	}
	return "by the catalog"
}

func versionLine(a diff.Application, v diff.Version) string {
	switch {
	case v.SourceChanged:
		return v.Version + " with another source:"
	case v.Change == diff.Replaced:
		return v.Version + " changed:"
	case v.Change == diff.Removed && a.Change != diff.Removed:
		return v.Version + ", removed " + by(v.Cause)
	}
	return v.Version
}

func fromTo(f diff.Field) string {
	switch {
	case f.From == "":
		return "added: " + f.To
	case f.To == "":
		return "removed, was " + f.From
	}
	return f.From + " -> " + f.To
}

func fieldLine(f diff.Field) string { return f.Path + " " + fromTo(f) }

// inPlace are what changes for those who run an application, without a new version.
func inPlace(a diff.Application) []string {
	var all []string
	for _, f := range a.Identity {
		all = append(all, "IDENTITY "+fieldLine(f)+": its releases are orphaned, and installed anew")
	}
	if a.SourceChanged {
		all = append(all, "with another chart")
	}
	return all
}

// facts are what is told beside the object.
func facts(a diff.Application) []string {
	var all []string
	if a.Deprecated != "" {
		all = append(all, "deprecated: "+a.Deprecated)
	}
	for _, host := range a.Unmirrored {
		all = append(all, fmt.Sprintf("no mirror covers %s: %s at %s", host.Host, host.Kind, host.Path))
	}
	if a.Unsearched != "" {
		all = append(all, "default values cannot be searched for hosts: "+a.Unsearched)
	}
	return all
}

func valuesLine(v *diff.Values) string {
	line := fmt.Sprintf("%s: %s added, %d removed", v.Field, count(v.Added, "line"), v.Removed)
	if v.Omitted > 0 {
		line += fmt.Sprintf("; %s of the diff left out", count(v.Omitted, "line"))
	}
	return line
}

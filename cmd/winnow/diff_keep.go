package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/winnow-dev/winnow/cmd/winnow/plaintext"
	"github.com/winnow-dev/winnow/render/diff"
	"github.com/winnow-dev/winnow/render/excerpt"
)

// settingsLine says what is replaced in a live definition, by paths and without values.
func settingsLine(s diff.Settings) string {
	var parts []string
	if f := s.DefaultVersion; f != nil {
		parts = append(parts, "defaultVersion "+fromTo(*f))
	}
	switch {
	case !s.DefaultValues:
	case len(s.ValuesPaths) == 0:
		parts = append(parts, "default values differ, where cannot be told")
	default:
		parts = append(parts, "default values differ in "+excerpt.Names(s.ValuesPaths, maxNames))
	}
	return s.Application + ": " + strings.Join(parts, "; ")
}

// settingsAdvice says what keeps what nothing else does, empty for nothing.
func settingsAdvice(s diff.Settings) string {
	if len(s.OmitFields) == 0 {
		return ""
	}
	return s.Application + ": only spec.omitFields with " + strings.Join(s.OmitFields, " and ") + " keeps the rest, and leaves it to the cluster of all applications"
}

const keepHeadline = "To keep these, add to spec of the CatalogSelection (live values, which may be secret):"

// settings prints what the publication replaces in live definitions, and what keeps it.
func (w selectionText) settings(all []diff.Settings, keep string) {
	if len(all) == 0 {
		return
	}
	fmt.Fprintln(w, "\nreplaced in live definitions:")
	for _, s := range all {
		fmt.Fprintln(w, plaintext.Wrap(settingsLine(s), "  "))
	}
	if keep != "" {
		fmt.Fprintln(w, keepHeadline)
	}
	for line := range strings.Lines(keep) {
		fmt.Fprintln(w, "  "+plaintext.Printable(line))
	}
	for _, s := range all {
		if advice := settingsAdvice(s); advice != "" {
			fmt.Fprintln(w, plaintext.Wrap(advice, ""))
		}
	}
}

// withoutLive leaves the values of a live definition out of what is said of its adoption.
func withoutLive(a diff.Application) diff.Application {
	if !a.Adopted {
		return a
	}
	a.Fields = pathsOnly(a.Fields)
	a.Versions = slices.Clone(a.Versions)
	for i := range a.Versions {
		a.Versions[i].Fields = pathsOnly(a.Versions[i].Fields)
	}
	if f := a.DefaultNamespace; f != nil {
		a.DefaultNamespace = &pathsOnly([]diff.Field{*f})[0]
	}
	if a.Values != nil {
		values := *a.Values
		values.Diff, values.Omitted = "", 0
		a.Values = &values
	}
	return a
}

func pathsOnly(fields []diff.Field) []diff.Field {
	public := slices.Clone(fields)
	for i, f := range public {
		if f.From != "" {
			public[i].From = "(live)"
		}
	}
	return public
}

// settingsMarkdown leaves the values out: a comment has more readers than a cluster has admins.
func settingsMarkdown(w *strings.Builder, all []diff.Settings) {
	if len(all) == 0 {
		return
	}
	fmt.Fprint(w, "\nReplaced in live definitions:\n\n")
	for _, s := range all[:min(len(all), maxReasons)] {
		fmt.Fprintf(w, "- %s\n", code(settingsLine(s)))
	}
	if more := len(all) - maxReasons; more > 0 {
		fmt.Fprintf(w, "- and %d more\n", more)
	}
	fmt.Fprint(w, "\n`-o text` prints the `values` and `patches` that keep these.\n")
}

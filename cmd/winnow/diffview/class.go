// SPDX-License-Identifier: Apache-2.0

package diffview

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/cmd/winnow/plaintext"
	"github.com/winnow-dev/winnow/render/diff"
	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/excerpt"
)

// maxPlaces bounds the places that are named.
const maxPlaces = 10

// numberOf returns the number of the clusters of a class, or of its selections where a cluster has several, or is not known.
func numberOf(c diff.Class) string {
	clusters := each.Group(c.Selections, func(p diff.Place) string { return p.Cluster })
	if len(clusters) == len(c.Selections) && c.Selections[0].Cluster != "" {
		return plaintext.Count(len(clusters), "cluster")
	}
	return plaintext.Count(len(c.Selections), nounOf(c.Selections[0]))
}

// promotion is the word for a changed OCIRepository.
const promotion = "promotion"

// nounOf returns the word for a selection, or for a promotion.
func nounOf(p diff.Place) string {
	if p.Kind != "" {
		return promotion
	}
	return v1alpha1.CatalogSelectionKind
}

// isOneName reports whether all selections of a class have the same namespace and name.
func isOneName(c diff.Class) bool {
	first := c.Selections[0]
	return !slices.ContainsFunc(c.Selections, func(p diff.Place) bool { return p.Namespace != first.Namespace || p.Name != first.Name })
}

// nameOf returns the name of the selections of a class, with their number. shown quotes names.
func nameOf(c diff.Class, shown func(string) string) string {
	first := c.Members()[0]
	if len(c.Members()) == 1 {
		return shown(Name(first))
	}
	name := shown(strings.TrimSpace(first.Place().Kind + " " + first.Namespace + "/" + first.Name))
	switch {
	case !isOneName(c):
		return numberOf(c)
	case first.Cluster == "":
		return name + " in " + plaintext.Count(len(c.Members()), "file")
	}
	return name + " in " + numberOf(c)
}

// placesOf names the first places of a class of several selections, empty for one.
func placesOf(c diff.Class, shown func(string) string) string {
	if len(c.Members()) == 1 {
		return ""
	}
	text := excerpt.List(c.Members(), maxPlaces, func(s *diff.Selection) string {
		if !isOneName(c) {
			return shown(Name(s))
		}
		return shown(cmp.Or(s.Cluster, s.File))
	})
	files := each.Group(c.Members(), func(s *diff.Selection) string { return s.File })
	if file := c.Members()[0].File; len(files) == 1 && file != "" && c.Members()[0].Cluster != "" {
		text += " (" + shown(file) + ")"
	}
	return text
}

// isPlain reports whether a line says all about a class.
func isPlain(c diff.Class) bool {
	return c.Effect == diff.EffectUnchanged && (len(c.Selections) > 1 || len(c.Members()) == 0)
}

// plain returns that line. It does not count a cluster in which something else changes.
func plain(report *diff.Report, c diff.Class) string {
	number := numberOf(c)
	if slices.ContainsFunc(report.Selections, func(s *diff.Selection) bool {
		within := func(p diff.Place) bool { return p.Cluster == s.Cluster }
		return s.EffectOn() != diff.EffectUnchanged && slices.ContainsFunc(c.Selections, within)
	}) {
		number = plaintext.Count(len(c.Selections), nounOf(c.Selections[0]))
	}
	return number + ": " + unchanged(report)
}

// unchanged returns what is known of selections without a change.
func unchanged(report *diff.Report) string {
	if len(report.Unknown) > 0 {
		return "nothing else is known to change"
	}
	return "nothing changes"
}

// remark returns a sentence with its places.
func remark(r diff.Remark, shown func(string) string) string {
	text := shown(r.Text)
	if r.Alike {
		text += fmt.Sprintf(" (in %s, and alike in the others)", shown(r.Places[0]))
	}
	switch len(r.Places) {
	case 0:
		return text
	case 1:
		return shown(r.Places[0] + ": " + r.Text)
	}
	return excerpt.List(r.Places, maxPlaces, shown) + ": " + text
}

// noted returns the number of notes.
func noted(n int) string { return plaintext.Count(n, "note") + " on what is assumed, or not evaluated" }

// notes returns the notes, with one sentence for all places of each.
func notes(report *diff.Report, shown func(string) string) []string {
	return each.Map(report.Remarks(report.Notes), func(r diff.Remark) string {
		if n := len(r.Places); n > maxPlaces {
			return plaintext.Count(n, "cluster") + ": " + shown(r.Text)
		}
		return remark(r, shown)
	})
}

// invalid returns a message for each error of a newer state, with the first of the selections that have it.
func invalid(report *diff.Report) []string {
	var messages []string
	for _, c := range report.Classified() {
		if all := c.Members(); len(all) > 0 && all[0].Invalid != nil {
			messages = append(messages, excerpt.List(all, 1, Name)+": "+all[0].Invalid.Error())
		}
	}
	return messages
}

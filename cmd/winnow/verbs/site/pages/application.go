// SPDX-License-Identifier: Apache-2.0

package pages

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/winnow-dev/winnow/cmd/winnow/plaintext"
	"github.com/winnow-dev/winnow/cmd/winnow/verbs/site/model"
	"github.com/winnow-dev/winnow/render/each"
)

// Bounds of texts on cards, in characters and bytes.
const (
	mostOfSummary = 240
	mostOfSearch  = 2_000
)

func titleOf(a *model.Application) string { return cmp.Or(plaintext.Line(a.Title), a.Name) }

func initialOf(a *model.Application) string {
	first, _ := utf8.DecodeRuneInString(titleOf(a))
	return strings.ToUpper(string(first))
}

// searchOf returns the words by which an application is found, in lower case.
func searchOf(a *model.Application) string {
	all := strings.ToLower(plaintext.Line(strings.Join(append([]string{a.Name, a.Title, a.Tier, a.Description}, texts(a.Labels)...), " ")))
	return strings.ToValidUTF8(all[:min(len(all), mostOfSearch)], "")
}

func texts(all []model.Pair) []string {
	return each.Map(all, model.Pair.String)
}

// isDeprecated reports whether an application, or a version of it, is deprecated.
func isDeprecated(a *model.Application) bool {
	return a.Deprecated != "" || slices.ContainsFunc(a.Versions, func(v model.Version) bool { return v.Deprecated != "" })
}

// SPDX-License-Identifier: Apache-2.0

package selections

import (
	"cmp"
	"iter"
	"slices"
	"strings"
	"unicode"

	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/winnow-dev/winnow/cmd/winnow/documents"
	"github.com/winnow-dev/winnow/cmd/winnow/plaintext"
	"github.com/winnow-dev/winnow/render/diff"
	"github.com/winnow-dev/winnow/render/diff/protection"
)

// pair is a selection in both commits. A state is nil if the commit does not contain the selection.
type pair struct {
	from, to *State
	// unknown are sentences on selections that it may be compared with instead.
	unknown []string
	// consumed are the changes of its Kustomizations.
	consumed consumerChanges
	// out is what changes; nil if the selection is the same in both commits.
	out *diff.Selection
}

// consumerChanges are the changes of the consumers of a selection.
type consumerChanges struct {
	// notes are sentences on the consumers, and unknown are sentences on changes that are not evaluated.
	notes, unknown []string
}

// match pairs the items of both commits by the first rule that fits. An item is nil if the commit has none.
func match[T any](older, newer []T, rules ...func(from, to T) bool) iter.Seq2[*T, *T] {
	return func(yield func(from, to *T) bool) {
		for _, fits := range rules {
			var rest []T
			for _, to := range newer {
				i := slices.IndexFunc(older, func(from T) bool { return fits(from, to) })
				if i < 0 {
					rest = append(rest, to)
					continue
				}
				from := older[i]
				older = slices.Concat(older[:i], older[i+1:])
				if !yield(&from, &to) {
					return
				}
			}
			newer = rest
		}
		for _, from := range older {
			if !yield(&from, nil) {
				return
			}
		}
		for _, to := range newer {
			if !yield(nil, &to) {
				return
			}
		}
	}
}

// pairs pairs the selections of both commits: in a directory that is built by name, elsewhere by file and name; or, where
// it was moved with its cluster or the cluster is unknown, by name and the most similar place; or, if it was renamed, by
// its consumer.
func pairs(older, newer *documents.Set) []*pair {
	all, gone, fresh := unmoved(older, newer)
	mayBe := func(from, to documents.Selection) bool {
		unknown := from.KnownCluster() == "" && to.KnownCluster() == ""
		return documents.SameName(from, to) && (unknown || !newer.Has(from.Cluster) && !older.Has(to.Cluster))
	}
	origins := func(to documents.Selection) []documents.Selection {
		return mostSimilar(to, gone, func(from documents.Selection) bool { return mayBe(from, to) })
	}
	moves := func(from documents.Selection) []documents.Selection {
		return mostSimilar(from, fresh, func(to documents.Selection) bool { return mayBe(from, to) })
	}
	for from, to := range match(gone, fresh, func(from, to documents.Selection) bool {
		a, b := origins(to), moves(from)
		return len(a) == 1 && len(b) == 1 && a[0].IsAt(from.Origin) && b[0].IsAt(to.Origin)
	}, func(from, to documents.Selection) bool { return isRenamed(from, to, older, newer) }) {
		var unknown []string
		if from == nil {
			if i := slices.IndexFunc(older.Selections, func(s documents.Selection) bool { return isRenamed(s, *to, older, newer) }); i >= 0 {
				from = &older.Selections[i] // which remains, without its consumer
			}
			for _, candidate := range origins(*to) {
				if slices.ContainsFunc(moves(candidate), func(s documents.Selection) bool { return s.IsAt(to.Origin) }) {
					unknown = append(unknown, "it may be the one that was moved from "+candidate.Place())
				}
			}
		}
		all = append(all, &pair{from: stateOf(older, from), to: stateOf(newer, to), unknown: unknown})
	}
	slices.SortFunc(all, func(a, b *pair) int {
		x, y := a.any(), b.any()
		return cmp.Or(cmp.Compare(x.Cluster, y.Cluster), cmp.Compare(x.File, y.File), cmp.Compare(x.Namespace, y.Namespace), cmp.Compare(x.Name, y.Name))
	})
	return all
}

// unmoved pairs the selections that are where they were, and returns the others.
func unmoved(older, newer *documents.Set) (all []*pair, gone, fresh []documents.Selection) {
	for from, to := range match(older.Selections, newer.Selections, func(from, to documents.Selection) bool {
		return from.Cluster == to.Cluster && (from.Cluster != "" || from.File == to.File) && documents.SameName(from, to)
	}) {
		switch {
		case to == nil:
			gone = append(gone, *from)
		case from == nil:
			fresh = append(fresh, *to)
		default:
			all = append(all, &pair{from: stateOf(older, from), to: stateOf(newer, to)})
		}
	}
	return all, gone, fresh
}

// isRenamed reports whether a Kustomization that applied the artifact of from applies the artifact of to.
func isRenamed(from, to documents.Selection, older, newer *documents.Set) bool {
	after := newer.ConsumersOf(&to)
	return from.Cluster == to.Cluster && slices.ContainsFunc(older.ConsumersOf(&from), func(k documents.Consumer) bool {
		return slices.ContainsFunc(after, func(other documents.Consumer) bool { return k.Cluster == other.Cluster && k.Name == other.Name })
	})
}

// mostSimilar returns the selections that pass and whose places share most words with the place of to.
func mostSimilar(to documents.Selection, all []documents.Selection, passes func(documents.Selection) bool) []documents.Selection {
	words := func(s documents.Selection) []string {
		return strings.FieldsFunc(s.Cluster+"/"+s.File, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) })
	}
	return documents.Best(all, func(s documents.Selection) int {
		if !passes(s) {
			return -1
		}
		common := 0
		for _, word := range words(s) {
			if slices.Contains(words(to), word) {
				common++
			}
		}
		return common
	})
}

func (p *pair) any() *State { return cmp.Or(p.to, p.from) }

// open returns sentences on what is not known of either state.
func (p *pair) open() []string {
	all := slices.Clone(p.unknown)
	for _, s := range []*State{p.from, p.to} {
		if s != nil {
			all = append(all, s.Open...)
		}
	}
	return all
}

// uncompared returns the change of a pair that is not compared, with the reasons; none for one that will be.
func (p *pair) uncompared(unknown []string) *diff.Selection {
	out := diff.NewSelection(p.any().Namespace, p.any().Name)
	if p.from != nil && p.to != nil && p.to.Invalid == nil {
		out.Loosened = protection.Loosen(p.from.CatalogSelection, p.to.CatalogSelection, true)
	}
	if len(unknown) > 0 {
		slices.Sort(unknown)
		out.Unknown = slices.Compact(unknown)
		out.Notes = append(out.Notes, p.placeNotes()...)
	}
	return out
}

// isCompared reports whether both states were rendered, as far as there are two, and compared.
func (p *pair) isCompared() bool { return p.out != nil && (p.out.From != nil || p.out.To != nil) }

// isSame reports whether both commits have the selection with the same spec and the same catalogs.
func (p *pair) isSame() bool {
	return p.from != nil && p.to != nil && p.to.Invalid == nil && len(p.unknown) == 0 && slices.Equal(p.from.Unknown, p.to.Unknown) && p.from.Hidden == p.to.Hidden &&
		equality.Semantic.DeepEqual(p.from.Spec, p.to.Spec) && slices.Equal(p.from.References, p.to.References)
}

// placeNotes returns sentences on a selection that was moved, or that no Kustomization applies.
func (p *pair) placeNotes() []string {
	var notes plaintext.Texts
	switch {
	case p.from == nil || p.to == nil:
	case p.from.Cluster != p.to.Cluster && p.from.Cluster != "":
		notes = append(notes, "moved from "+p.from.Cluster)
	case p.from.File != p.to.File:
		notes = append(notes, "moved from "+p.from.File)
	}
	if p.from != nil && p.to != nil && !documents.SameName(p.from.Selection, p.to.Selection) {
		notes = append(notes, "its Kustomization applied "+p.from.Namespace+"/"+p.from.Name+" before, which it is compared with")
	}
	if p.from != nil && p.to != nil && p.from.Kustomization != p.to.Kustomization {
		notes = append(notes, "applied by the Kustomization "+p.to.Kustomization+", was "+p.from.Kustomization)
	}
	notes.Add(p.any().Unapplied, "no Kustomization that is built has its file, which is taken as it stands")
	return notes
}

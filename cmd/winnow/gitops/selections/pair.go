package selections

import (
	"cmp"
	"iter"
	"slices"
	"strings"
	"unicode"

	"k8s.io/apimachinery/pkg/api/equality"
)

// pair is a selection in both commits. A side is nil if the commit does not contain the selection.
type pair struct{ from, to *placedSelection }

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
func pairs(older, newer revision) []pair {
	all, gone, fresh := unmoved(older, newer)
	mayBe := func(from, to placedSelection) bool {
		unknown := from.knownCluster() == "" && to.knownCluster() == ""
		return sameName(from, to) && (unknown || !newer.has(from.cluster) && !older.has(to.cluster))
	}
	origins := func(to placedSelection) []placedSelection {
		return mostSimilar(to, gone, func(from placedSelection) bool { return mayBe(from, to) })
	}
	moves := func(from placedSelection) []placedSelection {
		return mostSimilar(from, fresh, func(to placedSelection) bool { return mayBe(from, to) })
	}
	for from, to := range match(gone, fresh, func(from, to placedSelection) bool {
		a, b := origins(to), moves(from)
		return len(a) == 1 && len(b) == 1 && a[0].isAt(from.origin) && b[0].isAt(to.origin)
	}, func(from, to placedSelection) bool { return isRenamed(from, to, older, newer) }) {
		if from == nil {
			if i := slices.IndexFunc(older.selections, func(s placedSelection) bool { return isRenamed(s, *to, older, newer) }); i >= 0 {
				from = &older.selections[i] // which remains, without its consumer
			}
			for _, candidate := range origins(*to) {
				if slices.ContainsFunc(moves(candidate), func(s placedSelection) bool { return s.isAt(to.origin) }) {
					to.unknown = append(slices.Clone(to.unknown), "it may be the one that was moved from "+candidate.place())
				}
			}
		}
		all = append(all, pair{from, to})
	}
	slices.SortFunc(all, func(a, b pair) int {
		x, y := a.any(), b.any()
		return cmp.Or(cmp.Compare(x.cluster, y.cluster), cmp.Compare(x.file, y.file), cmp.Compare(x.Namespace, y.Namespace), cmp.Compare(x.Name, y.Name))
	})
	return all
}

// unmoved pairs the selections that are where they were, and returns the others.
func unmoved(older, newer revision) (all []pair, gone, fresh []placedSelection) {
	for from, to := range match(older.selections, newer.selections, func(from, to placedSelection) bool {
		return from.cluster == to.cluster && (from.cluster != "" || from.file == to.file) && sameName(from, to)
	}) {
		switch {
		case to == nil:
			gone = append(gone, *from)
		case from == nil:
			fresh = append(fresh, *to)
		default:
			all = append(all, pair{from, to})
		}
	}
	return all, gone, fresh
}

// isRenamed reports whether a Kustomization that applied the artifact of a selection applies that of another one.
func isRenamed(from, to placedSelection, older, newer revision) bool {
	after := newer.consumersOf(&to)
	return from.cluster == to.cluster && slices.ContainsFunc(older.consumersOf(&from), func(k placedConsumer) bool {
		return slices.ContainsFunc(after, func(other placedConsumer) bool { return k.cluster == other.cluster && k.name == other.name })
	})
}

// mostSimilar returns the selections that pass and whose places have most words in common with that of a selection.
func mostSimilar(to placedSelection, all []placedSelection, passes func(placedSelection) bool) []placedSelection {
	words := func(s placedSelection) []string {
		return strings.FieldsFunc(s.cluster+"/"+s.file, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) })
	}
	var found []placedSelection
	most := -1
	for _, s := range all {
		if !passes(s) {
			continue
		}
		common := 0
		for _, word := range words(s) {
			if slices.Contains(words(to), word) {
				common++
			}
		}
		if common > most {
			most, found = common, nil
		}
		if common == most {
			found = append(found, s)
		}
	}
	return found
}

func (p pair) any() *placedSelection {
	if p.to != nil {
		return p.to
	}
	return p.from
}

// isSame reports whether both commits have the selection with the same spec.
func (p pair) isSame() bool {
	return p.from != nil && p.to != nil && p.to.invalid == nil && slices.Equal(p.from.unknown, p.to.unknown) && p.from.hidden == p.to.hidden &&
		equality.Semantic.DeepEqual(p.from.Spec, p.to.Spec)
}

// placeNotes returns sentences on a selection that was moved, or that no Kustomization applies.
func (p pair) placeNotes() []string {
	var notes []string
	switch {
	case p.from == nil || p.to == nil:
	case p.from.cluster != p.to.cluster && p.from.cluster != "":
		notes = append(notes, "moved from "+p.from.cluster)
	case p.from.file != p.to.file:
		notes = append(notes, "moved from "+p.from.file)
	}
	if p.from != nil && p.to != nil && !sameName(*p.from, *p.to) {
		notes = append(notes, "its Kustomization applied "+p.from.Namespace+"/"+p.from.Name+" before, which it is compared with")
	}
	if p.from != nil && p.to != nil && p.from.kustomization != p.to.kustomization {
		notes = append(notes, "applied by the Kustomization "+p.to.kustomization+", was "+p.from.kustomization)
	}
	if p.any().unapplied {
		notes = append(notes, "no Kustomization that is built has its file, which is taken as it stands")
	}
	return notes
}

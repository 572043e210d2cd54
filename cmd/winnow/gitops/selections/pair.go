package selections

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
)

// pair is a selection in both commits. A side is nil if the commit does not contain the selection.
type pair struct{ from, to *placedSelection }

// pairs pairs the selections of both commits: in a cluster by name, elsewhere by file and name, or, if a
// file was moved, by name alone.
func pairs(older, newer revision) []pair {
	var all []pair
	base := slices.Clone(older.selections)
	take := func(same func(placedSelection) bool) *placedSelection {
		i := slices.IndexFunc(base, same)
		if i < 0 {
			return nil
		}
		found := base[i]
		base = slices.Delete(base, i, i+1)
		return &found
	}
	var fresh []placedSelection
	for _, to := range newer.selections {
		if from := take(func(s placedSelection) bool {
			return s.cluster == to.cluster && (s.cluster != "" || s.file == to.file) && sameName(s, to)
		}); from != nil {
			all = append(all, pair{from, &to})
		} else {
			fresh = append(fresh, to)
		}
	}
	for _, to := range fresh {
		all = append(all, pair{take(func(s placedSelection) bool {
			return s.cluster == "" && to.cluster == "" && sameName(s, to)
		}), &to})
	}
	for _, from := range base {
		all = append(all, pair{from: &from})
	}
	slices.SortFunc(all, func(a, b pair) int {
		x, y := a.any(), b.any()
		return cmp.Or(cmp.Compare(x.cluster, y.cluster), cmp.Compare(x.file, y.file), cmp.Compare(x.Namespace, y.Namespace), cmp.Compare(x.Name, y.Name))
	})
	return all
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
	if p.from != nil && p.to != nil && p.from.file != p.to.file {
		notes = append(notes, "moved from "+p.from.file)
	}
	if p.from != nil && p.to != nil && p.from.kustomization != p.to.kustomization {
		notes = append(notes, "applied by the Kustomization "+p.to.kustomization+", was "+p.from.kustomization)
	}
	if p.any().unapplied {
		notes = append(notes, "no Kustomization of the clusters applies its file, which is taken as it stands")
	}
	return notes
}

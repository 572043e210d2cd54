package diff

import (
	"slices"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/guard"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// NewTransient returns what is lost in between, when a spec and its catalogs change at once: the
// cluster gets the spec first, and the catalogs once Flux has pulled them. It returns nil for nothing.
//
//	edited   the newer spec over the older catalogs
//	updated  the older spec over the newer catalogs
//
// Either is nil where it cannot be rendered; then nothing is published of it.
func NewTransient(from, to, edited, updated *Side) *Transient {
	lost := lostBetween(from, edited, to)
	if len(lost) == 0 {
		return nil
	}
	t := &Transient{Advice: WidenFirst}
	if updated != nil && updated.Empty == nil && len(lostBetween(from, updated, to)) == 0 {
		t.Advice = CatalogFirst
	}
	before := safeguard.ByKey(from.definitions())
	for _, c := range lost {
		l := Loss{
			Application: c.Key.Name, APIVersion: before[c.Key].APIVersion, Kind: c.Key.Kind,
			Change: Updated, Versions: append([]string{}, c.Versions...),
		}
		if c.Reason == v1alpha1.RemovalReason {
			l.Change, l.Reason = Removed, guard.WhyGone(c.Key, edited.Result.Selection)
		}
		t.Losses = append(t.Losses, l)
	}
	return t
}

// lostBetween returns what is lost on the way from one state to another, and is there in the end. A
// state that is empty is not published.
func lostBetween(from, way, to *Side) []safeguard.Change {
	if from == nil || way == nil || way.Empty != nil || from.Empty != nil {
		return nil
	}
	lost := slices.DeleteFunc(safeguard.Compare(from.definitions(), way.definitions()), func(c safeguard.Change) bool {
		return c.Reason != v1alpha1.RemovalReason && c.Reason != v1alpha1.VersionRemovalReason
	})
	return safeguard.Unexcused(lost, safeguard.Compare(from.definitions(), to.definitions()))
}

// Explain says why the newer spec alone removes what it removes: over the newer catalogs, it may have
// nothing to refuse any more. edited is the newer spec over the older catalogs.
func (s *Selection) Explain(edited *Side) {
	if edited == nil {
		return
	}
	for i := range s.Applications {
		a := &s.Applications[i]
		if a.Change == Removed && a.Cause == CauseSpec {
			a.Reason = guard.WhyGone(a.key(), edited.Result.Selection)
		}
	}
}

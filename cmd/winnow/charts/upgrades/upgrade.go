// SPDX-License-Identifier: Apache-2.0

package upgrades

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/winnow-dev/winnow/cmd/winnow/charts/rendering"
	"github.com/winnow-dev/winnow/cmd/winnow/charts/unread"
	"github.com/winnow-dev/winnow/render/diff"
	"github.com/winnow-dev/winnow/render/each"
)

// Upgrade is a release as it renders before and after a change.
type Upgrade struct {
	Before, After []rendering.Manifest
	// Namespace of the release.
	Namespace string
	// Unread are the values that the newer chart does not read, and that were read, or not set, before.
	Unread []unread.Key
	// MirrorOf returns where a mirror has an image: the same address for one of a mirror, and an empty one for none. Nil where
	// there are no mirrors.
	MirrorOf func(image string) string
}

// maxRisks bounds the risks of an upgrade, in number.
const maxRisks = 500

// Compare returns what the upgrade may break, in the order of Rules and by object and field, and the objects that differ. The
// problems are sentences on what could not be looked at. What is generated, that is, other in each render, is no change, and hooks
// are no objects of a release.
func (u Upgrade) Compare() (risks []diff.Risk, changes Changes, problems []string) {
	from, problems := read(u.Before, u.Namespace)
	to, more := read(u.After, u.Namespace)
	s, problems := sides{from, to}, append(problems, more...)
	for _, key := range from.all.sorted() {
		o := from.all[key]
		newer, stays := to.all[key]
		switch {
		case stays:
			risks = append(risks, changed(o, newer)...)
		case !o.isKept() || !to.hooks[key].isDeletedByUpgrades():
			risks = append(risks, gone(o)...)
		}
	}
	risks = append(append(risks, s.hooked()...), s.unmounted()...)
	risks = append(risks, each.Map(u.Unread, unreadRisk)...)
	found, more := newImages(s, u.MirrorOf)
	risks, problems = append(risks, found...), append(problems, more...)
	order := Rules()
	slices.SortStableFunc(risks, func(a, b diff.Risk) int {
		return cmp.Or(cmp.Compare(slices.Index(order, a.Rule), slices.Index(order, b.Rule)), cmp.Compare(a.Object, b.Object), cmp.Compare(a.Field, b.Field))
	})
	if left := len(risks) - maxRisks; left > 0 {
		risks, problems = risks[:maxRisks], append(problems, fmt.Sprintf("%d further risks are left out", left))
	}
	slices.Sort(problems)
	return risks, s.changes(), slices.Compact(problems)
}

// changed returns the risks of an object that stays.
func changed(o, newer object) (risks []diff.Risk) {
	if isClaim(o) || isClaim(newer) {
		risks = changedClaim(o, newer)
	}
	if isDefinitionObject(o) {
		risks = append(risks, changedDefinition(o, newer)...)
	}
	return append(risks, immutable(o, newer)...)
}

// gone returns the risk of an object that is no longer rendered.
func gone(o object) []diff.Risk {
	r := diff.Risk{Object: o.String()}
	switch {
	case isClaim(o) && o.hasGeneratedName() && !o.isGenerated(""):
		o.name = generated
		r.Object, r.Rule, r.Text = o.String(), VolumeClaim, goneGeneratedClaim
	case o.hasGeneratedName():
		return nil // another one in each render
	case isClaim(o):
		r.Rule, r.Text = VolumeClaim, goneClaim(o)
	case isDefinitionObject(o):
		r.Rule, r.Text = Definition, goneDefinition(o)
	case o.group == "" && !o.isKept():
		r.Rule, r.Text = Gone, goneText(o.kind)
	}
	if r.Text == "" {
		return nil
	}
	return []diff.Risk{r}
}

// goneText returns the text for an object that Helm deletes, empty for a kind that is easily made again.
func goneText(kind string) string {
	switch kind {
	case "Namespace":
		return "Helm deletes it with everything in it. Annotate it with helm.sh/resource-policy: keep before the upgrade, or move what is in it."
	case "Secret":
		return "Helm deletes it. What is in it is lost, and pods that mount it do not start: look for what has its data in the newer chart, and for references from outside of the chart."
	case "ServiceAccount":
		return "Helm deletes it. Its tokens are void, and pods that name it are not created: look for references in values, bindings and identities of a cloud."
	}
	return ""
}

// SPDX-License-Identifier: Apache-2.0

package diff

import (
	"slices"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/each"
)

// Withdrawals returns what the change takes from those who use it: applications that leave, or whose releases are orphaned, and
// versions. What is deprecated follows.
func (s *Selection) Withdrawals() (all []Withdrawal) {
	for _, a := range s.Applications {
		if a.Change == Removed || len(a.Identity) > 0 {
			all = append(all, Withdrawal{Application: a})
		} else if a.Change == Updated {
			all = append(all, lostVersions(a)...)
		}
		for _, version := range s.lostByAdoption(a.Name) {
			all = append(all, Withdrawal{Application: a, Version: version})
		}
	}
	kept := map[string]bool{}
	for _, m := range s.Moves {
		before, is := kept[m.Application]
		kept[m.Application] = !m.Unprotected && (before || !is)
	}
	return slices.DeleteFunc(append(all, s.Others...), func(one Withdrawal) bool {
		return one.Version == "" && one.Deprecated == "" && kept[one.Name]
	})
}

// lostVersions returns the removed versions of an application that stays. A package loses only stranded ones.
func lostVersions(a Application) (all []Withdrawal) {
	for _, v := range a.Versions {
		if v.Change == Removed && !a.IsPackage() {
			all = append(all, Withdrawal{Application: a, Version: v.Version})
		}
	}
	if a.Package == nil {
		return all
	}
	for _, channel := range a.Package.Channels {
		for _, version := range channel.Stranded {
			all = append(all, Withdrawal{Application: a, Version: version})
		}
	}
	return all
}

// lostByAdoption returns the versions that an application loses on its way from another selection, or from the cluster.
func (s *Selection) lostByAdoption(application string) (versions []string) {
	if s.Held == nil {
		return nil
	}
	for _, r := range s.Held.Reasons {
		if r.Application == application && r.Instance == "" && r.Reason == v1alpha1.AdoptionReason {
			versions = append(versions, r.Versions...)
		}
	}
	return versions
}

// UsedCondition is the condition on uses, which holds only where receipts were read.
const UsedCondition = "used"

// used returns what is lost and has installations that are known.
func (r *Report) used() []string {
	return each.Map(each.Where(r.Uses, func(u Use) bool { return u.Deprecated == "" && u.Installations > 0 }), Use.Name)
}

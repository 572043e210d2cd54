// SPDX-License-Identifier: Apache-2.0

package selections

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/inputs"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/manifest"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/repository"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/selections/revision"
	"github.com/winnow-dev/winnow/render/diff"
)

// compares is a selection of the newer commit with its comparison.
type compares struct {
	*revision.Selection
	out *diff.Selection
}

// approvals decides which file takes the approval of each selection that is held.
type approvals struct {
	head *revision.Revision
	// paths are those that were evaluated: what others build of a file outside of them is not known.
	paths []string
	// needs maps selections to the entries that they need, and users the files to the selections that are built of them.
	needs map[string][]string
	users map[string][]revision.Selection
	read  map[string][]mentioned
}

// mentioned is a CatalogSelection in a file, which may be a patch.
type mentioned struct {
	namespace, name string
	// approve is spec.safeguards.approve; listed reports that the file has it.
	approve []string
	listed  bool
}

// placeApprovals sets the files that take approvals.
func placeApprovals(head *revision.Revision, paths []string, all []compares) {
	a := approvals{head: head, paths: paths, needs: map[string][]string{}, users: map[string][]revision.Selection{}, read: map[string][]mentioned{}}
	for _, one := range all {
		if isHeld(one.out) {
			a.needs[keyOf(*one.Selection)] = one.out.Held.Approve
		}
	}
	if len(a.needs) == 0 {
		return
	}
	for _, s := range head.Selections {
		for _, file := range s.Files() {
			a.users[file] = append(a.users[file], s)
		}
	}
	for _, one := range all {
		if isHeld(one.out) {
			a.place(*one.Selection, one.out.Held)
		}
	}
}

func isHeld(s *diff.Selection) bool {
	return s.Held != nil && !s.Held.Approved && len(s.Held.Approve) > 0
}

func keyOf(s revision.Selection) string {
	return strings.Join([]string{s.Cluster, s.Kustomization, s.File, s.Namespace, s.Name}, "\x00")
}

// place sets the file that takes the approval of a selection: the one with its list; or, without a list, the one of which
// most is built, if all of that needs the same; or, below a list that others use, a patch whose list replaces it.
func (a *approvals) place(s revision.Selection, h *diff.Held) {
	own := s.Spec.Safeguards.Approve
	var without, listing, effective []string
	for _, file := range a.candidates(s) {
		m := a.mention(file, s)
		if !m.listed {
			without = append(without, file)
			continue
		}
		listing = append(listing, file)
		if slices.Equal(m.approve, own) {
			effective = append(effective, file)
		}
	}
	switch {
	case len(listing) == 0 && len(own) == 0:
		if h.File = a.firstCarrying(without, s); h.File == "" {
			a.addPatch(s, h)
		}
	case len(effective) != 1:
		h.Advice = "spec.safeguards.approve is not set by one file alone: add the entry by hand, in the place that " + s.In() + " gets its list from"
	case a.carries(effective[0], s):
		h.File, h.Advice = effective[0], replacing(effective[0], s.File, listing)
	default:
		a.replace(effective[0], slices.DeleteFunc(without, func(file string) bool { return file == s.File }), s, h)
	}
}

// replacing returns a sentence on a list that replaces that of the base, empty for none.
func replacing(file, base string, listing []string) string {
	switch {
	case file == base:
		return ""
	case slices.Contains(listing, base):
		return fmt.Sprintf("the list in %s replaces that in %s, whose entries do not reach it", file, base)
	}
	return fmt.Sprintf("%s has a list of its own, which replaces one in %s", file, base)
}

// replace sets a patch whose list replaces that of a file which others use, and so repeats it.
func (a *approvals) replace(file string, patches []string, s revision.Selection, h *diff.Held) {
	if h.File = a.firstCarrying(patches, s); h.File == "" {
		a.addPatch(s, h)
	}
	if h.File == "" {
		return
	}
	h.Repeat = s.Spec.Safeguards.Approve
	h.Advice = fmt.Sprintf("the list in %s replaces that in %s, so it repeats its entries; further ones there do not reach it", h.File, file)
}

// firstCarrying returns the first of the files that can take an approval, empty for none.
func (a *approvals) firstCarrying(files []string, s revision.Selection) string {
	if i := slices.IndexFunc(files, func(file string) bool { return a.carries(file, s) }); i >= 0 {
		return files[i]
	}
	return ""
}

// addPatch sets a new file, a patch in the directory that is built, if all that this directory has of the selection needs the
// same.
func (a *approvals) addPatch(s revision.Selection, h *diff.Held) {
	h.Advice = byPatch(s)
	for _, name := range inputs.KustomizationNames() {
		file, patch := path.Join(s.Dir, name), path.Join(s.Dir, s.Name+"-approvals.yaml")
		if !slices.Contains(s.Inputs, file) || slices.Contains(s.Inputs, patch) || !a.isAlone(file, s) {
			continue
		}
		h.File, h.Kustomization, h.Advice = patch, file, ""
		h.PatchNamespace = a.mention(s.File, s).namespace
		return
	}
}

// isAlone reports whether all selections of the name that are built of a file need the same entries.
func (a *approvals) isAlone(file string, s revision.Selection) bool {
	return a.isKnown(file) && !slices.ContainsFunc(a.users[file], func(other revision.Selection) bool {
		return other.Name == s.Name && !slices.Equal(a.needs[keyOf(other)], a.needs[keyOf(s)])
	})
}

// isKnown reports whether all that is built of a file is known: it is at the paths, and everything can be built.
func (a *approvals) isKnown(file string) bool {
	inside := slices.ContainsFunc(a.paths, func(at string) bool { return repository.Contains(at, file) })
	return inside && !a.head.Unbuilt[file]
}

func byPatch(s revision.Selection) string {
	return fmt.Sprintf("%s is built for others as well, of which not all need the same, or which are not known here: "+
		"add a patch of the CatalogSelection for those that do", s.File)
}

// candidates returns the files with the selection, or with one patch of it: its own file first, then those of which most is
// built.
func (a *approvals) candidates(s revision.Selection) []string {
	var found []string
	for _, file := range s.Files() {
		if a.mention(file, s).name != "" {
			found = append(found, file)
		}
	}
	slices.SortStableFunc(found, func(x, y string) int {
		if x == s.File || y == s.File {
			return map[bool]int{true: -1, false: 1}[x == s.File]
		}
		return cmp.Compare(len(a.users[y]), len(a.users[x]))
	})
	return found
}

// carries reports whether all selections that are built of a file, and that it has, need the same entries. What cannot be
// built, or is outside of the paths, may need others.
func (a *approvals) carries(file string, s revision.Selection) bool {
	return a.isKnown(file) && !slices.ContainsFunc(a.users[file], func(other revision.Selection) bool {
		return a.mention(file, other).name != "" && !slices.Equal(a.needs[keyOf(other)], a.needs[keyOf(s)])
	})
}

// mention returns what a file has of a selection, without a name if it has nothing, or several of it.
func (a *approvals) mention(file string, s revision.Selection) mentioned {
	all, known := a.read[file]
	if !known {
		content := a.head.Inputs[file]
		if content == nil && file == s.File {
			return mentioned{name: s.Name, namespace: s.Namespace, approve: s.Spec.Safeguards.Approve, listed: len(s.Spec.Safeguards.Approve) > 0}
		}
		all = mentionedIn(content)
		a.read[file] = all
	}
	var found mentioned
	for _, m := range all {
		if m.name != s.Name || m.namespace != "" && s.Namespace != "" && m.namespace != s.Namespace {
			continue
		}
		if found.name != "" {
			return mentioned{}
		}
		found = m
	}
	return found
}

func mentionedIn(content []byte) (all []mentioned) {
	for _, o := range manifest.Documents(content) {
		if o.GroupVersionKind().Group != v1alpha1.GroupVersion.Group || o.GetKind() != v1alpha1.CatalogSelectionKind {
			continue
		}
		approve := manifest.StringsAt(o, "spec", "safeguards", "approve")
		all = append(all, mentioned{o.GetNamespace(), o.GetName(), approve, len(approve) > 0})
	}
	return all
}

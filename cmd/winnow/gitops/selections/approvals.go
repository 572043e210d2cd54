// SPDX-License-Identifier: Apache-2.0

package selections

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/winnow-dev/winnow/cmd/winnow/documents"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/inputs"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/repository"
	"github.com/winnow-dev/winnow/render/diff"
)

// compares is a selection of the newer commit with its comparison.
type compares struct {
	*documents.Selection
	out *diff.Selection
}

// approvals decides which file takes the lines of each selection that is held.
type approvals struct {
	head *documents.Set
	// paths are the evaluated paths: what others build of a file outside of them is not known.
	paths []string
	// needs maps selections to the lines that they need, and users the files to the selections that are built of them.
	needs map[string][]string
	users map[string][]documents.Selection
	// replaced maps names of selections, and places, to whether a patch there replaces their lists.
	replaced map[[2]string]bool
}

// placeApprovals sets the files that take the lines.
func placeApprovals(head *documents.Set, paths []string, all []compares) {
	a := approvals{head: head, paths: paths, needs: map[string][]string{}, users: map[string][]documents.Selection{}, replaced: map[[2]string]bool{}}
	for _, one := range all {
		if one.out.IsApprovable() {
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
		if one.out.IsApprovable() {
			a.place(*one.Selection, one.out.Held)
		}
	}
}

func keyOf(s documents.Selection) string {
	return strings.Join([]string{s.Cluster, s.Kustomization, s.File, s.Namespace, s.Name}, "\x00")
}

// place sets the file that takes the lines of a selection: its own, if they reach it and all that is built of the file needs the
// same, or else the kustomization.yaml of the directory that is built, as a JSON patch behind all others.
func (a *approvals) place(s documents.Selection, h *diff.Held) {
	if !a.isReplaced(s) && a.isAlone(s.File, s) {
		h.File = s.File
		return
	}
	for _, name := range inputs.KustomizationNames() {
		if file := path.Join(s.Dir, name); slices.Contains(s.Inputs, file) && a.isAlone(file, s) && !a.isReplacedByFlux(s) {
			h.File, h.Patch = file, patchOf(s, h.Approve)
			return
		}
	}
	h.Advice = fmt.Sprintf("%s is built for others as well, which need other lines or are not known here, or a patch replaces its list: "+
		"add the lines by hand, in a JSON patch of each CatalogSelection that needs them", s.File)
}

// isAlone reports whether all selections of the name that a list in the file reaches are known, and need the same lines.
func (a *approvals) isAlone(file string, s documents.Selection) bool {
	inside := slices.ContainsFunc(a.paths, func(at string) bool { return repository.Contains(at, file) })
	return inside && !a.head.Unbuilt[file] && !slices.ContainsFunc(a.users[file], func(other documents.Selection) bool {
		return other.Name == s.Name && !slices.Equal(a.needs[keyOf(other)], a.needs[keyOf(s)]) && (file != other.File || !a.isReplaced(other))
	})
}

// isReplaced reports whether a patch replaces the list that the file of the selection has.
func (a *approvals) isReplaced(s documents.Selection) bool {
	return a.isReplacedByFlux(s) || slices.ContainsFunc(s.Inputs, func(file string) bool {
		return file != s.File && a.isReplacedIn(s.Name, file, func() []any { return documentsOf(a.head.Inputs[file]) })
	})
}

// isReplacedByFlux is isReplaced for the patches of the Kustomization that applies the selection: nothing in a file that it
// builds reaches the selection then.
func (a *approvals) isReplacedByFlux(s documents.Selection) bool {
	return a.isReplacedIn(s.Name, s.Cluster+"\x00"+s.Kustomization, func() (patches []any) {
		for _, k := range a.head.Consumers {
			if k.Cluster == s.Cluster && strings.TrimPrefix(k.Name, "/") == s.Kustomization {
				patches = append(patches, k.Spec["patches"])
			}
		}
		return patches
	})
}

// isReplacedIn reports whether a patch at a place, which it reads once, replaces the list of the selections with the name.
func (a *approvals) isReplacedIn(name, place string, read func() []any) bool {
	key := [2]string{name, place}
	if _, known := a.replaced[key]; !known {
		a.replaced[key] = replacesApprovals(read(), name)
	}
	return a.replaced[key]
}

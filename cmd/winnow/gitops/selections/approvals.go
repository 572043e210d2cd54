// SPDX-License-Identifier: Apache-2.0

package selections

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	kustypes "sigs.k8s.io/kustomize/api/types"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/cmd/winnow/documents"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/inputs"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/repository"
	"github.com/winnow-dev/winnow/render/diff"
	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/yamledit"
)

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
func placeApprovals(head *documents.Set, paths []string, all []*pair) {
	all = each.Where(all, func(p *pair) bool { return p.to != nil && p.out != nil && p.out.IsApprovable() })
	if len(all) == 0 {
		return
	}
	a := approvals{head: head, paths: paths, needs: map[string][]string{}, users: map[string][]documents.Selection{}, replaced: map[[2]string]bool{}}
	for _, p := range all {
		a.needs[keyOf(p.to.Selection)] = p.out.Held.Approve
	}
	for _, s := range head.Selections {
		for _, file := range s.Files() {
			a.users[file] = append(a.users[file], s)
		}
	}
	for _, p := range all {
		a.place(p.to.Selection, p.out.Held)
	}
}

func keyOf(s documents.Selection) string {
	return strings.Join([]string{s.Cluster, s.Kustomization, s.File, s.Namespace, s.Name}, "\x00")
}

// place sets the file that takes the lines of a selection: its own, if they reach it and all that is built of the file needs the
// same, or else the kustomization.yaml of the directory that is built, as a patch behind all others.
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
	if !repository.ContainsAny(a.paths, s.File) {
		h.Advice = s.File + " is outside of the compared paths, and others may build it: run winnow approve --git without a PATH"
		return
	}
	h.Advice = fmt.Sprintf("%s is built for others as well, which need other lines or are not known here, or a patch replaces its list: "+
		"add the lines by hand, in a patch of each CatalogSelection that needs them", s.File)
}

// isAlone reports whether all selections of the name that a list in the file reaches are known, and need the same lines.
func (a *approvals) isAlone(file string, s documents.Selection) bool {
	return repository.ContainsAny(a.paths, file) && !a.head.Unbuilt[file] && !slices.ContainsFunc(a.users[file], func(other documents.Selection) bool {
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

const (
	safeguardsPath = "/spec/safeguards"
	approvePath    = safeguardsPath + "/approve"
)

// patchOf returns an item of patches that adds lines to the built selection. A JSON patch appends them to the list that its file has.
// Without a list, a merge patch makes one: safeguards that its file gets later remain, which a JSON patch that adds their object replaces.
func patchOf(s documents.Selection, lines []string) string {
	var patch strings.Builder
	patch.WriteString("- target: {group: " + v1alpha1.GroupVersion.Group + ", kind: " + v1alpha1.CatalogSelectionKind + ", name: " + yamledit.InBrackets(s.Name) + "}\n  patch: |\n")
	format := "    - op: add\n      path: " + approvePath + "/-\n      value: %s\n"
	if len(s.Spec.Safeguards.Approve) == 0 {
		fmt.Fprintf(&patch, "    apiVersion: %s\n    kind: %s\n    metadata:\n      name: %s\n    spec:\n      safeguards:\n        approve:\n",
			v1alpha1.GroupVersion, v1alpha1.CatalogSelectionKind, yamledit.Scalar([]string{s.Name}, 0))
		format = "        - %s\n"
	}
	for _, line := range lines {
		fmt.Fprintf(&patch, format, yamledit.Scalar([]string{line}, 0))
	}
	return patch.String()
}

// replacesApprovals reports whether a value of YAML has a patch that replaces the list of the selection with the name.
func replacesApprovals(value any, name string) bool {
	below := func(value any) bool { return replacesApprovals(value, name) }
	switch value := value.(type) {
	case string:
		return strings.Contains(value, "safeguards") && slices.ContainsFunc(documentsOf([]byte(value)), func(document any) bool {
			_, isText := document.(string)
			return !isText && below(document)
		})
	case []any:
		return slices.ContainsFunc(value, below)
	case map[string]any:
		if target, _ := value["target"].(map[string]any); target != nil && !mayTarget(target, name) {
			return false
		}
		return setsApprovals(value, name) || slices.ContainsFunc(slices.Collect(maps.Values(value)), below)
	}
	return false
}

// setsApprovals reports whether a mapping is an operation on the list, or a merge patch of the selection with one.
func setsApprovals(value map[string]any, name string) bool {
	if path := value["path"]; value["op"] != "test" && (path == safeguardsPath || path == approvePath) {
		return true
	}
	return value["kind"] == v1alpha1.CatalogSelectionKind && fieldOf(value, "metadata", "name") == name && fieldOf(value, "spec", "safeguards", "approve") != nil
}

// mayTarget reports whether the target of a patch may be a selection with the name.
func mayTarget(target map[string]any, name string) bool {
	kind, _ := target["kind"].(string)
	pattern, _ := target["name"].(string)
	selector := kustypes.Selector{}
	selector.Kind, selector.Name = kind, pattern
	regex, err := kustypes.NewSelectorRegex(&selector)
	return err != nil || regex.MatchName(name) && (kind == "" || kind == v1alpha1.CatalogSelectionKind)
}

func fieldOf(value any, fields ...string) any {
	for _, field := range fields {
		object, _ := value.(map[string]any)
		value = object[field]
	}
	return value
}

// documentsOf returns the documents of a text in the types of yamlnode.Plain; none for a text that is no YAML.
func documentsOf(text []byte) []any {
	documents, err := yamledit.Documents(text)
	if err != nil {
		return nil
	}
	all, _ := yamledit.Plain(documents)
	return all
}

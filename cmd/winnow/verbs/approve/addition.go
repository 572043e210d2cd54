// SPDX-License-Identifier: Apache-2.0

package approve

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/winnow-dev/winnow/cmd/winnow/gitops/approvalfile"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/stagefile"
	"github.com/winnow-dev/winnow/cmd/winnow/output"
	"github.com/winnow-dev/winnow/cmd/winnow/plaintext"
	"github.com/winnow-dev/winnow/render/diff"
	"github.com/winnow-dev/winnow/render/excerpt"
)

// maxPlaces bounds the selections that a line names.
const maxPlaces = 10

// addition is what a file takes for a selection.
type addition struct {
	file string
	key  types.NamespacedName
	// entries are the lines to be added; patch has them for a kustomization.yaml.
	entries []string
	patch   string
	// digest of a promotion.
	digest string
	// places need the entries.
	places []diff.Place
}

// additionsOf returns what files take, in the order of the report, and an error for the approvals that no file takes.
func additionsOf(report *diff.Report) (added []*addition, byHand []error) {
	var withoutFile []*addition
	for _, s := range report.Held() {
		if !s.IsApprovable() {
			continue
		}
		one := &addition{file: s.Held.File, key: types.NamespacedName{Namespace: s.Namespace, Name: s.Name},
			entries: s.Held.Approve, patch: s.Held.Patch, places: []diff.Place{s.Place()}}
		if s.Promotion != nil {
			_, one.digest, _ = strings.Cut(s.Promotion.To, "@")
		}
		all := &added
		if one.file == "" {
			all, one.file = &withoutFile, s.Held.Advice
		}
		if i := slices.IndexFunc(*all, one.isLike); i >= 0 {
			(*all)[i].places = append((*all)[i].places, s.Place())
		} else {
			*all = append(*all, one)
		}
	}
	for _, one := range withoutFile {
		byHand = append(byHand, fmt.Errorf("%s: not approved: %s: %s", shown(one.places), strings.Join(one.entries, ", "), one.file))
	}
	return added, byHand
}

// isPromotion reports whether the file takes the annotation of an OCIRepository.
func (a *addition) isPromotion() bool { return a.places[0].Kind != "" }

func (a *addition) isLike(other *addition) bool {
	return other.file == a.file && other.key == a.key && other.places[0].Kind == a.places[0].Kind && other.digest == a.digest && other.patch == a.patch && slices.Equal(other.entries, a.entries)
}

func shown(places []diff.Place) string {
	return excerpt.List(places, maxPlaces, func(p diff.Place) string {
		return strings.Join(strings.Fields(p.Cluster+" "+p.Kind+" "+p.Namespace+"/"+p.Name), " ")
	})
}

// print prints what the file takes.
func (a *addition) print(out output.Streams) {
	fmt.Fprintln(out.Stdout, plaintext.Wrap(plaintext.Line(a.file+": for "+shown(a.places)), ""))
	for _, entry := range a.entries {
		fmt.Fprintf(out.Stdout, "  - %s\n", plaintext.Line(entry))
	}
}

// addTo returns a file with the entries, and the line that has the first of them.
func (a *addition) addTo(content []byte) (edited []byte, line int, err error) {
	switch {
	case a.isPromotion():
		return stagefile.Approve(content, a.key.Name, a.digest, a.entries)
	case a.patch != "":
		return approvalfile.AddPatch(content, a.patch)
	}
	return approvalfile.Add(content, a.key, a.entries)
}

// neededBy returns a function that returns the entries that a selection needs.
func neededBy(added []*addition) func(diff.Place) []string {
	needs := map[diff.Place][]string{}
	for _, one := range added {
		for _, place := range one.places {
			needs[place] = append(needs[place], one.entries...)
		}
	}
	return func(place diff.Place) []string { return needs[place] }
}

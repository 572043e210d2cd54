// SPDX-License-Identifier: Apache-2.0

package report

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/winnow-dev/winnow/registry/redact"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/selection"
	"github.com/winnow-dev/winnow/render/transform"
)

// References are the addresses in applications, before and after the mirrors, sorted and without duplicates.
type References struct {
	Charts []Chart          `json:"charts"`
	Images []imageReference `json:"images"`
	URLs   []urlReference   `json:"urls"`
}

// Chart is the reference to a chart, in a registry of Helm or in Git.
type Chart struct {
	// Type is helm or git.
	Type    string            `json:"type"`
	From    string            `json:"from"`
	To      string            `json:"to"`
	Name    string            `json:"name,omitempty"`
	Version string            `json:"version,omitempty"`
	Tag     string            `json:"tag,omitempty"`
	Branch  string            `json:"branch,omitempty"`
	Commit  string            `json:"commit,omitempty"`
	Unknown transform.Unknown `json:"unknown,omitempty"`
}

type imageReference struct {
	From    string            `json:"from"`
	To      string            `json:"to"`
	Unknown transform.Unknown `json:"unknown,omitempty"`
}

type urlReference struct {
	From string `json:"from"`
	To   string `json:"to"`
}

// NewReferences returns the addresses of all applications together.
func NewReferences(all ...render.Addresses) *References {
	r := &References{Charts: []Chart{}, Images: []imageReference{}, URLs: []urlReference{}}
	for _, one := range all {
		for _, host := range one.Hosts {
			r.add(host)
		}
	}
	slices.SortFunc(r.Charts, func(a, b Chart) int {
		return cmp.Or(cmp.Compare(a.Type, b.Type), cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To),
			cmp.Compare(a.Name, b.Name), cmp.Compare(a.Version, b.Version), cmp.Compare(a.Tag, b.Tag),
			cmp.Compare(a.Branch, b.Branch), cmp.Compare(a.Commit, b.Commit))
	})
	slices.SortFunc(r.Images, func(a, b imageReference) int {
		return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To), cmp.Compare(a.Unknown, b.Unknown))
	})
	slices.SortFunc(r.URLs, func(a, b urlReference) int {
		return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To))
	})
	r.Charts, r.Images, r.URLs = slices.Compact(r.Charts), slices.Compact(r.Images), slices.Compact(r.URLs)
	return r
}

func (r *References) add(host transform.Host) {
	host.From, host.To = redact.Text(host.From), redact.Text(host.To)
	switch host.Kind {
	case transform.KindChart:
		r.Charts = append(r.Charts, Chart{
			Type: "helm", From: host.From, To: host.To, Name: host.Chart, Version: host.Version, Unknown: host.Unknown,
		})
	case transform.KindGit:
		r.Charts = append(r.Charts, Chart{
			Type: "git", From: host.From, To: host.To, Tag: host.Tag, Branch: host.Branch, Commit: host.Commit,
		})
	case transform.KindImage:
		r.Images = append(r.Images, imageReference{From: host.From, To: host.To, Unknown: host.Unknown})
	case transform.KindURL:
		r.URLs = append(r.URLs, urlReference{From: host.From, To: host.To})
	}
}

// Referring holds the references of one application. Tables leave it out.
type Referring struct {
	*References
	Unsearched string `json:"unsearched,omitempty"`
}

// Refer returns the references of all applications together, and of each in the order of selected. It
// warns of applications whose default values cannot be searched.
func Refer(ctx context.Context, selected []selection.Decision, opts render.Options, notes io.Writer) (*References, []Referring, error) {
	all, err := render.Refer(ctx, selected, opts)
	if err != nil {
		return nil, nil, err
	}
	each := make([]Referring, len(all))
	for i, one := range all {
		each[i] = Referring{References: NewReferences(one), Unsearched: one.Unreadable}
		if one.Unreadable != "" {
			fmt.Fprintf(notes, "warning: %s: its default values cannot be searched: %s\n", one.Application, one.Unreadable)
		}
	}
	return NewReferences(all...), each, nil
}

// SPDX-License-Identifier: Apache-2.0

package selections

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/selections/revision"
	"github.com/winnow-dev/winnow/render/selection"
)

// Found is a CatalogSelection of a commit with its catalogs.
type Found struct {
	*v1alpha1.CatalogSelection
	// Cluster is the directory of the cluster, empty for a selection that is read from its file; File has it.
	Cluster, File string
	// Catalogs are the addresses of the catalogs, and Sources these catalogs, in the order of the spec. Both are
	// empty if the selection is unknown.
	Catalogs []string
	Sources  []selection.Source
	// Unknown are sentences on what is not known of the selection, or why it is invalid.
	Unknown []string
}

// Commit is what a commit of the repository of the working directory has.
type Commit struct {
	// Selections, sorted by cluster, file, namespace and name.
	Selections []Found
	// Notes are sentences on what was left out.
	Notes []string
}

// Find returns the CatalogSelections of a commit. Options needs no Compare.
func Find(ctx context.Context, commit string, options Options) (*Commit, error) {
	// What differs between two commits is evaluated as far as possible, and what is the same is noted.
	compared, err := gitops.Compare(ctx, commit, commit, gitops.Options{Paths: options.Paths, Repositories: options.Repositories, Keep: revision.MayBeRelevant})
	if err != nil {
		return nil, err
	}
	if len(compared.Missing) > 0 {
		return nil, fmt.Errorf("the commit has nothing at %s", strings.Join(compared.Missing, ", "))
	}
	c := &comparison{options: options, pulled: map[string]pulledCatalog{}, head: revision.New(ctx, compared.Head)}
	out := &Commit{Notes: slices.Concat(compared.Notes, compared.Unknown, c.head.Notes)}
	for _, left := range c.head.Skipped {
		out.Notes = append(out.Notes, left.Note(""))
	}
	for _, placed := range c.head.Selections {
		found, err := c.find(ctx, placed)
		if err != nil {
			return nil, err
		}
		out.Selections = append(out.Selections, found)
	}
	slices.SortFunc(out.Selections, func(a, b Found) int {
		return cmp.Or(cmp.Compare(a.Cluster, b.Cluster), cmp.Compare(a.File, b.File), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	return out, nil
}

// find pulls the catalogs of a selection. The error is the context's.
func (c *comparison) find(ctx context.Context, placed revision.Selection) (Found, error) {
	found := Found{CatalogSelection: placed.DeepCopy(), Cluster: placed.Cluster, File: placed.File}
	if found.Namespace == "" {
		found.Namespace = "default"
	}
	if placed.Invalid != nil {
		found.Unknown = []string{placed.Invalid.Error()}
		return found, nil
	}
	references, unknown := c.head.Resolve(placed)
	if found.Unknown = slices.Concat(placed.Unknown, unknown); len(found.Unknown) > 0 {
		return found, nil
	}
	for i, r := range references {
		pulled, err := c.pull(ctx, r, placed.Spec.Sources[i])
		if ctx.Err() != nil {
			return found, ctx.Err()
		}
		if err != nil {
			found.Unknown = append(found.Unknown, fmt.Sprintf("source %s: %v", placed.Spec.Sources[i].Name, err))
			continue
		}
		pulled.Name = placed.Spec.Sources[i].Name
		found.Catalogs, found.Sources = append(found.Catalogs, r.Catalog), append(found.Sources, pulled)
	}
	if len(found.Unknown) > 0 {
		found.Catalogs, found.Sources = nil, nil
	}
	return found, nil
}

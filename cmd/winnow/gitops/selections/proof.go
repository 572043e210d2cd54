// SPDX-License-Identifier: Apache-2.0

package selections

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/cmd/winnow/documents"
	"github.com/winnow-dev/winnow/render/diff"
	"github.com/winnow-dev/winnow/render/excerpt"
)

// ProveApprovals builds a commit with edits of its files. It returns an error unless these add to each selection the
// lines of spec.safeguards.approve that it needs, none to the others, and change nothing else.
func ProveApprovals(ctx context.Context, commit string, options Options, edits map[string][]byte, needs func(diff.Place) []string) error {
	options.Edits = edits
	c, _, err := readCommits(ctx, commit, commit, options)
	if err != nil {
		return err
	}
	before, after := c.base, c.head
	if len(before.Selections) != len(after.Selections) {
		return fmt.Errorf("with the approvals there are %d CatalogSelections, and %d without", len(after.Selections), len(before.Selections))
	}
	edited := map[string]documents.Selection{}
	for _, s := range after.Selections {
		edited[keyOf(s)] = s
	}
	for _, s := range before.Selections {
		place := diff.Place{Cluster: s.Cluster, File: s.File, Namespace: s.Namespace, Name: s.Name}
		if err := provesApproval(s, edited[keyOf(s)], needs(place)); err != nil {
			return fmt.Errorf("CatalogSelection %s/%s of %s: %w", s.Namespace, s.Name, s.In(), err)
		}
	}
	return nil
}

// provesApproval returns an error unless a selection differs by the lines alone.
func provesApproval(before, after documents.Selection, lines []string) error {
	if after.CatalogSelection == nil || before.Invalid == nil && after.Invalid != nil {
		return fmt.Errorf("it cannot be read any more: %w", after.Invalid)
	}
	want, got := before.Spec.DeepCopy(), after.Spec.DeepCopy()
	want.Safeguards.Approve = append(want.Safeguards.Approve, lines...)
	for _, spec := range []*v1alpha1.CatalogSelectionSpec{want, got} {
		slices.Sort(spec.Safeguards.Approve)
	}
	if !slices.Equal(want.Safeguards.Approve, got.Safeguards.Approve) {
		return fmt.Errorf("its spec.safeguards.approve would have %s, instead of %s",
			excerpt.Names(got.Safeguards.Approve, maxListed), excerpt.Names(want.Safeguards.Approve, maxListed))
	}
	if !equality.Semantic.DeepEqual(want, got) {
		return errors.New("its spec would change in more than approvals")
	}
	return nil
}

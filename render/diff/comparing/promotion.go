// SPDX-License-Identifier: Apache-2.0

package comparing

import (
	"context"
	"slices"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/approval"
	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/diff"
	"github.com/winnow-dev/winnow/render/guard"
	"github.com/winnow-dev/winnow/render/mention"
	"github.com/winnow-dev/winnow/render/safeguard"
	"github.com/winnow-dev/winnow/render/selection"
)

// notInArtifact is why something is gone that a rendered artifact does not have any more.
const notInArtifact = "the new artifact does not have it"

// Artifacts compares two artifacts that were rendered before, with the default safeguards: an artifact does not say which spec
// it was rendered from. Lines name what leaves, and reviewed are those that were there before.
func Artifacts(ctx context.Context, from, to *render.Result, lines, reviewed []string) (*diff.Selection, error) {
	cs := &v1alpha1.CatalogSelection{}
	cs.Spec.Safeguards.Approve = lines
	next := *to
	next.Selection.Decisions = slices.Concat(to.Selection.Decisions, gone(from.Compared(), to.Compared()))
	out, err := Compare(ctx, &Side{Selection: cs, Result: from}, &Side{Selection: cs, Result: &next, Reviewed: reviewed}, nil)
	if err != nil {
		return nil, err
	}
	out.Notes = append([]string{}, unmatchedLines(from, to, lines, reviewed)...)
	out.NothingLives = true // in this cluster; the artifact is for another one
	for i := range out.Applications {
		blamePromotion(&out.Applications[i])
	}
	for i, in := range out.Instances {
		if in.Change == diff.Removed {
			out.Instances[i].Reason = notInArtifact
		}
	}
	if out.Held == nil {
		return out, nil
	}
	for i, reason := range out.Held.Reasons {
		if reason.Instance != "" && reason.Reason == v1alpha1.RemovalReason {
			out.Held.Reasons[i].Message = "instance " + reason.Instance + " would be removed: " + notInArtifact
		}
	}
	return out, nil
}

// unmatchedLines returns notes on lines that name nothing. A line that was there before may be about an application that has left.
func unmatchedLines(from, to *render.Result, lines, reviewed []string) []string {
	all := guard.UnmatchedLines(lines, slices.Concat(from.Compared(), to.Compared()), to.Selection, nil, func(entry string) bool {
		_, err := approval.Parse(entry)
		return err == nil && slices.Contains(reviewed, entry)
	})
	for _, line := range approval.ParseAll(lines) {
		if line.Checksum != "" {
			all = append(all, mention.Unmatched{Reason: "the digest " + line.Checksum + " names nothing: name what leaves"})
		}
	}
	for i := range all {
		all[i].Field = "the annotation " + v1alpha1.ApproveAnnotation
	}
	return mention.Sentences(all)
}

// blamePromotion sets the cause of what an application loses.
func blamePromotion(a *diff.Application) {
	if a.Cause != "" {
		a.Cause = diff.CausePromotion
	}
	for i := range a.Versions {
		if a.Versions[i].Cause != "" {
			a.Versions[i].Cause = diff.CausePromotion
		}
	}
}

// gone returns decisions against what an artifact had and the next one lacks.
func gone(before, after []safeguard.Definition) []selection.Decision {
	stays := safeguard.ByKey(after)
	var all []selection.Decision
	for _, d := range before {
		key := d.Key()
		if _, there := stays[key]; !there {
			all = append(all, selection.Decision{Application: &catalog.Application{Group: key.Group, Kind: key.Kind, Name: key.Name}, Reason: notInArtifact})
		}
	}
	return all
}

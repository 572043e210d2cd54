// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"errors"
	"fmt"

	"github.com/winnow-dev/winnow/controllers/artifacts"
	"github.com/winnow-dev/winnow/controllers/bounds"
	"github.com/winnow-dev/winnow/controllers/source"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/guard"
)

// rebuild renders the lost archive of the artifact in the status again, from the recorded spec and the recorded
// revisions of the sources, if Flux still serves them. It is for a selection whose new render must not be
// published, and whose ExternalArtifact still names the lost one: else nothing is served, and the status may be an older one.
// It does not verify signatures: the revision of the render identifies the content, and a served artifact stays
// served when its source is no longer verified.
func (r *CatalogSelectionReconciler) rebuild(ctx context.Context, a *attempt) error {
	if a.record == nil {
		return a.unread
	}
	if announced, err := r.artifacts.IsAnnounced(ctx, a.selection); err != nil {
		return err
	} else if !announced {
		return errors.New("no ExternalArtifact names it, so that the consumers are compared first")
	}
	observed, err := a.record.Observed(a.selection)
	if err != nil {
		return err
	}
	for _, s := range observed { // who may write the status may name any source
		if err := r.sources.MayRefer(a.selection, s.Kind, s.Name); err != nil {
			return err
		}
	}
	r.sources.Renew(ctx, observed)
	old := a.selection.DeepCopy()
	old.Spec = a.record.Spec
	opts, err := render.FromSpec(old)
	if err != nil {
		return err
	}
	opts.AllowEmpty = true
	loaded, err := r.loadSources(ctx, a, source.ForRebuild, observed)
	if err != nil {
		return err
	}
	bounded, cancel := context.WithTimeout(ctx, publishTimeout)
	defer cancel()
	defer a.timing.End()
	result, err := render.InPhases(bounded, guard.Selections(source.Guarded(loaded)), opts, a.enter)
	if err != nil {
		return err
	}
	if result, err = result.Keeping(ctx, a.record.Files); err != nil {
		return err
	}
	if result.Revision != a.selection.Status.Artifact.Revision {
		return fmt.Errorf("rendering it once more gives %s", bounds.ShortChecksum(result.Revision))
	}
	artifact, err := r.artifacts.Store(a.selection, result, artifacts.Origin(observed), a.timing)
	if err != nil {
		return err
	}
	a.selection.Status.Artifact = artifact
	if err := r.writeStatus(ctx, a); err != nil {
		return err
	}
	if err := r.artifacts.Unstage(a.selection); err != nil {
		return err
	}
	return r.artifacts.Announce(ctx, a.selection)
}

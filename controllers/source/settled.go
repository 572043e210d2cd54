// SPDX-License-Identifier: Apache-2.0

package source

import (
	"context"
	"fmt"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/failure"
)

// Unsettled reads a source from the API server and returns the reason why Flux has not finished with it, empty
// if it has. A suspended source is settled.
func (s *Sources) Unsettled(ctx context.Context, o Observed) (string, error) {
	object := Kinds()[o.Kind]
	if err := s.APIReader.Get(ctx, o.Name, object); err != nil {
		return "", failure.Because(v1alpha1.StorageFailedReason, fmt.Errorf("reading source %s %s: %w", o.Kind, o.Name, err))
	}
	observed, suspended := progress(object)
	artifact := object.GetArtifact()
	switch {
	case suspended:
	case object.GetGeneration() != observed:
		return "Flux has not observed its generation yet", nil
	case conditions.IsTrue(object, meta.ReconcilingCondition):
		return "it is reconciling", nil
	case artifact == nil || artifact.Revision != o.Artifact.Revision || artifact.Digest != o.Artifact.Digest:
		return "it has another artifact now", nil
	}
	return "", nil
}

// progress returns the observed generation of a source, and whether the source is suspended, so that Flux
// observes none. An ExternalArtifact has neither field.
func progress(object Object) (observed int64, suspended bool) {
	switch s := object.(type) {
	case *sourcev1.OCIRepository:
		return s.Status.ObservedGeneration, s.Spec.Suspend
	case *sourcev1.GitRepository:
		return s.Status.ObservedGeneration, s.Spec.Suspend
	case *sourcev1.Bucket:
		return s.Status.ObservedGeneration, s.Spec.Suspend
	}
	return object.GetGeneration(), false
}

// SPDX-License-Identifier: Apache-2.0

package pushes

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	v1 "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/holds"
	"github.com/winnow-dev/winnow/controllers/memory"
	"github.com/winnow-dev/winnow/controllers/registries"
	"github.com/winnow-dev/winnow/controllers/transfers"
	"github.com/winnow-dev/winnow/registry"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/archive"
	"github.com/winnow-dev/winnow/render/guard"
	"github.com/winnow-dev/winnow/render/safeguard"
	"github.com/winnow-dev/winnow/render/selection"
)

// held returns the error of a held push, which explains how to release it.
func (job pushJob) held(reason, message string) error {
	return &refusal{reason, message + "; to push it all the same, add to spec.safeguards.approve: " + guard.Checksum(job.revision)}
}

// compare holds a push that would remove definitions from the clusters that follow the tag: the record of the
// selection was lost, or begins after the tagged artifact.
func (s *sender) compare(ctx context.Context, job pushJob, to *registries.Connection, m v1.Manifest) error {
	if job.approved {
		return nil
	}
	if job.image {
		return job.held(v1alpha1.BaselineLostReason, "the tagged image is neither the last one that was pushed nor of a revision in the record, and images are not compared")
	}
	if len(m.Layers) != 1 {
		return job.held(v1alpha1.BaselineLostReason, "the tagged artifact cannot be compared: it does not have exactly one layer")
	}
	tagged, err := memory.NewFile("winnow-pushed-")
	if err != nil {
		return err
	}
	defer tagged.Close()
	if err := registry.CopyLayer(ctx, to.Repository, m.Layers[0], archive.DefaultLimits().Compressed, tagged); err != nil {
		return fmt.Errorf("reading the tagged artifact: %w", err)
	}
	archived, err := os.Open(job.file)
	if err != nil {
		return fmt.Errorf("opening the archive: %w", err)
	}
	defer archived.Close()
	read := func(file io.ReadSeeker, complaint string) ([]safeguard.Definition, error) {
		definitions, err := s.read(ctx, file)
		if busy := new(busyError); err == nil || errors.As(err, &busy) {
			return definitions, err
		}
		return nil, job.held(v1alpha1.BaselineLostReason, complaint+": "+err.Error())
	}
	before, err := read(tagged, "the tagged artifact cannot be compared")
	if err != nil {
		return err
	}
	next, err := read(archived, "the artifact cannot be compared with the tagged one")
	if err != nil {
		return err
	}
	held := guard.Decide(before, guard.Next{Definitions: next}, guard.Named{Safeguards: job.safeguards}).Held
	if len(held) == 0 {
		return nil
	}
	return job.held(held[0].Reason,
		"the tagged artifact contains more: "+holds.Describe(guard.Reasons(held, selection.Result{}, guard.Fresh(nil)), len(held)))
}

// busyError reports that an artifact was not read because others are.
type busyError struct{ err error }

func (e *busyError) Error() string {
	return fmt.Sprintf("waiting until other artifacts are compared: %v", e.err)
}

// readBytes is the most memory that reading an artifact takes of the budget: a build goes on after its deadline, and must
// not keep catalogs from being loaded.
const readBytes = memory.LoadBytes / 2

// read returns the definitions of an artifact. Kustomize cannot be interrupted when it builds patches, so an artifact is
// read aside, one at a time: at the deadline read gives up, and the next one waits until this one has ended.
func (s *sender) read(ctx context.Context, file io.ReadSeeker) ([]safeguard.Definition, error) {
	if err := s.comparing.Acquire(ctx, 1); err != nil {
		return nil, &busyError{err}
	}
	free, err := s.reserve(ctx, file)
	if err != nil {
		s.comparing.Release(1)
		return nil, err
	}
	type result struct {
		definitions []safeguard.Definition
		err         error
	}
	read := make(chan result, 1)
	go func() {
		defer s.comparing.Release(1)
		defer free()
		var r result
		r.err = transfers.Recover(ctx, "reading an artifact", func() (err error) {
			r.definitions, err = s.readArtifact(ctx, file)
			return err
		})
		read <- r
	}()
	select {
	case r := <-read:
		return r.definitions, r.err
	case <-ctx.Done():
		return nil, fmt.Errorf("reading it, and building its patches, takes longer than %s", pushTimeout)
	}
}

// reserve waits for the memory to read an artifact. It leaves the file at its start.
func (s *sender) reserve(ctx context.Context, file io.ReadSeeker) (free func(), err error) {
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return nil, fmt.Errorf("reading the artifact: %w", err)
	}
	needed, err := render.MeasureArtifact(ctx, file)
	if err != nil {
		return nil, err
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return nil, fmt.Errorf("reading the artifact: %w", err)
	}
	if free, err = s.reading.Acquire(ctx, min(needed, readBytes)); err != nil {
		return nil, &busyError{err}
	}
	return free, nil
}

package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	v1 "github.com/opencontainers/image-spec/specs-go/v1"
	ociregistry "oras.land/oras-go/v2/registry"
	"oras.land/oras-go/v2/registry/remote"

	"github.com/winnow-dev/winnow/registry"
)

// parseReference parses oci://host/repository[:tag|@digest].
func parseReference(where string) (ociregistry.Reference, error) {
	rest, ok := strings.CutPrefix(where, ociScheme)
	if !ok {
		return ociregistry.Reference{}, fmt.Errorf("%s: want %shost/repository[:tag]", where, ociScheme)
	}
	reference, err := ociregistry.ParseReference(rest)
	if err != nil {
		return ociregistry.Reference{}, fmt.Errorf("%s: %w", where, err)
	}
	return reference, nil
}

func repositoryName(reference ociregistry.Reference) string {
	return reference.Registry + "/" + reference.Repository
}

// digestReference names an artifact for good.
func digestReference(reference ociregistry.Reference, digest string) string {
	return ociScheme + repositoryName(reference) + "@" + digest
}

// publication pushes one artifact, and remembers the tags that it moved.
type publication struct {
	repository *remote.Repository
	progress   *progress
	moved      []movedTag
}

// movedTag was set to another artifact before.
type movedTag struct {
	name, was string
}

func (p *publication) publish(ctx context.Context, a registry.Artifact, tags []string) error {
	pusher := registry.Pusher{Step: p.progress.step, Move: func(_ context.Context, tag string, now v1.Descriptor) error {
		p.moved = append(p.moved, movedTag{tag, now.Digest.String()})
		return nil
	}}
	return advise(p.repository, pusher.Push(ctx, p.repository, a, tags))
}

// tell says which tags had another meaning before, for whoever moved one by mistake.
func (p *publication) tell(notes io.Writer) {
	for _, tag := range p.moved {
		fmt.Fprintf(notes, "the tag %s moved from %s\n", tag.name, tag.was)
	}
}

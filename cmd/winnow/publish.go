package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"oras.land/oras-go/v2/errdef"
	ociregistry "oras.land/oras-go/v2/registry"
	"oras.land/oras-go/v2/registry/remote"
	"oras.land/oras-go/v2/registry/remote/auth"
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

// publication pushes one artifact.
type publication struct {
	repository *remote.Repository
	progress   *progress
	moved      []movedTag
}

// movedTag was set to another artifact before.
type movedTag struct {
	name, was string
}

// publish pushes what the registry lacks: first all that a manifest refers to, then the
// manifest, and the tags at last. So a tag never shows half a catalog.
func (p *publication) publish(ctx context.Context, a artifact, tags []string) error {
	// One token for all: the registry's answers ask for the right to read at first.
	ctx = auth.AppendRepositoryScope(ctx, p.repository.Reference, auth.ActionPull, auth.ActionPush)
	for _, one := range []struct {
		name string
		stored
	}{
		{"config", a.config}, {"layer", a.layer}, {"manifest", a.manifest},
	} {
		p.progress.step("pushing the " + one.name)
		if err := p.push(ctx, one.stored); err != nil {
			return fmt.Errorf("the %s: %w", one.name, p.advise(err))
		}
	}
	for i, tag := range tags {
		p.progress.step("setting the tag " + tag)
		if err := p.tag(ctx, a.manifest, tag); err != nil {
			set := ""
			if i > 0 {
				set = ", after " + strings.Join(tags[:i], ", ")
			}
			return fmt.Errorf("setting the tag %s%s: %w", tag, set, p.advise(err))
		}
	}
	return nil
}

func (p *publication) push(ctx context.Context, s stored) error {
	exists, err := p.repository.Exists(ctx, s.descriptor)
	if err != nil || exists {
		return err
	}
	// A reader whose start can be found again, for another try.
	return p.repository.Push(ctx, s.descriptor, bytes.NewReader(s.content))
}

// tag sets a tag, unless it is: registries may forbid to set one again, even to the same.
func (p *publication) tag(ctx context.Context, manifest stored, tag string) error {
	current, err := p.repository.Resolve(ctx, tag)
	switch {
	case errors.Is(err, errdef.ErrNotFound):
	case err != nil:
		return err
	case current.Digest == manifest.descriptor.Digest:
		return nil
	default:
		p.moved = append(p.moved, movedTag{tag, current.Digest.String()})
	}
	return p.repository.PushReference(ctx, manifest.descriptor, bytes.NewReader(manifest.content), tag)
}

func (p *publication) advise(err error) error {
	return advise(p.repository, err)
}

// tell says which tags had another meaning before, for whoever moved one by mistake.
func (p *publication) tell(notes io.Writer) {
	for _, tag := range p.moved {
		fmt.Fprintf(notes, "the tag %s moved from %s\n", tag.name, tag.was)
	}
}

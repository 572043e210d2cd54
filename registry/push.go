// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	v1 "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/errdef"
	"oras.land/oras-go/v2/registry/remote"
	"oras.land/oras-go/v2/registry/remote/auth"
)

// Pusher pushes artifacts. The zero value moves every tag.
type Pusher struct {
	// Step is called with a description of each step before it; may be nil.
	Step func(string)
	// Move is called before a tag is moved away from the manifest that it names now. If it returns an
	// error, the push ends with it. Nil: every tag may be moved.
	Move func(ctx context.Context, tag string, now v1.Descriptor) error
}

// Push pushes the content that the repository lacks: first the blobs of the manifest, then the manifest, and
// last the tags, in order and each once. So a tag never names an incomplete artifact, and pushing again
// sends no content.
func (p Pusher) Push(ctx context.Context, to *remote.Repository, a Artifact, tags []string) error {
	// Request one token for all requests: the challenge of the first one names only the right to pull.
	ctx = auth.AppendRepositoryScope(ctx, to.Reference, auth.ActionPull, auth.ActionPush)
	for _, one := range []struct {
		name string
		Blob
	}{
		{"config", a.Config}, {"layer", a.Layer}, {"manifest", a.Manifest},
	} {
		p.step("pushing the " + one.name)
		if err := PushBlob(ctx, to, one.Blob); err != nil {
			return fmt.Errorf("the %s: %w", one.name, err)
		}
	}
	for i, tag := range tags {
		p.step("setting the tag " + tag)
		if err := p.tag(ctx, to, a.Manifest, tag); err != nil {
			set := ""
			if i > 0 {
				set = ", after " + strings.Join(tags[:i], ", ")
			}
			return fmt.Errorf("setting the tag %s%s: %w", tag, set, err)
		}
	}
	return nil
}

func (p Pusher) step(text string) {
	if p.Step != nil {
		p.Step(text)
	}
}

// PushBlob pushes a blob, or a manifest without a tag, unless the repository has it.
func PushBlob(ctx context.Context, to *remote.Repository, b Blob) error {
	exists, err := to.Exists(ctx, b.Descriptor)
	if err != nil || exists {
		return err
	}
	// A reader that can seek to its start, for a retry.
	return to.Push(ctx, b.Descriptor, bytes.NewReader(b.Content))
}

// tag sets a tag, unless it names the manifest already: registries may forbid to set a tag again, even to
// the same manifest.
func (p Pusher) tag(ctx context.Context, to *remote.Repository, manifest Blob, tag string) error {
	now, err := to.Resolve(ctx, tag)
	switch {
	case errors.Is(err, errdef.ErrNotFound):
	case err != nil:
		return err
	case now.Digest == manifest.Descriptor.Digest:
		return nil
	case p.Move != nil:
		if err := p.Move(ctx, tag, now); err != nil {
			return err
		}
	}
	return to.PushReference(ctx, manifest.Descriptor, bytes.NewReader(manifest.Content), tag)
}

// SPDX-License-Identifier: Apache-2.0

package oci

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	v1 "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/errdef"
	ociregistry "oras.land/oras-go/v2/registry"
	"oras.land/oras-go/v2/registry/remote"
	"oras.land/oras-go/v2/registry/remote/auth"
	"oras.land/oras-go/v2/registry/remote/retry"

	"github.com/winnow-dev/winnow/registry"
	"github.com/winnow-dev/winnow/registry/realm"
)

// Repository is a repository in a registry.
type Repository struct {
	remote      *remote.Repository
	credentials *Credentials
	// withoutTLS is Access.WithoutTLS.
	withoutTLS string
}

// Access is how registries are reached. The zero value is TLS with the authorities that the machine trusts.
type Access struct {
	// PlainHTTP reports whether a host is reached without TLS; nil for none.
	PlainHTTP func(host string) bool
	// TLS is nil for the defaults.
	TLS *tls.Config
	// WithoutTLS is the advice for a registry without TLS. If it is empty, the advice is the flag --plain-http.
	WithoutTLS string
	// TokenHosts issue the tokens of registries wherever they are.
	TokenHosts realm.Hosts
}

// Transport returns the transport, without retries, for the requests that a first host leads to, which realm.Rule restricts.
func (a Access) Transport(first *url.URL) http.RoundTripper {
	return a.rule().From(a.base(), first)
}

func (a Access) rule() realm.Rule { return realm.Rule{Plain: a.PlainHTTP, Allowed: a.TokenHosts} }

// base returns the transport without the restrictions.
func (a Access) base() *http.Transport {
	transport := http.DefaultTransport.(*http.Transport)
	if a.TLS != nil {
		transport = transport.Clone()
		transport.TLSClientConfig = a.TLS.Clone() // which a transport changes
	}
	return transport
}

// Connect returns the repository of a reference, with the credentials of Docker's configuration. A reference without
// tag and digest has the tag latest. observe, which may be nil, wraps the transport below the retries: above, bodies that
// it wraps could not be sent again. Connect sends no request yet.
func Connect(reference ociregistry.Reference, access Access, observe func(http.RoundTripper) http.RoundTripper) (*Repository, error) {
	reference.Reference = cmp.Or(reference.Reference, Latest)
	found, err := OpenCredentials()
	if err != nil {
		return nil, err
	}
	isPlain := access.PlainHTTP != nil && access.PlainHTTP(reference.Registry)
	first := &url.URL{Scheme: "https", Host: reference.Host()}
	if isPlain {
		first.Scheme = "http"
	}
	client := access.rule().NewClient(access.base(), first, func(base http.RoundTripper) http.RoundTripper {
		if observe != nil {
			base = observe(base)
		}
		return retry.NewTransport(base)
	})
	client.Credential = found.Of
	return &Repository{credentials: found, withoutTLS: access.WithoutTLS, remote: &remote.Repository{
		Reference: reference,
		PlainHTTP: isPlain,
		Client:    client,
	}}, nil
}

// Address returns oci://host/repository.
func (r *Repository) Address() string { return Address(r.remote.Reference) }

// MovedTag is a tag that referred to another artifact before a push.
type MovedTag struct {
	// Name of the tag, and Was, the digest that it referred to.
	Name string `json:"name"`
	Was  string `json:"was"`
}

// Moves returns the tags that refer to another artifact than the one to push.
func (r *Repository) Moves(ctx context.Context, a registry.Artifact, tags []string) (moved []MovedTag, err error) {
	// The same token serves the push: the challenge of the first request names only the right to pull.
	ctx = auth.AppendRepositoryScope(ctx, r.remote.Reference, auth.ActionPull, auth.ActionPush)
	for _, tag := range tags {
		now, err := r.remote.Resolve(ctx, tag)
		switch {
		case errors.Is(err, errdef.ErrNotFound):
		case err != nil:
			return nil, fmt.Errorf("reading the tag %s: %w", tag, r.advise(err))
		case now.Digest != a.Manifest.Descriptor.Digest:
			moved = append(moved, MovedTag{tag, now.Digest.String()})
		}
	}
	return moved, nil
}

// Push pushes an artifact, sets the tags, and returns the tags that referred to another artifact. It calls step with a
// description of each step, and move before a tag moves: its error ends the push. A nil move allows all.
func (r *Repository) Push(ctx context.Context, a registry.Artifact, tags []string, step func(string), move func(MovedTag) error) (moved []MovedTag, err error) {
	pusher := registry.Pusher{Step: step, Move: func(_ context.Context, tag string, now v1.Descriptor) error {
		moves := MovedTag{tag, now.Digest.String()}
		moved = append(moved, moves)
		if move == nil {
			return nil
		}
		return move(moves)
	}}
	err = pusher.Push(ctx, r.remote, a, tags)
	return moved, r.advise(err)
}

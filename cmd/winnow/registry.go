package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"oras.land/oras-go/v2/errdef"
	ociregistry "oras.land/oras-go/v2/registry"
	"oras.land/oras-go/v2/registry/remote"
	"oras.land/oras-go/v2/registry/remote/auth"
	"oras.land/oras-go/v2/registry/remote/credentials"
	"oras.land/oras-go/v2/registry/remote/retry"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/registry"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/archive"
	"github.com/winnow-dev/winnow/render/contract"
	"github.com/winnow-dev/winnow/render/selection"
)

// pullCatalog loads a catalog in a registry, called name in errors, in the place of a source.
// Credentials are those of Docker's configuration.
func pullCatalog(ctx context.Context, where, name string, ref v1alpha1.SourceReference, plainHTTP bool) (selection.Source, error) {
	repository, err := newRepository(strings.TrimPrefix(where, ociScheme), plainHTTP)
	if err != nil {
		return selection.Source{}, fmt.Errorf("%s: %w", where, err)
	}
	manifest, layer, err := pullLayer(ctx, repository, ref.Format)
	if err != nil {
		return selection.Source{}, fmt.Errorf("pulling %s: %w", where, err)
	}
	loaded, err := render.LoadArchive(ctx, name, bytes.NewReader(layer), ref.Path)
	return selection.Source{Digest: manifest, Catalog: loaded}, err
}

func newRepository(reference string, plainHTTP bool) (*remote.Repository, error) {
	parsed, err := ociregistry.ParseReference(reference)
	if err != nil {
		return nil, err
	}
	return connect(parsed, plainHTTP, retry.DefaultClient)
}

// connect returns the repository, with the credentials of Docker's configuration. Nothing is
// sent yet.
func connect(reference ociregistry.Reference, plainHTTP bool, client *http.Client) (*remote.Repository, error) {
	repository := &remote.Repository{Reference: reference}
	if repository.Reference.Reference == "" {
		repository.Reference.Reference = "latest"
	}
	store, err := credentials.NewStoreFromDocker(credentials.StoreOptions{})
	if err != nil {
		return nil, fmt.Errorf("reading Docker's configuration: %w", err)
	}
	repository.PlainHTTP = plainHTTP
	repository.Client = &auth.Client{
		Client:     client,
		Cache:      auth.NewCache(),
		Credential: credentials.Credential(store),
	}
	return repository, nil
}

// pullLayer fetches the layer with a catalog of the format, and returns the digest of its manifest as
// well. Both are checked by their digests.
func pullLayer(ctx context.Context, repository *remote.Repository, format string) (manifestDigest string, layer []byte, err error) {
	manifest, raw, err := registry.FetchManifest(ctx, repository, repository.Reference.Reference)
	if errors.Is(err, errdef.ErrNotFound) {
		return "", nil, fmt.Errorf("%w; no such repository or tag, or this account must not see it", err)
	}
	if err != nil {
		return "", nil, refuseTooLarge(advise(repository, err))
	}
	catalog, err := contract.Read(manifest.MediaType, raw)
	found := catalog.Layer
	if err != nil && format == v1alpha1.FormatApplications {
		found, err = contract.FirstArchive(manifest.MediaType, raw) // what Flux extracts, and the content decides
	}
	if err != nil {
		return "", nil, notCatalog(err)
	}
	layer, err = registry.FetchLayer(ctx, repository, found, archive.DefaultLimits().Compressed)
	if err != nil {
		return "", nil, refuseTooLarge(fmt.Errorf("fetching the layer: %w", advise(repository, err)))
	}
	return manifest.Digest.String(), layer, nil
}

// refuseTooLarge makes what is too large the fault of the artifact, and not of the transfer.
func refuseTooLarge(err error) error {
	var large *registry.TooLargeError
	if errors.As(err, &large) {
		return notCatalog(large)
	}
	return err
}

// notCatalog says that what the registry has is readable, but carries no catalog.
func notCatalog(err error) error {
	return &render.Error{Code: v1alpha1.ContractViolatedReason, Err: fmt.Errorf("the artifact is not a catalog: %w", err)}
}

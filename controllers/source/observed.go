// SPDX-License-Identifier: Apache-2.0

package source

import (
	"fmt"
	"net/url"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"

	"github.com/fluxcd/pkg/apis/meta"
	v1 "github.com/opencontainers/image-spec/specs-go/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/registries"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/contract"
	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/guard"
)

// Observed is a source with the artifact that it had when it was observed.
type Observed struct {
	Kind string
	Name types.NamespacedName
	// Place of the catalog in the artifact, as the spec has it.
	Place    render.CatalogLocation
	Artifact meta.Artifact
	// Location is the place of the catalog, nil if it is not known, or if the source has no contract.
	Location *Location

	// repository is the source itself, if it is an OCIRepository.
	repository *sourcev1.OCIRepository
	// mustVerify is true if a signature is required, and verified is its state.
	mustVerify bool
	verified   verification
}

// Loaded is a source with its catalog.
type Loaded struct {
	Observed
	Catalog *catalog.Catalog
}

// Location is the place of the catalog of an OCIRepository, according to its manifest. It never changes for an
// artifact, which is identified by digests.
type Location struct {
	// Layer is fetched from the registry. Nil: source-controller has selected the right layer, and the artifact
	// of the OCIRepository is the catalog.
	Layer *v1.Descriptor `json:"layer,omitempty"`
	// Image is the manifest of a container image, whose layers have the catalog together. It is no index.
	Image *v1.Descriptor `json:"image,omitempty"`
	// Format of the catalog. Empty: the content decides.
	Format string `json:"format,omitempty"`
	// ignoresLists is true if the manifest has a layer of named lists beside the catalog. It is not recorded.
	ignoresLists bool
}

// Note says what of the artifact is ignored; empty for nothing.
func (l *Location) Note() string {
	if l == nil || !l.ignoresLists {
		return ""
	}
	return contract.IgnoredLists
}

// fetched reports whether the catalog is fetched from the registry, and is not in the artifact of the OCIRepository.
func (l *Location) fetched() bool { return l != nil && (l.Layer != nil || l.Image != nil) }

// signature is the state of the signature of a source's artifact according to Flux.
type signature int

const (
	// valid: Flux has verified the revision of the artifact.
	valid signature = iota
	// pending: Flux has verified another revision, or none yet. On an upgrade the condition refers to the
	// new revision some time before its artifact exists.
	pending
	// refused: Flux cannot verify the artifact, or the source has no suitable settings for it.
	refused
)

// verification is the state of the signature of a source's artifact, and the reason why it is not valid. The
// zero value stands for an artifact that needs no signature.
type verification struct {
	signature signature
	problem   string
}

// Status returns the entry of the source in status.sources.
func (s Observed) Status() v1alpha1.SourceStatus {
	return v1alpha1.SourceStatus{
		Kind: s.Kind, Name: s.Name.Name, Namespace: s.Name.Namespace,
		Revision: s.Artifact.Revision, Digest: s.Artifact.Digest,
	}
}

// Guarded converts sources for the safeguards, in the same order.
func Guarded(loaded []Loaded) []guard.Source {
	return each.Map(loaded, func(l Loaded) guard.Source {
		return guard.Source{Kind: l.Kind, Name: l.Name, Path: l.Place.Path, Checksum: guard.Checksum(l.Artifact.Revision), Catalog: l.Catalog}
	})
}

// hasContract reports whether the manifest determines which part of the source is the catalog. It may be an image's
// manifest if the format is FileBased.
func (s Observed) hasContract() bool {
	return s.Kind == sourcev1.OCIRepositoryKind && (s.isAuto() || s.Place.Format == v1alpha1.FormatFileBased)
}

// isAuto reports whether the spec leaves the format open.
func (s Observed) isAuto() bool { return s.Place.Format == "" || s.Place.Format == v1alpha1.FormatAuto }

// place returns the place of the catalog in the artifact, with the format that the manifest names.
func (s Observed) place() render.CatalogLocation {
	place := s.Place
	if s.hasContract() && s.isAuto() && s.Location != nil && s.Location.Format != "" {
		place.Format = s.Location.Format
	}
	return place
}

// copied reports whether source-controller copied the layer unchanged.
func (s Observed) copied() bool {
	selector := s.repository.Status.ObservedLayerSelector
	return selector != nil && selector.Operation == sourcev1.OCILayerCopy
}

// lookupKey contains all inputs of a lookup, and the name of the source: the digest of a private catalog must
// not give access to it.
func (s Observed) lookupKey() string {
	return fmt.Sprintf("%s %s %s %s %t %t", s.Name, s.Artifact.Revision, s.Artifact.Digest, s.Artifact.URL, s.mustVerify, s.isAuto())
}

// catalogKey contains the source and the URL of its artifact, so that no selection reads the content of a source by its
// digest alone.
func (s Observed) catalogKey() string {
	digest := s.Artifact.Digest
	switch {
	case s.Location == nil:
	case s.Location.Image != nil:
		digest = s.Location.Image.Digest.String()
	case s.Location.Layer != nil:
		digest = s.Location.Layer.Digest.String()
	}
	return fmt.Sprintf("%s %s %s %s %s", s.Kind, s.Name, digest, s.Artifact.URL, s.place().Key())
}

// placeKey is what the keys of all revisions of a catalog have in common.
func (s Observed) placeKey() string {
	return fmt.Sprintf("%s %s %s", s.Kind, s.Name, s.place().Key())
}

// settings identifies the settings by which a source is fetched. Who has other credentials does not share a download.
func (s Observed) settings() string {
	if s.repository == nil {
		return ""
	}
	return fmt.Sprintf("%s %d", s.repository.UID, s.repository.Generation)
}

// host is that from which a source is fetched.
func (s Observed) host() string {
	if s.Location.fetched() || s.hasContract() && s.Location == nil {
		return registries.OfSource(s.repository).Host()
	}
	return hostOf(s.Artifact.URL)
}

func hostOf(address string) string {
	parsed, err := url.Parse(address)
	if err != nil {
		return address
	}
	return parsed.Host
}

package selections

import (
	"errors"
	"fmt"
	"path"
	"strings"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/guard"
)

// reference is the catalog that a source of a selection resolves to.
type reference struct {
	// catalog is the address of a CATALOG in a registry.
	catalog   string
	plainHTTP bool
	// ignore reports that the source has spec.ignore, and filter is what Flux takes from a revision, by guard.FilterOf.
	ignore bool
	filter string
	// semver is the range of versions that stands for the tag, and semverFilter the expression that tags match; the
	// catalog has no tag then.
	semver, semverFilter string
	// secrets reports that Flux reaches the registry with Secrets.
	secrets bool
	// verified reports that the source has spec.verify, suspended that Flux does not pull it, and untouched that Flux does
	// not update it.
	verified, suspended, untouched bool
	// unknown is the reason why the catalog is unknown.
	unknown string
	// document of the source; two references are the same when their documents are.
	document string
}

// resolve resolves the sources of a selection, in the order of the spec. unknown has a sentence for each
// source that does not resolve.
func (r *revision) resolve(cs placedSelection) (references []reference, unknown []string) {
	for _, ref := range cs.Spec.Sources {
		found, err := r.reference(cs, ref)
		if err != nil {
			unknown = append(unknown, fmt.Sprintf("source %s: %v", ref.Name, err))
		}
		references = append(references, found)
	}
	return references, unknown
}

func (r *revision) reference(cs placedSelection, ref v1alpha1.SourceReference) (reference, error) {
	kind, key := guard.SourceKey(cs.CatalogSelection, ref)
	nearest := r.nearest(cs.origin, kind, key)
	if len(nearest) == 0 && cs.cluster != "" {
		// Another program than Flux may apply the sources.
		nearest = r.nearest(origin{file: cs.place()}, kind, key)
	}
	if len(nearest) == 0 {
		return reference{}, fmt.Errorf("no %s of this name is among the files", kind)
	}
	if err := sameDocument(nearest); err != nil {
		return reference{}, err
	}
	found, err := nearest[0].reference()
	if err == nil && found.semver != "" {
		err = errors.New("which tag its ref.semver stands for is not looked up here: name a tag or a digest")
	}
	return found, err
}

// sameDocument returns an error if the documents of the sources differ.
func sameDocument(sources []placedSource) error {
	for _, other := range sources[1:] {
		if other.document != sources[0].document {
			return fmt.Errorf("there are several: %s and %s have one", sources[0].file, other.file)
		}
	}
	return nil
}

// nearest returns the sources of the cluster, or without a cluster those in the nearest directory, which may be one that
// is built alone.
func (r *revision) nearest(where origin, kind string, key types.NamespacedName) []placedSource {
	var nearest []placedSource
	for _, s := range r.sources {
		// kustomize may set a namespace that is missing in the file.
		anywhere := key.Namespace == "" || s.Namespace == "" || s.Namespace == key.Namespace
		if s.cluster != where.cluster && (where.cluster != "" || !s.alone) || s.Kind != kind || s.Name != key.Name || !anywhere {
			continue
		}
		if len(nearest) > 0 && where.cluster == "" {
			near, other := commonDirectories(where.file, s.place()), commonDirectories(where.file, nearest[0].place())
			if near < other {
				continue
			}
			if near > other {
				nearest = nil
			}
		}
		nearest = append(nearest, s)
	}
	return nearest
}

// shared counts the directories that two files have in common.
func commonDirectories(a, b string) int {
	mine, theirs := strings.Split(path.Dir(a), "/"), strings.Split(path.Dir(b), "/")
	n := 0
	for n < min(len(mine), len(theirs)) && mine[n] == theirs[n] {
		n++
	}
	return n
}

// reference returns the catalog of a source. It prefers the digest, then semver, as Flux does.
func (s placedSource) reference() (reference, error) {
	found := reference{document: s.document + s.hidden, untouched: s.untouched, unknown: strings.Join(s.unknown, "; ")}
	if found.unknown != "" {
		return found, errors.New(found.unknown)
	}
	if s.Kind != sourcev1.OCIRepositoryKind {
		return found, fmt.Errorf("the catalog of a %s is not supported with --git", s.Kind)
	}
	var repository struct {
		Spec repositorySpec `json:"spec"`
	}
	if err := yaml.Unmarshal([]byte(s.document), &repository); err != nil {
		return found, err
	}
	spec := repository.Spec
	found.verified, found.suspended = spec.Verify != nil, spec.Suspend
	if !strings.HasPrefix(spec.URL, sourcev1.OCIRepositoryPrefix) {
		return found, fmt.Errorf("its url does not begin with %s", sourcev1.OCIRepositoryPrefix)
	}
	found.catalog, found.plainHTTP, found.ignore = spec.URL, spec.Insecure, spec.Ignore != nil && *spec.Ignore != ""
	found.filter = guard.FilterOf(spec.Ignore, spec.LayerSelector.MediaType, spec.LayerSelector.Operation)
	found.secrets = spec.SecretRef != nil || spec.CertSecretRef != nil || spec.ProxySecretRef != nil
	switch {
	case spec.Reference.Digest != "":
		found.catalog += "@" + spec.Reference.Digest
	case spec.Reference.SemVer != "":
		found.semver, found.semverFilter = spec.Reference.SemVer, spec.Reference.SemverFilter
	case spec.Reference.Tag != "":
		found.catalog += ":" + spec.Reference.Tag
	}
	return found, nil
}

// repositorySpec has the fields of an OCIRepository that determine what Flux pulls.
type repositorySpec struct {
	URL       string        `json:"url"`
	Reference repositoryRef `json:"ref"`
	Insecure  bool          `json:"insecure"`
	Ignore    *string       `json:"ignore"`
	Suspend   bool          `json:"suspend"`
	Verify    any           `json:"verify"`
	// LayerSelector is nothing but its fields by default.
	LayerSelector sourcev1.OCILayerSelector `json:"layerSelector"`
	// SecretRef, CertSecretRef and ProxySecretRef name Secrets.
	SecretRef      any `json:"secretRef"`
	CertSecretRef  any `json:"certSecretRef"`
	ProxySecretRef any `json:"proxySecretRef"`
}

type repositoryRef struct {
	Digest string `json:"digest"`
	SemVer string `json:"semver"`
	// SemverFilter is a regular expression.
	SemverFilter string `json:"semverFilter"`
	Tag          string `json:"tag"`
}

// requireVerified returns an error if ref requires verification and the source in the commit has no spec.verify,
// as the controller does.
func (r reference) requireVerified(ref v1alpha1.SourceReference) error {
	if !ref.RequireVerified || r.verified {
		return nil
	}
	return &render.Error{Code: v1alpha1.VerificationFailedReason, Err: fmt.Errorf(
		"source %s is required to be verified, and its %s has no spec.verify", ref.Name, sourcev1.OCIRepositoryKind)}
}

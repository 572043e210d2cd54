// SPDX-License-Identifier: Apache-2.0

package documents

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/instance"
)

// Source is a source of Flux.
type Source struct {
	metav1.PartialObjectMetadata
	Origin
	// document is the whole object in JSON, and spec what an OCIRepository has of it, unless it is invalid.
	document string
	spec     repositorySpec
	invalid  error
}

func newSource(head metav1.PartialObjectMetadata, document []byte) Source {
	s := Source{PartialObjectMetadata: head, document: string(document)}
	if s.Kind == sourcev1.OCIRepositoryKind {
		var repository struct {
			Spec repositorySpec `json:"spec"`
		}
		s.invalid = json.Unmarshal(document, &repository)
		s.spec = repository.Spec
	}
	return s
}

// Reference is the catalog that a source of a selection resolves to.
type Reference struct {
	// Catalog is the address of a CATALOG in a registry, and Digest the one in it, if it has one.
	Catalog, Digest string
	// PlainHTTP reports that the registry is contacted without TLS.
	PlainHTTP bool
	// Ignore reports that the source has spec.ignore. Filter is what Flux takes from a revision: it differs where spec.ignore or
	// spec.layerSelector does.
	Ignore bool
	Filter string
	// Chart reports that Flux takes the layer of a Helm chart.
	Chart bool
	// SemVer is the range of versions that stands for the tag, and SemverFilter the expression that tags match; the
	// catalog has no tag then.
	SemVer, SemverFilter string
	// Secrets reports that Flux reaches the registry with Secrets.
	Secrets bool
	// Verified reports that the source has spec.verify, Suspended that Flux does not pull it, and Untouched that Flux does
	// not update it.
	Verified, Suspended, Untouched bool
	// unknown is the reason why the catalog is unknown.
	unknown string
	// Document of the source; two references are the same when their documents are.
	Document string
}

// IsSame reports whether two sources have the same document.
func (s Source) IsSame(other Source) bool {
	return s.document == other.document && s.Hidden == other.Hidden && slices.Equal(s.Unknown, other.Unknown)
}

// HasSameContent reports whether two sources have the same fields, except the fields on when Flux pulls.
func (s Source) HasSameContent(other Source) bool {
	content := func(of Source) string {
		var source struct {
			Spec map[string]any `json:"spec"`
		}
		if err := json.Unmarshal([]byte(of.document), &source); err != nil {
			return of.document
		}
		for _, field := range []string{"interval", "timeout", "suspend"} {
			delete(source.Spec, field)
		}
		return JSONOf(source.Spec)
	}
	return content(s) == content(other)
}

// unread returns why the fields are not known; empty if they are.
func (s Source) unread() string { return cmp.Or(s.Lost, strings.Join(s.Unknown, "; ")) }

// Reference returns the catalog of a source. It prefers the digest, then semver, as Flux does.
func (s Source) Reference() (Reference, error) {
	found := Reference{Document: s.document + s.Hidden, Untouched: s.Untouched, unknown: s.unread()}
	if found.unknown != "" {
		return found, errors.New(found.unknown)
	}
	if s.Kind != sourcev1.OCIRepositoryKind {
		return found, fmt.Errorf("the catalog of a %s is not supported with --git", s.Kind)
	}
	if s.invalid != nil {
		return found, s.invalid
	}
	spec := s.spec
	found.Verified, found.Suspended = spec.Verify != nil, spec.Suspend
	if !strings.HasPrefix(spec.URL, sourcev1.OCIRepositoryPrefix) {
		return found, fmt.Errorf("its url does not begin with %s", sourcev1.OCIRepositoryPrefix)
	}
	found.Catalog, found.PlainHTTP, found.Ignore = spec.URL, spec.Insecure, spec.Ignore != nil && *spec.Ignore != ""
	found.Filter = spec.filter()
	found.Chart = strings.HasPrefix(spec.LayerSelector.MediaType, "application/vnd.cncf.helm.")
	found.Secrets = spec.SecretRef != nil || spec.CertSecretRef != nil || spec.ProxySecretRef != nil
	switch {
	case spec.Reference.Digest != "":
		found.Digest = spec.Reference.Digest
		found.Catalog += "@" + found.Digest
	case spec.Reference.SemVer != "":
		found.SemVer, found.SemverFilter = spec.Reference.SemVer, spec.Reference.SemverFilter
	case spec.Reference.Tag != "":
		found.Catalog += ":" + spec.Reference.Tag
	}
	return found, nil
}

// repositorySpec has the fields of an OCIRepository that determine what Flux pulls.
type repositorySpec struct {
	URL       string                    `json:"url"`
	Reference sourcev1.OCIRepositoryRef `json:"ref"`
	Insecure  bool                      `json:"insecure"`
	Ignore    *string                   `json:"ignore"`
	Suspend   bool                      `json:"suspend"`
	Verify    any                       `json:"verify"`
	// LayerSelector is nothing but its fields by default.
	LayerSelector sourcev1.OCILayerSelector `json:"layerSelector"`
	// SecretRef, CertSecretRef and ProxySecretRef name Secrets.
	SecretRef      any `json:"secretRef"`
	CertSecretRef  any `json:"certSecretRef"`
	ProxySecretRef any `json:"proxySecretRef"`
}

// filter returns a text that differs where Flux takes something else from a revision.
func (s repositorySpec) filter() string {
	operation := cmp.Or(s.LayerSelector.Operation, sourcev1.OCILayerExtract)
	ignore := "unset"
	if s.Ignore != nil {
		ignore = strconv.Quote(*s.Ignore)
	}
	return fmt.Sprintf("%s %q %q", ignore, s.LayerSelector.MediaType, operation)
}

// IsRead reports whether the fields come from a document.
func (r Reference) IsRead() bool { return r.Document != "" && r.unknown == "" }

// RequireVerified returns an error if ref requires verification and the source in the commit has no spec.verify,
// as the controller does.
func (r Reference) RequireVerified(ref v1alpha1.SourceReference) error {
	if !ref.RequireVerified || r.Verified {
		return nil
	}
	return &render.Error{Code: v1alpha1.VerificationFailedReason, Err: fmt.Errorf(
		"source %s is required to be verified, and its %s has no spec.verify", ref.Name, sourcev1.OCIRepositoryKind)}
}

// Moves returns why the content of a source changes without a commit; empty if it is pinned, or not known.
func (s Source) Moves() string {
	var source struct {
		Spec struct {
			Ref struct {
				Digest, SemVer, Tag, Branch, Commit, Name string
			} `json:"ref"`
		} `json:"spec"`
	}
	if s.unread() != "" || json.Unmarshal([]byte(s.document), &source) != nil {
		return ""
	}
	ref := source.Spec.Ref
	switch {
	case s.Kind == sourcev1.BucketKind:
		return "has whatever the bucket has"
	case s.Kind == sourcev1.GitRepositoryKind && ref.Commit == "" && !strings.HasPrefix(ref.Name, "refs/tags/") && (ref.Tag == "" || ref.SemVer != "" || ref.Name != ""):
		return "follows a branch or a range"
	case s.Kind != sourcev1.OCIRepositoryKind || ref.Digest != "":
		return ""
	case ref.SemVer != "":
		return "follows the range " + excerpt.Of(ref.SemVer)
	case ref.Tag == "":
		return "follows the tag latest"
	case !instance.IsExact(ref.Tag):
		return "follows the tag " + excerpt.Of(ref.Tag)
	}
	return ""
}

// Qualified returns the kind, namespace and name of an object for a message.
func Qualified(kind, namespace, name string) string {
	if namespace != "" {
		name = namespace + "/" + name
	}
	return kind + " " + name
}

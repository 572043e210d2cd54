package guard

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/selection"
)

// defaultKind is that of a reference without one.
const defaultKind = "OCIRepository"

// Source is a source of a render.
type Source struct {
	// Kind and Name of the Flux object, and Path inside its artifact.
	Kind string
	Name types.NamespacedName
	Path string
	// Checksum of its revision, <algorithm>:<hex>, which an approval names; empty when unknown.
	Checksum string
	// Digest of its artifact, which may differ at the same revision; it may be empty.
	Digest  string
	Catalog *catalog.Catalog
}

// Selection returns the source as it is rendered.
func (s Source) Selection() selection.Source {
	return selection.Source{Name: s.Name.Name, Digest: s.Checksum, Catalog: s.Catalog}
}

// Selections returns the sources as they are rendered.
func Selections(sources []Source) []selection.Source {
	out := make([]selection.Source, len(sources))
	for i, s := range sources {
		out[i] = s.Selection()
	}
	return out
}

// Checksum returns the checksum part of a revision, <algorithm>:<hex>, which for an
// OCIRepository is the digest of the manifest. A revision may be a checksum alone.
func Checksum(revision string) string {
	return revision[strings.LastIndexByte(revision, '@')+1:]
}

// SourceKey returns the kind and the full name of a reference in cs, with the defaults filled in.
func SourceKey(cs *v1alpha1.CatalogSelection, ref v1alpha1.SourceReference) (string, types.NamespacedName) {
	kind := ref.Kind
	if kind == "" {
		kind = defaultKind
	}
	key := types.NamespacedName{Namespace: ref.Namespace, Name: ref.Name}
	if key.Namespace == "" {
		key.Namespace = cs.Namespace
	}
	return kind, key
}

// ToApprove returns the sources whose revisions have to be approved: those that differ from what
// was rendered before, or all when none does. A source whose checksum is unknown differs.
func ToApprove(before []v1alpha1.SourceStatus, sources []Source) []Source {
	var changed []Source
	for _, source := range sources {
		same := slices.ContainsFunc(before, func(s v1alpha1.SourceStatus) bool {
			return s.Kind == source.Kind && s.Namespace == source.Name.Namespace && s.Name == source.Name.Name &&
				Checksum(s.Revision) == source.Checksum && s.Digest == source.Digest
		})
		if !same || source.Checksum == "" {
			changed = append(changed, source)
		}
	}
	if len(changed) == 0 {
		return sources
	}
	return changed
}

// Checksums returns the known checksums of the sources, sorted and each once.
func Checksums(sources []Source) []string {
	var sums []string
	for _, s := range sources {
		if s.Checksum != "" {
			sums = append(sums, s.Checksum)
		}
	}
	slices.Sort(sums)
	return slices.Compact(sums)
}

// Approved says whether the selection approves every one of the sources. One whose checksum is
// unknown cannot be approved.
func Approved(safeguards v1alpha1.Safeguards, sources []Source) bool {
	return !slices.ContainsFunc(sources, func(s Source) bool {
		return !slices.Contains(safeguards.Approve, s.Checksum)
	})
}

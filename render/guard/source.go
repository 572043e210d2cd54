package guard

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/selection"
)

// defaultKind is the kind of a reference without one.
const defaultKind = "OCIRepository"

// Source is a source of a render.
type Source struct {
	// Kind and Name of the Flux object, and Path inside its artifact.
	Kind string
	Name types.NamespacedName
	Path string
	// Checksum of its revision, <algorithm>:<hex>, which approvals name; empty when unknown.
	Checksum string
	// Digest of its artifact, which may differ at the same revision; may be empty.
	Digest  string
	Catalog *catalog.Catalog
}

// SourceOf returns the source that a reference in cs names, with its content.
func SourceOf(cs *v1alpha1.CatalogSelection, ref v1alpha1.SourceReference, content selection.Source) Source {
	kind, name := SourceKey(cs, ref)
	return Source{Kind: kind, Name: name, Path: ref.Path, Checksum: content.Digest, Catalog: content.Catalog}
}

// selection converts the source for render.Render.
func (s Source) selection() selection.Source {
	return selection.Source{Name: s.Name.Name, Digest: s.Checksum, Catalog: s.Catalog}
}

// Selections converts the sources for render.Render.
func Selections(sources []Source) []selection.Source {
	out := make([]selection.Source, len(sources))
	for i, s := range sources {
		out[i] = s.selection()
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

// Approval has the checksums that release the held changes of a render.
type Approval struct {
	// Needed are the checksums that all have to be approved.
	Needed []string
	// Render is the checksum of the new render. Approving it alone is enough.
	Render string
}

// ToApprove returns the approval that releases a render. A pull request can name the digest of a manifest
// before it is pulled, so the revisions of all changed OCIRepositories and ExternalArtifacts have to be
// approved. The render itself has to be approved where that is not possible: a commit cannot name itself,
// an edit of the spec alone has no revision, and before the first render no revision is the cause. An
// entry that was copied from another selection does not name this render.
func ToApprove(before []v1alpha1.SourceStatus, sources []Source, revision string) Approval {
	a := Approval{Render: Checksum(revision)}
	var changed []Source
	for _, source := range sources {
		same := slices.ContainsFunc(before, func(s v1alpha1.SourceStatus) bool {
			return s.Kind == source.Kind && s.Namespace == source.Name.Namespace && s.Name == source.Name.Name &&
				Checksum(s.Revision) == source.Checksum && s.Digest == source.Digest
		})
		if !same {
			changed = append(changed, source)
		}
	}
	unnamed := func(s Source) bool {
		return s.Checksum == "" || s.Kind == "GitRepository" || s.Kind == "Bucket"
	}
	if a.Needed = Checksums(changed); len(before) == 0 || len(a.Needed) == 0 || slices.ContainsFunc(changed, unnamed) {
		a.Needed = []string{a.Render}
	}
	return a
}

// GivenBy reports whether entries of spec.safeguards.approve, <checksum> or <checksum>#<note>, approve
// the render.
func (a Approval) GivenBy(entries []string) bool {
	return len(a.Missing(entries)) == 0
}

// Missing returns the checksums that entries still have to name, none when they approve the render.
func (a Approval) Missing(entries []string) []string {
	if names(entries, a.Render) {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(a.Needed), func(sum string) bool { return names(entries, sum) })
}

// Lines returns entries that approve the render, with a note where the plain checksum is used up.
func (a Approval) Lines(used []string) []string {
	lines := slices.Clone(a.Needed)
	for i, sum := range a.Needed {
		for n := 2; slices.Contains(used, lines[i]); n++ {
			lines[i] = fmt.Sprintf("%s#%d", sum, n)
		}
	}
	return lines
}

// Unused returns the entries that are not used up.
func Unused(entries, used []string) []string {
	return slices.DeleteFunc(slices.Clone(entries), func(entry string) bool { return slices.Contains(used, entry) })
}

// Used returns the entries that are used up after a publication: those in used, and those that name one of
// the published checksums or one of the checksums that were held and passed over.
func Used(entries, used, published, passedOver []string) []string {
	return slices.DeleteFunc(slices.Clone(entries), func(entry string) bool {
		sum, _, _ := strings.Cut(entry, "#")
		return !slices.Contains(used, entry) && !slices.Contains(published, sum) && !slices.Contains(passedOver, sum)
	})
}

// names reports whether one of the entries names the checksum.
func names(entries []string, sum string) bool {
	return slices.ContainsFunc(entries, func(entry string) bool {
		named, _, _ := strings.Cut(entry, "#")
		return named == sum
	})
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

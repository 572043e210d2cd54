package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops"
	"github.com/winnow-dev/winnow/cmd/winnow/lists"
	"github.com/winnow-dev/winnow/cmd/winnow/oci"
	"github.com/winnow-dev/winnow/cmd/winnow/selectionfile"
	"github.com/winnow-dev/winnow/render/guard"
)

// revision is what a commit of a GitOps repository says about catalogs.
type revision struct {
	selections []placedSelection
	sources    []placedSource
	consumers  []placedConsumer
	notes      []string
	skipped    []skipped
}

// origin is where something is written.
type origin struct {
	// cluster is the directory of the cluster that has it, and kustomization what applies it; both are
	// empty for what is read as it stands in its file.
	cluster, kustomization, file string
	// unknown says what of it is not known, in sentences, and hidden differs where that does.
	unknown []string
	hidden  string
	// unapplied says that no Kustomization applies the file, though there are some.
	unapplied bool
}

type placedSelection struct {
	*v1alpha1.CatalogSelection
	origin
	// invalid says why it cannot be decoded; then only its name is known.
	invalid error
}

// placedSource is a source of Flux.
type placedSource struct {
	metav1.PartialObjectMetadata
	origin
	// document has all that it says.
	document string
}

// repositorySpec is that of an OCIRepository, as far as it says what is pulled.
type repositorySpec struct {
	URL       string        `json:"url"`
	Reference repositoryRef `json:"ref"`
	Insecure  bool          `json:"insecure"`
	Ignore    string        `json:"ignore"`
	Suspend   bool          `json:"suspend"`
	Verify    any           `json:"verify"`
}

type repositoryRef struct {
	Digest string `json:"digest"`
	SemVer string `json:"semver"`
	Tag    string `json:"tag"`
}

// newRevision takes in what a commit applies, and the files that it has beside.
func newRevision(ctx context.Context, state gitops.State) revision {
	r := revision{notes: state.Notes}
	for _, o := range state.Objects {
		where := origin{cluster: o.Cluster, kustomization: o.Kustomization, file: o.File, unknown: o.Unknown, hidden: o.Hidden}
		document, err := yaml.Marshal(o.Object)
		if err == nil {
			err = r.document(ctx, where, document)
		}
		if err != nil {
			r.notes = append(r.notes, fmt.Sprintf("%s: %s %s is left out: %v", o.Cluster, o.GetKind(), o.GetName(), err))
		}
	}
	for _, file := range state.Files {
		r.read(ctx, file)
	}
	return r
}

func mayMatter(content []byte) bool {
	return bytes.Contains(content, []byte(v1alpha1.CatalogSelectionKind)) ||
		bytes.Contains(content, []byte(sourcev1.GroupVersion.Group))
}

// read takes in the documents of a file.
func (r *revision) read(ctx context.Context, file gitops.File) {
	documents := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(file.Content)))
	for i := 1; ; i++ {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return
		}
		if err == nil && mayMatter(document) {
			err = r.document(ctx, origin{file: file.Path, unapplied: file.Unapplied}, document)
		}
		if err != nil {
			left := skipped{file.Path, string(document), i, err}
			if file.Unapplied {
				r.notes = append(r.notes, left.told(""))
			} else {
				r.skipped = append(r.skipped, left)
			}
		}
	}
}

func (r *revision) document(ctx context.Context, where origin, document []byte) error {
	var object map[string]any
	if err := yaml.Unmarshal(document, &object); err != nil {
		return err
	}
	if items, isList := lists.Items(object); isList {
		return r.items(ctx, where, items)
	}
	var head metav1.PartialObjectMetadata
	if err := yaml.Unmarshal(document, &head); err != nil {
		return err
	}
	group, _, _ := strings.Cut(head.APIVersion, "/")
	switch {
	case group == sourcev1.GroupVersion.Group:
		r.sources = append(r.sources, placedSource{head, where, string(document)})
	case group == kustomizev1.GroupVersion.Group && where.cluster != "":
		return r.consumer(where, document)
	case group == v1alpha1.GroupVersion.Group && head.Kind == v1alpha1.CatalogSelectionKind:
		if !hasSources(document) {
			return errors.New("a CatalogSelection without sources, such as a patch")
		}
		cs, err := selectionfile.ParseDocument(ctx, document)
		if err != nil {
			cs = &v1alpha1.CatalogSelection{ObjectMeta: metav1.ObjectMeta{Name: head.Name, Namespace: head.Namespace}}
		}
		return r.add(placedSelection{cs, where, err})
	}
	return nil
}

// items takes in those of a list.
func (r *revision) items(ctx context.Context, where origin, items []any) error {
	var failures []error
	for i, item := range items {
		document, err := yaml.Marshal(item)
		if err == nil {
			err = r.document(ctx, where, document)
		}
		if err != nil {
			failures = append(failures, fmt.Errorf("item %d: %w", i+1, err))
		}
	}
	return errors.Join(failures...)
}

func hasSources(document []byte) bool {
	var cs struct {
		Spec struct {
			Sources any `json:"sources"`
		} `json:"spec"`
	}
	return yaml.Unmarshal(document, &cs) != nil || cs.Spec.Sources != nil
}

func (r *revision) add(cs placedSelection) error {
	for _, other := range r.selections {
		if other.cluster == cs.cluster && (cs.cluster != "" || other.file == cs.file) && sameName(other, cs) {
			return fmt.Errorf("a second CatalogSelection %s", cs.Name)
		}
	}
	r.selections = append(r.selections, cs)
	return nil
}

// reference is what a source of a selection stands for.
type reference struct {
	// catalog is a CATALOG in a registry.
	catalog   string
	plainHTTP bool
	ignore    bool
	// verified says that Flux is told how to verify it, and suspended that it pulls nothing.
	verified, suspended bool
	// unknown says why what it stands for is not known.
	unknown string
	// document of the source; two references are the same when their documents are.
	document string
}

// resolve returns what the sources of a selection stand for, in their order. unknown says why that
// cannot be told.
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
		// Something else than Flux may apply the sources.
		nearest = r.nearest(origin{file: cs.file}, kind, key)
	}
	if len(nearest) == 0 {
		return reference{}, fmt.Errorf("no %s of this name is among the files", kind)
	}
	for _, other := range nearest[1:] {
		if other.document != nearest[0].document {
			return reference{}, fmt.Errorf("there are several: %s and %s have one", nearest[0].file, other.file)
		}
	}
	return nearest[0].reference()
}

// nearest returns the sources of the cluster, or outside of clusters those in the nearest directory.
func (r *revision) nearest(where origin, kind string, key types.NamespacedName) []placedSource {
	var nearest []placedSource
	for _, s := range r.sources {
		// What has no namespace gets one from kustomize.
		anywhere := key.Namespace == "" || s.Namespace == "" || s.Namespace == key.Namespace
		if s.cluster != where.cluster || s.Kind != kind || s.Name != key.Name || !anywhere {
			continue
		}
		if len(nearest) > 0 && where.cluster == "" {
			near, other := shared(where.file, s.file), shared(where.file, nearest[0].file)
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
func shared(a, b string) int {
	mine, theirs := strings.Split(path.Dir(a), "/"), strings.Split(path.Dir(b), "/")
	n := 0
	for n < min(len(mine), len(theirs)) && mine[n] == theirs[n] {
		n++
	}
	return n
}

// reference prefers the digest, then semver, as Flux does.
func (s placedSource) reference() (reference, error) {
	found := reference{document: s.document + s.hidden, unknown: strings.Join(s.unknown, "; ")}
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
	if !strings.HasPrefix(spec.URL, oci.Scheme) {
		return found, fmt.Errorf("its url does not begin with %s", oci.Scheme)
	}
	found.catalog, found.plainHTTP, found.ignore = spec.URL, spec.Insecure, spec.Ignore != ""
	switch {
	case spec.Reference.Digest != "":
		found.catalog += "@" + spec.Reference.Digest
	case spec.Reference.SemVer != "":
		return found, errors.New("which tag its ref.semver stands for is not looked up here: name a tag or a digest")
	case spec.Reference.Tag != "":
		found.catalog += ":" + spec.Reference.Tag
	}
	return found, nil
}

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

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/guard"
)

// fluxGroup is the API group of Flux's sources, and ociKind the kind that can be pulled here.
const (
	fluxGroup = "source.toolkit.fluxcd.io"
	ociKind   = "OCIRepository"
)

// gitops is what a commit of a GitOps repository says about catalogs. Files are read as they stand
// there: kustomize overlays and variables are not applied.
type gitops struct {
	selections []placedSelection
	sources    []placedSource
	notes      []string
}

type placedSelection struct {
	*v1alpha1.CatalogSelection
	file string
	// invalid says why it cannot be decoded; then only its name is known.
	invalid error
}

// placedSource is a source of Flux.
type placedSource struct {
	metav1.PartialObjectMetadata
	file string
	// document has all that it says.
	document string
}

// repositorySpec is that of an OCIRepository, as far as it says what is pulled.
type repositorySpec struct {
	URL       string        `json:"url"`
	Reference repositoryRef `json:"ref"`
	Insecure  bool          `json:"insecure"`
	Ignore    string        `json:"ignore"`
}

type repositoryRef struct {
	Digest string `json:"digest"`
	SemVer string `json:"semver"`
	Tag    string `json:"tag"`
}

// readGitOps reads the YAML files of a commit below the paths. exists says whether a path is there.
func readGitOps(ctx context.Context, commit string, paths []string) (state gitops, exists bool, err error) {
	seen := map[string]bool{}
	for _, dir := range paths {
		files, notes, there, err := git{}.files(ctx, commit, dir, mayMatter)
		if err != nil {
			return gitops{}, false, err
		}
		exists = exists || there
		state.notes = append(state.notes, notes...)
		for _, file := range files {
			if !seen[file.path] {
				seen[file.path] = true
				state.read(file)
			}
		}
	}
	return state, exists, nil
}

func mayMatter(content []byte) bool {
	return bytes.Contains(content, []byte(v1alpha1.CatalogSelectionKind)) || bytes.Contains(content, []byte(fluxGroup))
}

// read takes in the documents of a file.
func (g *gitops) read(file gitFile) {
	documents := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(file.content)))
	for i := 1; ; i++ {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return
		}
		if err == nil && mayMatter(document) {
			err = g.document(file.path, document)
		}
		if err != nil {
			g.notes = append(g.notes, fmt.Sprintf("%s: document %d is left out: %v", file.path, i, err))
		}
	}
}

func (g *gitops) document(file string, document []byte) error {
	var head metav1.PartialObjectMetadata
	if err := yaml.Unmarshal(document, &head); err != nil {
		return err
	}
	group, _, _ := strings.Cut(head.APIVersion, "/")
	switch {
	case group == fluxGroup:
		g.sources = append(g.sources, placedSource{head, file, string(document)})
	case group == v1alpha1.GroupVersion.Group && head.Kind == v1alpha1.CatalogSelectionKind:
		if !hasSources(document) {
			return errors.New("a CatalogSelection without sources, such as a patch")
		}
		cs, err := parseSelection(document)
		if err != nil {
			cs = &v1alpha1.CatalogSelection{ObjectMeta: metav1.ObjectMeta{Name: head.Name, Namespace: head.Namespace}}
		}
		return g.add(placedSelection{cs, file, err})
	}
	return nil
}

func hasSources(document []byte) bool {
	var cs struct {
		Spec struct {
			Sources any `json:"sources"`
		} `json:"spec"`
	}
	return yaml.Unmarshal(document, &cs) != nil || cs.Spec.Sources != nil
}

func (g *gitops) add(cs placedSelection) error {
	for _, other := range g.selections {
		if other.file == cs.file && other.Namespace == cs.Namespace && other.Name == cs.Name {
			return fmt.Errorf("a second CatalogSelection %s", cs.Name)
		}
	}
	g.selections = append(g.selections, cs)
	return nil
}

// reference is what a source of a selection stands for.
type reference struct {
	// catalog is a CATALOG in a registry.
	catalog   string
	plainHTTP bool
	ignore    bool
	// document of the source; two references are the same when their documents are.
	document string
}

// resolve returns what the sources of a selection stand for, in their order. unknown says why that
// cannot be told.
func (g *gitops) resolve(cs placedSelection) (references []reference, unknown []string) {
	for _, ref := range cs.Spec.Sources {
		found, err := g.reference(cs, ref)
		if err != nil {
			unknown = append(unknown, fmt.Sprintf("source %s: %v", ref.Name, err))
		}
		references = append(references, found)
	}
	return references, unknown
}

func (g *gitops) reference(cs placedSelection, ref v1alpha1.SourceReference) (reference, error) {
	kind, key := guard.SourceKey(cs.CatalogSelection, ref)
	var nearest []placedSource
	for _, s := range g.sources {
		// What has no namespace gets one from kustomize.
		anywhere := key.Namespace == "" || s.Namespace == "" || s.Namespace == key.Namespace
		if s.Kind != kind || s.Name != key.Name || !anywhere {
			continue
		}
		if len(nearest) > 0 {
			near, other := shared(cs.file, s.file), shared(cs.file, nearest[0].file)
			if near < other {
				continue
			}
			if near > other {
				nearest = nil
			}
		}
		nearest = append(nearest, s)
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
	found := reference{document: s.document}
	if s.Kind != ociKind {
		return found, fmt.Errorf("the catalog of a %s cannot be had here", s.Kind)
	}
	var repository struct {
		Spec repositorySpec `json:"spec"`
	}
	if err := yaml.Unmarshal([]byte(s.document), &repository); err != nil {
		return found, err
	}
	spec := repository.Spec
	if !strings.HasPrefix(spec.URL, ociScheme) {
		return found, fmt.Errorf("its url does not begin with %s", ociScheme)
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

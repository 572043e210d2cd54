// SPDX-License-Identifier: Apache-2.0

package gitops

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/winnow-dev/winnow/cmd/winnow/gitops/manifest"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/repository"
	"github.com/winnow-dev/winnow/render/excerpt"
)

// resolve returns the tree and the directory that a source has. The error is an elsewhere.
func (w *walk) resolve(m manifest.Ref) (*repository.Tree, string, error) {
	source := w.find(m)
	name := m.Kind + " " + manifest.NameOf(m.Name)
	dir, because, err := w.recognize(m, source, name)
	if err == nil && source != nil {
		err = w.checkFiles(source, name)
	}
	if err != nil {
		return nil, "", err
	}
	w.recognized[name] = because
	return w.artifact(source), dir, nil
}

// recognize returns the directory of this repository that a source has, nil for one that is not there, and why it is this one.
func (w *walk) recognize(m manifest.Ref, source *manifest.Object, name string) (dir, because string, err error) {
	if dir, found := w.self.Find(m.Name); found {
		return dir, "--repository says so", nil
	}
	no := func(here bool, format string, args ...any) (string, string, error) {
		return "", "", &elsewhere{fmt.Sprintf(format, args...), here, here}
	}
	switch {
	case m.Kind == sourcev1.ExternalArtifactKind:
		return no(false, "its source is the %s, which no CatalogSelection publishes", name)
	case source == nil:
		return no(true, "%s is not in this repository", name)
	case m.Kind != sourcev1.GitRepositoryKind:
		return no(!w.recognizes(), "its source is the %s%s", name, following(source))
	case len(source.Unknown) > 0:
		return no(true, "its source is the %s: %s", name, strings.Join(source.Unknown, "; "))
	}
	url := manifest.StringAt(source.Unstructured, "spec", "url")
	remote := w.self.Remotes[repository.AddressOf(url)]
	if remote == "" {
		return no(!w.recognizes() || w.self.HasName(url), "%s has the url %s, which no remote of this repository has", name, withoutUser(url))
	}
	if pin := pinOf(source); pin != "" {
		return no(false, "%s stays at ref.%s, whatever is committed", name, pin)
	}
	if is, own := branchName(source), w.ownBranch(); own != "" && is != own {
		return no(false, "%s follows the branch %s, and not %s as the cluster does", name, excerpt.Of(is), excerpt.Of(own))
	}
	return ".", "the remote " + remote + " has its url", nil
}

// checkFiles returns an elsewhere for a source of this repository whose files are not known.
func (w *walk) checkFiles(source *manifest.Object, name string) error {
	filter := filterOf(source)
	switch {
	case len(filter.Ignore) > maxIgnore:
		return &elsewhere{reason: fmt.Sprintf("%s has more than %d bytes in spec.ignore", name, maxIgnore), here: true}
	case len(manifest.StringsAt(source.Unstructured, "spec", "include")) > 0:
		return &elsewhere{reason: name + " has spec.include, which is not evaluated here", here: true}
	}
	for _, dir := range filter.Sparse {
		if !w.tree.Exists(repository.CleanPath(dir)) {
			return &elsewhere{reason: fmt.Sprintf("%s has %s in spec.sparseCheckout, which the commit lacks: the artifact of an earlier one stays", name, dir)}
		}
	}
	return nil
}

// following returns that an OCIRepository follows a tag, as the end of a sentence; empty for one with a digest.
func following(source *manifest.Object) string {
	ref := func(field string) string { return manifest.StringAt(source.Unstructured, "spec", "ref", field) }
	switch {
	case source.GetKind() != sourcev1.OCIRepositoryKind || ref("digest") != "":
		return ""
	case ref("semver") != "":
		return ", which follows the range " + excerpt.Of(ref("semver")) + ": what that gets is not compared"
	}
	return ", which follows the tag " + excerpt.Of(cmp.Or(ref("tag"), "latest")) + ": what that gets is not compared"
}

// elsewhere is the error for a source whose files do not come from this commit.
type elsewhere struct {
	reason string
	// here reports that it may have files of this repository all the same, and ask that only the user knows.
	here, ask bool
}

// Error is the reason.
func (e *elsewhere) Error() string { return e.reason }

// pinOf returns the field of a GitRepository that keeps it from following a branch, with the value; empty for none.
func pinOf(source *manifest.Object) string {
	for _, pin := range []string{"commit", "name", "semver", "tag"} { // in the order of precedence
		switch value := manifest.StringAt(source.Unstructured, "spec", "ref", pin); {
		case pin == "name" && strings.HasPrefix(value, "refs/heads/"):
			return ""
		case value != "":
			return pin + " " + value
		}
	}
	return ""
}

// ownBranch returns the branch that the root of the cluster follows, empty for none and where it is not known yet.
func (w *walk) ownBranch() string {
	if len(w.roots) == 0 {
		return ""
	}
	source := w.source(&node{Kustomization: w.roots[0].Kustomization, cluster: w.cluster})
	if source == nil || source.GetKind() != sourcev1.GitRepositoryKind {
		return ""
	}
	return branchName(source)
}

// branchName returns the branch that a GitRepository follows.
func branchName(source *manifest.Object) string {
	const byDefault = "master" // of source-controller
	ref := func(field string) string { return manifest.StringAt(source.Unstructured, "spec", "ref", field) }
	return cmp.Or(strings.TrimPrefix(ref("name"), "refs/heads/"), ref("branch"), byDefault)
}

// withoutUser removes the credentials from an address.
func withoutUser(url string) string {
	if scheme, rest, found := strings.Cut(url, "://"); found {
		return scheme + "://" + rest[strings.LastIndex(rest, "@")+1:]
	}
	return url
}

// recognizes reports whether a source of the cluster resolves to this repository.
func (w *walk) recognizes() bool {
	if len(w.recognized) > 0 {
		return true
	}
	sources := append(w.objects(), w.synced...)
	return slices.ContainsFunc(sources, func(o manifest.Object) bool {
		return o.Group() == manifest.SourceGroup && w.self.Remotes[repository.AddressOf(manifest.StringAt(o.Unstructured, "spec", "url"))] != ""
	})
}

// artifact returns the files of the artifact of a source, or of one with the default fields for nil.
func (w *walk) artifact(source *manifest.Object) *repository.Tree {
	if source == nil {
		return w.whole()
	}
	return w.tree.Artifact(filterOf(source))
}

// filterOf returns the fields of a source that decide which files of this repository it has.
func filterOf(source *manifest.Object) repository.Filter {
	recurses, _, _ := unstructured.NestedBool(source.Object, "spec", "recurseSubmodules")
	return repository.Filter{
		Ignore: manifest.StringAt(source.Unstructured, "spec", "ignore"), Sparse: manifest.StringsAt(source.Unstructured, "spec", "sparseCheckout"), Submodules: recurses,
	}
}

const maxIgnore = 64 << 10 // bytes of spec.ignore

package gitops

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	"k8s.io/apimachinery/pkg/types"
)

// locate returns the tree and the directory that a node applies. The error is the reason why these are not
// in the repository.
func (w *walk) locate(n *node) (*tree, string, error) {
	source := w.source(n)
	name := n.sourceName()
	n.state = digest(n.content(), n.vars.digest(), sourceDigest(source))
	if dir, found := w.self.find(n.source()); found && (source == nil || len(unstructuredString(source.Unstructured, "spec", "ignore")) <= maxIgnore) {
		w.recognized[name] = "--repository says so"
		return w.ignoring(source), path.Join(dir, n.path()), nil
	}
	switch {
	case source == nil:
		return nil, "", w.unrecognized(n, name+" is not in this repository")
	case n.spec.SourceRef.Kind != sourcev1.GitRepositoryKind:
		return nil, "", fmt.Errorf("its source is the %s", name)
	case len(unstructuredString(source.Unstructured, "spec", "ignore")) > maxIgnore:
		return nil, "", fmt.Errorf("%s has more than %d bytes in spec.ignore", name, maxIgnore)
	case len(source.Unknown) > 0:
		return nil, "", fmt.Errorf("its source is the %s: %s", name, strings.Join(source.Unknown, "; "))
	}
	url := unstructuredString(source.Unstructured, "spec", "url")
	remote := w.self.remotes[addressOf(url)]
	if remote == "" {
		return nil, "", w.unrecognized(n, fmt.Sprintf("%s has the url %s, which no remote of this repository has", name, withoutUser(url)))
	}
	for _, pin := range []string{"tag", "semver", "commit", "name"} {
		if value := unstructuredString(source.Unstructured, "spec", "ref", pin); value != "" {
			return nil, "", fmt.Errorf("%s stays at ref.%s %s, whatever is committed", name, pin, value)
		}
	}
	if len(unstructuredSlice(source.Unstructured, "spec", "include")) > 0 {
		return nil, "", fmt.Errorf("%s has spec.include, which is not evaluated here", name)
	}
	w.recognized[name] = "the remote " + remote + " has its url"
	return w.ignoring(source), n.path(), nil
}

func sourceDigest(source *Object) string {
	if source == nil {
		return ""
	}
	spec, _ := source.Object["spec"].(map[string]any)
	relevant := map[string]any{}
	for key, value := range spec {
		if key != "interval" && key != "timeout" && key != "suspend" {
			relevant[key] = value
		}
	}
	return digest(fmt.Sprint(relevant))
}

// withoutUser removes the credentials from an address.
func withoutUser(url string) string {
	if scheme, rest, found := strings.Cut(url, "://"); found {
		return scheme + "://" + rest[strings.LastIndex(rest, "@")+1:]
	}
	return url
}

// unrecognized returns the error for a source that does not resolve to this repository. While no source
// does, any may be this repository, so the state of the node includes its path here.
func (w *walk) unrecognized(n *node, why string) error {
	dir := n.path()
	t := w.trees[""]
	if w.recognizes() || !t.isDir(dir) {
		return errors.New(why)
	}
	n.state = digest(n.state, newClosure(t, dir, nil).digest())
	return fmt.Errorf("%s; pass --repository %s=. if it is this repository", why, nameOf(n.source()))
}

// recognizes reports whether a source of the cluster resolves to this repository.
func (w *walk) recognizes() bool {
	if len(w.recognized) > 0 || len(w.self.named) > 0 {
		return true
	}
	sources := w.objects()
	if w.sync != nil {
		sources = append(sources, Object{Unstructured: w.sync})
	}
	return slices.ContainsFunc(sources, func(o Object) bool {
		return o.group() == sourceGroup && w.self.remotes[addressOf(unstructuredString(o.Unstructured, "spec", "url"))] != ""
	})
}

// ignoring returns the tree without the files that the source excludes.
func (w *walk) ignoring(source *Object) *tree {
	if source == nil {
		return w.trees[""]
	}
	ignore := unstructuredString(source.Unstructured, "spec", "ignore")
	sparse := unstructuredSlice(source.Unstructured, "spec", "sparseCheckout")
	key := ""
	if len(ignore)+len(sparse) > 0 {
		key = digest(append(sparse, ignore)...)
	}
	if w.trees[key] == nil {
		w.trees[key] = w.tree.sparse(sparse).ignoring(ignore)
	}
	return w.trees[key]
}

// objectRef is a reference to an object of a cluster.
type objectRef struct {
	cluster, group, kind string
	name                 types.NamespacedName
}

// buildMissing builds a skipped node that may contain a missing object, and reports whether it found one.
func (w *walk) buildMissing(ctx context.Context, waiting *node) (bool, error) {
	var missing []objectRef
	if waiting != nil {
		missing = append(missing, objectRef{waiting.cluster, sourceGroup, waiting.spec.SourceRef.Kind, waiting.source()})
		for _, ref := range waiting.references() {
			missing = append(missing, objectRef{waiting.cluster, "", ref.Kind, types.NamespacedName{Namespace: waiting.object.GetNamespace(), Name: ref.Name}})
		}
	} else {
		missing = w.sources()
	}
	for _, m := range missing {
		if w.find(m.cluster, m.group, m.kind, m.name) != nil {
			continue
		}
		for _, n := range w.order {
			if n.outcome == skipped && n.applies() == m.cluster && n.mayContain(m) {
				return true, w.build(ctx, n, n.closure.tree)
			}
		}
	}
	return false, nil
}

// renames matches content that changes the names of objects, so that their files do not contain them.
var renames = regexp.MustCompile(`(?i)name(prefix|suffix)|prefixsuffix|prefixtransformer|suffixtransformer|metadata[/.]name|\$\{`)

// hasKind reports whether a file contains the kind of the object.
func (m objectRef) hasKind(content []byte) bool {
	return bytes.Contains(bytes.ToLower(content), []byte(strings.ToLower(m.kind)))
}

// hasName reports whether a file contains the name of the object, or changes names.
func (m objectRef) hasName(content []byte) bool {
	return bytes.Contains(content, []byte(m.name.Name)) || renames.Match(content)
}

// mayContain reports whether a skipped node may contain the object: its files contain the kind, and they or
// the Kustomization contain the name.
func (n *node) mayContain(m objectRef) bool {
	return n.closure.has(m.hasKind) && (renames.MatchString(n.content()) || n.closure.has(m.hasName))
}

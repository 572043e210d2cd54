package gitops

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// locate returns the tree and the directory that a node applies. The error is the reason why these are not
// in the repository; reads of the node are then the directories that it may be built from all the same.
func (w *walk) locate(n *node) (*tree, string, error) {
	ref := objectRef{n.cluster, sourceGroup, n.spec.SourceRef.Kind, n.source()}
	n.state = digest(n.content(), n.vars.digest(), w.sourceDigest(ref))
	if placeholder.MatchString(n.path()) {
		n.reads = w.directoriesLike(n.path())
		return nil, "", fmt.Errorf("its path is known in the cluster only: %s", strings.Join(n.unknown, "; "))
	}
	t, dir, err := w.resolve(ref)
	dir = path.Join(dir, n.path())
	n.reads = w.takes(ref, n.path(), 0)
	if _, named := w.self.find(ref.name); named && err == nil && !t.isDir(dir) {
		n.reads = []string{n.path()}
		err = fmt.Errorf("its path %s is not in the repository, with the directory of --repository", dir)
	}
	if err == nil {
		return t, dir, nil
	}
	n.reads = slices.DeleteFunc(n.reads, func(dir string) bool { return !w.trees[""].isDir(dir) })
	var other *elsewhere
	if errors.As(err, &other) && other.ask && len(n.reads) > 0 {
		err = fmt.Errorf("%w; pass --repository %s=. if it is this repository", err, nameOf(n.source()))
	}
	return nil, "", err
}

// directoriesLike returns the directories that a path with placeholders may name.
func (w *walk) directoriesLike(name string) []string {
	pattern := regexp.MustCompile("^" + placeholder.ReplaceAllString(regexp.QuoteMeta(name), "[^/]+") + "$")
	return slices.DeleteFunc(slices.Sorted(maps.Keys(w.trees[""].dirs)), func(dir string) bool { return !pattern.MatchString(dir) })
}

// elsewhere is the error for a source whose files are not those of this commit.
type elsewhere struct {
	reason string
	// here reports that it may have files of this repository all the same, and ask that only the user knows.
	here, ask bool
}

// Error is the reason.
func (e *elsewhere) Error() string { return e.reason }

// resolve returns the tree and the directory that a source has. The error is an elsewhere.
func (w *walk) resolve(m objectRef) (*tree, string, error) {
	source := w.find(m.cluster, m.group, m.kind, m.name)
	name := m.kind + " " + nameOf(m.name)
	if dir, found := w.self.find(m.name); found && (source == nil || len(unstructuredString(source.Unstructured, "spec", "ignore")) <= maxIgnore) {
		w.recognized[name] = "--repository says so"
		return w.ignoring(source), dir, nil
	}
	no := func(here bool, format string, args ...any) (*tree, string, error) {
		return nil, "", &elsewhere{fmt.Sprintf(format, args...), here, here}
	}
	switch {
	case m.kind == sourcev1.ExternalArtifactKind:
		return no(false, "its source is the %s, which no CatalogSelection publishes", name)
	case source == nil:
		return no(true, "%s is not in this repository", name)
	case m.kind != sourcev1.GitRepositoryKind:
		return no(!w.recognizes(), "its source is the %s", name)
	case len(unstructuredString(source.Unstructured, "spec", "ignore")) > maxIgnore:
		return no(true, "%s has more than %d bytes in spec.ignore", name, maxIgnore)
	case len(source.Unknown) > 0:
		return no(true, "its source is the %s: %s", name, strings.Join(source.Unknown, "; "))
	}
	url := unstructuredString(source.Unstructured, "spec", "url")
	remote := w.self.remotes[addressOf(url)]
	if remote == "" {
		return no(!w.recognizes() || w.self.hasName(url), "%s has the url %s, which no remote of this repository has", name, withoutUser(url))
	}
	if pin := pinOf(source); pin != "" {
		return no(false, "%s stays at ref.%s, whatever is committed", name, pin)
	}
	if len(unstructuredSlice(source.Unstructured, "spec", "include")) > 0 {
		return nil, "", &elsewhere{reason: name + " has spec.include, which is not evaluated here", here: true}
	}
	w.recognized[name] = "the remote " + remote + " has its url"
	return w.ignoring(source), ".", nil
}

// pinOf returns the field of a GitRepository that keeps it from following a branch, with the value; empty for none.
func pinOf(source *Object) string {
	for _, pin := range []string{"tag", "semver", "commit", "name"} {
		value := unstructuredString(source.Unstructured, "spec", "ref", pin)
		if value != "" && (pin != "name" || !strings.HasPrefix(value, "refs/heads/")) {
			return pin + " " + value
		}
	}
	return ""
}

// sourceDigest returns a digest of what determines the files of a source.
func (w *walk) sourceDigest(m objectRef) string {
	if made := w.generator(m); made != nil {
		return digest(yamlOf(made.Object["spec"]))
	}
	source := w.find(m.cluster, m.group, m.kind, m.name)
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

// recognizes reports whether a source of the cluster resolves to this repository.
func (w *walk) recognizes() bool {
	if len(w.recognized) > 0 {
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
	recursed, _, _ := unstructured.NestedBool(source.Object, "spec", "recurseSubmodules")
	leaves := !recursed && len(w.tree.modules) > 0
	if len(ignore)+len(sparse) > 0 || leaves {
		key = digest(append(sparse, ignore, fmt.Sprint(leaves))...)
	}
	if w.trees[key] == nil {
		t := w.tree
		if leaves {
			t = t.withoutModules()
		}
		w.trees[key] = t.sparse(sparse).ignoring(ignore)
	}
	return w.trees[key]
}

// objectRef is a reference to an object of a cluster.
type objectRef struct {
	cluster, group, kind string
	name                 types.NamespacedName
}

// uses returns references to the source and the variables of a node.
func (n *node) uses() []objectRef {
	all := []objectRef{{n.cluster, sourceGroup, n.spec.SourceRef.Kind, n.source()}}
	for _, ref := range n.references() {
		all = append(all, objectRef{n.cluster, "", ref.Kind, types.NamespacedName{Namespace: n.object.GetNamespace(), Name: ref.Name}})
	}
	return all
}

// buildUsed builds a skipped node that may contain a missing object of a node that waits, or, if none does, a source of a
// selection, or another copy of any object that is used. It reports whether it found one.
func (w *walk) buildUsed(ctx context.Context, waiting *node) (bool, error) {
	var used []objectRef
	if waiting != nil {
		used = slices.DeleteFunc(waiting.uses(), func(m objectRef) bool { return w.find(m.cluster, m.group, m.kind, m.name) != nil })
	} else {
		used = w.sources()
		for _, n := range w.order {
			if n.outcome != skipped {
				used = append(used, n.uses()...)
			}
		}
	}
	for i := range used {
		if used[i].kind == sourcev1.ExternalArtifactKind {
			used[i].kind = generatorKind
		}
	}
	known := map[objectRef]bool{}
	used = slices.DeleteFunc(used, func(m objectRef) bool {
		done := known[m] || m.kind == "" || m.name.Name == ""
		known[m] = true
		return done
	})
	for _, m := range used {
		for _, n := range w.order {
			if n.outcome == skipped && n.applies() == m.cluster && n.mayContain(m) {
				return true, w.build(ctx, n, n.closure.tree)
			}
		}
	}
	return false, nil
}

// renames matches content that changes the names of objects, so that their files do not contain them.
var renames = regexp.MustCompile(`(?i)name(prefix|suffix)|prefixsuffix|prefixtransformer|suffixtransformer|metadata[/.]name|\bname["']?\s*:[^\n]*\$\{`)

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
	found, known := n.contains[m]
	if !known {
		found = n.closure.has(m.hasKind) && (renames.MatchString(n.content()) || n.closure.has(m.hasName))
		if n.contains == nil {
			n.contains = map[objectRef]bool{}
		}
		n.contains[m] = found
	}
	return found
}

// SPDX-License-Identifier: Apache-2.0

package repository

import (
	"bytes"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/fluxcd/pkg/sourceignore"
	"github.com/fluxcd/pkg/sourceignore/gitignore"
)

// Filter has the fields of a source that decide which files of a commit its artifact has.
type Filter struct {
	// Ignore is spec.ignore, and Sparse spec.sparseCheckout.
	Ignore string
	Sparse []string
	// Submodules is spec.recurseSubmodules.
	Submodules bool
}

// maxPatterns bounds the ignore patterns: each is matched against each file.
const maxPatterns = 2_000

// maxLinks bounds the links from one to the next.
const maxLinks = 8

// ignoreFile has the patterns of a file .sourceignore.
type ignoreFile struct {
	// name of the file, and target where it is a link, which source-controller follows.
	name, target string
	patterns     []gitignore.Pattern
}

// readIgnores reads the files .sourceignore in the order of source-controller: a directory before those below it. Later
// patterns win. links are the symbolic links.
func (t *Tree) readIgnores(links map[string]Blob) error {
	names := slices.AppendSeq(slices.Collect(maps.Keys(links)), maps.Keys(t.Files))
	names = slices.DeleteFunc(names, func(name string) bool { return path.Base(name) != sourceignore.IgnoreFile })
	slices.SortFunc(names, func(a, b string) int { return slices.Compare(segments(path.Dir(a)), segments(path.Dir(b))) })
	total := 0
	for _, name := range names {
		target, err := t.follow(name, links)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if !t.IsFile(target) {
			continue
		}
		content, err := t.Read(target)
		if err != nil {
			return err
		}
		found := sourceignore.ReadPatterns(bytes.NewReader(content), segments(path.Dir(name)))
		if total += len(found); total > maxPatterns {
			return fmt.Errorf("%s: more than %d patterns in files %s", Short(t.Commit), maxPatterns, sourceignore.IgnoreFile)
		}
		t.ignores = append(t.ignores, ignoreFile{name, target, found})
	}
	return nil
}

// follow returns the path that a path leads to by links, at most maxLinks of them; empty for one outside of the tree.
func (t *Tree) follow(name string, links map[string]Blob) (string, error) {
	for range maxLinks {
		at, rest := "", name
		link, found := Blob{}, false
		for rest != "" && !found {
			var next string
			next, rest, _ = strings.Cut(rest, "/")
			at = path.Join(at, next)
			link, found = links[at]
		}
		if !found {
			return name, nil
		}
		content, err := t.objects.read(link)
		if err != nil {
			return "", err
		}
		if name = path.Join(path.Dir(at), string(content), rest); path.IsAbs(string(content)) || strings.HasPrefix(name, "..") {
			return "", nil
		}
	}
	return "", fmt.Errorf("more than %d links: source-controller refuses the commit", maxLinks)
}

// Artifact returns the files and directories that the artifact of a source has, by the rules of source-controller: it excludes
// files of CI, archives and pictures by default, but as soon as there is one pattern, in spec.ignore or in any .sourceignore,
// the patterns alone decide. A directory stays where all of its files are excluded, and builds nothing.
func (t *Tree) Artifact(f Filter) *Tree {
	f.Submodules = f.Submodules && len(t.Modules) > 0
	key := fmt.Sprintf("%q %q %t", f.Ignore, f.Sparse, f.Submodules)
	if t.artifacts[key] == nil {
		if t.artifacts == nil {
			t.artifacts = map[string]*Tree{}
		}
		t.artifacts[key] = t.filtered(f)
	}
	return t.artifacts[key]
}

func (t *Tree) filtered(f Filter) *Tree {
	kept := &Tree{Commit: t.Commit, Files: map[string]Blob{}, Modules: map[string]string{}, objects: t.objects}
	var patterns []gitignore.Pattern
	for _, file := range t.ignores {
		if f.checksOut(file.name) && f.checksOut(file.target) {
			patterns = append(patterns, file.patterns...)
		}
	}
	patterns = append(patterns, sourceignore.ReadPatterns(strings.NewReader(f.Ignore), nil)...)
	matcher := sourceignore.NewDefaultMatcher(nil, nil)
	if len(patterns) > 0 {
		matcher = sourceignore.NewMatcher(append(sourceignore.VCSPatterns(nil), patterns...))
	}
	for name, file := range t.Files {
		if f.checksOut(name) && !matcher.Match(segments(name), false) {
			kept.Files[name] = file
		}
	}
	for name, commit := range t.Modules {
		if f.Submodules && f.checksOut(name) && !matcher.Match(segments(name), true) {
			kept.Modules[name] = commit
		}
	}
	kept.list()
	for _, dir := range slices.Sorted(maps.Keys(t.Dirs)) {
		if f.checksOut(dir+"/") && !matcher.Match(segments(dir), true) {
			kept.addDir(dir)
		}
	}
	return kept
}

// checksOut reports whether source-controller checks a path out: its name begins with one of the directories, as text.
func (f Filter) checksOut(name string) bool {
	return len(f.Sparse) == 0 || slices.ContainsFunc(f.Sparse, func(dir string) bool { return strings.HasPrefix(name, strings.TrimPrefix(dir, "./")) })
}

func segments(name string) []string {
	if name == "." {
		return nil
	}
	return strings.Split(name, "/")
}

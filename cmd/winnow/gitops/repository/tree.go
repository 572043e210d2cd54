package gitops

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/fluxcd/pkg/sourceignore"
	"github.com/fluxcd/pkg/sourceignore/gitignore"
)

// Bounds of ignore patterns: each pattern is matched against each file.
const (
	maxPatterns = 2_000
	maxIgnore   = 64 << 10 // bytes of spec.ignore
)

// tree is the content of the artifact that Flux builds from a commit: without symbolic links and without
// ignored files.
type tree struct {
	commit string
	// files maps a path to its blob, and modules maps a path to the commit of its submodule, none if the source leaves
	// submodules out.
	files   map[string]blob
	modules map[string]string
	// dirs maps a directory to the names in it, sorted.
	dirs    map[string][]string
	objects *objects
	// patterns of the files .sourceignore.
	patterns []gitignore.Pattern
}

// blob is a file of Git.
type blob struct {
	id   string
	size int64
}

// tree returns the tree of a commit.
func (g Git) tree(ctx context.Context, commit string, objects *objects) (*tree, error) {
	listing, err := g.run(ctx, "ls-tree", "-r", "-z", "-l", "--full-tree", commit)
	if err != nil {
		return nil, fmt.Errorf("listing the files of %s: %w", commit, err)
	}
	t := &tree{commit: commit, files: map[string]blob{}, modules: map[string]string{}, objects: objects}
	for line := range strings.SplitSeq(strings.TrimSuffix(string(listing), "\x00"), "\x00") {
		t.add(line)
	}
	for name := range t.files {
		if path.Base(name) != sourceignore.IgnoreFile {
			continue
		}
		content, err := t.read(name)
		if err != nil {
			return nil, err
		}
		t.patterns = append(t.patterns, sourceignore.ReadPatterns(bytes.NewReader(content), segments(path.Dir(name)))...)
	}
	if len(t.patterns) > maxPatterns {
		return nil, fmt.Errorf("%s: more than %d patterns in files %s", short(commit), maxPatterns, sourceignore.IgnoreFile)
	}
	t.list()
	return t, nil
}

// add parses a line of ls-tree. It adds files (mode 100...) and submodules, and skips symbolic links.
func (t *tree) add(line string) {
	head, name, _ := strings.Cut(line, "\t")
	fields := strings.Fields(head)
	if len(fields) != 4 {
		return
	}
	size, err := strconv.ParseInt(fields[3], 10, 64)
	switch {
	case fields[1] == "commit":
		t.modules[name] = fields[2]
	case fields[1] == "blob" && strings.HasPrefix(fields[0], "100") && err == nil:
		t.files[name] = blob{id: fields[2], size: size}
	}
}

// list derives the directories from the files.
func (t *tree) list() {
	t.dirs = map[string][]string{".": nil}
	all := maps.Clone(t.files)
	for name := range t.modules {
		all[name] = blob{}
	}
	for name := range all {
		for child := name; child != "."; child = path.Dir(child) {
			dir := path.Dir(child)
			names, known := t.dirs[dir]
			t.dirs[dir] = append(names, path.Base(child))
			if known {
				break
			}
		}
	}
	for dir, names := range t.dirs {
		slices.Sort(names)
		t.dirs[dir] = slices.Compact(names)
	}
}

// ignoring returns the tree without the files that Flux excludes from artifacts, and without those that
// match spec.ignore of a source.
func (t *tree) ignoring(ignore string) *tree {
	kept := &tree{commit: t.commit, files: map[string]blob{}, modules: map[string]string{}, objects: t.objects}
	patterns := append(slices.Clone(t.patterns), sourceignore.ReadPatterns(strings.NewReader(ignore), nil)...)
	matcher := sourceignore.NewDefaultMatcher(patterns, nil)
	for name, file := range t.files {
		if !matcher.Match(segments(name), false) {
			kept.files[name] = file
		}
	}
	for name, commit := range t.modules {
		if !matcher.Match(segments(name), true) {
			kept.modules[name] = commit
		}
	}
	kept.list()
	return kept
}

// withoutModules returns the tree without submodules.
func (t *tree) withoutModules() *tree {
	kept := *t
	kept.modules = nil
	return &kept
}

// sparse returns the tree with the given directories only, or with all if dirs is empty.
func (t *tree) sparse(dirs []string) *tree {
	if len(dirs) == 0 {
		return t
	}
	kept := &tree{commit: t.commit, files: map[string]blob{}, modules: t.modules, objects: t.objects, patterns: t.patterns}
	for name, file := range t.files {
		if slices.ContainsFunc(dirs, func(dir string) bool { return contains(pathOf(dir), name) }) {
			kept.files[name] = file
		}
	}
	kept.list()
	return kept
}

func segments(name string) []string {
	if name == "." {
		return nil
	}
	return strings.Split(name, "/")
}

func (t *tree) isDir(name string) bool {
	_, found := t.dirs[name]
	return found
}

func (t *tree) isFile(name string) bool {
	_, found := t.files[name]
	return found
}

// module returns the commit of the submodule that contains a path, empty for none.
func (t *tree) module(name string) string {
	for ; name != "." && name != "/"; name = path.Dir(name) {
		if id, found := t.modules[name]; found {
			return id
		}
	}
	return ""
}

// exists reports whether the name is a file, a directory or in a submodule.
func (t *tree) exists(name string) bool {
	return t.isFile(name) || t.isDir(name) || t.module(name) != ""
}

func (t *tree) read(name string) ([]byte, error) {
	file, found := t.files[name]
	if !found {
		return nil, fmt.Errorf("%s: there is no such file in %s", name, short(t.commit))
	}
	content, err := t.objects.read(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return content, nil
}

// yamls returns the YAML files at or below a path, sorted.
func (t *tree) yamls(name string) []string {
	if t.isFile(name) {
		if isYAML(name) {
			return []string{name}
		}
		return nil
	}
	var found []string
	for _, child := range t.dirs[name] {
		found = append(found, t.yamls(path.Join(name, child))...)
	}
	return found
}

// below returns the files at or below a path, sorted.
func (t *tree) below(name string) []string {
	var found []string
	for file := range t.files {
		if contains(name, file) {
			found = append(found, file)
		}
	}
	slices.Sort(found)
	return found
}

func isYAML(name string) bool {
	return strings.HasSuffix(name, ".yaml") || strings.HasSuffix(name, ".yml")
}

// short abbreviates the identifier of a commit.
func short(commit string) string { return commit[:min(len(commit), 12)] }

// SPDX-License-Identifier: Apache-2.0

package repository

import (
	"context"
	"crypto/sha256"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/winnow-dev/winnow/cmd/winnow/memo"
	"github.com/winnow-dev/winnow/render/each"
)

// Tree has the files of a commit, without symbolic links, which Flux leaves out of artifacts.
type Tree struct {
	// Commit is the identifier of the commit.
	Commit string
	// Files maps a path to its blob, and Modules maps a path to the commit of its submodule, none if the source leaves
	// submodules out.
	Files   map[string]Blob
	Modules map[string]string
	// Dirs maps a directory to the names in it, sorted.
	Dirs map[string][]string
	// Links maps a directory to the symbolic links in it.
	Links   map[string][]string
	objects *Objects
	ignores []ignoreFile
	// artifacts are the results of Artifact: matching all files takes long, and the clusters share them.
	artifacts map[string]*Tree
}

// Tree returns the tree of a commit. Its files are read from objects until these are closed.
func (g Git) Tree(ctx context.Context, commit string, objects *Objects) (*Tree, error) {
	listing, err := g.run(ctx, "ls-tree", "-r", "-z", "-l", "--full-tree", commit)
	if err != nil {
		return nil, fmt.Errorf("listing the files of %s: %w", commit, err)
	}
	t := &Tree{Commit: commit, Files: map[string]Blob{}, Modules: map[string]string{}, Links: map[string][]string{}, objects: objects}
	links := map[string]Blob{}
	for line := range strings.SplitSeq(strings.TrimSuffix(string(listing), "\x00"), "\x00") {
		t.add(line, links)
	}
	if err := t.readIgnores(links); err != nil {
		return nil, err
	}
	t.list()
	return t, nil
}

// add parses a line of ls-tree. It adds files (mode 100...) and submodules, and to links the symbolic links.
func (t *Tree) add(line string, links map[string]Blob) {
	head, name, _ := strings.Cut(line, "\t")
	fields := strings.Fields(head)
	if len(fields) != 4 {
		return
	}
	size, err := strconv.ParseInt(fields[3], 10, 64)
	switch {
	case fields[1] == "commit":
		t.Modules[name] = fields[2]
	case fields[1] == "blob" && strings.HasPrefix(fields[0], "100") && err == nil:
		t.Files[name] = Blob{ID: fields[2], Size: size}
	case fields[0] == "120000" && err == nil:
		links[name] = Blob{ID: fields[2], Size: size}
		t.Links[path.Dir(name)] = append(t.Links[path.Dir(name)], path.Base(name))
	}
}

// list derives the directories from the files.
func (t *Tree) list() {
	t.Dirs = map[string][]string{".": nil}
	for _, name := range slices.AppendSeq(slices.Collect(maps.Keys(t.Files)), maps.Keys(t.Modules)) {
		for child := name; child != "."; child = path.Dir(child) {
			dir := path.Dir(child)
			names, known := t.Dirs[dir]
			t.Dirs[dir] = append(names, path.Base(child))
			if known {
				break
			}
		}
	}
	for dir, names := range t.Dirs {
		slices.Sort(names)
		t.Dirs[dir] = slices.Compact(names)
	}
}

// addDir adds a directory, and its parents.
func (t *Tree) addDir(dir string) {
	if t.IsDir(dir) {
		return
	}
	parent := path.Dir(dir)
	t.addDir(parent)
	at, _ := slices.BinarySearch(t.Dirs[parent], path.Base(dir))
	t.Dirs[dir], t.Dirs[parent] = nil, slices.Insert(t.Dirs[parent], at, path.Base(dir))
}

// With returns the tree with other contents of files, which may be new.
func (t *Tree) With(contents map[string][]byte) *Tree {
	if len(contents) == 0 {
		return t
	}
	edited := *t
	edited.Files = maps.Clone(t.Files)
	for name, content := range contents {
		file := Blob{ID: fmt.Sprintf("edited %x", sha256.Sum256(content)), Size: int64(len(content))}
		t.objects.contents[file.ID], edited.Files[name] = content, file
	}
	edited.artifacts = nil
	edited.list()
	return &edited
}

// Alone returns a tree of the contents of files alone.
func (t *Tree) Alone(contents map[string][]byte) *Tree {
	return (&Tree{Commit: t.Commit, Files: map[string]Blob{}, objects: t.objects}).With(contents)
}

// IsDir reports whether the tree has files, or submodules, below the name. The root is ".".
func (t *Tree) IsDir(name string) bool {
	_, found := t.Dirs[name]
	return found
}

// IsFile reports whether the tree has a file of the name.
func (t *Tree) IsFile(name string) bool {
	_, found := t.Files[name]
	return found
}

// Module returns the commit of the submodule that contains a path, empty for none.
func (t *Tree) Module(name string) string {
	for ; name != "." && name != "/"; name = path.Dir(name) {
		if id, found := t.Modules[name]; found {
			return id
		}
	}
	return ""
}

// Exists reports whether the name is a file, a directory or in a submodule.
func (t *Tree) Exists(name string) bool {
	return t.IsFile(name) || t.IsDir(name) || t.Module(name) != ""
}

// Read returns the content of a file, which the caller must not change. The error of a large file is ErrTooLarge.
func (t *Tree) Read(name string) ([]byte, error) {
	file, found := t.Files[name]
	if !found {
		return nil, fmt.Errorf("%s: there is no such file in %s", name, Short(t.Commit))
	}
	content, err := t.objects.read(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return content, nil
}

// Parsed returns what parse makes of a file, once for each content and type of result in both commits. The caller must not change it.
func Parsed[V any](t *Tree, name string, parse func(content []byte) (V, error)) (V, error) {
	content, err := t.Read(name)
	if err != nil {
		return *new(V), err
	}
	return memo.Of(context.Background(), t.objects.parsed, t.Files[name].ID, func() (V, error) { return parse(content) })
}

// YAMLs returns the YAML files at or below a path, sorted.
func (t *Tree) YAMLs(name string) []string {
	if t.IsFile(name) {
		if IsYAML(name) {
			return []string{name}
		}
		return nil
	}
	return slices.Concat(each.Map(t.Dirs[name], func(child string) []string { return t.YAMLs(path.Join(name, child)) })...)
}

// Below returns the files at or below a path, sorted.
func (t *Tree) Below(name string) []string {
	var found []string
	for file := range t.Files {
		if Contains(name, file) {
			found = append(found, file)
		}
	}
	slices.Sort(found)
	return found
}

// IsYAML reports whether a file is YAML by its name.
func IsYAML(name string) bool {
	return strings.HasSuffix(name, ".yaml") || strings.HasSuffix(name, ".yml")
}

// ReadTree calls read with the tree of a commit, which it may read until then.
func (g Git) ReadTree(ctx context.Context, commit string, read func(*Tree) error) error {
	objects, err := g.Open(ctx)
	if err != nil {
		return err
	}
	defer objects.Close()
	tree, err := g.Tree(ctx, commit, objects)
	if err != nil {
		return err
	}
	return read(tree)
}

// Short abbreviates the identifier of a commit.
func Short(commit string) string { return commit[:min(len(commit), 12)] }

// Contains reports whether a path is at or below a directory.
func Contains(dir, name string) bool {
	return dir == "." || name == dir || strings.HasPrefix(name, dir+"/")
}

// ContainsAny reports whether a path is at or below one of the directories.
func ContainsAny(dirs []string, name string) bool {
	return slices.ContainsFunc(dirs, func(dir string) bool { return Contains(dir, name) })
}

// CleanPath cleans a path of a Kustomization, so that it stays in the repository.
func CleanPath(written string) string {
	return path.Join(".", strings.TrimPrefix(path.Join("/", written), "/"))
}

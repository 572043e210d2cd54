// SPDX-License-Identifier: Apache-2.0

package inputs

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	kustypes "sigs.k8s.io/kustomize/api/types"

	"github.com/winnow-dev/winnow/cmd/winnow/gitops/repository"
	"github.com/winnow-dev/winnow/render/dialect"
)

// maxVisits bounds the directories and files that a Kustomization is built of.
const maxVisits = 20_000

// Closure is the set of all files that a Kustomization is built from. It is computed without a build, so
// that unchanged Kustomizations are found before, and kustomize gets no remote address.
type Closure struct {
	Tree *repository.Tree
	// Files maps each referenced path to the identifier of the blob, or to the reason why there is
	// none.
	Files map[string]string
	// Texts has the files among them whose content generators put into ConfigMaps and Secrets.
	Texts map[string]bool
	// Remotes are resources outside of the tree, sorted. The build leaves them out.
	Remotes []string
	// Missing are the values of fields that name other files outside of the tree.
	Missing []string
	// Edited maps kustomization files to their content without remotes.
	Edited map[string][]byte
	// Transforms identifies the changes that local files make to the objects of the remotes.
	Transforms []string
	// Blocked is the reason why the Kustomization cannot be built; nil if it can. Incomplete reports that
	// Files does not have all that it needs: some are outside of the repository, or missing, or named by a
	// kustomization file that cannot be read.
	Blocked    error
	Incomplete bool
	// Refused reports that Flux does not build it either, and so keeps what it has applied.
	Refused bool

	copies  int
	visited map[string]*visit
	stack   []string
}

// visit is the contribution of a directory to the closure.
type visit struct {
	transforms []string
	remote     bool
}

// NewClosure computes the closure of a directory and of the components of the Kustomization.
func NewClosure(t *repository.Tree, dir string, components []string) *Closure {
	c := &Closure{Tree: t, Files: map[string]string{}, Texts: map[string]bool{}, Edited: map[string][]byte{}, visited: map[string]*visit{}}
	top := c.directory(dir)
	for _, component := range components {
		top.transforms = append(top.transforms, c.component(dir, entry{component, "components", asComponent}).transforms...)
	}
	c.Transforms = top.transforms
	if len(c.Files) > maxVisits {
		c.block("it is built of more than %d files", maxVisits)
	}
	slices.Sort(c.Remotes)
	c.Remotes = slices.Compact(c.Remotes)
	return c
}

// Digest returns a digest of all files and remotes.
func (c *Closure) Digest() string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(c.Files)) {
		all = append(all, name, c.Files[name])
	}
	return Digest(append(all, c.Remotes...)...)
}

// Digest returns a digest of a list of texts.
func Digest(parts ...string) string {
	encoded, _ := json.Marshal(parts) // encoding strings cannot fail
	sum := sha256.Sum256(encoded)
	return hex.EncodeToString(sum[:])
}

func (c *Closure) block(format string, args ...any) {
	if c.Blocked == nil {
		c.Blocked = fmt.Errorf(format, args...)
	}
}

// blockMissing blocks the build because a value refers to a file outside of the repository.
func (c *Closure) blockMissing(file, field, value string) {
	c.Incomplete = true
	c.Missing = append(c.Missing, value)
	c.block("%s: %s has %s, which is not in this repository, and nothing is fetched", file, field, value)
}

func (c *Closure) directory(dir string) *visit {
	if found, known := c.visited[dir]; known {
		return found
	}
	if slices.Contains(c.stack, dir) {
		c.block("%s refers to itself: %s", dir, strings.Join(append(c.stack, dir), " -> "))
		return &visit{}
	}
	if len(c.visited) > maxVisits || len(c.Files) > maxVisits {
		c.block("it is built of more than %d files", maxVisits)
		return &visit{}
	}
	c.stack = append(c.stack, dir)
	found := &visit{}
	if file := KustomizationFile(c.Tree, dir); file != "" {
		c.kustomization(found, dir, file)
	} else {
		c.generated(found, dir)
	}
	c.stack = c.stack[:len(c.stack)-1]
	c.visited[dir] = found
	return found
}

// generated adds a directory for which Flux generates the kustomization file: all YAML files below it,
// and directories with a kustomization file of their own.
func (c *Closure) generated(found *visit, dir string) {
	if !c.Tree.IsDir(dir) {
		c.File(dir)
		c.Incomplete = true
		return
	}
	for _, name := range c.Tree.Dirs[dir] {
		child := path.Join(dir, name)
		switch {
		case c.Tree.Modules[child] != "":
			c.resource(found, dir, entry{value: name})
		case c.Tree.IsFile(child):
			if repository.IsYAML(child) {
				c.File(child)
			}
		case KustomizationFile(c.Tree, child) != "":
			found.add(c.directory(child))
		default:
			c.generated(found, child)
		}
	}
}

func (v *visit) add(child *visit) {
	if child.remote {
		v.remote = true
		v.transforms = append(v.transforms, child.transforms...)
	}
}

// File adds a path to Files and returns its value.
func (c *Closure) File(name string) string {
	id := "missing"
	if file, found := c.Tree.Files[name]; found {
		id = file.ID
	} else if commit := c.Tree.Module(name); commit != "" {
		id = "submodule at " + commit
	}
	c.Files[name] = id
	return id
}

func (c *Closure) kustomization(found *visit, dir, file string) {
	id := c.File(file)
	k, err := ReadKustomization(c.Tree, file)
	if err != nil {
		c.Incomplete = true
		c.block("%w", err)
		return
	}
	if len(k.HelmCharts) > 0 {
		c.Refused = true
		c.block("%s: helmCharts are not inflated, here or by Flux", file)
	}
	var local []string
	own := []string{}
	for _, e := range entries(k) {
		switch e.use {
		case asResource:
			if c.resource(found, dir, e) {
				local = append(local, e.value)
			}
		case asComponent:
			component := c.component(dir, e)
			own = append(own, component.transforms...)
			found.remote = found.remote || component.remote
		case asFile:
			own = append(own, c.loadFile(dir, file, e))
			if strings.HasSuffix(e.field, "Generator") {
				c.Texts[path.Join(dir, e.value)] = true
			}
		case asPlugin:
			own = append(own, c.plugin(dir, file, e))
		}
	}
	if len(k.Generators)+len(k.Transformers)+len(k.Replacements)+len(k.Configurations) > 0 {
		c.Incomplete = true // they may compose what no file has
	}
	for _, patch := range patchesOf(k) {
		c.patch(file, patch.Patch)
	}
	if len(local) < len(k.Resources) {
		c.edit(file, local, k)
	}
	// All fields but resources can change the objects of other files.
	canonical := *k
	canonical.Resources = nil
	encoded, _ := json.Marshal(canonical) // it was decoded from JSON
	found.transforms = append(append(found.transforms, dir, string(encoded)), own...)
	if k.Kind == kustypes.ComponentKind {
		found.transforms = append(found.transforms, id)
	}
}

// edit records a kustomization file with its local resources only.
func (c *Closure) edit(file string, local []string, k *kustypes.Kustomization) {
	kept := *k
	kept.Resources = local
	if len(local) == 0 {
		// kustomize refuses an empty file.
		kept.BuildMetadata = []string{kustypes.OriginAnnotations}
	}
	c.Edited[file], _ = json.Marshal(kept) // it was decoded from JSON
}

// resource adds a resource, and reports whether it is in the tree.
func (c *Closure) resource(found *visit, dir string, e entry) bool {
	name := path.Join(dir, e.value)
	switch commit := c.Tree.Module(name); {
	case c.isRemote(dir, e.value):
		c.Remotes = append(c.Remotes, e.value)
		if c.Tree.IsFile(name) {
			c.File(name)
			c.block("%s: %s is both a file and an address", dir, e.value)
		}
	case commit != "":
		c.Remotes = append(c.Remotes, fmt.Sprintf("%s (a submodule at %s)", name, repository.Short(commit)))
	case c.Tree.IsDir(name):
		found.add(c.directory(name))
		return true
	default:
		c.File(name)
		return true
	}
	found.remote = true
	return false
}

// component adds a component. One outside of the tree blocks the build: it would change the local objects.
func (c *Closure) component(dir string, e entry) *visit {
	name := path.Join(dir, e.value)
	if c.isRemote(dir, e.value) || c.Tree.Module(name) != "" {
		c.File(name)
		c.blockMissing(dir, e.field, e.value)
		return &visit{}
	}
	return c.directory(name)
}

// Has reports whether a file of the closure matches.
func (c *Closure) Has(match func([]byte) bool) bool {
	for name := range c.Files {
		if !c.Tree.IsFile(name) {
			continue
		}
		content, err := c.Tree.Read(name)
		if err != nil || match(content) {
			return true
		}
	}
	return false
}

// isRemote reports whether an entry of a kustomization file in dir is an address, as opposed to a name in the tree. kustomize
// clones what looks like a repository even where a file of that name exists, but cannot be read. A repository without a
// scheme has a host and two more segments, or ".git".
func (c *Closure) isRemote(dir, value string) bool {
	local := strings.Count(value, "/") <= 1 && !strings.Contains(value, ":") && !strings.Contains(value, ".git") && c.Tree.Exists(path.Join(dir, value))
	return isRemote(value) && !local
}

// maxCopies bounds the copy operations of JSON patches: each may double the size of an object.
const maxCopies = 8

// loadFile adds a file that changes objects. One outside of the tree blocks the build.
func (c *Closure) loadFile(dir, file string, e entry) string {
	name := path.Join(dir, e.value)
	id := c.File(name)
	if c.isRemote(dir, e.value) || c.Tree.Module(name) != "" {
		c.blockMissing(file, e.field, e.value)
		return e.value
	}
	if e.field == "patches" && c.Tree.IsFile(name) {
		if content, err := c.Tree.Read(name); err == nil {
			c.patch(file, string(content))
		}
	}
	return name + " " + id
}

// plugin adds the configuration of a transformer or a generator: a document, or a file of documents.
func (c *Closure) plugin(dir, file string, e entry) string {
	content := []byte(e.value)
	if !isDocument(e.value) {
		name := path.Join(dir, e.value)
		if !c.isRemote(dir, e.value) && c.Tree.IsDir(name) {
			// Its documents are the result of a build, which the closure does not run.
			c.directory(name)
			for _, input := range slices.Sorted(maps.Keys(c.Files)) {
				if content, err := c.Tree.Read(input); err == nil {
					c.named(dir, content)
				}
			}
			c.block("%s: %s has the directory %s, which is not evaluated here", file, e.field, e.value)
			return name
		}
		noted := c.loadFile(dir, file, e)
		if !c.Tree.IsFile(name) {
			return noted
		}
		var err error
		if content, err = c.Tree.Read(name); err != nil {
			c.block("%w", err)
		}
	}
	c.named(dir, content)
	address, err := addressIn(content)
	switch {
	case err != nil:
		c.block("%s: %s: %w", file, e.field, err)
	case address != "":
		c.blockMissing(file, e.field, address)
	}
	return Digest(string(content))
}

// named adds the files that the configuration of a transformer or a generator names, in whatever field.
func (c *Closure) named(dir string, content []byte) {
	for _, word := range strings.FieldsFunc(string(content), func(r rune) bool { return strings.ContainsRune(" \t\r\n\"'=,[]{}", r) }) {
		if name := path.Join(dir, word); c.Tree.IsFile(name) {
			c.File(name)
		}
	}
}

// patch blocks the build if JSON patches copy too often: copies of copies grow without bound.
func (c *Closure) patch(file, text string) {
	var operations []struct {
		Op string `json:"op"`
	}
	if dialect.Unmarshal([]byte(text), &operations) != nil {
		return // a strategic merge patch, or one that kustomize refuses
	}
	for _, operation := range operations {
		if operation.Op == "copy" {
			c.copies++
		}
	}
	if c.copies > maxCopies {
		c.block("%s: more than %d operations of patches copy", file, maxCopies)
	}
}

// CheckLocal returns an error if kustomize would fetch an entry of a kustomization file in dir that the closure has missed.
func CheckLocal(c *Closure, dir string, content []byte) error {
	k, err := parseKustomization(content)
	if err != nil {
		return err
	}
	for _, e := range entries(k) {
		if c.isRemote(dir, e.value) && !isDocument(e.value) {
			return fmt.Errorf("%s is not in this repository, and nothing is fetched", e.value)
		}
	}
	return nil
}

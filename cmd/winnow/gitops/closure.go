package gitops

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
)

// maxVisits bounds the directories and files that a Kustomization is built of.
const maxVisits = 20_000

// closure is all of a tree that a Kustomization is built of. It is read without building anything, so
// that unchanged Kustomizations are known before, and nothing remote is handed to kustomize.
type closure struct {
	tree *tree
	// files maps the paths that are named to what is there: the identifier of a file, or why there is
	// none.
	files map[string]string
	// remotes are resources that are not in the tree, sorted. They are left out of the build.
	remotes []string
	// edited are kustomization files without their remotes.
	edited map[string][]byte
	// shape is what is done to the objects of the remotes.
	shape []string
	// blocked says why the Kustomization cannot be built here; nil where it can. incomplete says that it
	// needs what is not in the repository.
	blocked    error
	incomplete bool

	copies  int
	visited map[string]*visit
	stack   []string
}

// visit is what a directory contributes.
type visit struct {
	shape  []string
	remote bool
}

// newClosure follows a directory of the tree, and the components of the Kustomization.
func newClosure(t *tree, dir string, components []string) *closure {
	c := &closure{tree: t, files: map[string]string{}, edited: map[string][]byte{}, visited: map[string]*visit{}}
	top := c.directory(dir)
	for _, component := range components {
		top.shape = append(top.shape, c.component(dir, entry{component, "components", asComponent}).shape...)
	}
	c.shape = top.shape
	if len(c.files) > maxVisits {
		c.block("it is built of more than %d files", maxVisits)
	}
	slices.Sort(c.remotes)
	c.remotes = slices.Compact(c.remotes)
	return c
}

// digest is that of everything in the closure.
func (c *closure) digest() string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(c.files)) {
		all = append(all, name, c.files[name])
	}
	return digest(append(all, c.remotes...)...)
}

func digest(parts ...string) string {
	encoded, _ := json.Marshal(parts) // strings can be encoded
	sum := sha256.Sum256(encoded)
	return hex.EncodeToString(sum[:])
}

func (c *closure) block(format string, args ...any) {
	if c.blocked == nil {
		c.blocked = fmt.Errorf(format, args...)
	}
}

// lacks blocks the build by what is not in the repository.
func (c *closure) lacks(file, field, value string) {
	c.incomplete = true
	c.block("%s: %s has %s, which is not in this repository, and nothing is fetched", file, field, value)
}

func (c *closure) directory(dir string) *visit {
	if found, known := c.visited[dir]; known {
		return found
	}
	if slices.Contains(c.stack, dir) {
		c.block("%s refers to itself: %s", dir, strings.Join(append(c.stack, dir), " -> "))
		return &visit{}
	}
	if len(c.visited) > maxVisits || len(c.files) > maxVisits {
		c.block("it is built of more than %d files", maxVisits)
		return &visit{}
	}
	c.stack = append(c.stack, dir)
	found := &visit{}
	if file := kustomizationFile(c.tree, dir); file != "" {
		c.kustomization(found, dir, file)
	} else {
		c.generated(found, dir)
	}
	c.stack = c.stack[:len(c.stack)-1]
	c.visited[dir] = found
	return found
}

// kustomizationFile returns the path of the kustomization file of a directory, empty for none.
func kustomizationFile(t *tree, dir string) string {
	for _, name := range kustomizationNames() {
		if file := path.Join(dir, name); t.isFile(file) {
			return file
		}
	}
	return ""
}

// generated takes in a directory for which Flux writes the kustomization file: all YAML files below,
// and directories with a kustomization file of their own.
func (c *closure) generated(found *visit, dir string) {
	if !c.tree.isDir(dir) {
		c.files[dir] = "missing"
		return
	}
	for _, name := range c.tree.dirs[dir] {
		child := path.Join(dir, name)
		switch {
		case c.tree.isFile(child):
			if isYAML(child) {
				c.file(child)
			}
		case kustomizationFile(c.tree, child) != "":
			found.add(c.directory(child))
		default:
			c.generated(found, child)
		}
	}
}

func (v *visit) add(child *visit) {
	if child.remote {
		v.remote = true
		v.shape = append(v.shape, child.shape...)
	}
}

// file notes what is at a path, and returns it.
func (c *closure) file(name string) string {
	id := "missing"
	if file, found := c.tree.files[name]; found {
		id = file.id
	} else if commit := c.tree.module(name); commit != "" {
		id = "submodule at " + commit
	}
	c.files[name] = id
	return id
}

func (c *closure) kustomization(found *visit, dir, file string) {
	id := c.file(file)
	content, err := c.tree.read(file)
	if err != nil {
		c.block("%w", err)
		return
	}
	if err := checkAliases(content); err != nil {
		c.block("%s: %w", file, err)
		return
	}
	k, err := parseKustomization(content)
	if err != nil {
		c.block("%s: %w", file, err)
		return
	}
	if len(k.HelmCharts) > 0 {
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
			own = append(own, component.shape...)
			found.remote = found.remote || component.remote
		case asFile:
			own = append(own, c.loaded(dir, file, e))
		case asPlugin:
			own = append(own, c.plugin(dir, file, e))
		}
	}
	c.inline(file, k)
	if len(local) < len(k.Resources) {
		c.edit(file, local, k)
	}
	// What the file does to the objects of others is all but its own resources.
	canonical := *k
	canonical.Resources = nil
	encoded, _ := json.Marshal(canonical) // it was decoded from JSON
	found.shape = append(append(found.shape, dir, string(encoded)), own...)
	if k.Kind == kustypes.ComponentKind {
		found.shape = append(found.shape, id)
	}
}

// edit keeps the resources of a kustomization file that are local.
func (c *closure) edit(file string, local []string, k *kustypes.Kustomization) {
	kept := *k
	kept.Resources = local
	encoded, err := json.Marshal(kept)
	if err != nil {
		c.block("%s: %w", file, err)
	}
	if len(local) == 0 {
		// kustomize refuses a file that does nothing.
		kept.BuildMetadata = []string{kustypes.OriginAnnotations}
		encoded, _ = json.Marshal(kept)
	}
	c.edited[file] = encoded
}

// resource follows a resource, and reports whether it is in the tree.
func (c *closure) resource(found *visit, dir string, e entry) bool {
	name := path.Join(dir, e.value)
	switch commit := c.tree.module(name); {
	case isRemote(e.value):
		c.remotes = append(c.remotes, e.value)
	case commit != "":
		c.remotes = append(c.remotes, fmt.Sprintf("%s (a submodule at %s)", name, short(commit)))
	case c.tree.isDir(name):
		found.add(c.directory(name))
		return true
	default:
		c.file(name)
		return true
	}
	found.remote = true
	return false
}

// component follows a component. Those that are not in the tree change what is, and so block the build.
func (c *closure) component(dir string, e entry) *visit {
	name := path.Join(dir, e.value)
	if isRemote(e.value) || c.tree.module(name) != "" {
		c.files[e.value] = c.tree.module(name)
		c.lacks(dir, e.field, e.value)
		return &visit{}
	}
	return c.directory(name)
}

// has reports whether a file of the closure matches.
func (c *closure) has(match func([]byte) bool) bool {
	for name := range c.files {
		if !c.tree.isFile(name) {
			continue
		}
		content, err := c.tree.read(name)
		if err != nil || match(content) {
			return true
		}
	}
	return false
}

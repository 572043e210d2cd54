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

// closure is the set of all files that a Kustomization is built from. It is computed without a build, so
// that unchanged Kustomizations are found before, and kustomize gets no remote address.
type closure struct {
	tree *tree
	// files maps each referenced path to the identifier of the blob, or to the reason why there is
	// none.
	files map[string]string
	// remotes are resources outside of the tree, sorted. The build leaves them out.
	remotes []string
	// missing are the values of fields that name other files outside of the tree.
	missing []string
	// edited maps kustomization files to their content without remotes.
	edited map[string][]byte
	// transforms identifies the changes that local files make to the objects of the remotes.
	transforms []string
	// blocked is the reason why the Kustomization cannot be built; nil if it can. incomplete reports that
	// files does not have all that it needs: some are outside of the repository, or missing, or named by a
	// kustomization file that cannot be read.
	blocked    error
	incomplete bool

	copies  int
	visited map[string]*visit
	stack   []string
}

// visit is the contribution of a directory to the closure.
type visit struct {
	transforms []string
	remote     bool
}

// newClosure computes the closure of a directory and of the components of the Kustomization.
func newClosure(t *tree, dir string, components []string) *closure {
	c := &closure{tree: t, files: map[string]string{}, edited: map[string][]byte{}, visited: map[string]*visit{}}
	top := c.directory(dir)
	for _, component := range components {
		top.transforms = append(top.transforms, c.component(dir, entry{component, "components", asComponent}).transforms...)
	}
	c.transforms = top.transforms
	if len(c.files) > maxVisits {
		c.block("it is built of more than %d files", maxVisits)
	}
	slices.Sort(c.remotes)
	c.remotes = slices.Compact(c.remotes)
	return c
}

// digest returns a digest of all files and remotes.
func (c *closure) digest() string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(c.files)) {
		all = append(all, name, c.files[name])
	}
	return digest(append(all, c.remotes...)...)
}

func digest(parts ...string) string {
	encoded, _ := json.Marshal(parts) // encoding strings cannot fail
	sum := sha256.Sum256(encoded)
	return hex.EncodeToString(sum[:])
}

func (c *closure) block(format string, args ...any) {
	if c.blocked == nil {
		c.blocked = fmt.Errorf(format, args...)
	}
}

// blockMissing blocks the build because a value refers to a file outside of the repository.
func (c *closure) blockMissing(file, field, value string) {
	c.incomplete = true
	c.missing = append(c.missing, value)
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

// kustomizationFile returns the path of the kustomization file in a directory, or "" if there is none.
func kustomizationFile(t *tree, dir string) string {
	for _, name := range kustomizationNames() {
		if file := path.Join(dir, name); t.isFile(file) {
			return file
		}
	}
	return ""
}

// generated adds a directory for which Flux generates the kustomization file: all YAML files below it,
// and directories with a kustomization file of their own.
func (c *closure) generated(found *visit, dir string) {
	if !c.tree.isDir(dir) {
		c.file(dir)
		c.incomplete = true
		return
	}
	for _, name := range c.tree.dirs[dir] {
		child := path.Join(dir, name)
		switch {
		case c.tree.modules[child] != "":
			c.resource(found, dir, entry{value: name})
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
		v.transforms = append(v.transforms, child.transforms...)
	}
}

// file adds a path to files and returns the value.
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
	k, err := readKustomization(c.tree, file)
	if err != nil {
		c.incomplete = true
		c.block("%w", err)
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
			own = append(own, component.transforms...)
			found.remote = found.remote || component.remote
		case asFile:
			own = append(own, c.loadFile(dir, file, e))
		case asPlugin:
			own = append(own, c.plugin(dir, file, e))
		}
	}
	c.inline(file, k)
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

func readKustomization(t *tree, file string) (*kustypes.Kustomization, error) {
	content, err := t.read(file)
	if err != nil {
		return nil, err
	}
	if err := checkAliases(content); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	k, err := parseKustomization(content)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return k, nil
}

// edit records a kustomization file with its local resources only.
func (c *closure) edit(file string, local []string, k *kustypes.Kustomization) {
	kept := *k
	kept.Resources = local
	encoded, err := json.Marshal(kept)
	if err != nil {
		c.block("%s: %w", file, err)
	}
	if len(local) == 0 {
		// kustomize refuses an empty file.
		kept.BuildMetadata = []string{kustypes.OriginAnnotations}
		encoded, _ = json.Marshal(kept)
	}
	c.edited[file] = encoded
}

// resource adds a resource, and reports whether it is in the tree.
func (c *closure) resource(found *visit, dir string, e entry) bool {
	name := path.Join(dir, e.value)
	switch commit := c.tree.module(name); {
	case c.isRemote(dir, e.value):
		c.remotes = append(c.remotes, e.value)
		if c.tree.isFile(name) {
			c.file(name)
			c.block("%s: %s is both a file and an address", dir, e.value)
		}
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

// component adds a component. One outside of the tree blocks the build: it would change the local objects.
func (c *closure) component(dir string, e entry) *visit {
	name := path.Join(dir, e.value)
	if c.isRemote(dir, e.value) || c.tree.module(name) != "" {
		c.file(name)
		c.blockMissing(dir, e.field, e.value)
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

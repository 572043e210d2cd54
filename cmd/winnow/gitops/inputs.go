package gitops

import (
	"maps"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	kustypes "sigs.k8s.io/kustomize/api/types"
)

// maxCopies bounds the copy operations of JSON patches: each may double the size of an object.
const maxCopies = 8

// loadFile adds a file that changes objects. One outside of the tree blocks the build.
func (c *closure) loadFile(dir, file string, e entry) string {
	name := path.Join(dir, e.value)
	id := c.file(name)
	if c.isRemote(dir, e.value) || c.tree.module(name) != "" {
		c.blockMissing(file, e.field, e.value)
		return e.value
	}
	if e.field == "patches" && c.tree.isFile(name) {
		if content, err := c.tree.read(name); err == nil {
			c.patch(file, string(content))
		}
	}
	return name + " " + id
}

// plugin adds the configuration of a transformer or a generator: a document, or a file of documents.
func (c *closure) plugin(dir, file string, e entry) string {
	content := []byte(e.value)
	if !isDocument(e.value) {
		name := path.Join(dir, e.value)
		if !c.isRemote(dir, e.value) && c.tree.isDir(name) {
			// Its documents are the result of a build, which the closure does not run.
			c.directory(name)
			for _, input := range slices.Sorted(maps.Keys(c.files)) {
				if content, err := c.tree.read(input); err == nil {
					c.named(dir, content)
				}
			}
			c.block("%s: %s has the directory %s, which is not evaluated here", file, e.field, e.value)
			return name
		}
		noted := c.loadFile(dir, file, e)
		if !c.tree.isFile(name) {
			return noted
		}
		var err error
		if content, err = c.tree.read(name); err != nil {
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
	return digest(string(content))
}

// named adds the files that the configuration of a transformer or a generator names, in whatever field.
func (c *closure) named(dir string, content []byte) {
	for _, word := range strings.FieldsFunc(string(content), func(r rune) bool { return strings.ContainsRune(" \t\r\n\"'=,[]{}", r) }) {
		if name := path.Join(dir, word); c.tree.isFile(name) {
			c.file(name)
		}
	}
}

// inline checks the inline patches of a kustomization file.
func (c *closure) inline(file string, k *kustypes.Kustomization) {
	for _, patch := range patchesOf(k) {
		c.patch(file, patch.Patch)
	}
}

// patch blocks the build if JSON patches copy too often: copies of copies grow without bound.
func (c *closure) patch(file, text string) {
	if !strings.Contains(text, "-") && !strings.Contains(text, "[") {
		return
	}
	var operations []struct {
		Op string `yaml:"op"`
	}
	if yaml.Unmarshal([]byte(text), &operations) != nil {
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

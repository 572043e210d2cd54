package gitops

import (
	"path"
	"strings"

	"go.yaml.in/yaml/v3"
	kustypes "sigs.k8s.io/kustomize/api/types"
)

// maxCopies bounds the operations of JSON patches that copy, each of which may double an object.
const maxCopies = 8

// loaded notes a file that changes objects. One that is not in the tree blocks the build.
func (c *closure) loaded(dir, file string, e entry) string {
	name := path.Join(dir, e.value)
	if isRemote(e.value) || c.tree.module(name) != "" {
		c.files[e.value] = c.tree.module(name)
		c.lacks(file, e.field, e.value)
		return e.value
	}
	id := c.file(name)
	if e.field == "patches" && c.tree.isFile(name) {
		if content, err := c.tree.read(name); err == nil {
			c.patch(file, string(content))
		}
	}
	return name + " " + id
}

// plugin notes the configuration of a transformer or a generator: a document, or a file with some.
func (c *closure) plugin(dir, file string, e entry) string {
	content := []byte(e.value)
	if !isDocument(e.value) {
		name := path.Join(dir, e.value)
		if !isRemote(e.value) && c.tree.isDir(name) {
			// What is built there would have to be looked at, and not what is written.
			c.file(name)
			c.block("%s: %s has the directory %s, which is not evaluated here", file, e.field, e.value)
			return name
		}
		noted := c.loaded(dir, file, e)
		if !c.tree.isFile(name) {
			return noted
		}
		var err error
		if content, err = c.tree.read(name); err != nil {
			c.block("%w", err)
		}
	}
	address, err := fetches(content)
	switch {
	case err != nil:
		c.block("%s: %s: %w", file, e.field, err)
	case address != "":
		c.lacks(file, e.field, address)
	}
	return digest(string(content))
}

// inline looks at the patches that stand in a kustomization file.
func (c *closure) inline(file string, k *kustypes.Kustomization) {
	for _, patch := range patchesOf(k) {
		c.patch(file, patch.Patch)
	}
}

// patch blocks the build by one that copies often: copies of copies have no bound in size.
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

// SPDX-License-Identifier: Apache-2.0

package patching

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/api/resource"

	"github.com/fluxcd/pkg/apis/kustomize"

	"github.com/winnow-dev/winnow/render/tree"
	"github.com/winnow-dev/winnow/render/yamlnode"
)

const (
	// maxCopies bounds the copy operations of all JSON patches together: each may double an object.
	maxCopies = 8
	// maxPatched bounds in bytes what patches add to all objects together. In memory, kustomize takes a multiple of it.
	maxPatched = 16 << 20
	// maxPatchedObjects bounds the objects of an artifact with patches, and maxApplied the objects times the patches, which
	// take kustomize about a millisecond each.
	maxPatchedObjects = 5_000
	maxApplied        = 50_000
)

// Kustomize compares each object of a build with all others, takes about a millisecond to patch an object, and cannot be
// interrupted. So a part has at most maxPartFiles files and, unless it has one alone, at most maxPartApplied objects times
// patches. What has to be built as a whole has at most maxPartApplied of both.
const (
	maxPartFiles   = 50
	maxPartApplied = 500
)

// CheckWork returns an error for more objects and patches than kustomize builds in a bearable time.
func CheckWork(objects, patches int) error {
	switch {
	case patches == 0:
		return nil
	case objects > maxPatchedObjects:
		return fmt.Errorf("at most %d objects may be patched, and the artifact has %d: select fewer, or publish them without patches", maxPatchedObjects, objects)
	case patches > maxPartApplied:
		return fmt.Errorf("%d patches are more than %d: join patches", patches, maxPartApplied)
	case objects*patches > maxApplied:
		return fmt.Errorf("%d patches of %d objects are more than %d in all: join patches, or select fewer applications", patches, objects, maxApplied)
	}
	return nil
}

// Check returns the problem of each patch, nil where there is none. Patches of a spec and of an artifact are
// untrusted, and nothing recovers from a stack that overflows: kustomize follows an alias of its own ancestor without
// end, and writes out the others in every object.
func Check(patches []kustomize.Patch) []error {
	problems := make([]error, len(patches))
	copies := 0
	for i, p := range patches {
		read, err := readOperations(p)
		if err == nil {
			err = checkTarget(p.Target)
		}
		if copies += read.copies; err == nil && read.copies > 0 && copies > maxCopies {
			err = fmt.Errorf("more than %d operations of all patches copy", maxCopies)
		}
		problems[i] = err
	}
	return problems
}

// operations are what a bound of a JSON patch depends on. A strategic merge patch has none.
type operations struct {
	copies int
	// renames reports that the targets of later patches may select other objects than before.
	renames bool
	// relates reports that the patch may set annotations of kustomize.
	relates bool
}

// readOperations returns an error for a patch that kustomize must not read.
func readOperations(p kustomize.Patch) (operations, error) {
	var read operations
	if err := tree.CheckText(p.Patch); err != nil {
		return read, err
	}
	for document, err := range yamlnode.Documents([]byte(p.Patch)) {
		if err != nil {
			_, message := yamlnode.Position(err, []byte(p.Patch))
			return read, errors.New("it is no YAML: " + message)
		}
		if !yamlnode.IsExpanded(document) {
			return read, errors.New("it must not have YAML aliases and merge keys: write the values out")
		}
		if err := yamlnode.Validate(document); err != nil {
			return read, err
		}
		content, err := yamlnode.Plain(document.Content[0])
		if err != nil {
			return read, err
		}
		read.add(content)
	}
	return read, nil
}

func (o *operations) add(content any) {
	o.relates = o.relates || mentions(content)
	list, _ := content.([]any)
	for _, operation := range list {
		fields, _ := operation.(map[string]any)
		op, path, from := fields["op"], pointer(fields["path"]), pointer(fields["from"])
		if op == "copy" {
			o.copies++
		}
		identity := []string{"", "/apiVersion", "/kind", "/metadata", "/metadata/name", "/metadata/namespace"}
		o.renames = o.renames || op != "test" && slices.Contains(identity, path) || op == "move" && slices.Contains(identity, from)
		o.relates = o.relates || (op == "copy" || op == "move") && path == "/metadata/annotations"
	}
}

// kustomizeDomain is in the annotations by which kustomize tells objects apart while it builds them.
const kustomizeDomain = "config.kubernetes.io"

// mentions reports whether a text or a key in a value has the domain of kustomize.
func mentions(content any) bool {
	switch content := content.(type) {
	case string:
		return strings.Contains(content, kustomizeDomain)
	case []any:
		return slices.ContainsFunc(content, mentions)
	case map[string]any:
		for key, value := range content {
			if mentions(key) || mentions(value) {
				return true
			}
		}
	}
	return false
}

// pointer returns a JSON pointer as kustomize reads it, which ignores what precedes the first slash.
func pointer(value any) string {
	text, _ := value.(string)
	_, path, ok := strings.Cut(text, "/")
	if !ok {
		return ""
	}
	return "/" + path
}

// CheckGrowth returns an error if the patches may add more than maxPatched to the objects: each adds its text to every
// object of its target, and each copy doubles the object. Labels and annotations of a target do not count, because
// earlier patches may set them.
func CheckGrowth(unpatched Objects, patches []kustomize.Patch) error {
	added, renames := 0, false
	grown := map[*resource.Resource]int{}
	for _, p := range patches {
		read, err := readOperations(p)
		if err != nil {
			return err
		}
		if p.Target == nil {
			added += len(p.Patch)
			continue
		}
		target := *p.Target
		if target.LabelSelector, target.AnnotationSelector = "", ""; renames {
			target = kustomize.Selector{}
		}
		renames = renames || read.renames
		objects, err := selectedBy(unpatched, &target)
		if err != nil {
			return err
		}
		for _, object := range objects {
			more := len(p.Patch)
			if read.copies > 0 {
				content, err := object.AsYAML()
				if err != nil {
					return err
				}
				size := len(content) + grown[object]
				more = (size+more)<<read.copies - size
			}
			grown[object] += more
			if added += more; added > maxPatched {
				return fmt.Errorf("patches may add more than %d bytes to the objects: patch fewer, or copy less", maxPatched)
			}
		}
	}
	return nil
}

// SPDX-License-Identifier: Apache-2.0

package patching

import (
	"errors"
	"fmt"
	"slices"

	"sigs.k8s.io/kustomize/api/resmap"
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
	// maxPatchedObjects bounds the objects of an artifact with patches, and maxApplied the objects times the patches:
	// kustomize compares each object with all others and with the target of each patch, and cannot be interrupted.
	maxPatchedObjects = 5_000
	maxApplied        = 20_000
)

// CheckWork returns an error for more objects and patches than kustomize builds in a bearable time.
func CheckWork(objects, patches int) error {
	switch {
	case patches == 0:
		return nil
	case objects > maxPatchedObjects:
		return fmt.Errorf("at most %d objects may be patched, and the artifact has %d: select fewer, or publish them without patches", maxPatchedObjects, objects)
	case max(objects, 1)*patches > maxApplied:
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
	list, _ := content.([]any)
	for _, operation := range list {
		fields, _ := operation.(map[string]any)
		if fields["op"] == "copy" {
			o.copies++
		}
		path, _ := fields["path"].(string)
		o.renames = o.renames || slices.Contains([]string{"", "/apiVersion", "/kind", "/metadata", "/metadata/name", "/metadata/namespace"}, path)
	}
}

// CheckGrowth returns an error if the patches may add more than maxPatched to the objects: each adds its text to every
// object of its target, and each copy doubles the object. Labels and annotations of a target do not count, because
// earlier patches may set them.
func CheckGrowth(unpatched resmap.ResMap, patches []kustomize.Patch) error {
	added, renames := 0, false
	sizes := map[*resource.Resource]int{}
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
			before, err := sizeOf(object, sizes)
			if err != nil {
				return err
			}
			sizes[object] = (before + len(p.Patch)) << read.copies
			if added += sizes[object] - before; added > maxPatched {
				return fmt.Errorf("patches may add more than %d bytes to the objects: patch fewer, or copy less", maxPatched)
			}
		}
	}
	return nil
}

// sizeOf returns the bytes of an object, as known.
func sizeOf(object *resource.Resource, known map[*resource.Resource]int) (int, error) {
	if size, ok := known[object]; ok {
		return size, nil
	}
	content, err := object.AsYAML()
	return len(content), err
}

// SPDX-License-Identifier: Apache-2.0

package approvalfile

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/yamledit"
	"github.com/winnow-dev/winnow/render/yamlnode"
)

// errPatches reports a way to write patches that AddPatch does not edit.
var errPatches = errors.New("its patches are written in a way that is not edited here: add the patch by hand")

// New returns a patch of a selection with entries.
func New(key types.NamespacedName, entries []string) ([]byte, error) {
	for _, entry := range entries {
		if !entryPattern.MatchString(entry) {
			return nil, fmt.Errorf("%s is no entry of spec.safeguards.approve", excerpt.Quoted(entry))
		}
	}
	for _, name := range []string{key.Name, key.Namespace} {
		if name != "" && len(validation.IsDNS1123Subdomain(name)) > 0 {
			return nil, fmt.Errorf("%s is no name of an object", excerpt.Quoted(name))
		}
	}
	namespace := ""
	if key.Namespace != "" {
		namespace = "\n  namespace: " + key.Namespace
	}
	return fmt.Appendf(nil, "apiVersion: %s\nkind: %s\nmetadata:\n  name: %s%s\nspec:\n  safeguards:\n    approve:\n    - %s\n",
		v1alpha1.GroupVersion, v1alpha1.CatalogSelectionKind, key.Name, namespace, strings.Join(entries, "\n    - ")), nil
}

// HasPatch reports whether a kustomization file has a file beside it among its patches.
func HasPatch(content []byte, file string) bool {
	documents, err := yamledit.Documents(content)
	if err != nil || len(documents) != 1 {
		return false
	}
	patches := yamlnode.Lookup(documents[0], "patches")
	return patches != nil && slices.ContainsFunc(patches.Content, func(patch *yaml.Node) bool { return path.Clean(yamlnode.TextAt(patch, "path")) == file })
}

// AddPatch returns a kustomization file with a file as the last of its patches.
func AddPatch(content []byte, file string) ([]byte, error) {
	documents, err := yamledit.Documents(content)
	if err != nil {
		return nil, err
	}
	if len(documents) != 1 || documents[0].Kind != yaml.MappingNode || !yamledit.IsBlock(documents[0]) || yamlnode.Lookup(documents[0], "sops") != nil {
		return nil, errPatches
	}
	root := documents[0]
	a := &addition{Text: yamledit.NewText(content), spec: root}
	item := "- path: " + file
	inserted := false
	switch key, patches, ok := written(root, "patches"); {
	case !ok:
		inserted = a.atEnd(root, newLine(indentOf(root))+"patches:"+newLine(indentOf(root))+item)
	case patches.Kind == yaml.SequenceNode && yamledit.IsBlock(patches) && len(patches.Content) > 0:
		dash := dashPattern.FindSubmatch(a.Line(patches.Content[0].Line - 1))
		if dash != nil {
			inserted = a.Append(a.LastLine(key.Line-1, key.Column-1, true), newLine(len(dash[1]))+item)
		}
	}
	if !inserted {
		return nil, errPatches
	}
	edited, _ := a.Edited()
	wanted, err := yamledit.Plain(documents)
	if err != nil {
		return nil, err
	}
	fields, _ := wanted[0].(map[string]any)
	list, _ := fields["patches"].([]any)
	fields["patches"] = append(list, map[string]any{"path": file})
	if !yamledit.Proves(edited, wanted) {
		return nil, errPatches
	}
	return edited, nil
}

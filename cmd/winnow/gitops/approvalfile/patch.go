// SPDX-License-Identifier: Apache-2.0

package approvalfile

import (
	"bytes"
	"errors"
	"reflect"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/winnow-dev/winnow/render/yamledit"
)

// errPatches reports a way to write patches that AddPatch does not edit.
var errPatches = errors.New("its patches are written in a way that is not edited here: add the patch by hand")

// AddPatch returns a kustomization file with an item, which is a list of one in YAML, as the last of its patches, and the line of the
// item. It returns the same content if the file has the item.
func AddPatch(content []byte, item string) (edited []byte, line int, err error) {
	documents, err := yamledit.Documents(content)
	if err != nil {
		return nil, 0, err
	}
	added := plainItem(item)
	if added == nil || len(documents) != 1 || documents[0].Kind != yaml.MappingNode || !yamledit.IsBlock(documents[0]) {
		return nil, 0, errPatches
	}
	if err := yamledit.CheckPlain(documents[0]); err != nil {
		return nil, 0, err
	}
	wanted, err := yamledit.Plain(documents)
	if err != nil {
		return nil, 0, err
	}
	fields, _ := wanted[0].(map[string]any)
	patches, _ := fields["patches"].([]any)
	if i := slices.IndexFunc(patches, func(patch any) bool { return reflect.DeepEqual(patch, added) }); i >= 0 {
		return content, lineOfPatch(documents[0], i), nil
	}
	fields["patches"] = append(patches, added)
	a := &addition{Text: yamledit.NewText(content), spec: documents[0]}
	if !a.patch(item) {
		return nil, 0, errPatches
	}
	edited, _ = a.Edited()
	if !yamledit.Proves(edited, wanted) {
		return nil, 0, errPatches
	}
	documents, err = yamledit.Documents(edited)
	if err != nil {
		return nil, 0, err
	}
	return edited, lineOfPatch(documents[0], len(patches)), nil
}

// patch inserts an item behind the last one of patches, indented as the first one is.
func (a *addition) patch(item string) bool {
	end := ""
	if !bytes.HasSuffix(a.Data, []byte("\n")) { // a literal block ends with a line break
		end = "\n"
	}
	key, patches, ok := written(a.spec, "patches")
	switch {
	case !ok:
		indent := indentOf(a.spec)
		return a.atEnd(a.spec, newLine(indent)+"patches:\n"+yamledit.Indented(item, indent)+end)
	case patches.Kind == yaml.SequenceNode && yamledit.IsBlock(patches):
		return a.Append(a.LastLine(key.Line-1, key.Column-1, true), "\n"+yamledit.Indented(item, patches.Column-1)+end)
	}
	return false
}

// plainItem returns the item in the types of yamledit.Plain; nil for a text that is none.
func plainItem(item string) any {
	documents, err := yamledit.Documents([]byte(item))
	if err != nil {
		return nil
	}
	all, _ := yamledit.Plain(documents)
	if len(all) != 1 {
		return nil
	}
	list, _ := all[0].([]any)
	if len(list) != 1 {
		return nil
	}
	return list[0]
}

func lineOfPatch(root *yaml.Node, i int) int {
	return yamledit.Lookup(root, "patches").Content[i].Line
}
